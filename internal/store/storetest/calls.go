package storetest

import (
	"errors"
	"time"

	"wayside/internal/mapdata"
)

// callTests are about the e-mails that curators and owners get because something waits or is in trouble.
func callTests() map[string]func(*testStore) {
	return map[string]func(*testStore){
		"waiting feeds are public and pending": waitingFeeds,
		"curators are called once":             curatorsAreCalledOnce,
		"times of reviews":                     reviewTimes,
	}
}

func waitingFeeds(w *testStore) {
	owner := w.account()
	add := func(state mapdata.ReviewState, visibility mapdata.Visibility) *mapdata.Feed {
		f := w.draft(owner)
		f.ReviewState, f.Visibility, f.PushTokenHash = state, visibility, []byte(f.ID.String())
		w.must(w.store.CreateFeed(w.ctx, f, unlimitedFeeds))
		return f
	}
	first, second := add(mapdata.Pending, mapdata.Public), add(mapdata.Pending, mapdata.Public)
	add(mapdata.Pending, mapdata.Private)
	add(mapdata.Approved, mapdata.Public)
	_, err := w.store.UpdateFeed(w.ctx, first.ID, func(*mapdata.Feed) (mapdata.Side, error) {
		return mapdata.Side{Audit: []mapdata.AuditEntry{{At: at(time.Hour), Action: mapdata.AuditFeedReviewAgain, Subject: first.ID.String()}}}, nil
	})
	w.must(err)
	want := []mapdata.WaitingFeed{
		{ID: second.ID, Owner: owner.ID, Name: second.Name, Since: second.CreatedAt},
		{ID: first.ID, Owner: owner.ID, Name: first.Name, Since: at(time.Hour)},
	}
	got, err := w.store.WaitingFeeds(w.ctx, 10)
	w.must(err)
	w.same("waiting feeds", got, want)
	got, err = w.store.WaitingFeeds(w.ctx, 1)
	w.must(err)
	w.same("the first waiting feed", got, want[:1])
}

func curatorsAreCalledOnce(w *testStore) {
	w.account()
	curator := w.account()
	curator.Role = mapdata.Curator
	w.must(w.store.UpdateAccount(w.ctx, curator, mapdata.AuditEntry{At: start}))
	curators := func() []mapdata.AccountID {
		w.Helper()
		all, err := w.store.Curators(w.ctx)
		w.must(err)
		return all
	}
	w.same("curators", curators(), []mapdata.AccountID{curator.ID})
	sent := mapdata.ReviewCalls{Waiting: true, EmailedAt: at(time.Hour), RemindedAt: at(2 * time.Hour), RemindedThrough: at(time.Minute)}
	var seen []mapdata.ReviewCalls
	call := func(email *mapdata.Email) {
		w.Helper()
		w.must(w.store.CallCurator(w.ctx, curator.ID, func(calls *mapdata.ReviewCalls) *mapdata.Email {
			seen = append(seen, *calls)
			if email != nil {
				*calls = sent
			}
			return email
		}))
	}
	call(nil)
	call(&mapdata.Email{Account: curator.ID, Kind: mapdata.EmailReviewWaiting, At: start, Due: start})
	call(nil)
	w.must(w.store.NothingWaits(w.ctx))
	w.must(w.store.NothingWaits(w.ctx))
	call(nil)
	idle := sent
	idle.Waiting = false
	w.same("what a curator was sent", seen, []mapdata.ReviewCalls{{}, {}, sent, idle})
	emails, err := w.store.DueEmails(w.ctx, at(time.Minute), at(time.Hour), 10)
	w.must(err)
	if len(emails) != 1 || emails[0].Address != curator.Email {
		w.Errorf("e-mails: %+v", emails)
	}

	for _, on := range []bool{false, true} {
		w.must(w.store.SetReviewEmails(w.ctx, curator.ID, on))
		got, err := w.store.ReviewEmails(w.ctx, curator.ID)
		w.must(err)
		if got != on || len(curators()) == 1 != on {
			w.Errorf("e-mails are %v, want %v", got, on)
		}
		seen = nil
		call(nil)
		if len(seen) == 1 != on {
			w.Errorf("called: %v, want %v", seen, on)
		}
	}
	if err := w.store.SetReviewEmails(w.ctx, mapdata.AccountID{1}, false); !errors.Is(err, mapdata.ErrNotFound) {
		w.Errorf("of an unknown account: %v", err)
	}
}

func reviewTimes(w *testStore) {
	owner := w.account()
	f := w.pushFeed(owner)
	for _, entry := range []mapdata.AuditEntry{
		{At: at(0), Action: mapdata.AuditFeedRegister},
		{At: at(time.Hour), Action: mapdata.AuditFeedEdit},
		{At: at(2 * time.Hour), Action: mapdata.AuditFeedReject},
		{At: at(3 * time.Hour), Action: mapdata.AuditFeedApprove}, // another mind, no review
		{At: at(4 * time.Hour), Action: mapdata.AuditFeedReviewAgain},
		{At: at(9 * time.Hour), Action: mapdata.AuditFeedApprove},
	} {
		entry.Subject = f.ID.String()
		_, err := w.store.UpdateFeed(w.ctx, f.ID, func(*mapdata.Feed) (mapdata.Side, error) {
			return mapdata.Side{Audit: []mapdata.AuditEntry{entry}}, nil
		})
		w.must(err)
	}
	for after, want := range map[time.Duration][]time.Duration{0: {5 * time.Hour, 2 * time.Hour}, 8 * time.Hour: {5 * time.Hour}, 9 * time.Hour: nil} {
		got, err := w.store.ReviewTimes(w.ctx, at(after), 10)
		w.must(err)
		w.same("times of reviews", got, want)
	}
}

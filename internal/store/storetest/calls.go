package storetest

import (
	"errors"
	"time"

	"wayside/internal/ground/mapdata"
)

// callTests returns the tests of the e-mails that curators and owners get because something waits or is in trouble.
func callTests() map[string]func(*testStore) {
	return map[string]func(*testStore){
		"waiting feeds are public and pending": waitingFeeds,
		"waiting apps":                         waitingApps,
		"curators are called once":             curatorsAreCalledOnce,
		"times of reviews":                     reviewTimes,
		"silent feeds":                         silentFeeds,
		"warnings":                             warnings,
		"looks at reviews":                     reviewLooks,
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
		{ID: second.ID, Managers: []mapdata.AccountID{owner.ID}, Name: second.Name, Since: second.CreatedAt},
		{ID: first.ID, Managers: []mapdata.AccountID{owner.ID}, Name: first.Name, Since: at(time.Hour)},
	}
	got, err := w.store.WaitingFeeds(w.ctx, 10)
	w.must(err)
	w.same("waiting feeds", got, want)
	got, err = w.store.WaitingFeeds(w.ctx, 1)
	w.must(err)
	w.same("the first waiting feed", got, want[:1])
}

func waitingApps(w *testStore) {
	owner, other := w.account(), w.account()
	later, first := w.app(owner), w.app(other)
	later.Versions[0].SubmittedAt = first.Versions[0].SubmittedAt.Add(time.Hour)
	for _, a := range []*mapdata.App{later, first} {
		w.must(w.store.CreateApp(w.ctx, a, appLimits(10), mapdata.Side{}))
	}
	w.approve(w.createdApp(owner))
	waiting := func(a *mapdata.App) mapdata.WaitingFeed {
		v := &a.Versions[0]
		return mapdata.WaitingFeed{IsApp: true, Managers: []mapdata.AccountID{a.Owner}, Name: v.Fields.Name, Since: v.SubmittedAt}
	}
	for limit, want := range map[int][]mapdata.WaitingFeed{10: {waiting(first), waiting(later)}, 1: {waiting(first)}} {
		got, err := w.store.WaitingApps(w.ctx, limit)
		w.must(err)
		w.same("waiting apps", got, want)
	}
	w.must(w.deleteAccount(other))
	got, err := w.store.WaitingApps(w.ctx, 10)
	w.must(err)
	w.same("waiting apps without those of an account that is gone", got, []mapdata.WaitingFeed{waiting(later)})
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
	count := func() int {
		w.Helper()
		n, err := w.store.CountCurators(w.ctx)
		w.must(err)
		return n
	}
	w.same("number of curators", count(), 1)
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
		w.same("number of curators, with e-mails or without", count(), 1)
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

// takeEmails lists the recipients and feeds of the e-mails in the outbox, by name, and empties it.
func (w *testStore) takeEmails(when time.Time) (told []string) {
	w.Helper()
	all, err := w.store.DueEmails(w.ctx, when, when.Add(time.Second), 100)
	w.must(err)
	for i := range all {
		told = append(told, all[i].Address+" "+string(all[i].Kind)+" "+all[i].Data["feed_name"])
		w.must(w.store.EmailSent(w.ctx, all[i].ID))
	}
	return told
}

func silentFeeds(w *testStore) {
	owner := w.account()
	expiring, lasting, paused := w.pushFeed(owner), w.pushFeed(owner), w.pushFeed(owner)
	w.pushFeed(owner) // never pushed to
	w.pullFeed(owner)
	camera := entity(lasting, "c", at(time.Hour))
	camera.Kind, camera.Lifetime = kindOf("camera.speed"), 0
	w.apply(w.pushed(lasting, at(time.Hour), camera))
	w.apply(w.pushed(expiring, at(time.Hour), entity(expiring, "a", at(time.Hour))))
	w.apply(w.pushed(paused, at(time.Hour), entity(paused, "a", at(time.Hour))))
	w.edit(paused, func(f *mapdata.Feed) { f.Active = false })
	said := func(f *mapdata.Feed) string { return owner.Email + " feed_silent " + f.Name }
	after := func(d time.Duration, want ...string) {
		w.Helper()
		w.must(w.store.WarnSilent(w.ctx, at(d), 10))
		w.same("e-mails after "+d.String(), w.takeEmails(at(d)), want)
	}
	after(25*time.Hour - 1)
	after(25*time.Hour, said(expiring))
	after(100 * time.Hour)
	w.apply(w.pushed(expiring, at(101*time.Hour), entity(expiring, "b", at(101*time.Hour))))
	after(102 * time.Hour)
	w.edit(paused, func(f *mapdata.Feed) { f.Active, f.UpdatedAt = true, at(102*time.Hour) })
	after(125*time.Hour, said(expiring))
	after(126*time.Hour, said(paused))
}

func warnings(w *testStore) {
	owner := w.account()
	push, pull := w.pushFeed(owner), w.pullFeed(owner)
	pushed := func(d time.Duration, rejected int, want ...string) {
		w.Helper()
		c := w.pushed(push, at(d))
		c.Attempt.Rows, c.Attempt.Rejected = 100, rejected
		w.apply(c)
		w.same("e-mails", w.takeEmails(at(d)), want)
	}
	pushed(time.Minute, 10)
	pushed(2*time.Minute, 30, owner.Email+" feed_rejections "+push.Name)
	pushed(3*time.Minute, 30)
	pushed(30*time.Hour, 10)
	pushed(31*time.Hour, 40, owner.Email+" feed_rejections "+push.Name)

	failing := func(d time.Duration, failures int, want ...string) {
		w.Helper()
		failed := failedPoll(pull, at(d))
		failed.Polling.ConsecutiveFailures, failed.Active = failures, true
		failed.Attempt.At = at(d)
		w.must(w.store.PollFailed(w.ctx, failed))
		w.same("e-mails", w.takeEmails(at(d)), want)
	}
	failing(time.Hour, 9)
	failing(2*time.Hour, 10, owner.Email+" feed_failing "+pull.Name)
	failing(3*time.Hour, 11)
	w.edit(pull, func(f *mapdata.Feed) { f.Active = false })
	w.edit(pull, func(f *mapdata.Feed) { f.Active = true })
	stored, err := w.store.Feed(w.ctx, pull.ID)
	w.must(err)
	pull.Generation = stored.Generation
	failed := failedPoll(pull, at(4*time.Hour))
	failed.Lease.Generation = stored.Generation
	failed.Polling.ConsecutiveFailures, failed.Active = 10, true
	w.must(w.store.PollFailed(w.ctx, failed))
	w.same("e-mails after it was switched on again", w.takeEmails(at(4*time.Hour)), []string{owner.Email + " feed_failing " + pull.Name})

	// Another node has the feed's lease: neither the failure nor the e-mail counts.
	failed.Lease.Generation--
	failed.Polling.ConsecutiveFailures = 11
	if err := w.store.PollFailed(w.ctx, failed); !errors.Is(err, mapdata.ErrFenced) {
		w.Errorf("a failure of an earlier generation: %v", err)
	}
	shrunk := w.polled(pull, at(5*time.Hour), 1)
	shrunk.Snapshot.Polling.Shrank, shrunk.Snapshot.Lease.Generation = true, stored.Generation-1
	if err := w.store.Apply(w.ctx, shrunk); !errors.Is(err, mapdata.ErrFenced) {
		w.Errorf("a snapshot of an earlier generation: %v", err)
	}
	w.same("e-mails of what was fenced", w.takeEmails(at(5*time.Hour)), []string(nil))
	shrunk.Snapshot.Lease.Generation = stored.Generation
	w.apply(shrunk)
	w.same("e-mails of a snapshot that shrank", w.takeEmails(at(5*time.Hour)), []string{owner.Email + " feed_shrank " + pull.Name})
}

func reviewLooks(w *testStore) {
	f, one, two := w.pushFeed(w.account()), w.account(), w.account()
	look := func(a *mapdata.Account, d time.Duration, want ...mapdata.ReviewLook) {
		w.Helper()
		others, err := w.store.LookAtReview(w.ctx, f.ID, a.ID, at(d), 10)
		w.must(err)
		w.same("others who look", others, want)
	}
	look(one, 0)
	look(one, time.Minute)
	look(two, 2*time.Minute, mapdata.ReviewLook{Email: one.Email, At: at(time.Minute)})
	look(one, 3*time.Minute, mapdata.ReviewLook{Email: two.Email, At: at(2 * time.Minute)})
	w.must(w.store.Prune(w.ctx, at(12*time.Minute)))
	look(two, 4*time.Minute, mapdata.ReviewLook{Email: one.Email, At: at(3 * time.Minute)})
	look(one, 14*time.Minute)
}

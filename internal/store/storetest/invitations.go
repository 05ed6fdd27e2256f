package storetest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"wayside/internal/ground/mapdata"
)

func invitationTests() map[string]func(*testStore) {
	return map[string]func(*testStore){
		"an invitation is listed until it is answered or expires": listsInvitations,
		"invitations are bounded":                                 boundsInvitations,
		"a maintainer is in the feed and in the list of feeds":    maintains,
		"a refused answer changes nothing":                        refusesAnswers,
		"a transferred feed takes its bytes along":                transfers,
		"a transfer keeps to the limits of the receiver":          boundsTransfers,
		"invitations and maintainers end with feed and account":   endsMaintainers,
	}
}

func (w *testStore) invitation(f *mapdata.Feed, by *mapdata.Account, what mapdata.InvitedTo, email string, when time.Time) *mapdata.Invitation {
	w.made++
	return &mapdata.Invitation{
		ID: fmt.Sprint("i", w.made), Feed: f.ID, FeedName: f.Name, What: what, Email: email, By: by.ID, ByEmail: by.Email,
		At: when, ExpiresAt: when.Add(mapdata.InvitationLifetime),
	}
}

func allowed(*mapdata.Feed) (mapdata.Side, error) { return mapdata.Side{}, nil }

func (w *testStore) invite(f *mapdata.Feed, by *mapdata.Account, what mapdata.InvitedTo, email string) *mapdata.Invitation {
	w.Helper()
	i := w.invitation(f, by, what, email, start)
	w.must(w.store.Invite(w.ctx, i, allowed))
	return i
}

// accept makes the account a maintainer or the owner, depending on the invitation.
func (w *testStore) accept(i *mapdata.Invitation, a *mapdata.Account, limits mapdata.ReceiverLimits) (*mapdata.Feed, error) {
	return w.store.AnswerInvitation(w.ctx, i.ID, at(time.Minute), limits, func(f *mapdata.Feed, got *mapdata.Invitation) (mapdata.Side, error) {
		w.same("answered invitation", got, i)
		f.UpdatedAt = at(time.Minute)
		if i.What == mapdata.InvitedToTransfer {
			f.Owner = a.ID
		} else {
			f.Maintainers = append(f.Maintainers, a.ID)
		}
		return mapdata.Side{}, nil
	})
}

func (w *testStore) invitationsOf(f *mapdata.Feed, now time.Time) []mapdata.Invitation {
	w.Helper()
	all, err := w.store.InvitationsOf(w.ctx, f.ID, now)
	w.must(err)
	return all
}

func listsInvitations(w *testStore) {
	owner := w.account()
	f := w.pushFeed(owner)
	i := w.invitation(f, owner, mapdata.InvitedToMaintain, "new@example.org", start)
	entry := mapdata.AuditEntry{At: start, Actor: owner.ID, Action: mapdata.AuditFeedInvite, Subject: f.ID.String(), Owner: owner.ID, Note: "maintain"}
	email := mapdata.Email{Kind: mapdata.EmailInvited, Address: i.Email, At: start, Due: start, Data: map[string]string{"feed_name": f.Name}}
	w.must(w.store.Invite(w.ctx, i, func(got *mapdata.Feed) (mapdata.Side, error) {
		w.same("feed", got.ID, f.ID)
		return mapdata.Side{Audit: []mapdata.AuditEntry{entry}, Emails: []mapdata.Email{email}}, nil
	}))
	w.same("entries", entries(w.audit(mapdata.AuditQuery{})), []mapdata.AuditEntry{entry})
	if due := w.due(start, at(time.Minute)); len(due) != 1 || due[0].Address != i.Email || due[0].Kind != email.Kind {
		w.Errorf("e-mails: %+v", due)
	}
	w.same("of the feed", w.invitationsOf(f, start), []mapdata.Invitation{*i})
	to, err := w.store.InvitationsTo(w.ctx, i.Email, at(mapdata.InvitationLifetime-time.Millisecond))
	w.must(err)
	w.same("to the address", to, []mapdata.Invitation{*i})
	if all := w.invitationsOf(f, i.ExpiresAt); len(all) > 0 {
		w.Errorf("expired: %+v", all)
	}
	_, err = w.store.AnswerInvitation(w.ctx, i.ID, i.ExpiresAt, mapdata.ReceiverLimits{}, nil)
	w.fails("an answer after it expired", err, mapdata.ErrNotFound)

	_, err = w.accept(i, w.account(), mapdata.ReceiverLimits{})
	w.must(err)
	if all := w.invitationsOf(f, start); len(all) > 0 {
		w.Errorf("answered: %+v", all)
	}
	_, err = w.accept(i, w.account(), mapdata.ReceiverLimits{})
	w.fails("a second answer", err, mapdata.ErrNotFound)
}

// boundsInvitations checks that five invitations to a feed are open, and that an account sends ten in a day and an address gets ten.
func boundsInvitations(w *testStore) {
	owner := w.account()
	f := w.pushFeed(owner)
	w.invite(f, owner, mapdata.InvitedToMaintain, "0@example.org")
	w.fails("the same again", w.store.Invite(w.ctx, w.invitation(f, owner, mapdata.InvitedToMaintain, "0@example.org", start), allowed), mapdata.ErrConflict)
	w.invite(f, owner, mapdata.InvitedToTransfer, "0@example.org") // is another one
	for n := 2; n < 5; n++ {
		w.invite(f, owner, mapdata.InvitedToMaintain, fmt.Sprint(n, "@example.org"))
	}
	w.fails("one more of the feed", w.store.Invite(w.ctx, w.invitation(f, owner, mapdata.InvitedToMaintain, "x@example.org", start), allowed), mapdata.ErrConflict)
	other := w.pushFeed(owner)
	for n := 5; n < 10; n++ {
		w.invite(other, owner, mapdata.InvitedToMaintain, fmt.Sprint(n, "@example.org"))
	}
	w.must(w.store.DeleteFeed(w.ctx, other.ID, mapdata.AuditEntry{At: start})) // its invitations count on
	third := w.pushFeed(owner)
	var limit *mapdata.LimitError
	if err := w.store.Invite(w.ctx, w.invitation(third, owner, mapdata.InvitedToMaintain, "y@example.org", at(time.Hour)), allowed); !errors.As(err, &limit) {
		w.Errorf("one more by the account: %v", err)
	}
	next := start.Add(mapdata.InvitationWindow)
	w.must(w.store.Invite(w.ctx, w.invitation(third, owner, mapdata.InvitedToMaintain, "y@example.org", next), allowed)) // a day after

	for range 10 {
		a := w.account()
		w.invite(w.pushFeed(a), a, mapdata.InvitedToTransfer, "wanted@example.org")
	}
	a := w.account()
	if err := w.store.Invite(w.ctx, w.invitation(w.pushFeed(a), a, mapdata.InvitedToTransfer, "wanted@example.org", start), allowed); !errors.As(err, &limit) {
		w.Errorf("one more to the address: %v", err)
	}
	w.must(w.store.Prune(w.ctx, start.Add(mapdata.InvitationLifetime)))
	if all := w.invitationsOf(f, start); len(all) > 0 {
		w.Errorf("after pruning: %+v", all)
	}
}

func maintains(w *testStore) {
	owner, a, b := w.account(), w.account(), w.account()
	f := w.pushFeed(owner)
	w.edit(f, func(f *mapdata.Feed) { f.Visibility = mapdata.Private })
	before := w.state().Revision
	for _, one := range []*mapdata.Account{a, b} {
		_, err := w.accept(w.invite(f, owner, mapdata.InvitedToMaintain, one.Email), one, mapdata.ReceiverLimits{})
		w.must(err)
	}
	if w.state().Revision == before {
		w.Error("followers do not hear of it")
	}
	got := w.feed(f)
	w.same("maintainers in the feed", got.Maintainers, []mapdata.AccountID{a.ID, b.ID})
	people, err := w.store.Maintainers(w.ctx, f.ID)
	w.must(err)
	w.same("maintainers", people, []mapdata.Maintainer{{Account: a.ID, Email: a.Email, Since: at(time.Minute)}, {Account: b.ID, Email: b.Email, Since: at(time.Minute)}})
	feeds, err := w.store.Feeds(w.ctx, a.ID, true)
	w.must(err)
	if len(feeds) != 1 || feeds[0].ID != f.ID || feeds[0].Owner != owner.ID {
		w.Errorf("feeds of a maintainer: %+v", feeds)
	}
	w.edit(f, func(f *mapdata.Feed) {
		f.Maintainers = slices.DeleteFunc(f.Maintainers, func(id mapdata.AccountID) bool { return id == a.ID })
	})
	w.same("maintainers that are left", w.feed(f).Maintainers, []mapdata.AccountID{b.ID})
	if feeds, err = w.store.Feeds(w.ctx, a.ID, true); err != nil || len(feeds) > 0 {
		w.Errorf("feeds of who left: %+v, %v", feeds, err)
	}
}

func refusesAnswers(w *testStore) {
	owner := w.account()
	f := w.pushFeed(owner)
	i := w.invite(f, owner, mapdata.InvitedToTransfer, "a@example.org")
	refusal := mapdata.Describe(mapdata.ErrForbidden, "no")
	_, err := w.store.AnswerInvitation(w.ctx, i.ID, start, mapdata.ReceiverLimits{}, func(f *mapdata.Feed, _ *mapdata.Invitation) (mapdata.Side, error) {
		f.Name = "changed"
		return mapdata.Side{}, refusal
	})
	if !errors.Is(err, refusal) {
		w.Errorf("answer: %v", err)
	}
	w.same("feed", w.feed(f), f)
	if all := w.invitationsOf(f, start); len(all) != 1 {
		w.Errorf("open: %+v", all)
	}
	second := w.invitation(f, owner, mapdata.InvitedToMaintain, "b@example.org", start)
	err = w.store.Invite(w.ctx, second, func(*mapdata.Feed) (mapdata.Side, error) { return mapdata.Side{}, refusal })
	if !errors.Is(err, refusal) || len(w.invitationsOf(f, start)) != 1 {
		w.Errorf("refused invitation: %v", err)
	}
}

func transfers(w *testStore) {
	owner, receiver := w.account(), w.account()
	f, kept := w.pushFeed(owner), w.pushFeed(owner)
	w.apply(w.pushed(f, start, entity(f, "a", start)))
	w.apply(w.pushed(kept, start, entity(kept, "b", start)))
	bytes := w.mark(f).Holds.Bytes
	i := w.invite(f, owner, mapdata.InvitedToTransfer, receiver.Email)
	w.invite(f, owner, mapdata.InvitedToMaintain, "late@example.org")
	got, err := w.accept(i, receiver, mapdata.ReceiverLimits{Feeds: 1, Bytes: bytes})
	w.must(err)
	if got.Owner != receiver.ID || got.Layer != f.Layer {
		w.Errorf("transferred: %+v", got)
	}
	if n := w.mark(f).AccountBytes; n != bytes {
		w.Errorf("the receiver holds %d bytes, want %d", n, bytes)
	}
	if n, want := w.mark(kept).AccountBytes, w.mark(kept).Holds.Bytes; n != want {
		w.Errorf("the owner before holds %d bytes, want %d", n, want)
	}
	if all := w.invitationsOf(f, start); len(all) > 0 {
		w.Errorf("open invitations of the owner before: %+v", all)
	}
	w.apply(w.pushed(f, at(time.Hour), entity(f, "c", at(time.Hour)))) // counts for the receiver
	if m := w.mark(f); m.AccountBytes != m.Holds.Bytes {
		w.Errorf("after a push the account holds %d bytes, the feed %d", m.AccountBytes, m.Holds.Bytes)
	}
	w.must(w.store.DeleteAccount(w.ctx, owner.ID, mapdata.AuditEntry{At: start}))
	if w.feed(f) == nil {
		w.Error("the feed went with the owner before")
	}
}

func (w *testStore) mark(f *mapdata.Feed) mapdata.Mark {
	w.Helper()
	m, err := w.store.Mark(w.ctx, f.ID)
	w.must(err)
	return m
}

func boundsTransfers(w *testStore) {
	owner, receiver := w.account(), w.account()
	f, own := w.pushFeed(owner), w.pushFeed(receiver)
	w.apply(w.pushed(f, start, entity(f, "a", start)))
	w.apply(w.pushed(own, start, entity(own, "b", start)))
	i := w.invite(f, owner, mapdata.InvitedToTransfer, receiver.Email)
	both := w.mark(f).Holds.Bytes + w.mark(own).Holds.Bytes
	for _, limits := range []mapdata.ReceiverLimits{{Feeds: 1}, {Bytes: both - 1}, {Bytes: 1}} {
		_, err := w.accept(i, receiver, limits)
		w.fails(fmt.Sprintf("%+v", limits), err, mapdata.ErrConflict)
	}
	if w.feed(f).Owner != owner.ID || w.mark(f).AccountBytes != w.mark(f).Holds.Bytes || len(w.invitationsOf(f, start)) != 1 {
		w.Error("a refused transfer changed something")
	}
	_, err := w.accept(i, receiver, mapdata.ReceiverLimits{Feeds: 2, Bytes: both})
	w.must(err)
}

func endsMaintainers(w *testStore) {
	owner, a, b := w.account(), w.account(), w.account()
	f, gone := w.pushFeed(owner), w.pushFeed(owner)
	for _, feed := range []*mapdata.Feed{f, gone} {
		for _, one := range []*mapdata.Account{a, b} {
			_, err := w.accept(w.invite(feed, owner, mapdata.InvitedToMaintain, one.Email), one, mapdata.ReceiverLimits{})
			w.must(err)
		}
	}
	w.invite(f, owner, mapdata.InvitedToTransfer, a.Email)
	w.invite(gone, owner, mapdata.InvitedToTransfer, b.Email)
	named := mapdata.Email{
		Account: owner.ID, Kind: mapdata.EmailMaintainerJoined, At: start, Due: start,
		Data: map[string]string{"who": a.Email, mapdata.EmailWhoID: a.ID.String()},
	}
	w.mailed(f, named)
	w.must(w.store.DeleteFeed(w.ctx, gone.ID, mapdata.AuditEntry{At: start}))
	if to, err := w.store.InvitationsTo(w.ctx, b.Email, start); err != nil || len(to) > 0 {
		w.Errorf("to a deleted feed: %+v, %v", to, err)
	}
	w.must(w.store.DeleteAccount(w.ctx, a.ID, mapdata.AuditEntry{At: start}))
	w.same("maintainers of the feed", w.feed(f).Maintainers, []mapdata.AccountID{b.ID})
	if all := w.invitationsOf(f, start); len(all) > 0 {
		w.Errorf("to a deleted account: %+v", all)
	}
	if due := w.due(start, at(time.Minute)); len(due) > 0 {
		w.Errorf("e-mails that name a deleted account: %+v", due)
	}
}

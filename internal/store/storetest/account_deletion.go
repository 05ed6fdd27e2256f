package storetest

import (
	"time"

	"wayside/internal/ground/mapdata"
)

func eraseTests() map[string]func(*testStore) {
	return map[string]func(*testStore){
		"deleting an account deletes what it owns": deletesAccounts,
		"an account is deleted once":               deletesAccountsOnce,
		"the votes of an account are listed":       readsBallots,
		"a deleted account frees its address":      freesAddresses,
		"e-mails to a deleted account are removed": deletesEmails,
		"a vote while its account is deleted":      votesDuringDeletion,
		"a feed registered during its owner's end": registersDuringDeletion,
		"deleted feeds are in the log of changes":  readsFeedChanges,
	}
}

func (w *testStore) deleteAccount(a *mapdata.Account) error {
	return w.store.DeleteAccount(w.ctx, a.ID, mapdata.AuditEntry{At: start, Actor: a.ID, Action: mapdata.AuditAccountDelete, Subject: a.ID.String()})
}

func deletesAccounts(w *testStore) {
	a, b := w.account(), w.account()
	night := "night"
	for _, one := range []*mapdata.Account{a, b} {
		id := one.ID.String()
		w.must(w.store.CreateSession(w.ctx, session(one, "session of "+id), ""))
		w.must(w.store.CreateAPIToken(w.ctx, &mapdata.APIToken{
			ID: "token of " + id, Account: one.ID, TokenHash: []byte("token of " + id), CreatedAt: start,
		}, mapdata.AuditEntry{At: start, Actor: one.ID}, nil))
		w.must(w.store.SetPreferences(w.ctx, one.ID, &mapdata.Preferences{Theme: &night}))
		w.must(w.store.SetSavedPlaces(w.ctx, one.ID, []byte(id)))
	}
	p := w.pairingOf("BCDF", "GHJK")
	w.must(w.answer(w.store, p, start, a, mapdata.PairingApproved))
	own, other := w.pushFeed(a), w.pushFeed(b)
	for _, f := range []*mapdata.Feed{own, other} {
		w.apply(w.pushed(f, start, entity(f, "x", start)))
	}
	w.cast(ballot(other, "x", a, mapdata.Confirm, at(time.Minute)))
	w.cast(ballot(other, "x", b, mapdata.Confirm, at(time.Minute)))

	w.must(w.deleteAccount(a))

	_, err := w.store.Account(w.ctx, a.ID)
	w.fails("the account", err, mapdata.ErrNotFound)
	_, _, err = w.store.Session(w.ctx, session(a, "session of "+a.ID.String()).TokenHash)
	w.fails("its session", err, mapdata.ErrNotFound)
	_, _, err = w.store.APIToken(w.ctx, []byte("token of "+a.ID.String()))
	w.fails("its API token", err, mapdata.ErrNotFound)
	_, err = w.store.Pairing(w.ctx, p.DeviceHash)
	w.fails("the screen that it approved", err, mapdata.ErrNotFound)
	prefs, err := w.store.Preferences(w.ctx, a.ID)
	w.must(err)
	w.same("its preferences", prefs, &mapdata.Preferences{})
	w.wantPlaces(a, nil)
	w.wantPlaces(b, []byte(b.ID.String()))
	_, err = w.store.Feed(w.ctx, own.ID)
	w.fails("its feed", err, mapdata.ErrNotFound)
	w.same("its entities", w.entities(own), byID())
	w.wantVote("it voted", other.ID.SourceID(), "x", a, mapdata.NoVote)
	ballots, err := w.store.Ballots(w.ctx, a.ID)
	w.must(err)
	w.same("its votes", len(ballots), 0)

	got, err := w.store.Account(w.ctx, b.ID)
	w.must(err)
	w.same("another account", got, b)
	_, _, err = w.store.Session(w.ctx, session(b, "session of "+b.ID.String()).TokenHash)
	w.must(err)
	_, _, err = w.store.APIToken(w.ctx, []byte("token of "+b.ID.String()))
	w.must(err)
	w.same("another's entities", len(w.entities(other)), 1)
	w.wantVote("another voted", other.ID.SourceID(), "x", b, mapdata.Confirm)
	voted, err := w.store.Voted(w.ctx, other.ID, "x", at(time.Minute))
	w.must(err)
	w.same("confirms that count", voted.Tally.Confirms, 2)
}

func deletesAccountsOnce(w *testStore) {
	a := w.account()
	w.must(w.deleteAccount(a))
	w.fails("again", w.deleteAccount(a), mapdata.ErrNotFound)
	w.fails("an unknown account", w.deleteAccount(&mapdata.Account{ID: mapdata.AccountID{1}}), mapdata.ErrNotFound)
	w.fails("a session of a deleted account", w.store.CreateSession(w.ctx, session(a, "late"), ""), mapdata.ErrNotFound)
}

func readsBallots(w *testStore) {
	a, b := w.account(), w.account()
	f := w.pushFeed(b)
	w.apply(w.pushed(f, start, entity(f, "x", start)))
	w.cast(liveBallot("i", a, mapdata.Dispute, at(2*time.Minute)))
	w.cast(ballot(f, "x", a, mapdata.Confirm, at(time.Minute)))
	w.cast(ballot(f, "x", b, mapdata.Dispute, at(time.Minute)))
	got, err := w.store.Ballots(w.ctx, a.ID)
	w.must(err)
	w.same("votes", got, []mapdata.Ballot{
		{Source: f.ID.SourceID(), ExternalID: "x", Account: a.ID, Vote: mapdata.Confirm, At: at(time.Minute)},
		{Source: mapdata.Incidents, ExternalID: "i", Account: a.ID, Vote: mapdata.Dispute, At: at(2 * time.Minute)},
	})
	w.must(w.store.Prune(w.ctx, at(31*24*time.Hour)))
	got, err = w.store.Ballots(w.ctx, a.ID)
	w.must(err)
	w.same("severed votes", len(got), 0)
}

func freesAddresses(w *testStore) {
	a := w.account()
	w.must(w.deleteAccount(a))
	id, err := mapdata.NewAccountID()
	w.must(err)
	again := *a
	again.ID = id
	w.must(w.store.CreateAccount(w.ctx, &again))
	got, err := w.store.AccountByEmail(w.ctx, a.Email)
	w.must(err)
	w.same("the new account", got, &again)
}

func deletesEmails(w *testStore) {
	a, b := w.account(), w.account()
	for _, one := range []*mapdata.Account{a, b} {
		w.mailed(w.pushFeed(one), mapdata.Email{Account: one.ID, Kind: mapdata.EmailApproved, At: start})
		in := signIn("of "+one.Email, start)
		in.Email = one.Email
		stored, err := w.store.CreateSignIn(w.ctx, in, &mapdata.Email{Kind: mapdata.EmailSignIn, Address: one.Email, At: start}, start, 3)
		w.must(err)
		w.same("stored", stored, true)
	}
	w.must(w.deleteAccount(a))
	for _, email := range w.due(at(time.Minute), at(time.Hour)) {
		if email.Address != b.Email {
			w.Errorf("an e-mail %s has no recipient", email.Kind)
		}
	}
	_, err := w.store.TakeSignIn(w.ctx, signIn("of "+a.Email, start).TokenHash, start)
	w.fails("the link that waited", err, mapdata.ErrNotFound)
	_, err = w.store.TakeSignIn(w.ctx, signIn("of "+b.Email, start).TokenHash, start)
	w.must(err)
}

func readsFeedChanges(w *testStore) {
	a := w.account()
	gone := map[mapdata.FeedID]bool{w.pushFeed(a).ID: true, w.pullFeed(a).ID: true}
	before := w.state()
	w.must(w.deleteAccount(a))
	if after := w.state(); after.Revision != before.Revision+int64(len(gone))+1 { // and one for the account
		w.Errorf("revision %d, was %d", after.Revision, before.Revision)
	}
}

// concurrently runs both functions at the same time and returns the error of each.
func (w *testStore) concurrently(one, other func() error) (errs [2]error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		errs[0] = one()
	}()
	errs[1] = other()
	<-done
	return errs
}

func votesDuringDeletion(w *testStore) {
	owner := w.account()
	f := w.pushFeed(owner)
	w.apply(w.pushed(f, start, entity(f, "x", start)))
	for range 10 {
		a := w.account()
		w.cast(ballot(f, "x", a, mapdata.Confirm, at(time.Minute)))
		errs := w.concurrently(func() error { return w.deleteAccount(a) }, func() error {
			_, err := w.store.CastVote(w.ctx, ballot(f, "x", a, mapdata.Dispute, at(2*time.Minute)))
			return err
		})
		w.must(errs[0])
		if errs[1] != nil {
			w.fails("a vote of a deleted account", errs[1], mapdata.ErrNotFound)
		}
		w.wantVote("who is gone", f.ID.SourceID(), "x", a, mapdata.NoVote)
	}
}

func registersDuringDeletion(w *testStore) {
	for range 10 {
		a := w.account()
		f := w.draft(a)
		f.PushTokenHash = []byte("push token of " + f.ID.String())
		errs := w.concurrently(func() error { return w.deleteAccount(a) }, func() error { return w.store.CreateFeed(w.ctx, f, unlimitedFeeds) })
		w.must(errs[0])
		if errs[1] != nil {
			w.fails("a feed of a deleted account", errs[1], mapdata.ErrNotFound)
		}
		_, err := w.store.Feed(w.ctx, f.ID)
		w.fails("a feed of a deleted account", err, mapdata.ErrNotFound)
	}
}

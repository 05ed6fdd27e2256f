package storetest

import (
	"errors"
	"fmt"
	"time"

	"wayside/internal/ground/mapdata"
)

// emailChange returns a change of the account's address whose tokens have the hashes "old" and "new" with a number.
func emailChange(a *mapdata.Account, to string, number int, when time.Time) *mapdata.EmailChange {
	return &mapdata.EmailChange{
		Account: a.ID, Email: to, OldHash: fmt.Append(nil, "old ", number), NewHash: fmt.Append(nil, "new ", number),
		CreatedAt: when, ExpiresAt: when.Add(mapdata.EmailChangeTTL),
	}
}

func (w *testStore) requestChange(c *mapdata.EmailChange) (stored bool) {
	w.Helper()
	stored, err := w.store.RequestEmailChange(w.ctx, c, []mapdata.Email{
		{Account: c.Account, Kind: mapdata.EmailChangeOld, At: c.CreatedAt},
		{Account: c.Account, Address: c.Email, Kind: mapdata.EmailChangeNew, At: c.CreatedAt},
	}, c.CreatedAt.Add(-time.Hour), 3)
	w.must(err)
	return stored
}

func (w *testStore) confirmChange(token string, when time.Time) (mapdata.EmailChangeStep, error) {
	entry := mapdata.AuditEntry{At: when, Via: mapdata.ViaPage, Action: mapdata.AuditAccountEmail}
	return w.store.ConfirmEmailChange(w.ctx, []byte(token), when, entry)
}

// addressee is an e-mail's kind and address.
type addressee struct {
	Kind    mapdata.EmailKind
	Address string
}

func (w *testStore) addressees(when time.Time) []addressee {
	w.Helper()
	var all []addressee
	for _, email := range w.due(when, when) {
		all = append(all, addressee{email.Kind, email.Address})
	}
	return all
}

func confirmsAddresses(w *testStore) {
	a, other := w.account(), w.account()
	w.must(w.store.CreateSession(w.ctx, session(a, "stays"), ""))
	old := signIn("of the old address", start)
	old.Email = a.Email
	_, err := w.store.CreateSignIn(w.ctx, old, nil, start, unlimitedFeeds)
	w.must(err)
	c := emailChange(a, "moved@example.org", 1, start)
	w.same("stored", w.requestChange(c), true)
	w.same("e-mails", w.addressees(start), []addressee{{mapdata.EmailChangeOld, a.Email}, {mapdata.EmailChangeNew, c.Email}})
	waiting, err := w.store.EmailChange(w.ctx, a.ID, at(time.Minute))
	w.must(err)
	w.same("the change that waits", waiting, c)

	for range 2 { // a second confirmation changes nothing
		step, err := w.confirmChange("new 1", at(time.Minute))
		w.must(err)
		w.same("the new address confirms", step, mapdata.EmailChangeStep{ByNew: true, Email: c.Email})
	}
	got, err := w.store.Account(w.ctx, a.ID)
	w.must(err)
	w.same("the account of which one address confirmed", got, a)
	step, err := w.confirmChange("old 1", at(time.Minute))
	w.must(err)
	w.same("the old address confirms", step, mapdata.EmailChangeStep{Done: true, Email: c.Email})

	got, err = w.store.AccountByEmail(w.ctx, c.Email)
	w.must(err)
	w.same("the account", got.ID, a.ID)
	_, holder, err := w.store.Session(w.ctx, session(a, "stays").TokenHash)
	w.must(err)
	w.same("the address that its session has", holder.Email, c.Email)
	_, err = w.store.TakeSignIn(w.ctx, old.TokenHash, at(time.Minute))
	w.fails("a sign-in of the old address", err, mapdata.ErrNotFound)
	_, err = w.confirmChange("old 1", at(time.Minute))
	w.fails("a confirmation after the change", err, mapdata.ErrNotFound)
	want := []mapdata.AuditEntry{
		{At: at(time.Minute), Actor: a.ID, Via: mapdata.ViaPage, Action: mapdata.AuditAccountEmail, Subject: a.ID.String(), Owner: a.ID},
	}
	w.same("audit log", entries(w.audit(mapdata.AuditQuery{Actions: []string{mapdata.AuditAccountEmail}})), want)

	// An address with an account: only a person who proves to own it learns that, and nothing changes.
	w.same("stored", w.requestChange(emailChange(a, other.Email, 2, at(time.Hour))), true)
	step, err = w.confirmChange("old 2", at(time.Hour))
	w.must(err)
	w.same("the old address confirms", step.Done, false)
	step, err = w.confirmChange("new 2", at(time.Hour))
	w.fails("the new address, which has an account", err, mapdata.ErrConflict)
	w.same("the new address confirmed", step.ByNew, true)
}

func boundsEmailChanges(w *testStore) {
	a, b := w.account(), w.account()
	for i := range 3 {
		w.same("stored", w.requestChange(emailChange(a, fmt.Sprintf("a%d@example.org", i), i, start)), true)
	}
	w.same("a fourth of the account", w.requestChange(emailChange(a, "a4@example.org", 4, at(59*time.Minute))), false)
	w.same("e-mails: the last replaced those before", w.addressees(at(time.Hour)),
		[]addressee{{mapdata.EmailChangeOld, a.Email}, {mapdata.EmailChangeNew, "a2@example.org"}})
	w.same("an hour later", w.requestChange(emailChange(a, "b@example.org", 5, at(time.Hour+time.Second))), true)
	w.same("to an address", w.requestChange(emailChange(a, "b@example.org", 6, at(time.Hour+time.Second))), true)
	w.same("to an address", w.requestChange(emailChange(b, "b@example.org", 7, at(time.Hour+time.Second))), true)
	w.same("a fourth to the address", w.requestChange(emailChange(b, "b@example.org", 8, at(time.Hour+time.Second))), false)
}

func endsEmailChanges(w *testStore) {
	fails := func(what, token string, when time.Time) {
		w.Helper()
		_, err := w.confirmChange(token, when)
		w.fails(what, err, mapdata.ErrNotFound)
	}
	a := w.account()
	w.requestChange(emailChange(a, "one@example.org", 1, start))
	w.requestChange(emailChange(a, "two@example.org", 2, start))
	fails("a change that another one replaced", "new 1", at(time.Minute))
	fails("a day later", "new 2", at(mapdata.EmailChangeTTL))
	_, err := w.store.EmailChange(w.ctx, a.ID, at(mapdata.EmailChangeTTL))
	w.fails("the change a day later", err, mapdata.ErrNotFound)

	w.must(w.store.ChangeEmail(w.ctx, a.ID, "operator@example.org", mapdata.AuditEntry{At: start, Action: mapdata.AuditAccountEmail}))
	fails("after an operator changed the address", "new 2", at(time.Minute))
	w.same("its e-mails", len(w.addressees(at(time.Hour))), 0)

	w.requestChange(emailChange(a, "three@example.org", 3, start))
	w.must(w.store.SuspendAccount(w.ctx, a.ID, mapdata.Suspension{At: start, Reason: "r"}, mapdata.Side{}))
	fails("of a suspended account", "new 3", at(time.Minute))
	w.must(w.store.ResumeAccount(w.ctx, a.ID, mapdata.Side{}))
	_, err = w.confirmChange("new 3", at(time.Minute))
	w.must(err)
	w.must(w.store.Prune(w.ctx, at(mapdata.EmailChangeTTL)))
	fails("a change that was pruned", "old 3", at(time.Minute))

	b := w.account()
	w.requestChange(emailChange(b, "four@example.org", 4, start))
	w.must(w.deleteAccount(b))
	fails("of a deleted account", "new 4", at(time.Minute))
	for _, to := range w.addressees(at(time.Hour)) {
		if to.Address == "four@example.org" {
			w.Errorf("a deleted account still has an e-mail %s", to.Kind)
		}
	}
	for number := 10; number < 15; number++ { // both at the same time
		c := w.account()
		w.requestChange(emailChange(c, fmt.Sprintf("moved%d@example.org", number), number, start))
		errs := w.concurrently(func() error {
			_, err := w.confirmChange(fmt.Sprint("old ", number), at(time.Minute))
			return err
		}, func() error {
			_, err := w.confirmChange(fmt.Sprint("new ", number), at(time.Minute))
			return err
		})
		w.must(errors.Join(errs[:]...))
		got, err := w.store.Account(w.ctx, c.ID)
		w.must(err)
		w.same("the address", got.Email, fmt.Sprintf("moved%d@example.org", number))
	}
}

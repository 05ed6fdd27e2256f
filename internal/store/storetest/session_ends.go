package storetest

import (
	"time"

	"wayside/internal/ground/mapdata"
)

func sessionEndTests() map[string]func(*testStore) {
	return map[string]func(*testStore){
		"a sign-in uses up the address's others":        usesUpSignIns,
		"a code works only in the browser that asked":   bindsCodesToBrowsers,
		"a session ends the one that it replaces":       replacesSessions,
		"a passkey ends the session and the sign-ins":   replacesSessionsByPasskey,
		"ending a session ends approvals of screens":    endsApprovals,
		"a session that ended approves no screen":       refusesAnswersOfEndedSessions,
		"a screen replaces its session and sends email": replacesSessionsOfScreens,
		"the log names accounts whose sessions ended":   logsAccounts,
	}
}

func usesUpSignIns(w *testStore) {
	for _, take := range []func(s *mapdata.SignIn) error{
		func(s *mapdata.SignIn) error {
			_, err := w.store.TakeSignIn(w.ctx, s.TokenHash, start)
			return err
		},
		func(s *mapdata.SignIn) error {
			_, err := w.store.TakeSignInByCode(w.ctx, s.Email, s.CodeHash, browserHash, start, 5)
			return err
		},
	} {
		w.made++
		name := string(rune('a' + w.made))
		all := []*mapdata.SignIn{w.signInOf(name+"1", start), w.signInOf(name+"2", start), w.signInOf(name+"3", start)}
		other := signIn(name+"other", start)
		other.Email = "eve@example.org"
		_, err := w.store.CreateSignIn(w.ctx, other, nil, start, unlimitedFeeds)
		w.must(err)
		w.must(take(all[1]))
		for _, s := range all {
			_, err := w.store.TakeSignIn(w.ctx, s.TokenHash, start)
			w.fails("a link after another sign-in", err, mapdata.ErrNotFound)
			_, err = w.store.TakeSignInByCode(w.ctx, s.Email, s.CodeHash, browserHash, start, 5)
			w.fails("a code after another sign-in", err, mapdata.ErrNotFound)
		}
		_, err = w.store.TakeSignIn(w.ctx, other.TokenHash, start)
		w.must(err)
	}
}

func bindsCodesToBrowsers(w *testStore) {
	s, unbound := w.signInOf("a", start), signIn("unbound", start)
	unbound.Browser = nil
	_, err := w.store.CreateSignIn(w.ctx, unbound, nil, start, unlimitedFeeds)
	w.must(err)
	for range 7 { // another browser's tries do not count against the one that requested the sign-in
		_, err := w.store.TakeSignInByCode(w.ctx, address, s.CodeHash, []byte("another browser"), start, 5)
		w.fails("code in another browser", err, mapdata.ErrNotFound)
		_, err = w.store.TakeSignInByCode(w.ctx, address, unbound.CodeHash, nil, start, 5)
		w.fails("code of no browser", err, mapdata.ErrNotFound)
	}
	got, err := w.store.TakeSignInByCode(w.ctx, address, s.CodeHash, browserHash, start, 5)
	w.must(err)
	w.same("sign-in", got, s)
}

// approved stores a pairing that the account has approved.
func (w *testStore) approved(a *mapdata.Account, rest string) *mapdata.Pairing {
	w.Helper()
	p := w.pairingOf("BCDF", rest)
	w.must(w.answer(w.store, p, start, a, mapdata.PairingApproved))
	return p
}

// wantOver checks that the screen of a pairing is not signed in.
func (w *testStore) wantOver(what string, p *mapdata.Pairing) {
	w.Helper()
	got, err := w.store.Pairing(w.ctx, p.DeviceHash)
	w.must(err)
	if state := got.At(start, pairingTries); state != mapdata.PairingOver {
		w.Errorf("%s: its state is %s", what, state)
	}
	_, err = w.store.TakePairing(w.ctx, p.DeviceHash, start, session(&mapdata.Account{}, "of "+string(p.CodeHash)), "", nil)
	w.fails(what, err, mapdata.ErrNotFound)
}

// wantEnded checks that a session has ended.
func (w *testStore) wantEnded(s *mapdata.Session) {
	w.Helper()
	_, _, err := w.store.Session(w.ctx, s.TokenHash)
	w.fails("session "+s.ID, err, mapdata.ErrNotFound)
}

func replacesSessions(w *testStore) {
	a, b := w.account(), w.account()
	old, kept := session(a, "old"), session(a, "kept")
	w.must(w.store.CreateSession(w.ctx, old, ""))
	w.must(w.store.CreateSession(w.ctx, kept, old.ID))
	w.wantEnded(old)
	p := w.approved(a, "one")
	again := session(b, "of another account")
	w.must(w.store.CreateSession(w.ctx, again, kept.ID))
	w.wantEnded(kept)
	w.wantOver("approved before", p)
	w.must(w.store.CreateSession(w.ctx, session(b, "last"), "ended meanwhile"))
}

func replacesSessionsByPasskey(w *testStore) {
	a := w.account()
	old, p := session(a, "old"), passkey(a, "key")
	w.must(w.store.CreateSession(w.ctx, old, ""))
	w.must(w.store.CreatePasskey(w.ctx, p, answer("made"), mapdata.AuditEntry{At: start}, nil))
	waiting := signIn("waiting", start)
	waiting.Email = a.Email
	_, err := w.store.CreateSignIn(w.ctx, waiting, nil, start, unlimitedFeeds)
	w.must(err)
	w.must(w.store.UsePasskey(w.ctx, &mapdata.PasskeyUse{
		Passkey: p.ID, Was: p.Blob, Blob: []byte("used"), At: start, Day: start, Answer: answer("used"), NewSession: session(a, "new"), Replaces: old.ID,
	}))
	w.wantEnded(old)
	_, err = w.store.TakeSignIn(w.ctx, waiting.TokenHash, start)
	w.fails("a link that waited", err, mapdata.ErrNotFound)
}

func endsApprovals(w *testStore) {
	a, b := w.account(), w.account()
	one, two := session(a, "one"), session(a, "two")
	w.must(w.store.CreateSession(w.ctx, one, ""))
	w.must(w.store.CreateSession(w.ctx, two, ""))
	changed := *a
	changed.Role = mapdata.Curator
	for i, end := range []func() error{
		func() error { return w.store.DeleteSession(w.ctx, a.ID, one.ID) },
		func() error { return w.store.DeleteOtherSessions(w.ctx, a.ID, two.ID) }, // there is none
		func() error { return w.store.UpdateAccount(w.ctx, &changed, mapdata.AuditEntry{At: start}) },
	} {
		what := []string{"sign-out", "end of others", "change of role"}[i]
		approved, others, waiting := w.approved(a, what+" 1"), w.approved(b, what+" 2"), w.pairingOf("BCDF", what+" 3")
		w.must(end())
		w.wantOver(what, approved)
		_, err := w.store.TakePairing(w.ctx, others.DeviceHash, start, session(b, "screen "+what), "", nil)
		w.must(err)
		_, err = w.byCode(waiting, start)
		w.must(err)
	}
	all, err := w.store.Sessions(w.ctx, a.ID)
	w.must(err)
	w.same("sessions that are left", all, []mapdata.Session{*two})
}

func refusesAnswersOfEndedSessions(w *testStore) {
	a := w.account()
	s := session(a, "one")
	w.must(w.store.CreateSession(w.ctx, s, ""))
	by := mapdata.PairingAnswer{Account: a.ID, Session: s.ID, State: mapdata.PairingApproved}
	first, second := w.pairingOf("BCDF", "1"), w.pairingOf("BCDF", "2")
	_, err := w.store.AnswerPairing(w.ctx, first.Name, first.CodeHash, start, pairingTries, by)
	w.must(err)
	w.must(w.store.DeleteSession(w.ctx, a.ID, s.ID))
	_, err = w.store.AnswerPairing(w.ctx, second.Name, second.CodeHash, start, pairingTries, by)
	w.fails("the answer of a session that ended", err, mapdata.ErrUnauthenticated)
}

func replacesSessionsOfScreens(w *testStore) {
	a := w.account()
	old, screen := session(a, "old"), session(a, "screen")
	screen.Scope = mapdata.ScopeScreen
	w.must(w.store.CreateSession(w.ctx, old, ""))
	p := w.approved(a, "1")
	email := &mapdata.Email{Kind: mapdata.EmailScreenPaired, Data: map[string]string{"name": "a Tesla"}, At: start}
	_, err := w.store.TakePairing(w.ctx, p.DeviceHash, start, screen, old.ID, email)
	w.must(err)
	w.wantEnded(old)
	got, _, err := w.store.Session(w.ctx, screen.TokenHash)
	w.must(err)
	w.same("session", got, screen)
	_, err = w.store.TakePairing(w.ctx, p.DeviceHash, at(time.Second), session(a, "again"), "", email)
	w.fails("the second time", err, mapdata.ErrNotFound)
	w.wantOneEmail(a, email)
}

func logsAccounts(w *testStore) {
	a := w.account()
	for _, id := range []string{"one", "two", "three"} {
		w.must(w.store.CreateSession(w.ctx, session(a, id), ""))
	}
	token := &mapdata.APIToken{ID: "token", Account: a.ID, TokenHash: []byte("token"), CreatedAt: start}
	w.must(w.store.CreateAPIToken(w.ctx, token, mapdata.AuditEntry{At: start}, nil))
	before := w.state().Revision
	for _, end := range []func() error{
		func() error { return w.store.DeleteSession(w.ctx, a.ID, "one") },
		func() error { return w.store.DeleteOtherSessions(w.ctx, a.ID, "two") },
		func() error { return w.store.CreateSession(w.ctx, session(a, "four"), "two") },
		func() error { return w.store.DeleteAPIToken(w.ctx, a.ID, token.ID, mapdata.AuditEntry{At: start}) },
		func() error { return w.store.UpdateAccount(w.ctx, a, mapdata.AuditEntry{At: start}) },
		func() error { return w.deleteAccount(a) },
	} {
		w.must(end())
		changes, err := w.store.Changes(w.ctx, before, 100)
		w.must(err)
		w.same("change", changes, []mapdata.FeedChange{{Revision: before + 1, Account: a.ID}})
		before++
	}
	w.fails("a session that is gone", w.store.DeleteSession(w.ctx, a.ID, "one"), mapdata.ErrNotFound)
	if got := w.state().Revision; got != before {
		w.Errorf("what failed raised the revision from %d to %d", before, got)
	}
}

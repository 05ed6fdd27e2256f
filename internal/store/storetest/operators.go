package storetest

import (
	"errors"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/store"
)

func operatorTests() map[string]func(*testStore) {
	return map[string]func(*testStore){
		"all sessions of an account end":   endsAllSessions,
		"one session of an account ends":   endsOneSession,
		"an account gets another address":  changesAddresses,
		"auth headers are sealed anew":     resealsHeaders,
		"two addresses confirm a change":   confirmsAddresses,
		"changes of addresses are bounded": boundsEmailChanges,
		"changes of addresses end":         endsEmailChanges,
	}
}

func (w *testStore) endSessions(a *mapdata.Account, id string) (int, error) {
	return w.store.EndSessions(w.ctx, a.ID, id, mapdata.AuditEntry{At: start, Action: mapdata.AuditAccountSignOut, Subject: a.ID.String()})
}

func endsAllSessions(w *testStore) {
	a, b := w.account(), w.account()
	for _, s := range []*mapdata.Session{session(a, "a1"), session(a, "a2"), session(b, "b1")} {
		w.must(w.store.CreateSession(w.ctx, s, ""))
	}
	p := w.pairingOf("BCDF", "GHJK")
	w.must(w.answer(w.store, p, start, a, mapdata.PairingApproved))
	ended, err := w.endSessions(a, "")
	w.must(err)
	w.same("ended", ended, 2)
	left, err := w.store.Sessions(w.ctx, a.ID)
	w.must(err)
	w.same("left", len(left), 0)
	left, err = w.store.Sessions(w.ctx, b.ID)
	w.must(err)
	w.same("the other account's", len(left), 1)
	_, err = w.store.TakePairing(w.ctx, p.DeviceHash, at(time.Second), session(a, "screen"), "", nil)
	w.fails("a screen that was approved before", err, mapdata.ErrNotFound)
	ended, err = w.endSessions(a, "")
	w.must(err)
	w.same("ended again", ended, 0)
	w.same("audit entries", w.auditActions(a), []string{mapdata.AuditAccountSignOut, mapdata.AuditAccountSignOut})
}

// auditActions lists the actions on the account, newest first.
func (w *testStore) auditActions(a *mapdata.Account) []string {
	w.Helper()
	entries, err := w.store.Audit(w.ctx, &mapdata.AuditQuery{Subject: a.ID.String(), Limit: 100})
	w.must(err)
	actions := make([]string, len(entries))
	for i := range entries {
		actions[i] = entries[i].Action
	}
	return actions
}

func endsOneSession(w *testStore) {
	a, b := w.account(), w.account()
	for _, s := range []*mapdata.Session{session(a, "a1"), session(a, "a2"), session(b, "b1")} {
		w.must(w.store.CreateSession(w.ctx, s, ""))
	}
	ended, err := w.endSessions(a, "a1")
	w.must(err)
	w.same("ended", ended, 1)
	for _, id := range []string{"a1", "b1", "unknown"} {
		_, err = w.endSessions(a, id)
		w.fails("session "+id, err, mapdata.ErrNotFound)
	}
	left, err := w.store.Sessions(w.ctx, a.ID)
	w.must(err)
	w.same("left", len(left), 1)
	w.same("audit entries", w.auditActions(a), []string{mapdata.AuditAccountSignOut})
}

func changesAddresses(w *testStore) {
	a, b := w.account(), w.account()
	change := func(a *mapdata.Account, to string) error {
		return w.store.ChangeEmail(w.ctx, a.ID, to, mapdata.AuditEntry{At: start, Action: mapdata.AuditAccountEmail, Subject: a.ID.String()})
	}
	s := signIn("old", start)
	s.Email = a.Email
	_, err := w.store.CreateSignIn(w.ctx, s, nil, start, unlimitedFeeds)
	w.must(err)
	w.fails("an address that is taken", change(a, b.Email), mapdata.ErrConflict)
	got, err := w.store.Account(w.ctx, a.ID)
	w.must(err)
	w.same("the account after a conflict", got, a)

	old := a.Email
	w.must(change(a, "moved@example.org"))
	got, err = w.store.AccountByEmail(w.ctx, "moved@example.org")
	w.must(err)
	w.same("the account", got.ID, a.ID)
	_, err = w.store.AccountByEmail(w.ctx, old)
	w.fails("the old address", err, mapdata.ErrNotFound)
	_, err = w.store.TakeSignIn(w.ctx, s.TokenHash, at(time.Second))
	w.fails("a sign-in of the old address", err, mapdata.ErrNotFound)
	w.fails("an unknown account", change(&mapdata.Account{ID: mapdata.AccountID{1}}, "x@example.org"), mapdata.ErrNotFound)
	w.same("audit entries", w.auditActions(a), []string{mapdata.AuditAccountEmail})
}

func resealsHeaders(w *testStore) {
	none, err := w.store.AnySealed(w.ctx)
	w.must(err)
	if none != nil {
		w.Errorf("an empty store has a sealed header: %+v", none)
	}
	a := w.account()
	first := &mapdata.AppInstall{Account: a.ID, App: w.createdApp(w.account()).ID, Config: []byte("set"), InstalledAt: start}
	w.must(w.setInstall(first, 1))
	set, err := w.store.AnySealed(w.ctx)
	w.must(err)
	w.same("any config", set, &store.SealedHeader{Account: a.ID, App: first.App, Text: []byte("set")})
	w.must(w.store.Uninstall(w.ctx, a.ID, first.App))
	sealed := make(map[mapdata.FeedID]string)
	for _, text := range []string{"one", "", "two"} {
		f := w.fullFeed(a)
		f.PullAuthSealed = nil
		if text != "" {
			f.PullAuthSealed = []byte(text)
		}
		w.must(w.store.CreateFeed(w.ctx, f, unlimitedFeeds))
		sealed[f.ID] = text
	}
	app := w.createdApp(a)
	kept := &mapdata.AppInstall{Account: w.account().ID, App: app.ID, Config: []byte("config"), InstalledAt: start}
	lost := &mapdata.AppInstall{Account: w.account().ID, App: app.ID, Config: []byte("two"), InstalledAt: start}
	w.must(w.setInstall(kept, 1))
	w.must(w.setInstall(lost, 1))
	one, err := w.store.AnySealed(w.ctx)
	w.must(err)
	w.same("any header", string(one.Text), sealed[one.Feed])

	audit := mapdata.AuditEntry{At: start, Action: mapdata.AuditKeyRotate}
	failure := errors.New("not this one")
	_, err = w.store.Reseal(w.ctx, func(h store.SealedHeader) ([]byte, error) {
		if string(h.Text) == "two" {
			return nil, failure
		}
		return []byte("changed"), nil
	}, audit)
	w.fails("a header that cannot be opened", err, failure)
	w.wantSealed(sealed)

	n, err := w.store.Reseal(w.ctx, func(h store.SealedHeader) ([]byte, error) {
		if string(h.Text) == "two" {
			return nil, nil
		}
		return append([]byte("new "), h.Text...), nil
	}, audit)
	w.must(err)
	w.same("headers and configs", n, 4)
	w.same("configs", w.configs(kept.Account, lost.Account), []string{"new config", ""})
	for id, text := range sealed {
		sealed[id] = map[string]string{"one": "new one"}[text]
	}
	w.wantSealed(sealed)
}

// configs returns the sealed configs of accounts that install one app each; empty: it was uninstalled.
func (w *testStore) configs(accounts ...mapdata.AccountID) (texts []string) {
	w.Helper()
	for _, id := range accounts {
		text := ""
		for _, i := range w.installs(&mapdata.Account{ID: id}) {
			text = string(i.Config)
		}
		texts = append(texts, text)
	}
	return texts
}

func (w *testStore) wantSealed(want map[mapdata.FeedID]string) {
	w.Helper()
	got := make(map[mapdata.FeedID]string)
	for id := range want {
		f, err := w.store.Feed(w.ctx, id)
		w.must(err)
		got[id] = string(f.PullAuthSealed)
	}
	w.same("sealed headers", got, want)
}

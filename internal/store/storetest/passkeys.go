package storetest

import (
	"sync"
	"time"

	"wayside/internal/ground/mapdata"
)

func passkeyTests() map[string]func(*testStore) {
	return map[string]func(*testStore){
		"a passkey is found by its credential":        findsPasskeys,
		"passkeys are listed, renamed and removed":    listsPasskeys,
		"a credential is one account's":               refusesSecondPasskey,
		"a passkey signs in":                          signsInByPasskey,
		"a passkey confirms a session of its account": confirmsSessions,
		"a challenge is answered once":                answersOnce,
		"of many answers to a challenge one counts":   answersOnceConcurrently,
		"a use is of the passkey that was verified":   refusesOldPasskeys,
		"a refused passkey is flagged":                flagsPasskeys,
		"expired answers are pruned":                  prunesAnswers,
		"deleting an account deletes its passkeys":    deletesPasskeys,
		"a sign-in while its account is deleted":      usesPasskeyDuringDeletion,
	}
}

func passkey(a *mapdata.Account, name string) *mapdata.Passkey {
	return &mapdata.Passkey{
		ID: name, CredentialID: []byte("credential " + name), Account: a.ID, Name: "My é " + name, Blob: []byte(`{"x":"` + name + `"}`),
		CreatedAt: start,
	}
}

func answer(name string) mapdata.Challenge {
	return mapdata.Challenge{Hash: []byte("challenge " + name), ExpiresAt: at(5 * time.Minute)}
}

func passkeyAudit(a *mapdata.Account, action, id string) mapdata.AuditEntry {
	return mapdata.AuditEntry{At: start, Actor: a.ID, Action: action, Subject: id}
}

// passkeyOf stores a passkey.
func (w *testStore) passkeyOf(a *mapdata.Account, name string) *mapdata.Passkey {
	w.Helper()
	p := passkey(a, name)
	w.must(w.store.CreatePasskey(w.ctx, p, answer("creates "+name), passkeyAudit(a, mapdata.AuditPasskeyCreate, p.ID), nil))
	return p
}

// use returns a use of the passkey that starts a new session.
func use(p *mapdata.Passkey, name string) *mapdata.PasskeyUse {
	s := session(&mapdata.Account{ID: p.Account}, name)
	s.ProvedAt, s.PasskeyAt = at(time.Minute), at(time.Minute)
	return &mapdata.PasskeyUse{
		Passkey: p.ID, Was: p.Blob, Blob: []byte("now " + name), At: at(time.Minute), Day: start.Truncate(24 * time.Hour),
		Answer: answer(name), NewSession: s,
	}
}

func findsPasskeys(w *testStore) {
	a := w.account()
	p := passkey(a, "one")
	email := &mapdata.Email{Account: a.ID, Kind: mapdata.EmailPasskeyAdded, Data: map[string]string{"name": p.Name}, At: start}
	w.must(w.store.CreatePasskey(w.ctx, p, answer("creates one"), passkeyAudit(a, mapdata.AuditPasskeyCreate, p.ID), email))
	w.wantOneEmail(a, email)
	got, account, err := w.store.Passkey(w.ctx, p.CredentialID)
	w.must(err)
	w.same("passkey", got, p)
	w.same("its account", account, a)
	_, _, err = w.store.Passkey(w.ctx, []byte("credential of another"))
	w.fails("unknown credential", err, mapdata.ErrNotFound)
}

func listsPasskeys(w *testStore) {
	a, b := w.account(), w.account()
	second, first, theirs := passkey(a, "second"), passkey(a, "first"), passkey(b, "theirs")
	second.CreatedAt, second.UsedAt = at(time.Second), at(time.Hour)
	for _, p := range []*mapdata.Passkey{second, first, theirs} {
		w.must(w.store.CreatePasskey(w.ctx, p, answer(p.ID), passkeyAudit(a, mapdata.AuditPasskeyCreate, p.ID), nil))
	}
	w.must(w.store.RenamePasskey(w.ctx, a.ID, "first", "Phone"))
	first.Name = "Phone"
	all, err := w.store.Passkeys(w.ctx, a.ID)
	w.must(err)
	w.same("passkeys", all, []mapdata.Passkey{*first, *second})

	w.fails("rename a passkey of another account", w.store.RenamePasskey(w.ctx, a.ID, "theirs", "x"), mapdata.ErrNotFound)
	audit := passkeyAudit(a, mapdata.AuditPasskeyDelete, "first")
	w.fails("remove a passkey of another account", w.store.DeletePasskey(w.ctx, a.ID, "theirs", audit), mapdata.ErrNotFound)
	w.must(w.store.DeletePasskey(w.ctx, a.ID, "first", audit))
	w.fails("remove again", w.store.DeletePasskey(w.ctx, a.ID, "first", audit), mapdata.ErrNotFound)
	_, _, err = w.store.Passkey(w.ctx, first.CredentialID)
	w.fails("removed", err, mapdata.ErrNotFound)
	log, err := w.store.Audit(w.ctx, &mapdata.AuditQuery{Subject: "first", Limit: 10})
	w.must(err)
	var told []string
	for i := range log {
		told = append(told, log[i].Action)
	}
	w.same("audit log", told, []string{mapdata.AuditPasskeyDelete, mapdata.AuditPasskeyCreate})
}

func refusesSecondPasskey(w *testStore) {
	a, b := w.account(), w.account()
	p := w.passkeyOf(a, "one")
	duplicate := passkey(b, "two")
	duplicate.CredentialID = p.CredentialID
	w.fails("the same credential", w.store.CreatePasskey(w.ctx, duplicate, answer("two"), passkeyAudit(b, "", ""), &mapdata.Email{Account: b.ID, At: start}), mapdata.ErrConflict)
	w.fails("the same answer", w.store.CreatePasskey(w.ctx, passkey(b, "three"), answer("creates one"), passkeyAudit(b, "", ""), nil), mapdata.ErrConflict)
	unknown := &mapdata.Account{ID: mapdata.AccountID{1}}
	w.fails("a passkey of an unknown account", w.store.CreatePasskey(w.ctx, passkey(unknown, "four"), answer("four"), passkeyAudit(b, "", ""), nil), mapdata.ErrNotFound)
	w.same("e-mails of what failed", len(w.due(start, at(time.Minute))), 0)
	w.passkeyOf(b, "two") // the failed attempts left nothing behind
}

func signsInByPasskey(w *testStore) {
	a := w.account()
	p := w.passkeyOf(a, "one")
	u := use(p, "in")
	w.must(w.store.UsePasskey(w.ctx, u))
	s, account, err := w.store.Session(w.ctx, u.NewSession.TokenHash)
	w.must(err)
	w.same("session", s, u.NewSession)
	w.same("its account", account, a)
	got, _, err := w.store.Passkey(w.ctx, p.CredentialID)
	w.must(err)
	p.Blob, p.UsedAt = u.Blob, u.Day
	w.same("passkey", got, p)
}

func confirmsSessions(w *testStore) {
	a, b := w.account(), w.account()
	p := w.passkeyOf(a, "one")
	mine, theirs := session(a, "mine"), session(b, "theirs")
	w.must(w.store.CreateSession(w.ctx, mine, ""))
	w.must(w.store.CreateSession(w.ctx, theirs, ""))
	u := use(p, "proves")
	u.NewSession, u.Session = nil, "theirs"
	w.fails("another account's session", w.store.UsePasskey(w.ctx, u), mapdata.ErrNotFound)
	u.Session = "mine" // the failed attempt did not use up the challenge
	w.must(w.store.UsePasskey(w.ctx, u))
	got, _, err := w.store.Session(w.ctx, mine.TokenHash)
	w.must(err)
	mine.ProvedAt, mine.PasskeyAt = u.At, u.At
	w.same("session", got, mine)
	got, _, err = w.store.Session(w.ctx, theirs.TokenHash)
	w.must(err)
	w.same("another's", got, theirs)
}

func answersOnce(w *testStore) {
	p := w.passkeyOf(w.account(), "one")
	u := use(p, "in")
	w.must(w.store.UsePasskey(w.ctx, u))
	again := use(p, "again")
	again.Was, again.Answer = u.Blob, u.Answer
	w.fails("the same answer", w.store.UsePasskey(w.ctx, again), mapdata.ErrConflict)
	_, _, err := w.store.Session(w.ctx, again.NewSession.TokenHash)
	w.fails("a session of it", err, mapdata.ErrNotFound)
}

func answersOnceConcurrently(w *testStore) {
	p := w.passkeyOf(w.account(), "one")
	stores := []Store{w.store, w.another()}
	var (
		group sync.WaitGroup
		errs  [8]error
	)
	for i := range errs {
		u := use(p, string(rune('a'+i)))
		u.Blob, u.Answer = p.Blob, answer("same")
		group.Go(func() { errs[i] = stores[i%len(stores)].UsePasskey(w.ctx, u) })
	}
	group.Wait()
	taken := 0
	for _, err := range errs {
		if err == nil {
			taken++
			continue
		}
		w.fails("the same answer", err, mapdata.ErrConflict)
	}
	w.same("answers that counted", taken, 1)
}

func refusesOldPasskeys(w *testStore) {
	a := w.account()
	p := w.passkeyOf(a, "one")
	w.must(w.store.UsePasskey(w.ctx, use(p, "first")))
	w.fails("verified with what it was before", w.store.UsePasskey(w.ctx, use(p, "second")), mapdata.ErrNotFound)
	w.must(w.store.DeletePasskey(w.ctx, a.ID, p.ID, passkeyAudit(a, "", "")))
	gone := use(p, "third")
	gone.Was = []byte("now first")
	w.fails("removed", w.store.UsePasskey(w.ctx, gone), mapdata.ErrNotFound)
}

func flagsPasskeys(w *testStore) {
	a := w.account()
	p := w.passkeyOf(a, "one")
	audit := passkeyAudit(a, mapdata.AuditPasskeyCloned, p.ID)
	u := use(p, "in")
	u.Blob = p.Blob
	w.must(w.store.UsePasskey(w.ctx, u))
	w.fails("an answer that came before", w.store.FlagPasskey(w.ctx, u, audit), mapdata.ErrConflict)
	flag := use(p, "flags")
	flag.NewSession, flag.Blob = nil, []byte("cloned")
	w.must(w.store.FlagPasskey(w.ctx, flag, audit))
	again := use(p, "again")
	w.fails("what it was before", w.store.FlagPasskey(w.ctx, again, audit), mapdata.ErrNotFound)
	got, _, err := w.store.Passkey(w.ctx, p.CredentialID)
	w.must(err)
	p.Blob, p.UsedAt = []byte("cloned"), u.Day
	w.same("passkey", got, p)
}

func prunesAnswers(w *testStore) {
	p := w.passkeyOf(w.account(), "one")
	u := use(p, "in")
	w.must(w.store.UsePasskey(w.ctx, u))
	again := use(p, "again")
	again.Was, again.Answer = u.Blob, u.Answer
	w.must(w.store.Prune(w.ctx, u.Answer.ExpiresAt.Add(-time.Millisecond)))
	w.fails("before it ends", w.store.UsePasskey(w.ctx, again), mapdata.ErrConflict)
	w.must(w.store.Prune(w.ctx, u.Answer.ExpiresAt))
	w.must(w.store.UsePasskey(w.ctx, again))
}

func deletesPasskeys(w *testStore) {
	a, b := w.account(), w.account()
	mine, theirs := w.passkeyOf(a, "mine"), w.passkeyOf(b, "theirs")
	w.must(w.deleteAccount(a))
	_, _, err := w.store.Passkey(w.ctx, mine.CredentialID)
	w.fails("its passkey", err, mapdata.ErrNotFound)
	_, _, err = w.store.Passkey(w.ctx, theirs.CredentialID)
	w.must(err)
}

func usesPasskeyDuringDeletion(w *testStore) {
	for i := range 10 {
		a := w.account()
		name := string(rune('a' + i))
		p := w.passkeyOf(a, name)
		var group sync.WaitGroup
		var used, forgot error
		group.Go(func() { used = w.store.UsePasskey(w.ctx, use(p, "in "+name)) })
		group.Go(func() { forgot = w.deleteAccount(a) })
		group.Wait()
		w.must(forgot)
		if used != nil {
			w.fails("during the end", used, mapdata.ErrNotFound)
		}
		_, _, err := w.store.Session(w.ctx, session(a, "in "+name).TokenHash)
		w.fails("a session of a deleted account", err, mapdata.ErrNotFound)
	}
}

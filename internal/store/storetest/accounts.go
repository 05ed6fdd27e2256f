package storetest

import (
	"sync"
	"time"

	"wayside/internal/ground/mapdata"
)

func accountTests() map[string]func(*testStore) {
	return map[string]func(*testStore){
		"an account is found by id and address":  findsAccounts,
		"an address has one account":             refusesSecondAccount,
		"role and tier are stored":               updatesAccounts,
		"a session is found by its token's hash": findsSessions,
		"sessions are listed, touched and ended": listsSessions,
		"API tokens":                             keepsAPITokens,
		"sessions and tokens need an account":    refusesUnknownAccounts,
	}
}

func findsAccounts(w *testStore) {
	a, b := w.account(), w.account()
	got, err := w.store.Account(w.ctx, a.ID)
	w.must(err)
	w.same("by id", got, a)
	got, err = w.store.AccountByEmail(w.ctx, b.Email)
	w.must(err)
	w.same("by address", got, b)
	all, err := w.store.Accounts(w.ctx)
	w.must(err)
	w.same("all", all, []mapdata.Account{*a, *b})
	_, err = w.store.Account(w.ctx, mapdata.AccountID{1})
	w.fails("unknown id", err, mapdata.ErrNotFound)
	_, err = w.store.AccountByEmail(w.ctx, "unknown@example.org")
	w.fails("unknown address", err, mapdata.ErrNotFound)
}

func refusesSecondAccount(w *testStore) {
	a := w.account()
	id, err := mapdata.NewAccountID()
	w.must(err)
	w.fails("second account", w.store.CreateAccount(w.ctx, &mapdata.Account{ID: id, Email: a.Email, CreatedAt: start}), mapdata.ErrConflict)
}

func updatesAccounts(w *testStore) {
	a := w.account()
	changed := *a
	changed.Role, changed.Tier, changed.Email = mapdata.Curator, mapdata.TierPremium, "other@example.org"
	w.must(w.store.UpdateAccount(w.ctx, &changed, mapdata.AuditEntry{At: start, Action: "account.role"}))
	got, err := w.store.Account(w.ctx, a.ID)
	w.must(err)
	changed.Email = a.Email
	w.same("account", got, &changed)
	unknown := &mapdata.Account{ID: mapdata.AccountID{1}}
	w.fails("unknown account", w.store.UpdateAccount(w.ctx, unknown, mapdata.AuditEntry{At: start}), mapdata.ErrNotFound)
}

func session(a *mapdata.Account, id string) *mapdata.Session {
	return &mapdata.Session{
		ID: id, TokenHash: []byte("hash of " + id), Account: a.ID, CreatedAt: start, SeenAt: at(time.Hour), Agent: "Browser/1 (é)",
	}
}

func findsSessions(w *testStore) {
	a := w.account()
	s := session(a, "one")
	w.must(w.store.CreateSession(w.ctx, s, ""))
	got, account, err := w.store.Session(w.ctx, s.TokenHash)
	w.must(err)
	w.same("session", got, s)
	w.same("its account", account, a)
	_, _, err = w.store.Session(w.ctx, []byte("hash of another"))
	w.fails("unknown session", err, mapdata.ErrNotFound)
	duplicate := session(a, "two")
	duplicate.TokenHash = s.TokenHash
	w.fails("the same token again", w.store.CreateSession(w.ctx, duplicate, ""), mapdata.ErrConflict)
}

func listsSessions(w *testStore) {
	a, b := w.account(), w.account()
	first, second, theirs := session(a, "first"), session(a, "second"), session(b, "theirs")
	second.CreatedAt = at(time.Second)
	for _, s := range []*mapdata.Session{second, first, theirs} {
		w.must(w.store.CreateSession(w.ctx, s, ""))
	}
	w.must(w.store.TouchSession(w.ctx, "second", at(2*time.Hour)))
	second.SeenAt = at(2 * time.Hour)
	all, err := w.store.Sessions(w.ctx, a.ID)
	w.must(err)
	w.same("sessions", all, []mapdata.Session{*first, *second})

	w.fails("another account's session", w.store.DeleteSession(w.ctx, a.ID, "theirs"), mapdata.ErrNotFound)
	w.must(w.store.DeleteSession(w.ctx, a.ID, "first"))
	w.fails("a session that ended", w.store.DeleteSession(w.ctx, a.ID, "first"), mapdata.ErrNotFound)
	_, _, err = w.store.Session(w.ctx, first.TokenHash)
	w.fails("a session that ended", err, mapdata.ErrNotFound)
	_, _, err = w.store.Session(w.ctx, theirs.TokenHash)
	w.must(err)
	w.must(w.store.TouchSession(w.ctx, "first", at(time.Hour))) // that it has ended in the meantime is not an error
}

func keepsAPITokens(w *testStore) {
	a, b := w.account(), w.account()
	token := &mapdata.APIToken{ID: "one", Account: a.ID, Name: "Server", TokenHash: []byte("hash"), CreatedAt: start}
	second := &mapdata.APIToken{ID: "two", Account: a.ID, TokenHash: []byte("hash 2"), CreatedAt: at(time.Second), UsedAt: at(time.Hour)}
	audit := mapdata.AuditEntry{At: start, Actor: a.ID, Action: "api_token.create"}
	w.must(w.store.CreateAPIToken(w.ctx, second, audit, nil))
	email := &mapdata.Email{Account: a.ID, Kind: mapdata.EmailTokenMade, Data: map[string]string{"name": "Server"}, At: start}
	w.must(w.store.CreateAPIToken(w.ctx, token, audit, email))
	w.wantOneEmail(a, email)
	got, account, err := w.store.APIToken(w.ctx, token.TokenHash)
	w.must(err)
	w.same("token", got, token)
	w.same("its account", account, a)

	w.must(w.store.TouchAPIToken(w.ctx, "one", at(time.Hour)))
	token.UsedAt = at(time.Hour)
	all, err := w.store.APITokens(w.ctx, a.ID)
	w.must(err)
	w.same("tokens", all, []mapdata.APIToken{*token, *second})

	w.fails("another account's token", w.store.DeleteAPIToken(w.ctx, b.ID, "one", audit), mapdata.ErrNotFound)
	w.must(w.store.DeleteAPIToken(w.ctx, a.ID, "one", audit))
	_, _, err = w.store.APIToken(w.ctx, token.TokenHash)
	w.fails("a revoked token", err, mapdata.ErrNotFound)
	w.fails("a revoked token", w.store.DeleteAPIToken(w.ctx, a.ID, "one", audit), mapdata.ErrNotFound)
}

// wantOneEmail checks that the outbox holds exactly one e-mail, to the account.
func (w *testStore) wantOneEmail(a *mapdata.Account, email *mapdata.Email) {
	w.Helper()
	emails := w.due(start, at(time.Minute))
	if len(emails) != 1 {
		w.Fatalf("%d e-mails, want 1", len(emails))
	}
	got := emails[0]
	w.same("e-mail", []any{got.Account, got.Kind, got.Address, got.Data}, []any{a.ID, email.Kind, a.Email, email.Data})
}

func refusesUnknownAccounts(w *testStore) {
	unknown := &mapdata.Account{ID: mapdata.AccountID{1}}
	w.fails("session", w.store.CreateSession(w.ctx, session(unknown, "x"), ""), mapdata.ErrNotFound)
	token := &mapdata.APIToken{ID: "x", Account: unknown.ID, TokenHash: []byte("x"), CreatedAt: start}
	w.fails("API token", w.store.CreateAPIToken(w.ctx, token, mapdata.AuditEntry{At: start}, &mapdata.Email{Account: unknown.ID, At: start}), mapdata.ErrNotFound)
	w.same("e-mails of what failed", len(w.due(start, at(time.Minute))), 0)
}

func signInTests() map[string]func(*testStore) {
	return map[string]func(*testStore){
		"a link works once":                       takesLinksOnce,
		"a link expires":                          expiresLinks,
		"a code works once, for its address":      takesCodesOnce,
		"five wrong codes end the code":           endsCodes,
		"an address has a limit in an hour":       limitsSignIns,
		"the limit holds under concurrent calls":  limitsConcurrentSignIns,
		"of many who use a link one succeeds":     takesLinksOnceConcurrently,
		"an e-mail goes to the sign-in's address": mailsSignIns,
	}
}

const address = "ada@example.org"

// browserHash is the hash of the browser that requested every sign-in.
var browserHash = []byte("hash of a browser")

func signIn(name string, created time.Time) *mapdata.SignIn {
	return &mapdata.SignIn{
		TokenHash: []byte("token " + name), Email: address, CodeHash: []byte("code " + name), Browser: browserHash,
		CreatedAt: created, ExpiresAt: created.Add(10 * time.Minute),
	}
}

// signInOf stores a waiting sign-in.
func (w *testStore) signInOf(name string, created time.Time) *mapdata.SignIn {
	w.Helper()
	s := signIn(name, created)
	stored, err := w.store.CreateSignIn(w.ctx, s, nil, start, unlimitedFeeds)
	w.must(err)
	if !stored || s.ID == 0 {
		w.Fatalf("CreateSignIn = %v with id %d; want it stored", stored, s.ID)
	}
	return s
}

func takesLinksOnce(w *testStore) {
	s := w.signInOf("a", start)
	got, err := w.store.TakeSignIn(w.ctx, s.TokenHash, at(time.Minute))
	w.must(err)
	w.same("sign-in", got, s)
	_, err = w.store.TakeSignIn(w.ctx, s.TokenHash, at(time.Minute))
	w.fails("the second time", err, mapdata.ErrNotFound)
	_, err = w.store.TakeSignInByCode(w.ctx, address, s.CodeHash, browserHash, at(time.Minute), 5)
	w.fails("its code afterwards", err, mapdata.ErrNotFound)
	_, err = w.store.TakeSignIn(w.ctx, []byte("unknown"), at(time.Minute))
	w.fails("unknown link", err, mapdata.ErrNotFound)
}

func expiresLinks(w *testStore) {
	s := w.signInOf("a", start)
	_, err := w.store.TakeSignIn(w.ctx, s.TokenHash, s.ExpiresAt)
	w.fails("link at its end", err, mapdata.ErrNotFound)
	_, err = w.store.TakeSignInByCode(w.ctx, address, s.CodeHash, browserHash, s.ExpiresAt, 5)
	w.fails("code at its end", err, mapdata.ErrNotFound)
	_, err = w.store.TakeSignIn(w.ctx, s.TokenHash, s.ExpiresAt.Add(-time.Millisecond))
	w.must(err)
}

func takesCodesOnce(w *testStore) {
	s := w.signInOf("a", start)
	_, err := w.store.TakeSignInByCode(w.ctx, "eve@example.org", s.CodeHash, browserHash, at(time.Minute), 5)
	w.fails("another address", err, mapdata.ErrNotFound)
	got, err := w.store.TakeSignInByCode(w.ctx, address, s.CodeHash, browserHash, at(time.Minute), 5)
	w.must(err)
	w.same("sign-in", got, s)
	_, err = w.store.TakeSignInByCode(w.ctx, address, s.CodeHash, browserHash, at(time.Minute), 5)
	w.fails("the second time", err, mapdata.ErrNotFound)
	_, err = w.store.TakeSignIn(w.ctx, s.TokenHash, at(time.Minute))
	w.fails("its link afterwards", err, mapdata.ErrNotFound)
}

func endsCodes(w *testStore) {
	a := w.signInOf("a", start)
	wrong := func() {
		w.Helper()
		_, err := w.store.TakeSignInByCode(w.ctx, address, []byte("wrong"), browserHash, at(time.Minute), 5)
		w.fails("wrong code", err, mapdata.ErrNotFound)
	}
	for range 4 {
		wrong()
	}
	got, err := w.store.TakeSignInByCode(w.ctx, address, a.CodeHash, browserHash, at(time.Minute), 5)
	w.must(err)
	if got.Tries != 4 {
		w.Errorf("tries = %d, want 4", got.Tries)
	}
	b := w.signInOf("b", start)
	for range 5 {
		wrong()
	}
	_, err = w.store.TakeSignInByCode(w.ctx, address, b.CodeHash, browserHash, at(time.Minute), 5)
	w.fails("right code after five wrong ones", err, mapdata.ErrNotFound)
	if _, err = w.store.TakeSignIn(w.ctx, b.TokenHash, at(time.Minute)); err != nil {
		w.Errorf("link after five wrong codes: %v, want no error", err)
	}
}

func limitsSignIns(w *testStore) {
	wish := func(name string, created time.Time) bool {
		w.Helper()
		stored, err := w.store.CreateSignIn(w.ctx, signIn(name, created), nil, created.Add(-time.Hour), 3)
		w.must(err)
		return stored
	}
	for i, name := range []string{"a", "b", "c"} {
		if !wish(name, at(time.Duration(i)*time.Minute)) {
			w.Errorf("sign-in %s of 3 in an hour is refused", name)
		}
	}
	_, err := w.store.TakeSignIn(w.ctx, []byte("token a"), at(3*time.Minute))
	w.must(err) // used ones count too
	if wish("d", at(time.Hour)) {
		w.Error("fourth sign-in within an hour is stored")
	}
	_, err = w.store.TakeSignIn(w.ctx, []byte("token d"), at(time.Hour))
	w.fails("sign-in that was refused", err, mapdata.ErrNotFound)
	if !wish("e", at(time.Hour+time.Millisecond)) {
		w.Error("sign-in is refused though the first was more than an hour ago")
	}
}

func limitsConcurrentSignIns(w *testStore) {
	stores := [2]Store{w.store, w.another()}
	var all sync.WaitGroup
	stored := make([]bool, 10)
	for i := range stored {
		all.Go(func() {
			var err error
			if stored[i], err = stores[i%2].CreateSignIn(w.ctx, signIn(string(rune('a'+i)), start), nil, start, 3); err != nil {
				w.Errorf("CreateSignIn: %v", err)
			}
		})
	}
	all.Wait()
	if got := count(stored); got != 3 {
		w.Errorf("%d concurrent sign-ins are stored, want 3", got)
	}
}

func count(all []bool) (n int) {
	for _, is := range all {
		if is {
			n++
		}
	}
	return n
}

func takesLinksOnceConcurrently(w *testStore) {
	s := w.signInOf("a", start)
	stores := [2]Store{w.store, w.another()}
	var all sync.WaitGroup
	taken := make([]bool, 10)
	for i := range taken {
		all.Go(func() {
			_, err := stores[i%2].TakeSignIn(w.ctx, s.TokenHash, start)
			taken[i] = err == nil
		})
	}
	all.Wait()
	if got := count(taken); got != 1 {
		w.Errorf("a link was taken %d times", got)
	}
}

func mailsSignIns(w *testStore) {
	s := signIn("a", start)
	email := &mapdata.Email{Kind: mapdata.EmailSignIn, Data: map[string]string{"code": "12345678", "token": "T"}, At: start, Due: start}
	_, err := w.store.CreateSignIn(w.ctx, s, email, start, 1)
	w.must(err)
	_, err = w.store.CreateSignIn(w.ctx, signIn("b", start), email, start, 1) // neither the sign-in nor its e-mail is stored
	w.must(err)
	w.signInOf("c", start)
	emails, err := w.store.DueEmails(w.ctx, start, at(time.Minute), 10)
	w.must(err)
	if len(emails) != 1 || emails[0].Address != address || !emails[0].Account.IsZero() || emails[0].Data["code"] != "12345678" {
		w.Errorf("e-mails = %+v, want one to the sign-in's address", emails)
	}
}

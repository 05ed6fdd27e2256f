package storetest

import (
	"sync"
	"time"

	"wayside/internal/mapdata"
)

func letterTests() map[string]func(*testStore) {
	return map[string]func(*testStore){
		"all fields of an e-mail are stored":    storesLetters,
		"e-mails are leased when they are due":  waitsForDue,
		"a lease is valid until its expiry":     leasesLetters,
		"each e-mail is leased by one caller":   leasesLettersOnce,
		"a failed e-mail is due again later":    putsBack,
		"a sent e-mail is removed":              removesLetters,
		"a letter is in its account's language": resolvesLanguages,
		"an account keeps its language":         keepsLanguages,
	}
}

// mailed puts e-mails to the owner into the outbox, together with a push to the feed.
func (w *testStore) mailed(f *mapdata.Feed, letters ...mapdata.Letter) {
	w.Helper()
	c := w.pushed(f, start)
	c.Letters = letters
	w.apply(c)
}

func (w *testStore) due(now, until time.Time) []mapdata.Letter {
	w.Helper()
	letters, err := w.store.DueLetters(w.ctx, now, until, 100)
	w.must(err)
	return letters
}

func storesLetters(w *testStore) {
	owner := w.account()
	letter := mapdata.Letter{
		Account: owner.ID, Kind: mapdata.LetterShrank, Data: map[string]string{"feed_name": "Ö \"x\" <y>", "rows": "3"},
		At: at(-time.Second), Due: at(-time.Millisecond), Tries: 2, Language: mapdata.French,
	}
	bare := mapdata.Letter{Account: owner.ID, Kind: mapdata.LetterApproved, At: start} // due immediately
	w.mailed(w.pushFeed(owner), letter, bare)
	got := w.due(start, at(time.Minute))
	for i := range got {
		if got[i].ID == 0 {
			w.Error("an e-mail has no id")
		}
		got[i].ID = 0
	}
	letter.Address, bare.Address, bare.Due = owner.Email, owner.Email, start
	w.same("letters", got, []mapdata.Letter{letter, bare})
}

func waitsForDue(w *testStore) {
	owner := w.account()
	letter := mapdata.Letter{Account: owner.ID, Kind: mapdata.LetterApproved, At: start, Due: at(time.Minute)}
	w.mailed(w.pushFeed(owner), letter)
	if got := w.due(at(time.Minute-time.Millisecond), at(time.Hour)); len(got) != 0 {
		w.Errorf("e-mails before they are due: %+v", got)
	}
	if got := w.due(at(time.Minute), at(time.Hour)); len(got) != 1 {
		w.Errorf("e-mails when they are due: %+v, want 1", got)
	}
}

func leasesLetters(w *testStore) {
	owner := w.account()
	w.mailed(w.pushFeed(owner), mapdata.Letter{Account: owner.ID, Kind: mapdata.LetterApproved, At: start})
	w.due(start, at(time.Minute))
	if got := w.due(at(time.Minute-time.Millisecond), at(time.Hour)); len(got) != 0 {
		w.Errorf("e-mails while they are leased: %+v", got)
	}
	if got := w.due(at(time.Minute), at(time.Hour)); len(got) != 1 {
		w.Errorf("e-mails at the lease's end: %+v, want 1", got)
	}
}

func leasesLettersOnce(w *testStore) {
	owner := w.account()
	const many = 30
	letters := make([]mapdata.Letter, many)
	for i := range letters {
		letters[i] = mapdata.Letter{Account: owner.ID, Kind: mapdata.LetterApproved, At: start}
	}
	w.mailed(w.pushFeed(owner), letters...)
	stores := [2]Store{w.store, w.another()}
	var (
		all   sync.WaitGroup
		mu    sync.Mutex
		times = make(map[int64]int)
	)
	for i := range 6 {
		all.Go(func() {
			for {
				letters, err := stores[i%2].DueLetters(w.ctx, start, at(time.Minute), 4)
				if err != nil {
					w.Errorf("DueLetters: %v", err)
				}
				if len(letters) == 0 {
					return
				}
				mu.Lock()
				for i := range letters {
					times[letters[i].ID]++
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if len(times) != many {
		w.Errorf("%d of %d e-mails are leased", len(times), many)
	}
	for id, n := range times {
		if n != 1 {
			w.Errorf("e-mail %d is leased %d times", id, n)
		}
	}
}

func putsBack(w *testStore) {
	owner := w.account()
	w.mailed(w.pushFeed(owner), mapdata.Letter{Account: owner.ID, Kind: mapdata.LetterApproved, At: start})
	letter := w.due(start, at(time.Minute))[0]
	w.must(w.store.LetterFailed(w.ctx, letter.ID, 4, at(time.Hour)))
	if got := w.due(at(time.Hour-time.Millisecond), at(2*time.Hour)); len(got) != 0 {
		w.Errorf("e-mails before they are due again: %+v", got)
	}
	letter.Tries, letter.Due = 4, at(time.Hour)
	w.same("letters", w.due(at(time.Hour), at(2*time.Hour)), []mapdata.Letter{letter})
}

func removesLetters(w *testStore) {
	owner := w.account()
	w.mailed(w.pushFeed(owner), mapdata.Letter{Account: owner.ID, Kind: mapdata.LetterApproved, At: start})
	letter := w.due(start, at(time.Minute))[0]
	w.must(w.store.LetterSent(w.ctx, letter.ID))
	if got := w.due(at(time.Hour), at(2*time.Hour)); len(got) != 0 {
		w.Errorf("e-mails after they were sent: %+v", got)
	}
	w.must(w.store.LetterSent(w.ctx, letter.ID))
}

// An e-mail to the address of an account is in the account's language, also when a guest caused it; any other has the
// language that was stored with it.
func resolvesLanguages(w *testStore) {
	owner := w.account()
	w.mailed(w.pushFeed(owner),
		mapdata.Letter{Account: owner.ID, Kind: mapdata.LetterApproved, At: start},
		mapdata.Letter{Account: owner.ID, Kind: mapdata.LetterShrank, At: start, Language: mapdata.French})
	for _, email := range []string{owner.Email, "unknown@example.org"} {
		in := signIn(email, start)
		in.Email = email
		letter := &mapdata.Letter{Kind: mapdata.LetterSignIn, At: start, Language: mapdata.French}
		_, err := w.store.CreateSignIn(w.ctx, in, letter, start, 1)
		w.must(err)
	}
	languages := func(now time.Time) (all []mapdata.Language) {
		for _, l := range w.due(now, now.Add(time.Minute)) {
			all = append(all, l.Language)
		}
		return all
	}
	w.same("before the account has one", languages(start), []mapdata.Language{"", mapdata.French, mapdata.French, mapdata.French})
	w.must(w.store.SetLanguage(w.ctx, owner.ID, mapdata.German))
	w.same("when it has", languages(at(time.Minute)), []mapdata.Language{mapdata.German, mapdata.German, mapdata.German, mapdata.French})
}

func keepsLanguages(w *testStore) {
	a := w.account()
	id, err := mapdata.NewAccountID()
	w.must(err)
	b := &mapdata.Account{
		ID: id, Email: "born@example.org", Role: mapdata.Driver, Tier: mapdata.TierAccount, CreatedAt: start, Language: mapdata.French,
	}
	w.must(w.store.CreateAccount(w.ctx, b))
	w.must(w.store.SetLanguage(w.ctx, a.ID, mapdata.German))
	a.Language = mapdata.German
	for _, want := range []*mapdata.Account{a, b} {
		got, err := w.store.AccountByEmail(w.ctx, want.Email)
		w.must(err)
		w.same("account", got, want)
	}
	a.Role = mapdata.Curator
	w.must(w.store.UpdateAccount(w.ctx, a, mapdata.AuditEntry{At: start, Action: "account.role"}))
	s := session(a, "s")
	w.must(w.store.CreateSession(w.ctx, s))
	_, holder, err := w.store.Session(w.ctx, s.TokenHash)
	w.must(err)
	w.same("account of a session, after its role changed", holder, a)
	w.fails("unknown account", w.store.SetLanguage(w.ctx, mapdata.AccountID{1}, mapdata.German), mapdata.ErrNotFound)
}

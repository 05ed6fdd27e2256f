package storetest

import (
	"sync"
	"time"

	"wayside/internal/ground/mapdata"
)

func emailTests() map[string]func(*testStore) {
	return map[string]func(*testStore){
		"all fields of an e-mail are stored":     storesEmails,
		"e-mails are leased when they are due":   waitsForDue,
		"a lease is valid until its expiry":      leasesEmails,
		"each e-mail is leased by one caller":    leasesEmailsOnce,
		"a failed e-mail is due again later":     putsBack,
		"a sent e-mail is removed":               removesEmails,
		"an e-mail is in its account's language": resolvesLanguages,
		"an account keeps its language":          keepsLanguages,
	}
}

// mailed stores e-mails to the owner in the outbox, together with a push to the feed.
func (w *testStore) mailed(f *mapdata.Feed, emails ...mapdata.Email) {
	w.Helper()
	c := w.pushed(f, start)
	c.Emails = emails
	w.apply(c)
}

func (w *testStore) due(now, until time.Time) []mapdata.Email {
	w.Helper()
	emails, err := w.store.DueEmails(w.ctx, now, until, 100)
	w.must(err)
	return emails
}

func storesEmails(w *testStore) {
	owner := w.account()
	email := mapdata.Email{
		Account: owner.ID, Kind: mapdata.EmailShrank, Data: map[string]string{"feed_name": "Ö \"x\" <y>", "rows": "3"},
		At: at(-time.Second), Due: at(-time.Millisecond), Tries: 2, Language: mapdata.French,
	}
	bare := mapdata.Email{Account: owner.ID, Kind: mapdata.EmailApproved, At: start} // due immediately
	w.mailed(w.pushFeed(owner), email, bare)
	got := w.due(start, at(time.Minute))
	for i := range got {
		if got[i].ID == 0 {
			w.Error("an e-mail has no id")
		}
		got[i].ID = 0
	}
	email.Address, bare.Address, bare.Due = owner.Email, owner.Email, start
	w.same("e-mails", got, []mapdata.Email{email, bare})
}

func waitsForDue(w *testStore) {
	owner := w.account()
	email := mapdata.Email{Account: owner.ID, Kind: mapdata.EmailApproved, At: start, Due: at(time.Minute)}
	w.mailed(w.pushFeed(owner), email)
	if got := w.due(at(time.Minute-time.Millisecond), at(time.Hour)); len(got) != 0 {
		w.Errorf("e-mails before they are due: %+v", got)
	}
	if got := w.due(at(time.Minute), at(time.Hour)); len(got) != 1 {
		w.Errorf("e-mails when they are due: %+v, want 1", got)
	}
}

func leasesEmails(w *testStore) {
	owner := w.account()
	w.mailed(w.pushFeed(owner), mapdata.Email{Account: owner.ID, Kind: mapdata.EmailApproved, At: start})
	w.due(start, at(time.Minute))
	if got := w.due(at(time.Minute-time.Millisecond), at(time.Hour)); len(got) != 0 {
		w.Errorf("e-mails while they are leased: %+v", got)
	}
	if got := w.due(at(time.Minute), at(time.Hour)); len(got) != 1 {
		w.Errorf("e-mails at the lease's end: %+v, want 1", got)
	}
}

func leasesEmailsOnce(w *testStore) {
	owner := w.account()
	const many = 30
	emails := make([]mapdata.Email, many)
	for i := range emails {
		emails[i] = mapdata.Email{Account: owner.ID, Kind: mapdata.EmailApproved, At: start}
	}
	w.mailed(w.pushFeed(owner), emails...)
	stores := [2]Store{w.store, w.another()}
	var (
		all   sync.WaitGroup
		mu    sync.Mutex
		times = make(map[int64]int)
	)
	for i := range 6 {
		all.Go(func() {
			for {
				emails, err := stores[i%2].DueEmails(w.ctx, start, at(time.Minute), 4)
				if err != nil {
					w.Errorf("DueEmails: %v", err)
				}
				if len(emails) == 0 {
					return
				}
				mu.Lock()
				for i := range emails {
					times[emails[i].ID]++
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
	w.mailed(w.pushFeed(owner), mapdata.Email{Account: owner.ID, Kind: mapdata.EmailApproved, At: start})
	email := w.due(start, at(time.Minute))[0]
	w.must(w.store.EmailFailed(w.ctx, email.ID, 4, at(time.Hour)))
	if got := w.due(at(time.Hour-time.Millisecond), at(2*time.Hour)); len(got) != 0 {
		w.Errorf("e-mails before they are due again: %+v", got)
	}
	email.Tries, email.Due = 4, at(time.Hour)
	w.same("e-mails", w.due(at(time.Hour), at(2*time.Hour)), []mapdata.Email{email})
}

func removesEmails(w *testStore) {
	owner := w.account()
	w.mailed(w.pushFeed(owner), mapdata.Email{Account: owner.ID, Kind: mapdata.EmailApproved, At: start})
	email := w.due(start, at(time.Minute))[0]
	w.must(w.store.EmailSent(w.ctx, email.ID))
	if got := w.due(at(time.Hour), at(2*time.Hour)); len(got) != 0 {
		w.Errorf("e-mails after they were sent: %+v", got)
	}
	w.must(w.store.EmailSent(w.ctx, email.ID))
}

// resolvesLanguages checks that an e-mail to the address of an account is in the account's language, also when a guest
// caused it, and that any other has the language that was stored with it.
func resolvesLanguages(w *testStore) {
	owner := w.account()
	w.mailed(w.pushFeed(owner),
		mapdata.Email{Account: owner.ID, Kind: mapdata.EmailApproved, At: start},
		mapdata.Email{Account: owner.ID, Kind: mapdata.EmailShrank, At: start, Language: mapdata.French})
	for _, email := range []string{owner.Email, "unknown@example.org"} {
		in := signIn(email, start)
		in.Email = email
		email := &mapdata.Email{Kind: mapdata.EmailSignIn, At: start, Language: mapdata.French}
		_, err := w.store.CreateSignIn(w.ctx, in, email, start, 1)
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
	w.must(w.store.CreateSession(w.ctx, s, ""))
	_, holder, err := w.store.Session(w.ctx, s.TokenHash)
	w.must(err)
	w.same("account of a session, after its role changed", holder, a)
	w.fails("unknown account", w.store.SetLanguage(w.ctx, mapdata.AccountID{1}, mapdata.German), mapdata.ErrNotFound)
}

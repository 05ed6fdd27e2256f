package storetest

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"wayside/internal/ground/mapdata"
)

func pairingTests() map[string]func(*testStore) {
	return map[string]func(*testStore){
		"a pairing is found by its secret and its code": findsPairings,
		"a code or a secret is one screen's":            refusesDuplicatePairings,
		"an answer counts once":                         answersPairingsOnce,
		"a screen is signed in once":                    takesPairingsOnce,
		"a pairing expires":                             expiresPairings,
		"five wrong codes end a pairing":                limitsPairingTries,
		"of many who take a pairing one succeeds":       takesPairingsOnceConcurrently,
		"of many who answer one succeeds":               answersPairingsOnceConcurrently,
		"taking a pairing is atomic with its session":   takesPairingsAtomically,
		"expired pairings are pruned":                   prunesPairings,
	}
}

const pairingTries = 5

func pairing(name, rest string, created time.Time) *mapdata.Pairing {
	return &mapdata.Pairing{
		DeviceHash: []byte("device " + name + rest), Name: name, CodeHash: []byte("code " + name + rest), Agent: "Car/1 (é)",
		CreatedAt: created, ExpiresAt: created.Add(10 * time.Minute), State: mapdata.PairingWaiting,
	}
}

// pairingOf stores a waiting pairing.
func (w *testStore) pairingOf(name, rest string) *mapdata.Pairing {
	w.Helper()
	p := pairing(name, rest, start)
	w.must(w.store.CreatePairing(w.ctx, p))
	if p.ID == 0 {
		w.Fatal("a stored pairing has no id")
	}
	return p
}

func (w *testStore) byCode(p *mapdata.Pairing, now time.Time) (*mapdata.Pairing, error) {
	return w.store.PairingByCode(w.ctx, p.Name, p.CodeHash, now, pairingTries)
}

func (w *testStore) answer(s Store, p *mapdata.Pairing, now time.Time, by *mapdata.Account, answer mapdata.PairingState) error {
	_, err := s.AnswerPairing(w.ctx, p.Name, p.CodeHash, now, pairingTries, mapdata.PairingAnswer{Account: by.ID, State: answer})
	return err
}

func findsPairings(w *testStore) {
	p, _ := w.pairingOf("BCDF", "GHJK"), w.pairingOf("BCDF", "GHJL")
	got, err := w.store.Pairing(w.ctx, p.DeviceHash)
	w.must(err)
	w.same("by its secret", got, p)
	got, err = w.byCode(p, at(time.Minute))
	w.must(err)
	w.same("by its code", got, p)
	_, err = w.store.Pairing(w.ctx, []byte("unknown"))
	w.fails("unknown secret", err, mapdata.ErrNotFound)
	_, err = w.store.PairingByCode(w.ctx, "XXXX", []byte("unknown"), start, pairingTries)
	w.fails("unknown code", err, mapdata.ErrNotFound)
}

func refusesDuplicatePairings(w *testStore) {
	p := w.pairingOf("BCDF", "GHJK")
	device, code := pairing("BCDF", "X", start), pairing("BCDF", "Y", start)
	device.DeviceHash, code.CodeHash = p.DeviceHash, p.CodeHash
	w.fails("the same secret", w.store.CreatePairing(w.ctx, device), mapdata.ErrConflict)
	w.fails("the same code", w.store.CreatePairing(w.ctx, code), mapdata.ErrConflict)
}

func answersPairingsOnce(w *testStore) {
	a, b := w.account(), w.account()
	p, denied := w.pairingOf("BCDF", "GHJK"), w.pairingOf("BCDF", "GHJL")
	got, err := w.store.AnswerPairing(w.ctx, p.Name, p.CodeHash, start, pairingTries, mapdata.PairingAnswer{Account: a.ID, State: mapdata.PairingApproved})
	w.must(err)
	p.State, p.Account = mapdata.PairingApproved, a.ID
	w.same("what is answered", got, p)
	got, err = w.store.Pairing(w.ctx, p.DeviceHash)
	w.must(err)
	w.same("what is stored", got, p)
	w.must(w.answer(w.store, p, start, a, mapdata.PairingApproved)) // a double tap
	w.fails("another answer", w.answer(w.store, p, start, a, mapdata.PairingDenied), mapdata.ErrConflict)
	w.fails("another account", w.answer(w.store, p, start, b, mapdata.PairingApproved), mapdata.ErrConflict)
	w.must(w.answer(w.store, denied, start, b, mapdata.PairingDenied))
	w.must(w.answer(w.store, denied, start, b, mapdata.PairingDenied))
	w.fails("a denied one", w.answer(w.store, denied, start, b, mapdata.PairingApproved), mapdata.ErrConflict)
	_, err = w.store.TakePairing(w.ctx, denied.DeviceHash, start, session(b, "denied"), "", nil)
	w.fails("a session of a denied one", err, mapdata.ErrNotFound)
	w.fails("answer of an unknown account", w.answer(w.store, w.pairingOf("X", "Y"), start, &mapdata.Account{ID: mapdata.AccountID{1}}, mapdata.PairingApproved), mapdata.ErrNotFound)
}

func takesPairingsOnce(w *testStore) {
	a, b := w.account(), w.account()
	p := w.pairingOf("BCDF", "GHJK")
	s := session(b, "one") // its account is ignored: it becomes a session of the account that approved
	_, err := w.store.TakePairing(w.ctx, p.DeviceHash, start, s, "", nil)
	w.fails("one that waits", err, mapdata.ErrNotFound)
	w.must(w.answer(w.store, p, start, a, mapdata.PairingApproved))
	got, err := w.store.TakePairing(w.ctx, p.DeviceHash, start, s, "", nil)
	w.must(err)
	w.same("its account", got, a)
	stored, _, err := w.store.Session(w.ctx, s.TokenHash)
	w.must(err)
	if s.Account != a.ID {
		w.Error("the session is not its account's")
	}
	w.same("its session", stored, s)
	_, err = w.store.TakePairing(w.ctx, p.DeviceHash, start, session(a, "two"), "", nil)
	w.fails("the second time", err, mapdata.ErrNotFound)
	again, err := w.byCode(p, start)
	w.must(err)
	if again.State != mapdata.PairingUsed {
		w.Errorf("its state is %s", again.State)
	}
	w.must(w.answer(w.store, p, start, a, mapdata.PairingApproved))
	w.fails("denied afterwards", w.answer(w.store, p, start, a, mapdata.PairingDenied), mapdata.ErrConflict)
	w.fails("approved by another", w.answer(w.store, p, start, b, mapdata.PairingApproved), mapdata.ErrConflict)
	_, err = w.store.TakePairing(w.ctx, p.DeviceHash, start, session(a, "three"), "", nil)
	w.fails("after it was approved again", err, mapdata.ErrNotFound)
}

func expiresPairings(w *testStore) {
	a := w.account()
	p, approved := w.pairingOf("BCDF", "GHJK"), w.pairingOf("BCDF", "GHJL")
	w.must(w.answer(w.store, approved, start, a, mapdata.PairingApproved))
	end, before := p.ExpiresAt, p.ExpiresAt.Add(-time.Millisecond)
	_, err := w.byCode(p, end)
	w.fails("found at its end", err, mapdata.ErrNotFound)
	w.fails("answered at its end", w.answer(w.store, p, end, a, mapdata.PairingApproved), mapdata.ErrNotFound)
	_, err = w.store.TakePairing(w.ctx, approved.DeviceHash, end, session(a, "late"), "", nil)
	w.fails("taken at its end", err, mapdata.ErrNotFound)
	w.must(w.answer(w.store, p, before, a, mapdata.PairingApproved))
	_, err = w.store.TakePairing(w.ctx, p.DeviceHash, before, session(a, "in time"), "", nil)
	w.must(err)
}

func limitsPairingTries(w *testStore) {
	a := w.account()
	p, same, other, used := w.pairingOf("BCDF", "GHJK"), w.pairingOf("BCDF", "GHJL"), w.pairingOf("LMNP", "QRST"), w.pairingOf("BCDF", "ZZZZ")
	w.must(w.answer(w.store, used, start, a, mapdata.PairingApproved))
	wrong := func(times int) {
		w.Helper()
		for i := range times {
			var err error
			if i%2 == 0 {
				_, err = w.store.PairingByCode(w.ctx, "BCDF", []byte("wrong"), start, pairingTries)
			} else {
				_, err = w.store.AnswerPairing(w.ctx, "BCDF", []byte("wrong"), start, pairingTries, mapdata.PairingAnswer{Account: a.ID, State: mapdata.PairingApproved})
			}
			w.fails("wrong code", err, mapdata.ErrNotFound)
		}
	}
	wrong(4)
	got, err := w.byCode(p, start)
	w.must(err)
	if got.Tries != 4 {
		w.Errorf("%d tries, want 4", got.Tries)
	}
	wrong(1)
	for _, dead := range []*mapdata.Pairing{p, same} {
		_, err = w.byCode(dead, start)
		w.fails("right code after five wrong ones", err, mapdata.ErrNotFound)
		w.fails("answer after five wrong codes", w.answer(w.store, dead, start, a, mapdata.PairingApproved), mapdata.ErrNotFound)
	}
	got, err = w.byCode(other, start)
	w.must(err)
	if got.Tries != 0 {
		w.Errorf("%d tries at a code without an attempt", got.Tries)
	}
	_, err = w.store.TakePairing(w.ctx, used.DeviceHash, start, session(a, "approved before"), "", nil)
	w.must(err)
}

func takesPairingsOnceConcurrently(w *testStore) {
	a := w.account()
	p := w.pairingOf("BCDF", "GHJK")
	w.must(w.answer(w.store, p, start, a, mapdata.PairingApproved))
	stores := [2]Store{w.store, w.another()}
	var all sync.WaitGroup
	taken := make([]bool, 20)
	for i := range taken {
		all.Go(func() {
			_, err := stores[i%2].TakePairing(w.ctx, p.DeviceHash, start, session(a, fmt.Sprint("s", i)), "", nil)
			taken[i] = err == nil
			if err != nil && !errors.Is(err, mapdata.ErrNotFound) {
				w.Errorf("TakePairing: %v", err)
			}
		})
	}
	all.Wait()
	sessions, err := w.store.Sessions(w.ctx, a.ID)
	w.must(err)
	if got := count(taken); got != 1 || len(sessions) != 1 {
		w.Errorf("a pairing was taken %d times and gave %d sessions", got, len(sessions))
	}
}

func answersPairingsOnceConcurrently(w *testStore) {
	stores := [2]Store{w.store, w.another()}
	for round := range 5 {
		p := w.pairingOf("BCDF", fmt.Sprint(round))
		accounts := [4]*mapdata.Account{w.account(), w.account(), w.account(), w.account()}
		won := make([]bool, len(accounts))
		var all sync.WaitGroup
		for i, a := range accounts {
			all.Go(func() {
				err := w.answer(stores[i%2], p, start, a, mapdata.PairingApproved)
				won[i] = err == nil
				if err != nil && !errors.Is(err, mapdata.ErrConflict) {
					w.Errorf("AnswerPairing: %v", err)
				}
			})
		}
		all.Wait()
		got, err := w.store.Pairing(w.ctx, p.DeviceHash)
		w.must(err)
		for i, a := range accounts {
			if won[i] != (got.Account == a.ID) {
				w.Errorf("account %d: AnswerPairing = %v", i, won[i])
			}
		}
		if count(won) != 1 {
			w.Errorf("%d accounts approved one pairing", count(won))
		}
	}
}

// takesPairingsAtomically checks that the pairing can still be taken after storing the session has failed.
func takesPairingsAtomically(w *testStore) {
	a := w.account()
	p := w.pairingOf("BCDF", "GHJK")
	w.must(w.answer(w.store, p, start, a, mapdata.PairingApproved))
	w.must(w.store.CreateSession(w.ctx, session(a, "one"), ""))
	_, err := w.store.TakePairing(w.ctx, p.DeviceHash, start, session(a, "one"), "", nil)
	w.fails("a session that is there already", err, mapdata.ErrConflict)
	_, err = w.store.TakePairing(w.ctx, p.DeviceHash, start, session(a, "two"), "", nil)
	w.must(err)
}

func prunesPairings(w *testStore) {
	p := w.pairingOf("BCDF", "GHJK")
	w.must(w.store.Prune(w.ctx, p.ExpiresAt.Add(-time.Millisecond)))
	_, err := w.store.Pairing(w.ctx, p.DeviceHash)
	w.must(err)
	w.must(w.store.Prune(w.ctx, p.ExpiresAt))
	_, err = w.store.Pairing(w.ctx, p.DeviceHash)
	w.fails("a pairing that is over", err, mapdata.ErrNotFound)
	w.must(w.store.CreatePairing(w.ctx, pairing("BCDF", "GHJK", p.ExpiresAt))) // its code is free again
}

func preferenceTests() map[string]func(*testStore) {
	return map[string]func(*testStore){
		"an account starts without preferences":      startsWithoutPreferences,
		"preferences replace the earlier ones":       replacesPreferences,
		"preferences without an account are refused": refusesPreferencesWithoutAccount,
		"preferences are of one account's alone":     separatesPreferences,
	}
}

func startsWithoutPreferences(w *testStore) {
	got, err := w.store.Preferences(w.ctx, w.account().ID)
	w.must(err)
	w.same("preferences", got, &mapdata.Preferences{})
}

func replacesPreferences(w *testStore) {
	a := w.account()
	units, theme, language, density, tones, lead := "metric", "auto", "de", 7.5, false, 0.5
	all := &mapdata.Preferences{
		Units: &units, Theme: &theme, Language: &language, Density: &density, Tones: &tones, Lead: &lead,
		SourcesOff: []string{"incidents", `"\` + "\u00e9"}, KindsOff: []string{"camera.speed"}, Networks: []string{},
	}
	w.must(w.store.SetPreferences(w.ctx, a.ID, all))
	got, err := w.store.Preferences(w.ctx, a.ID)
	w.must(err)
	w.same("all of them", got, all)
	few := &mapdata.Preferences{Tones: &tones, Networks: []string{"tesla"}}
	w.must(w.store.SetPreferences(w.ctx, a.ID, few))
	got, err = w.store.Preferences(w.ctx, a.ID)
	w.must(err)
	w.same("what replaced them", got, few)
	w.must(w.store.SetPreferences(w.ctx, a.ID, &mapdata.Preferences{}))
	got, err = w.store.Preferences(w.ctx, a.ID)
	w.must(err)
	w.same("none", got, &mapdata.Preferences{})
}

func refusesPreferencesWithoutAccount(w *testStore) {
	w.fails("preferences", w.store.SetPreferences(w.ctx, mapdata.AccountID{1}, &mapdata.Preferences{}), mapdata.ErrNotFound)
}

func separatesPreferences(w *testStore) {
	a, b, night := w.account(), w.account(), "night"
	w.must(w.store.SetPreferences(w.ctx, a.ID, &mapdata.Preferences{Theme: &night}))
	got, err := w.store.Preferences(w.ctx, b.ID)
	w.must(err)
	w.same("another account's preferences", got, &mapdata.Preferences{})
}

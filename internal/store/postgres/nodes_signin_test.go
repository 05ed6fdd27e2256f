package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"wayside/internal/ground/mapdata"
)

const maxTries = 5

func (n *nodes) signIn(name, email string) *mapdata.SignIn {
	n.Helper()
	s := &mapdata.SignIn{
		TokenHash: []byte("token " + name), Email: email, Browser: browserHash, CodeHash: []byte("code " + name), CreatedAt: start, ExpiresAt: start.Add(10 * time.Minute),
	}
	if _, err := n.all[0].CreateSignIn(n.Context(), s, nil, start, 100); err != nil {
		n.Fatal(err)
	}
	return s
}

// browserHash is the hash of the browser that requested every sign-in.
var browserHash = []byte("hash of a browser")

// triesOfCodes checks that of forty concurrent guesses only the first five are compared, so that the right code is
// accepted when it is among them, and never after five wrong ones.
func triesOfCodes(n *nodes) {
	taken := 0
	const rounds, guesses = 12, 40
	for round := range rounds {
		s := n.signIn(fmt.Sprint(round), fmt.Sprint("ada", round, "@example.org"))
		var right count
		n.concurrently(guesses, func(i int, db *DB) {
			code := []byte("wrong")
			if i == guesses-1 {
				code = s.CodeHash
			}
			got, err := db.TakeSignInByCode(context.Background(), s.Email, code, browserHash, start, maxTries)
			switch {
			case err == nil:
				right.add()
				if got.Tries >= maxTries {
					n.Errorf("a code was accepted after %d tries", got.Tries)
				}
			case !errors.Is(err, mapdata.ErrNotFound):
				n.Errorf("TakeSignInByCode: %v", err)
			}
		})
		tries := n.number("SELECT tries FROM sign_ins WHERE id = $1", s.ID)
		if right.n == 0 && tries != guesses || right.n == 1 && tries >= maxTries {
			n.Errorf("%d tries are counted of %d; the right one was accepted %d times", tries, guesses, right.n)
		}
		taken += right.n
	}
	if taken == rounds {
		n.Error("the right code was accepted in every round: guesses are not counted before the next is compared")
	}
}

func linkOrCode(n *nodes) {
	for round := range 8 {
		s := n.signIn(fmt.Sprint(round), "ada@example.org")
		var taken count
		n.concurrently(9, func(i int, db *DB) {
			var err error
			if i%2 == 0 {
				_, err = db.TakeSignIn(context.Background(), s.TokenHash, start)
			} else {
				_, err = db.TakeSignInByCode(context.Background(), s.Email, s.CodeHash, browserHash, start, 100)
			}
			if err == nil {
				taken.add()
			} else if !errors.Is(err, mapdata.ErrNotFound) {
				n.Error(err)
			}
		})
		if taken.n != 1 {
			n.Errorf("a sign-in was taken %d times", taken.n)
		}
	}
}

func signInsOfOne(n *nodes) {
	const limit = 3
	var stored count
	n.concurrently(24, func(i int, db *DB) {
		s := &mapdata.SignIn{TokenHash: fmt.Append(nil, "token ", i), Email: "ada@example.org", CodeHash: []byte("code"), CreatedAt: start, ExpiresAt: start.Add(time.Minute)}
		email := &mapdata.Email{Kind: mapdata.EmailSignIn, At: start}
		ok, err := db.CreateSignIn(context.Background(), s, email, start, limit)
		if err != nil {
			n.Error(err)
		}
		if ok {
			stored.add()
		}
	})
	if stored.n != limit || n.number("SELECT count(*) FROM sign_ins") != limit || n.number("SELECT count(*) FROM outbox") != limit {
		n.Errorf("%d sign-ins were stored, want %d, each with its e-mail", stored.n, limit)
	}
}

func (n *nodes) pairing(name, secret string) *mapdata.Pairing {
	n.Helper()
	p := &mapdata.Pairing{
		DeviceHash: []byte("device " + secret), Name: name, CodeHash: []byte("code " + secret), CreatedAt: start, ExpiresAt: start.Add(10 * time.Minute),
		State: mapdata.PairingWaiting,
	}
	n.must(n.all[0].CreatePairing(n.Context(), p))
	return p
}

func triesOfPairings(n *nodes) {
	a, found := n.driver(), 0
	const rounds, guesses = 12, 40
	for round := range rounds {
		p := n.pairing(fmt.Sprint("N", round), fmt.Sprint(round))
		var right count
		n.concurrently(guesses, func(i int, db *DB) {
			code := []byte("wrong")
			if i == guesses-1 {
				code = p.CodeHash
			}
			_, err := db.AnswerPairing(context.Background(), p.Name, code, start, maxTries, mapdata.PairingAnswer{Account: a, State: mapdata.PairingApproved})
			switch {
			case err == nil:
				right.add()
			case !errors.Is(err, mapdata.ErrNotFound):
				n.Errorf("AnswerPairing: %v", err)
			}
		})
		if tries := n.number("SELECT tries FROM pairings WHERE id = $1", p.ID); right.n == 0 && tries != guesses || right.n == 1 && tries >= maxTries {
			n.Errorf("%d tries are counted of %d; the right one was found %d times", tries, guesses, right.n)
		}
		found += right.n
	}
	if found == rounds {
		n.Error("the right code was found in every round: guesses are not counted before the next is compared")
	}
}

func answersOfPairings(n *nodes) {
	drivers := []mapdata.AccountID{n.driver(), n.driver(), n.driver(), n.driver()}
	for round := range 8 {
		p := n.pairing("BCDF", fmt.Sprint(round))
		var said count
		n.concurrently(len(drivers), func(i int, db *DB) {
			_, err := db.AnswerPairing(context.Background(), p.Name, p.CodeHash, start, maxTries, mapdata.PairingAnswer{Account: drivers[i], State: mapdata.PairingApproved})
			if err == nil {
				said.add()
			} else if !errors.Is(err, mapdata.ErrConflict) {
				n.Errorf("AnswerPairing = %v", err)
			}
		})
		if said.n != 1 {
			n.Errorf("%d accounts approved one pairing", said.n)
		}
	}
}

func sessionOf(name string) *mapdata.Session {
	return &mapdata.Session{ID: name, TokenHash: []byte(name), CreatedAt: start, SeenAt: start}
}

func redemptions(n *nodes) {
	a := n.driver()
	for round := range 8 {
		p := n.pairing("BCDF", fmt.Sprint(round))
		_, err := n.all[0].AnswerPairing(n.Context(), p.Name, p.CodeHash, start, maxTries, mapdata.PairingAnswer{Account: a, State: mapdata.PairingApproved})
		n.must(err)
		var taken count
		n.concurrently(9, func(i int, db *DB) {
			got, err := db.TakePairing(context.Background(), p.DeviceHash, start, sessionOf(fmt.Sprint(round, " ", i)), "", nil)
			switch {
			case err == nil:
				taken.add()
				if got.ID != a {
					n.Errorf("the session is %v's, want %v's", got.ID, a)
				}
			case !errors.Is(err, mapdata.ErrNotFound):
				n.Error(err)
			}
		})
		if taken.n != 1 || n.number("SELECT count(*) FROM sessions") != round+1 {
			n.Errorf("a pairing was redeemed %d times", taken.n)
		}
	}
}

func answersAndRedemptions(n *nodes) {
	a := n.driver()
	for round := range 8 {
		p := n.pairing("BCDF", fmt.Sprint(round))
		var taken count
		n.concurrently(12, func(i int, db *DB) {
			if i%2 == 0 {
				_, err := db.AnswerPairing(context.Background(), p.Name, p.CodeHash, start, maxTries, mapdata.PairingAnswer{Account: a, State: mapdata.PairingApproved})
				if err != nil {
					n.Errorf("repeating the answer: %v", err)
				}
				return
			}
			if _, err := db.TakePairing(context.Background(), p.DeviceHash, start, sessionOf(fmt.Sprint(round, " ", i)), "", nil); err == nil {
				taken.add()
			} else if !errors.Is(err, mapdata.ErrNotFound) {
				n.Error(err)
			}
		})
		if taken.n > 1 {
			n.Errorf("a pairing was redeemed %d times", taken.n)
		}
		stored, err := n.all[0].Pairing(n.Context(), p.DeviceHash)
		n.must(err)
		if want := map[int]mapdata.PairingState{0: mapdata.PairingApproved, 1: mapdata.PairingUsed}[taken.n]; stored.State != want {
			n.Errorf("after %d redemptions, the pairing is %s, want %s", taken.n, stored.State, want)
		}
	}
}

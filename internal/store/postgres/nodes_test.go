package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
	"wayside/internal/throwaway"
)

// start is when every test of nodes begins.
var start = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

// nodes are several handles on one database, as several machines have them.
type nodes struct {
	*testing.T
	all [3]*DB
}

func newNodes(t *testing.T, pg *throwaway.PG) *nodes {
	t.Helper()
	n, url := &nodes{T: t}, pg.Database(t)
	for i := range n.all {
		db, err := Open(t.Context(), Config{URL: url, Now: func() time.Time { return start }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { n.must(db.Close()) })
		n.all[i] = db
	}
	return n
}

func (n *nodes) must(err error) {
	n.Helper()
	if err != nil {
		n.Fatal(err)
	}
}

// number asks the database itself.
func (n *nodes) number(query string, args ...any) (count int) {
	n.Helper()
	if err := n.all[0].pool.QueryRow(n.Context(), query, args...).Scan(&count); err != nil {
		n.Fatalf("%s: %v", query, err)
	}
	return count
}

func (n *nodes) exec(statement string, args ...any) {
	n.Helper()
	if _, err := n.all[0].pool.Exec(n.Context(), statement, args...); err != nil {
		n.Fatalf("%s: %v", statement, err)
	}
}

// atOnce does something so many times at the same moment, in turns on each node.
func (n *nodes) atOnce(times int, do func(i int, db *DB)) {
	var (
		all sync.WaitGroup
		run = make(chan struct{})
	)
	for i := range times {
		all.Go(func() {
			<-run
			do(i, n.all[i%len(n.all)])
		})
	}
	close(run)
	all.Wait()
}

// count counts what happens on several nodes.
type count struct {
	mu sync.Mutex
	n  int
}

func (c *count) add() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
}

func (n *nodes) driver() mapdata.AccountID {
	n.Helper()
	id, err := mapdata.NewAccountID()
	n.must(err)
	n.must(n.all[0].CreateAccount(n.Context(), &mapdata.Account{ID: id, Email: id.String(), CreatedAt: start}))
	return id
}

// feedWith registers a push feed that has one entity.
func (n *nodes) feedWith(externalID string, lifetime time.Duration) mapdata.FeedID {
	n.Helper()
	id, err := mapdata.NewFeedID()
	n.must(err)
	n.must(n.all[0].CreateFeed(n.Context(), &mapdata.Feed{
		ID: id, Owner: n.driver(), Name: "Feed", Layer: mapdata.Layer{ID: id.String(), Slug: id.String(), Name: "Layer"},
		Direction: mapdata.Push, Visibility: mapdata.Public, Active: true, ReviewState: mapdata.Approved, CreatedAt: start, UpdatedAt: start,
		PushTokenHash: id[:],
	}, 100))
	n.must(n.all[0].Apply(n.Context(), &mapdata.Change{
		Feed: id, At: start, Attempt: mapdata.Attempt{At: start, OK: true},
		Upserts: []mapdata.Entity{{
			Feed: id, ExternalID: externalID, Point: geo.Point{Lat: 52, Lng: 4}, Properties: []byte(`{}`),
			FirstSeenAt: start, SeenAt: start, ChangedAt: start, Lifetime: lifetime,
		}},
	}))
	return id
}

func liveBallot(id string, account mapdata.AccountID, v mapdata.Vote, at time.Time) *mapdata.Ballot {
	return &mapdata.Ballot{
		Source: mapdata.Incidents, ExternalID: id, Account: account, Vote: v, At: at,
		Live: &mapdata.Entity{
			ExternalID: id, Point: geo.Point{Lat: 52, Lng: 4}, Properties: []byte(`{}`), FirstSeenAt: at, SeenAt: at, ChangedAt: at,
			Lifetime: 5 * time.Minute,
		},
	}
}

// TestNodes: what several nodes do at the same moment is as if one had done it after the other.
func TestNodes(t *testing.T) {
	pg := throwaway.Postgres(t, throwaway.Unsynced())
	for name, test := range map[string]func(*nodes){
		"votes of one account count once":                 votesOfOne,
		"votes of many accounts all count":                votesOfMany,
		"votes on the first, at once, leave one record":   firstVotes,
		"a vote that is severed meanwhile counts once":    votesWhileSevered,
		"a vote and the end of its account":               votesWhileDeleted,
		"five tries of a sign-in code are five":           triesOfCodes,
		"a sign-in is taken by link or by code, once":     linkOrCode,
		"sign-ins of an address are limited":              signInsOfOne,
		"five tries of a pairing code are five":           triesOfPairings,
		"a pairing is answered by one":                    answersOfPairings,
		"a pairing is redeemed once":                      redemptions,
		"a pairing is answered and redeemed at once":      answersAndRedemptions,
		"a letter is leased by one":                       leases,
		"a lease waits for nobody":                        leasesPastOthers,
		"revisions of votes have no gap and are in order": revisionsOfVotes,
		"an account takes with it what is its own":        deletedAccounts,
		"what is asked often is found by an index":        indexes,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(newNodes(t, pg))
		})
	}
}

func votesOfOne(n *nodes) {
	feed, a := n.feedWith("a", 0), n.driver()
	for round := range 5 {
		n.atOnce(12, func(i int, db *DB) {
			v := []mapdata.Vote{mapdata.Confirm, mapdata.Dispute}[i/3%2]
			at := start.Add(time.Duration(round) * time.Minute)
			if _, err := db.CastVote(context.Background(), &mapdata.Ballot{Source: feed.Source(), ExternalID: "a", Account: a, Vote: v, At: at}); err != nil {
				n.Errorf("vote on an entity: %v", err)
			}
			if _, err := db.CastVote(context.Background(), liveBallot("a", a, v, at)); err != nil {
				n.Errorf("vote on a live incident: %v", err)
			}
		})
		for _, source := range []mapdata.SourceID{feed.Source(), mapdata.Incidents} {
			n.agrees(source, 1)
		}
	}
}

// agrees holds the tally on "a" against the votes that stand.
func (n *nodes) agrees(source mapdata.SourceID, votes int) {
	n.Helper()
	if got := n.number("SELECT count(*) FROM votes WHERE source = $1", string(source)); got != votes {
		n.Errorf("%d votes stand on %s, want %d", got, source, votes)
	}
	for _, c := range []struct {
		column string
		vote   mapdata.Vote
	}{{"confirms", mapdata.Confirm}, {"disputes", mapdata.Dispute}} {
		stand := n.number("SELECT count(*) FROM votes WHERE source = $1 AND vote = $2", string(source), c.vote)
		if got := n.number("SELECT sum("+c.column+") FROM voted WHERE source = $1", string(source)); got != stand {
			n.Errorf("%s: %d %s are counted, %d stand", source, got, c.column, stand)
		}
	}
}

func votesOfMany(n *nodes) {
	feed := n.feedWith("a", 0)
	drivers := make([]mapdata.AccountID, 30)
	for i := range drivers {
		drivers[i] = n.driver()
	}
	n.atOnce(len(drivers), func(i int, db *DB) {
		b := &mapdata.Ballot{Source: feed.Source(), ExternalID: "a", Account: drivers[i], Vote: mapdata.Dispute, At: start}
		if _, err := db.CastVote(context.Background(), b); err != nil {
			n.Errorf("CastVote: %v", err)
		}
	})
	n.agrees(feed.Source(), len(drivers))
}

func firstVotes(n *nodes) {
	drivers := make([]mapdata.AccountID, 12)
	for i := range drivers {
		drivers[i] = n.driver()
	}
	for round := range 5 {
		id := fmt.Sprint("live ", round)
		var first count
		n.atOnce(len(drivers), func(i int, db *DB) {
			v, err := db.CastVote(context.Background(), liveBallot(id, drivers[i], mapdata.Confirm, start))
			if err != nil {
				n.Errorf("CastVote: %v", err)
			}
			if v.Tally.Confirms == 1 {
				first.add()
			}
		})
		if first.n != 1 {
			n.Errorf("%d voters were told that they were the first", first.n)
		}
		if got := n.number("SELECT confirms FROM voted WHERE external_id = $1", id); got != len(drivers) {
			n.Errorf("%d confirms, want %d", got, len(drivers))
		}
	}
}

// votesWhileSevered: the account changes its vote while another node is severing the old one from it.
func votesWhileSevered(n *nodes) {
	a := n.driver()
	_, err := n.all[0].CastVote(n.Context(), liveBallot("a", a, mapdata.Confirm, start))
	n.must(err)
	severing, err := n.all[1].pool.Begin(n.Context())
	n.must(err)
	_, err = severing.Exec(n.Context(), "UPDATE votes SET account = NULL WHERE account = $1", a[:])
	n.must(err)
	cast := make(chan error, 1)
	go func() {
		_, err := n.all[2].CastVote(context.Background(), liveBallot("a", a, mapdata.Dispute, start))
		cast <- err
	}()
	n.untilOneWaits()
	n.must(severing.Commit(n.Context()))
	n.must(<-cast)
	n.agrees(mapdata.Incidents, 2)
}

// untilOneWaits returns once somebody waits for another's lock.
func (n *nodes) untilOneWaits() {
	n.Helper()
	deadline := time.After(10 * time.Second)
	for n.number("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") == 0 {
		select {
		case <-deadline:
			n.Fatal("nobody waits")
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func votesWhileDeleted(n *nodes) {
	for range 10 {
		a := n.driver()
		n.atOnce(6, func(i int, db *DB) {
			if i == 0 {
				if _, err := db.pool.Exec(context.Background(), "DELETE FROM accounts WHERE id = $1", a[:]); err != nil {
					n.Error(err)
				}
				return
			}
			_, err := db.CastVote(context.Background(), liveBallot("a", a, mapdata.Confirm, start))
			if err != nil && !errors.Is(err, mapdata.ErrNotFound) && !errors.Is(err, mapdata.ErrUnavailable) {
				n.Errorf("CastVote = %v", err)
			}
		})
	}
	counted, stand := n.number("SELECT COALESCE(sum(confirms), 0) FROM voted"), n.number("SELECT count(*) FROM votes")
	if counted != stand {
		n.Errorf("%d votes are counted, %d stand", counted, stand)
	}
	if left := n.number("SELECT count(*) FROM votes WHERE account IS NOT NULL"); left != 0 {
		n.Errorf("%d votes are still somebody's who is gone", left)
	}
}

const maxTries = 5

func (n *nodes) signIn(name, email string) *mapdata.SignIn {
	n.Helper()
	s := &mapdata.SignIn{
		TokenHash: []byte("token " + name), Email: email, CodeHash: []byte("code " + name), CreatedAt: start, ExpiresAt: start.Add(10 * time.Minute),
	}
	if _, err := n.all[0].CreateSignIn(n.Context(), s, nil, start, 100); err != nil {
		n.Fatal(err)
	}
	return s
}

// triesOfCodes: of forty guesses at once, each of another code, only the first five are compared. So if the right one is
// among them it is taken as often as it comes early, and never after five wrong ones.
func triesOfCodes(n *nodes) {
	taken := 0
	const rounds, guesses = 12, 40
	for round := range rounds {
		s := n.signIn(fmt.Sprint(round), fmt.Sprint("ada", round, "@example.org"))
		var right count
		n.atOnce(guesses, func(i int, db *DB) {
			code := []byte("wrong")
			if i == guesses-1 {
				code = s.CodeHash
			}
			got, err := db.TakeSignInByCode(context.Background(), s.Email, code, start, maxTries)
			switch {
			case err == nil:
				right.add()
				if got.Tries >= maxTries {
					n.Errorf("a code was taken after %d tries", got.Tries)
				}
			case !errors.Is(err, mapdata.ErrNotFound):
				n.Errorf("TakeSignInByCode: %v", err)
			}
		})
		tries := n.number("SELECT tries FROM sign_ins WHERE id = $1", s.ID)
		if right.n == 0 && tries != guesses || right.n == 1 && tries >= maxTries {
			n.Errorf("%d tries are counted of %d; the right one was taken %d times", tries, guesses, right.n)
		}
		taken += right.n
	}
	if taken == rounds {
		n.Error("the right code was taken each time: guesses are not counted before the next is compared")
	}
}

func linkOrCode(n *nodes) {
	for round := range 8 {
		s := n.signIn(fmt.Sprint(round), "ada@example.org")
		var taken count
		n.atOnce(9, func(i int, db *DB) {
			var err error
			if i%2 == 0 {
				_, err = db.TakeSignIn(context.Background(), s.TokenHash, start)
			} else {
				_, err = db.TakeSignInByCode(context.Background(), s.Email, s.CodeHash, start, 100)
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
	n.atOnce(24, func(i int, db *DB) {
		s := &mapdata.SignIn{TokenHash: fmt.Append(nil, "token ", i), Email: "ada@example.org", CodeHash: []byte("code"), CreatedAt: start, ExpiresAt: start.Add(time.Minute)}
		letter := &mapdata.Letter{Kind: mapdata.LetterSignIn, At: start}
		ok, err := db.CreateSignIn(context.Background(), s, letter, start, limit)
		if err != nil {
			n.Error(err)
		}
		if ok {
			stored.add()
		}
	})
	if stored.n != limit || n.number("SELECT count(*) FROM sign_ins") != limit || n.number("SELECT count(*) FROM outbox") != limit {
		n.Errorf("%d sign-ins were stored, want %d, each with its letter", stored.n, limit)
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
		n.atOnce(guesses, func(i int, db *DB) {
			code := []byte("wrong")
			if i == guesses-1 {
				code = p.CodeHash
			}
			_, err := db.AnswerPairing(context.Background(), p.Name, code, start, maxTries, a, mapdata.PairingApproved)
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
		n.Error("the right code was found each time: guesses are not counted before the next is compared")
	}
}

func answersOfPairings(n *nodes) {
	drivers := []mapdata.AccountID{n.driver(), n.driver(), n.driver(), n.driver()}
	for round := range 8 {
		p := n.pairing("BCDF", fmt.Sprint(round))
		var said count
		n.atOnce(len(drivers), func(i int, db *DB) {
			_, err := db.AnswerPairing(context.Background(), p.Name, p.CodeHash, start, maxTries, drivers[i], mapdata.PairingApproved)
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
		_, err := n.all[0].AnswerPairing(n.Context(), p.Name, p.CodeHash, start, maxTries, a, mapdata.PairingApproved)
		n.must(err)
		var taken count
		n.atOnce(9, func(i int, db *DB) {
			got, err := db.TakePairing(context.Background(), p.DeviceHash, start, sessionOf(fmt.Sprint(round, " ", i)))
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
		n.atOnce(12, func(i int, db *DB) {
			if i%2 == 0 {
				_, err := db.AnswerPairing(context.Background(), p.Name, p.CodeHash, start, maxTries, a, mapdata.PairingApproved)
				if err != nil {
					n.Errorf("the same answer again: %v", err)
				}
				return
			}
			if _, err := db.TakePairing(context.Background(), p.DeviceHash, start, sessionOf(fmt.Sprint(round, " ", i))); err == nil {
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

func (n *nodes) mail(letters int) {
	n.Helper()
	for range letters {
		n.exec("INSERT INTO outbox (address, kind, data, at, tries, due) VALUES ('ada@example.org', 'sign_in', '{}', $1, 0, $1)", start.UnixMilli())
	}
}

func leases(n *nodes) {
	const many = 60
	n.mail(many)
	var (
		mu    sync.Mutex
		times = make(map[int64]int)
	)
	n.atOnce(12, func(_ int, db *DB) {
		for {
			letters, err := db.DueLetters(context.Background(), start, start.Add(time.Minute), 5)
			if err != nil {
				n.Error(err)
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
	for id, got := range times {
		if got != 1 {
			n.Errorf("letter %d was leased %d times", id, got)
		}
	}
	if len(times) != many {
		n.Errorf("%d letters were leased, want %d", len(times), many)
	}
}

// leasesPastOthers: a node that hangs in the middle of leasing holds up nobody else's letters.
func leasesPastOthers(n *nodes) {
	n.mail(3)
	hung, err := n.all[0].pool.Begin(n.Context())
	n.must(err)
	defer hung.Rollback(n.Context()) //nolint:errcheck // it only held a lock
	_, err = hung.Exec(n.Context(), "SELECT id FROM outbox ORDER BY id LIMIT 1 FOR UPDATE")
	n.must(err)
	ctx, cancel := context.WithTimeout(n.Context(), 10*time.Second)
	defer cancel()
	letters, err := n.all[1].DueLetters(ctx, start, start.Add(time.Minute), 10)
	if err != nil || len(letters) != 2 {
		n.Errorf("beside a node that hangs, %d letters are leased, %v; want the other 2", len(letters), err)
	}
}

func revisionsOfVotes(n *nodes) {
	a, feed := n.driver(), n.feedWith("a", 0)
	before, err := n.all[0].State(n.Context())
	n.must(err)
	const votes = 30
	n.atOnce(votes, func(i int, db *DB) {
		b := &mapdata.Ballot{Source: feed.Source(), ExternalID: "a", Account: a, Vote: mapdata.Confirm, At: start.Add(time.Duration(i) * time.Second)}
		if _, err := db.CastVote(context.Background(), b); err != nil {
			n.Error(err)
		}
	})
	changes, err := n.all[1].Changes(n.Context(), before.Revision, 1000)
	n.must(err)
	if len(changes) != votes {
		n.Fatalf("%d changes, want %d", len(changes), votes)
	}
	for i := range changes {
		if c := &changes[i]; c.Revision != before.Revision+int64(i)+1 || len(c.Tallies) != 1 || len(c.Entities)+len(c.Gone) != 0 {
			n.Errorf("change %d is %+v, want the next revision with one tally and nothing else", i, c)
		}
	}
}

// deletedAccounts: the counts and the history of votes stay, the person does not (D9.7, D11.6, D13.5).
func deletedAccounts(n *nodes) {
	a, db := n.driver(), n.all[0]
	for i := range 3 {
		_, err := db.CastVote(n.Context(), liveBallot(fmt.Sprint(i), a, mapdata.Dispute, start))
		n.must(err)
	}
	n.must(db.SetPreferences(n.Context(), a, &mapdata.Preferences{}))
	p := n.pairing("BCDF", "x")
	_, err := db.AnswerPairing(n.Context(), p.Name, p.CodeHash, start, maxTries, a, mapdata.PairingApproved)
	n.must(err)
	_, err = db.TakePairing(n.Context(), p.DeviceHash, start, sessionOf("s"))
	n.must(err)
	n.exec("DELETE FROM accounts WHERE id = $1", a[:])
	for query, want := range map[string]int{
		"SELECT count(*) FROM votes WHERE account IS NULL": 3,
		"SELECT sum(disputes) FROM voted":                  3,
		"SELECT count(*) FROM preferences":                 0,
		"SELECT count(*) FROM pairings":                    0,
		"SELECT count(*) FROM sessions":                    0,
	} {
		if got := n.number(query); got != want {
			n.Errorf("%s = %d, want %d", query, got, want)
		}
	}
}

// indexes: what runs on every request, every push or every minute must not grow with what is stored.
func indexes(n *nodes) {
	conn, err := n.all[0].pool.Acquire(n.Context())
	n.must(err)
	defer conn.Release()
	// The tables are empty: without this, reading all of them would be cheapest.
	_, err = conn.Exec(n.Context(), "SET enable_seqscan = off")
	n.must(err)
	id, bytes := make([]byte, 16), []byte("x")
	for _, c := range []struct {
		query string
		args  []any
		want  string
	}{
		{selectKept, []any{id, "x", 1}, "voted_by_kept"},
		{selectTally, []any{"x", "x"}, "voted_pkey"},
		{selectTallied, []any{"x", []string{"x"}}, "voted_pkey"},
		{lockVote, []any{"x", "x", id}, "votes_by"},
		{selectLastDispute, []any{"x", "x", 1}, "votes_by_entity"},
		{severOldVotes, []any{1, 1}, "votes_by_age"},
		{"UPDATE votes SET account = NULL WHERE account = $1", []any{id}, "votes_by_account"}, // as a deleted account asks
		{countSignIns, []any{"x", 1}, "sign_ins_by_email"},
		{countTry, []any{"x", 1}, "sign_ins_by_email"},
		{takeSignIn, []any{bytes, 1}, "sign_ins_token_hash_key"},
		{selectSession, []any{bytes}, "sessions_token_hash_key"},
		{selectSessions, []any{id}, "sessions_by_account"},
		{selectAPIToken, []any{bytes}, "api_tokens_token_hash_key"},
		{selectPairing, []any{bytes}, "pairings_device_hash_key"},
		{selectPairingByCode, []any{bytes, 1}, "pairings_code_hash_key"},
		{countPairingTry, []any{"x", "x", 1}, "pairings_by_name"},
		{anyLetterDue, []any{1}, "outbox_by_due"},
		{leaseLetters, []any{1, 2, 3}, "outbox_by_due"},
	} {
		lines, err := list(n.Context(), conn, "EXPLAIN "+c.query, func(r row) (line string, err error) {
			err = r.Scan(&line)
			return line, err
		}, c.args...)
		if err != nil {
			n.Fatalf("%s: %v", c.query, err)
		}
		if plan := strings.Join(lines, "\n"); !strings.Contains(plan, c.want) || strings.Contains(plan, "Seq Scan") {
			n.Errorf("%s:\n%s\nwant %s, and nothing read whole", c.query, plan, c.want)
		}
	}
}

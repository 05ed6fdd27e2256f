package postgres

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
	"wayside/internal/testenv"
)

// start is when every test of nodes begins.
var start = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

// nodes are several handles on one database, as several machines have them.
type nodes struct {
	*testing.T
	all [3]*DB
}

func newNodes(t *testing.T, pg *testenv.PG) *nodes {
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

// TestNodes: what several nodes do at the same moment is as if one had done it after the other.
func TestNodes(t *testing.T) {
	pg := testenv.Postgres(t, testenv.Unsynced())
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

package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/store"
	"wayside/internal/store/storetest"
)

// start is the time at which every test of nodes begins.
var start = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

// nodes are several stores on one database, as several machines open it.
type nodes struct {
	*testing.T
	all [3]*DB
}

func newNodes(t *testing.T) *nodes {
	t.Helper()
	n, url := &nodes{T: t}, Servers.Migrated(t)
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

// number queries a number from the database directly.
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

// concurrently runs do the given number of times at the same time, spread over the nodes.
func (n *nodes) concurrently(times int, do func(i int, db *DB)) {
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

// count is a counter for several goroutines.
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

// feedWith registers a push feed with one entity.
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

// TestNodes checks that concurrent operations of several nodes have the same result as if they ran one after the other.
func TestNodes(t *testing.T) {
	for name, test := range map[string]func(*nodes){
		"votes of one account count once":                 votesOfOne,
		"votes of many accounts all count":                votesOfMany,
		"concurrent first votes leave one record":         firstVotes,
		"a vote that is being severed counts once":        votesWhileSevered,
		"a vote while its account is deleted":             votesWhileDeleted,
		"concurrent tries of a sign-in code all count":    triesOfCodes,
		"a sign-in is used once, by link or by code":      linkOrCode,
		"sign-ins of an address are limited":              signInsOfOne,
		"concurrent tries of a pairing code all count":    triesOfPairings,
		"a pairing is answered once":                      answersOfPairings,
		"a pairing is redeemed once":                      redemptions,
		"a pairing is answered while it is redeemed":      answersAndRedemptions,
		"an e-mail is leased once":                        leases,
		"leasing skips locked e-mails":                    leasesSkipLocked,
		"revisions of votes have no gap and are in order": revisionsOfVotes,
		"deleting an account deletes what it owns":        deletedAccounts,
		"frequent statements use an index":                indexes,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(newNodes(t))
		})
	}
}

func (n *nodes) mail(emails int) {
	n.Helper()
	for range emails {
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
	n.concurrently(12, func(_ int, db *DB) {
		for {
			emails, err := db.DueEmails(context.Background(), start, start.Add(time.Minute), 5)
			if err != nil {
				n.Error(err)
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
	for id, got := range times {
		if got != 1 {
			n.Errorf("e-mail %d was leased %d times", id, got)
		}
	}
	if len(times) != many {
		n.Errorf("%d e-mails were leased, want %d", len(times), many)
	}
}

// leasesSkipLocked checks that a node that hangs while it leases e-mails does not delay the others.
func leasesSkipLocked(n *nodes) {
	n.mail(3)
	hung, err := n.all[0].pool.Begin(n.Context())
	n.must(err)
	defer hung.Rollback(n.Context()) //nolint:errcheck // it wrote nothing
	_, err = hung.Exec(n.Context(), "SELECT id FROM outbox ORDER BY id LIMIT 1 FOR UPDATE")
	n.must(err)
	ctx, cancel := context.WithTimeout(n.Context(), time.Minute)
	defer cancel()
	emails, err := n.all[1].DueEmails(ctx, start, start.Add(time.Minute), 10)
	if err != nil || len(emails) != 2 {
		n.Errorf("beside a node that hangs, %d e-mails are leased, %v; want the other 2", len(emails), err)
	}
}

// deletedAccounts checks that counts and history of votes stay without the account (D9.7, D11.6, D13.5).
func deletedAccounts(n *nodes) {
	a, db := n.driver(), n.all[0]
	for i := range 3 {
		_, err := db.CastVote(n.Context(), liveBallot(fmt.Sprint(i), a, mapdata.Dispute, start))
		n.must(err)
	}
	n.must(db.SetPreferences(n.Context(), a, &mapdata.Preferences{}))
	p := n.pairing("BCDF", "x")
	_, err := db.AnswerPairing(n.Context(), p.Name, p.CodeHash, start, maxTries, mapdata.PairingAnswer{Account: a, State: mapdata.PairingApproved})
	n.must(err)
	_, err = db.TakePairing(n.Context(), p.DeviceHash, start, sessionOf("s"), "", nil)
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

// indexes checks that the cost of statements that run on every request, every push or every minute does not grow with
// the tables.
func indexes(n *nodes) {
	conn, err := n.all[0].pool.Acquire(n.Context())
	n.must(err)
	defer conn.Release()
	// The tables are empty: without this setting a sequential scan would be cheapest.
	_, err = conn.Exec(n.Context(), "SET enable_seqscan = off")
	n.must(err)
	// Likewise this partial index, which is for another statement: on an empty table the planner considers it as cheap
	// as the primary key.
	_, err = conn.Exec(n.Context(), "DROP INDEX voted_incidents_by_kind")
	n.must(err)
	recording := &storetest.Recording{Backend: n.all[0].backend}
	n.must(storetest.Exercise(n.Context(), store.New(recording, dialect, n.all[0].now)))
	planOf := func(s store.Statement) string {
		lines, err := store.List(n.Context(), queries{conn}, "EXPLAIN "+s.Query, func(r store.Row) (line string, err error) {
			err = r.Scan(&line)
			return line, err
		}, s.Args...)
		if err != nil {
			n.Fatalf("%s: %v", s.Query, err)
		}
		return strings.Join(lines, "\n")
	}
	for _, s := range recording.Writes {
		if plan := planOf(s); strings.Contains(plan, "Seq Scan") {
			n.Errorf("%s:\n%s", s.Query, plan)
		}
	}
	id := make([]byte, 16)
	all := append(slices.Concat(recording.Writes, recording.Reads),
		store.Statement{Query: "UPDATE votes SET account = NULL WHERE account = $1", Args: []any{id}}, // as the deletion of an account runs it
		store.Statement{Query: selectChangedTallies, Args: []any{"x", []string{"x"}}})
	for part, want := range map[string]string{
		"v.kept_until > $3": "voted_by_kept",
		"FROM voted AS v WHERE v.source = $1 AND v.external_id = $2": "voted_pkey",
		selectChangedTallies:                               "voted_pkey",
		"SELECT b.vote":                                    "votes_by",
		"SELECT MAX(+at) FROM votes":                       "votes_by_entity",
		"ORDER BY at LIMIT $2":                             "votes_by_age",
		"SET account = NULL WHERE account = $1":            "votes_by_account",
		"SELECT COUNT(*) FROM sign_ins":                    "sign_ins_by_email",
		"UPDATE sign_ins SET tries":                        "sign_ins_by_email",
		"UPDATE sign_ins SET used = true WHERE token_hash": "sign_ins_token_hash_key",
		"FROM sessions AS s JOIN":                          "sessions_token_hash_key",
		"FROM sessions AS s WHERE s.account":               "sessions_by_account",
		"FROM api_tokens AS t JOIN":                        "api_tokens_token_hash_key",
		"FROM pairings WHERE device_hash":                  "pairings_device_hash_key",
		"FROM pairings WHERE code_hash":                    "pairings_code_hash_key",
		"UPDATE pairings SET tries":                        "pairings_by_name",
		"SELECT EXISTS (SELECT 1 FROM outbox":              "outbox_by_due",
		"WHERE o.due <= $1":                                "outbox_by_due",
		"DELETE FROM sessions":                             "sessions_by",
		"WITH due AS":                                      "feeds_by_due",
	} {
		found := false
		for _, s := range all {
			if !strings.Contains(s.Query, part) {
				continue
			}
			found = true
			if plan := planOf(s); !strings.Contains(plan, want) || strings.Contains(plan, "Seq Scan") {
				n.Errorf("%s:\n%s\nwant %s, and no sequential scan", s.Query, plan, want)
			}
		}
		if !found {
			n.Errorf("no statement with %q was run", part)
		}
	}
}

package sqlite

import (
	"fmt"
	"testing"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/store"
)

func driverOf(tb testing.TB, db *DB) mapdata.AccountID {
	tb.Helper()
	id, err := mapdata.NewAccountID()
	if err != nil {
		tb.Fatal(err)
	}
	if err := db.CreateAccount(tb.Context(), &mapdata.Account{ID: id, Email: id.String(), CreatedAt: start}); err != nil {
		tb.Fatal(err)
	}
	return id
}

func liveBallot(id string, account mapdata.AccountID, v mapdata.Vote, at time.Time, properties string) *mapdata.Ballot {
	return &mapdata.Ballot{
		Source: mapdata.Incidents, ExternalID: id, Account: account, Vote: v, At: at,
		Live: &mapdata.Entity{
			ExternalID: id, Point: geo.Point{Lat: 52, Lng: 4}, Properties: []byte(properties), FirstSeenAt: at, SeenAt: at, ChangedAt: at,
			Lifetime: 5 * time.Minute,
		},
	}
}

func cast(tb testing.TB, db *DB, b *mapdata.Ballot) mapdata.Voted {
	tb.Helper()
	v, err := db.CastVote(tb.Context(), b)
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

// TestRecordOfFirstVote checks that the first vote of a life stores the record, and that later votes leave it
// unchanged.
func TestRecordOfFirstVote(t *testing.T) {
	db := openNew(t, Options{})
	feed, a, b := feedOf(t, db), driverOf(t, db), driverOf(t, db)
	record := func(source mapdata.SourceID) (got string) {
		t.Helper()
		row := db.reader.QueryRowContext(t.Context(), `SELECT kind || ' ' || lat || ' ' || lng || ' ' || first_seen_at || ' ' || last_seen_at || ' ' || properties
			FROM voted WHERE source = ?`, string(source))
		if err := row.Scan(&got); err != nil {
			t.Fatal(err)
		}
		return got
	}
	put := func(at time.Time, lat float64, retired ...string) {
		t.Helper()
		mark, err := db.Mark(t.Context(), feed)
		if err != nil {
			t.Fatal(err)
		}
		c := &mapdata.Change{Feed: feed, Base: mark.EntitiesRevision, At: at, Retired: retired, Attempt: mapdata.Attempt{At: at, OK: true}}
		if lat != 0 {
			c.Upserts = []mapdata.Entity{{
				Feed: feed, ExternalID: "a", Point: geo.Point{Lat: lat, Lng: 4.5}, Properties: fmt.Appendf(nil, `{"at":%v}`, lat),
				FirstSeenAt: start.Add(at.Sub(start).Truncate(time.Hour)), SeenAt: at, ChangedAt: at, Lifetime: 3 * time.Hour,
			}}
		}
		if err := db.Apply(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	vote := func(account mapdata.AccountID, at time.Time) {
		t.Helper()
		cast(t, db, &mapdata.Ballot{Source: feed.SourceID(), ExternalID: "a", Account: account, Vote: mapdata.Confirm, At: at})
	}
	kind := mapdata.Kind(0).ID()
	ms := func(d time.Duration) int64 { return start.Add(d).UnixMilli() }
	put(start.Add(time.Minute), 52.5)
	vote(a, start.Add(2*time.Minute))
	first := fmt.Sprintf(`%s 52.5 4.5 %d %d {"at":52.5}`, kind, ms(0), ms(time.Minute))
	if got := record(feed.SourceID()); got != first {
		t.Errorf("record = %s\nwant %s", got, first)
	}
	put(start.Add(3*time.Minute), 53.5)
	vote(b, start.Add(4*time.Minute))
	if got := record(feed.SourceID()); got != first {
		t.Errorf("after a second vote, record = %s\nwant the first vote's %s", got, first)
	}
	put(start.Add(30*time.Minute), 0, "a")
	put(start.Add(time.Hour), 54.5)
	if got := record(feed.SourceID()); got != first {
		t.Errorf("before a vote on the new life, record = %s\nwant the old record %s", got, first)
	}
	vote(b, start.Add(time.Hour+time.Minute))
	want := fmt.Sprintf(`%s 54.5 4.5 %d %d {"at":54.5}`, kind, ms(time.Hour), ms(time.Hour))
	if got := record(feed.SourceID()); got != want {
		t.Errorf("after a vote on the new life, record = %s\nwant %s", got, want)
	}
	if n := number(t, db, "SELECT COUNT(*) FROM votes"); n != 3 {
		t.Errorf("%d votes, want 3: the votes on the old life stay as history", n)
	}

	cast(t, db, liveBallot("x", a, mapdata.Dispute, start, `{"n":1}`))
	cast(t, db, liveBallot("x", b, mapdata.Dispute, start.Add(time.Hour), `{"n":2}`))
	if got, want := record(mapdata.Incidents), fmt.Sprintf(`%s 52.0 4.0 %d %d {"n":1}`, kind, ms(0), ms(0)); got != want {
		t.Errorf("record of a live incident = %s\nwant %s", got, want)
	}
}

// TestVoteRollsBack checks that when the last step of a vote fails, neither the record nor the observation is stored.
func TestVoteRollsBack(t *testing.T) {
	db := openNew(t, Options{})
	a := driverOf(t, db)
	state, err := db.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.writer.ExecContext(t.Context(), `CREATE TRIGGER fails BEFORE INSERT ON changes BEGIN SELECT RAISE(ABORT, 'no'); END`); err != nil {
		t.Fatal(err)
	}
	if _, err := db.CastVote(t.Context(), liveBallot("x", a, mapdata.Confirm, start, `{}`)); err == nil {
		t.Fatal("CastVote = nil")
	}
	if n := number(t, db, "SELECT (SELECT COUNT(*) FROM votes) + (SELECT COUNT(*) FROM voted)"); n != 0 {
		t.Errorf("%d rows remain of a failed vote", n)
	}
	if now, err := db.State(t.Context()); err != nil || now != state {
		t.Errorf("state = %+v, %v; want %+v", now, err, state)
	}
}

// TestDeletedAccountSeversItsVotes checks that counts and history stay without the account (D9.7, D13.5).
func TestDeletedAccountSeversItsVotes(t *testing.T) {
	db := openNew(t, Options{})
	a, b := driverOf(t, db), driverOf(t, db)
	for i := range 20 {
		cast(t, db, liveBallot(fmt.Sprint(i), a, mapdata.Dispute, start, `{}`))
	}
	cast(t, db, liveBallot("0", b, mapdata.Dispute, start, `{}`))
	if _, err := db.writer.ExecContext(t.Context(), "DELETE FROM accounts WHERE id = ?", a[:]); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]int{
		"SELECT COUNT(*) FROM votes":                       21,
		"SELECT COUNT(*) FROM votes WHERE account IS NULL": 20,
		"SELECT SUM(disputes) FROM voted":                  21,
	} {
		if n := number(t, db, query); n != want {
			t.Errorf("%s = %d, want %d", query, n, want)
		}
	}
	// A severed dispute still counts as the last one.
	if v := cast(t, db, liveBallot("0", b, mapdata.NoVote, start.Add(time.Hour), `{}`)); v.Tally.Disputes != 1 || !v.Tally.LastDisputeAt.Equal(start) {
		t.Errorf("tally = %+v, want the severed dispute", v.Tally)
	}
}

func TestPruneVotes(t *testing.T) {
	db := openNew(t, Options{})
	gone, kept, a := feedOf(t, db), feedOf(t, db), driverOf(t, db)
	// Prune severs and removes in more than one transaction.
	const many = 2*store.PruneBatch + 1
	for _, feed := range []mapdata.FeedID{gone, kept} {
		for _, statement := range []string{
			`WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
			INSERT INTO votes (source, external_id, life_at, account, vote, at) SELECT ?2, 'id ' || i, 1, ?3, 1, ?4 FROM n`,
			`WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
			INSERT INTO voted SELECT ?2, 'id ' || i, 1, 0, NULL, NULL, ?4, 1, 'x', 0, 0, 1, 1, '{}', NULL, NULL, '', 0, 0, NULL, 0, 0 FROM n WHERE ?3 IS NOT NULL`,
		} {
			if _, err := db.writer.ExecContext(t.Context(), statement, many, string(feed.SourceID()), a[:], start.UnixMilli()); err != nil {
				t.Fatal(err)
			}
		}
	}
	prune(t, db, start.Add(store.SeverAfter-time.Millisecond))
	if n := number(t, db, "SELECT COUNT(*) FROM votes WHERE account IS NULL"); n != 0 {
		t.Errorf("%d votes were severed too early", n)
	}
	prune(t, db, start.Add(store.SeverAfter))
	if n := number(t, db, "SELECT COUNT(*) FROM votes WHERE account IS NULL"); n != 2*many {
		t.Errorf("%d votes are severed, want all %d", n, 2*many)
	}
	if err := db.DeleteFeed(t.Context(), gone, mapdata.AuditEntry{At: start}); err != nil {
		t.Fatal(err)
	}
	prune(t, db, start)
	for _, table := range []string{"votes", "voted"} {
		if n := number(t, db, "SELECT COUNT(*) FROM "+table); n != many {
			t.Errorf("%d rows of %s are left, want the other feed's %d", n, table, many)
		}
	}
	if n := number(t, db, "SELECT COUNT(*) FROM deleted_feeds"); n != 0 {
		t.Errorf("%d deleted feeds still have rows", n)
	}
}

// TestVotesMigrationKeepsChanges checks that migrating a database from before votes keeps its changes.
func TestVotesMigrationKeepsChanges(t *testing.T) {
	db := openOlder(t, 1, `INSERT INTO changes VALUES (1, zeroblob(16), 0, 1, '["a"]'); UPDATE state SET revision = 1`)
	changes, err := db.Changes(t.Context(), 0, 10)
	if err != nil || len(changes) != 1 || changes[0].Tallies != nil {
		t.Errorf("Changes = %+v, %v; want the old change, of entities", changes, err)
	}
	cast(t, db, liveBallot("x", driverOf(t, db), mapdata.Confirm, start, `{}`))
	if changes, err = db.Changes(t.Context(), 1, 10); err != nil || len(changes) != 1 || len(changes[0].Tallies) != 1 {
		t.Errorf("Changes = %+v, %v; want a vote", changes, err)
	}
}

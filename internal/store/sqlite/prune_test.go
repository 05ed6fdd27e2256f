package sqlite

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/store"
)

func prune(t *testing.T, db *DB, now time.Time) {
	t.Helper()
	if err := db.Prune(t.Context(), now); err != nil {
		t.Fatal(err)
	}
}

func TestPruneChanges(t *testing.T) {
	hand := &clock{at: start}
	db := openNew(t, Options{Now: hand.now})
	feed := feedOf(t, db) // revision 1
	for i := range 250 {  // more than one transaction of Prune removes
		hand.set(start.Add(time.Duration(i) * time.Second))
		mustPush(t, db, feed, start, fmt.Sprint(i), 1)
	}
	prune(t, db, start.Add(time.Hour))
	if s, err := db.State(t.Context()); err != nil || s.Floor != 0 {
		t.Fatalf("state when nothing is older than an hour = %+v, %v", s, err)
	}
	prune(t, db, start.Add(time.Hour+150*time.Second))
	s, err := db.State(t.Context())
	if want := int64(151); err != nil || s.Floor != want || s.Revision != 251 {
		t.Fatalf("state = %+v, %v; want floor %d", s, err, want)
	}
	if _, err := db.Changes(t.Context(), s.Floor-1, 10); !errors.Is(err, mapdata.ErrConflict) {
		t.Errorf("Changes below the floor = %v, want %v: a follower must not pass over what was pruned", err, mapdata.ErrConflict)
	}
	changes, err := db.Changes(t.Context(), s.Floor, 1_000)
	if err != nil || len(changes) != 100 || changes[0].Revision != s.Floor+1 {
		t.Errorf("Changes from the floor: %d, %v; want the 100 that are kept", len(changes), err)
	}
	prune(t, db, start.Add(100*time.Hour))
	if s, err := db.State(t.Context()); err != nil || s.Floor != 251 || s.Revision != 251 {
		t.Errorf("state with all pruned = %+v, %v; want floor and revision 251", s, err)
	}
	mustPush(t, db, feed, start, "new", 1)
	if s, err := db.State(t.Context()); err != nil || s.Revision != 252 {
		t.Errorf("state after all was pruned and something changed = %+v, %v; want revision 252", s, err)
	}
}

func TestPruneChangesBySize(t *testing.T) {
	db := openNew(t, Options{Now: func() time.Time { return start }})
	feed := feedOf(t, db)
	for i := range 4 {
		mustPush(t, db, feed, start, fmt.Sprint(i), 1)
	}
	// Each row is counted as that many entities.
	if _, err := db.writer.ExecContext(t.Context(), "UPDATE changes SET entities = ?", store.ChangesMaxIDs/2); err != nil {
		t.Fatal(err)
	}
	prune(t, db, start)
	if s, err := db.State(t.Context()); err != nil || s.Floor != 3 {
		t.Errorf("state = %+v, %v; want floor 3: the two rows after it name the maximum that is kept", s, err)
	}
}

func TestPruneAttempts(t *testing.T) {
	db := openNew(t, Options{})
	busy, quiet := feedOf(t, db), feedOf(t, db)
	attempts := func(feed mapdata.FeedID) int {
		t.Helper()
		all, err := db.Timeline(t.Context(), feed, time.Time{}, 10_000)
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	for i := range 150 {
		mustPush(t, db, busy, start.Add(time.Duration(i)*time.Minute), "a", 1)
	}
	for i := range 5 {
		mustPush(t, db, quiet, start.Add(time.Duration(i)*time.Minute), "a", 1)
	}
	for _, c := range []struct {
		at          time.Duration
		busy, quiet int
	}{
		{0, 150, 5},
		{time.Hour, 150, 5},
		{time.Hour + 20*time.Minute, 130, 5}, // those within the hour
		{time.Hour + 145*time.Minute, mapdata.TimelineLength, 5},
		{mapdata.TimelineSpan, mapdata.TimelineLength, 5},
		{1000 * time.Hour, mapdata.RecentPolls, 5},
	} {
		prune(t, db, start.Add(c.at))
		if b, q := attempts(busy), attempts(quiet); b != c.busy || q != c.quiet {
			t.Errorf("after %v: %d and %d attempts, want %d and %d", c.at, b, q, c.busy, c.quiet)
		}
	}
	all, err := db.Timeline(t.Context(), busy, time.Time{}, 1)
	if err != nil || !all[0].At.Equal(start.Add(149*time.Minute)) {
		t.Errorf("the newest attempt that is kept is %v (%v)", all[0].At, err)
	}
}

func TestPruneSignInsAndSessions(t *testing.T) {
	db := openNew(t, Options{})
	feedOf(t, db)
	accounts, err := db.Accounts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range []mapdata.Session{
		{SeenAt: start, CreatedAt: start},
		{SeenAt: start.Add(mapdata.SessionTotal), CreatedAt: start},
		{SeenAt: start.Add(mapdata.SessionTotal), CreatedAt: start.Add(time.Millisecond)},
	} {
		s.ID, s.TokenHash, s.Account = fmt.Sprint(i), []byte{byte(i)}, accounts[0].ID
		if err := db.CreateSession(t.Context(), &s, ""); err != nil {
			t.Fatal(err)
		}
	}
	s := &mapdata.SignIn{TokenHash: []byte("t"), Email: "ada@example.org", CodeHash: []byte("c"), CreatedAt: start, ExpiresAt: start.Add(10 * time.Minute)}
	if _, err := db.CreateSignIn(t.Context(), s, nil, start, 10); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at                time.Duration
		signIns, sessions int
	}{
		{time.Hour, 1, 3},
		{time.Hour + time.Millisecond, 0, 3},
		{mapdata.SessionIdle - time.Millisecond, 0, 3},
		{mapdata.SessionIdle, 0, 2},
		{mapdata.SessionTotal, 0, 1},
	} {
		prune(t, db, start.Add(c.at))
		if a, b := number(t, db, "SELECT COUNT(*) FROM sign_ins"), number(t, db, "SELECT COUNT(*) FROM sessions"); a != c.signIns || b != c.sessions {
			t.Errorf("after %v: %d sign-ins and %d sessions, want %d and %d", c.at, a, b, c.signIns, c.sessions)
		}
	}
}

func TestPruneDeletedFeeds(t *testing.T) {
	db := openNew(t, Options{})
	gone, kept := feedOf(t, db), feedOf(t, db)
	mustPush(t, db, gone, start, "a", 2*store.PruneBatch) // a multiple of the batch, so that the last batch is empty
	mustPush(t, db, kept, start, "a", 10)
	if err := db.DeleteFeed(t.Context(), gone, mapdata.AuditEntry{At: start, Action: "feed.delete", Subject: gone.String()}); err != nil {
		t.Fatal(err)
	}
	prune(t, db, start)
	if n := number(t, db, "SELECT COUNT(*) FROM entities"); n != 10 {
		t.Errorf("%d entities are left, want the other feed's 10", n)
	}
	if n := number(t, db, "SELECT COUNT(*) FROM deleted_feeds"); n != 0 {
		t.Errorf("%d deleted feeds still have rows", n)
	}
	if n := number(t, db, "SELECT COUNT(*) FROM audit WHERE action = 'feed.delete' AND subject = ?", gone.String()); n != 1 {
		t.Errorf("%d entries in the audit log, want 1", n)
	}
}

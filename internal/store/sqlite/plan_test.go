package sqlite

import (
	"slices"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/store"
	"wayside/internal/store/storetest"
)

// exercise runs the scripts of pushes, polls, votes and pruning, and returns their statements.
func exercise(t *testing.T, db *DB) *storetest.Recording {
	t.Helper()
	recording := &storetest.Recording{Backend: db.backend}
	if err := storetest.Exercise(t.Context(), store.New(recording, dialect, db.now)); err != nil {
		t.Fatal(err)
	}
	return recording
}

// TestNoScanUnderTheWriteLock checks that statements of pushes, polls, votes and pruning that run under the write lock
// use an index, so that their cost does not grow with the tables.
func TestNoScanUnderTheWriteLock(t *testing.T) {
	db := openNew(t, Options{})
	seen := make(map[string]bool)
	// These scans are not of tables: they are of elements of a list parameter, rows that a claim has found by an index,
	// and the newest acts of an account with their days.
	bounded := []string{"SCAN due", "SCAN CONSTANT ROW", "SCAN a", "SCAN cast_by", "SCAN written_by", "SCAN d", "SCAN days"}
	for _, s := range exercise(t, db).Writes {
		if seen[s.Query] {
			continue
		}
		seen[s.Query] = true
		plan := planOf(t, db, s)
		for _, step := range strings.Split(plan, "; ") {
			if strings.HasPrefix(step, "SCAN") && !strings.HasPrefix(step, "SCAN json_each") && !slices.Contains(bounded, step) {
				t.Errorf("%s\n%s", s.Query, plan)
			}
		}
	}
	for _, part := range []string{
		"DELETE FROM changes", "DELETE FROM attempts", "DELETE FROM rejections", "DELETE FROM sign_ins", "DELETE FROM sessions",
		"DELETE FROM pairings", "DELETE FROM passkey_answers", "UPDATE votes SET account = NULL", "DELETE FROM live", "DELETE FROM entities",
		"DELETE FROM votes", "DELETE FROM voted", "DELETE FROM deleted_feeds", "DELETE FROM audit", "SET lease_owner = $2",
	} {
		found := false
		for query := range seen {
			found = found || strings.Contains(query, part)
		}
		if !found {
			t.Errorf("no statement with %q was run", part)
		}
	}
}

// TestIndexesOfTheHotStatements checks that the cost of statements that run on every push, claim, minute or account
// does not grow with the history.
func TestIndexesOfTheHotStatements(t *testing.T) {
	db := openNew(t, Options{})
	statements := exercise(t, db).Writes
	statements = append(statements,
		store.Statement{Query: "UPDATE votes SET account = NULL WHERE account = $1", Args: []any{[]byte{1}}}, // as the deletion of an account runs it
		store.Statement{Query: selectChangedTallies, Args: []any{1, "x"}}, store.Statement{Query: dialect.OldTallies, Args: []any{1}})
	for part, want := range map[string]string{
		"v.kept_until > $3":                      "SEARCH v USING INDEX voted_by_kept (source=? AND kept_until>?)",
		"ORDER BY at LIMIT $2":                   "votes_by_age (at<?)",
		"SELECT a.lat, a.lng, a.at":              "SEARCH b USING INDEX votes_by_act (account=?)",
		"WITH RECURSIVE d":                       "SEARCH b USING INDEX votes_by_act (account=? AND at<?)",
		"SELECT account FROM votes":              "votes_by_entity (source=? AND external_id=? AND life_at=? AND account>?)",
		"SELECT COUNT(*), COUNT(CASE WHEN s.own": "SEARCH o USING COVERING INDEX votes_by_entity (source=? AND external_id=? AND life_at=? AND account=?)",
		"SELECT b.vote":                          "votes_by_entity (source=? AND external_id=? AND life_at=? AND account=?)",
		selectChangedTallies:                     "SEARCH v USING INDEX sqlite_autoindex_voted_1 (source=? AND external_id=?)",
		"SELECT MAX(+at) FROM votes":             "votes_by_entity (source=? AND external_id=? AND life_at=?)",
		"DELETE FROM votes WHERE id IN":          "(source=?)", // two indexes begin with it
		"SET account = NULL WHERE account = $1":  "votes_by_account (account=?)",
		dialect.OldTallies:                       "SEARCH e USING PRIMARY KEY (feed_id=?)",
		"WITH due AS":                            "feeds_by_due (next_fetch_at<?)",
	} {
		found := false
		for _, s := range statements {
			if !strings.Contains(s.Query, part) {
				continue
			}
			found = true
			if plan := planOf(t, db, s); !strings.Contains(plan, want) {
				t.Errorf("%s:\n%s\nwant %s", s.Query, plan, want)
			}
		}
		if !found {
			t.Errorf("no statement with %q was run", part)
		}
	}
}

// TestTalliesAreFoundByAge checks that reading the tallies that changed since a time uses an index, and that reading
// all of them does not.
func TestTalliesAreFoundByAge(t *testing.T) {
	db := openNew(t, Options{})
	recording := &storetest.Recording{Backend: db.backend}
	scripts := store.New(recording, dialect, db.now)
	for _, since := range []time.Time{{}, start} {
		if err := scripts.AllTallies(t.Context(), since, func(*mapdata.Tally) {}); err != nil {
			t.Fatal(err)
		}
	}
	if plan := planOf(t, db, recording.Reads[0]); strings.Contains(plan, "INDEX") {
		t.Errorf("all tallies: %s", plan)
	}
	if plan := planOf(t, db, recording.Reads[1]); !strings.Contains(plan, "voted_by_change (changed_at>?)") {
		t.Errorf("tallies since a moment: %s", plan)
	}
}

// TestReplicasReadByIndex checks that the cost of a replica's reads of votes on live incidents and of attempts does not
// grow with the history.
func TestReplicasReadByIndex(t *testing.T) {
	db := openNew(t, Options{})
	recording := &storetest.Recording{Backend: db.backend}
	scripts := store.New(recording, dialect, db.now)
	if err := scripts.LiveTallies(t.Context(), 0, start, func(*mapdata.Tally) {}); err != nil {
		t.Fatal(err)
	}
	if _, err := scripts.RecordedAttempts(t.Context(), 1, 2); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"voted_incidents_by_kind (kind=? AND changed_at>?)", "attempts_by_revision (revision>? AND revision<?)"} {
		if plan := planOf(t, db, recording.Reads[i]); !strings.Contains(plan, want) {
			t.Errorf("%s\n%s, want %s", recording.Reads[i].Query, plan, want)
		}
	}
}

// TestVotesByDaysAreFoundByIndex checks that the owner's page reads only the votes of its last days, however many a
// feed has had.
func TestVotesByDaysAreFoundByIndex(t *testing.T) {
	db := openNew(t, Options{})
	recording := &storetest.Recording{Backend: db.backend}
	if _, err := store.New(recording, dialect, db.now).VoteDays(t.Context(), "feed:x", start, 30); err != nil {
		t.Fatal(err)
	}
	if plan := planOf(t, db, recording.Reads[0]); !strings.Contains(plan, "COVERING INDEX votes_by_day (source=? AND at>?)") {
		t.Error(plan)
	}
}

// planOf returns SQLite's query plan of a statement.
func planOf(t *testing.T, db *DB, s store.Statement) string {
	t.Helper()
	plan, err := store.List(t.Context(), queries{db.writer}, "EXPLAIN QUERY PLAN "+s.Query, func(r store.Row) (detail string, err error) {
		var skip int
		err = r.Scan(&skip, &skip, &skip, &detail)
		return detail, err
	}, s.Args...)
	if err != nil {
		t.Fatalf("%s: %v", s.Query, err)
	}
	return strings.Join(plan, "; ")
}

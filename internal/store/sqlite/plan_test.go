package sqlite

import (
	"strings"
	"testing"
)

// TestPruneScansNoTable: pruning runs every minute and holds the write lock, so each of its statements finds its rows by
// an index.
func TestPruneScansNoTable(t *testing.T) {
	db := openNew(t, Options{})
	for name, statement := range map[string]string{
		"changes": deleteChanges, "attempts": deleteAttempt, "rejections": deleteRejections, "sign-ins": deleteSignIns,
		"sessions": deleteSessions, "pairings": deletePairings, "passkey answers": deleteAnswers, "severed votes": severOldVotes,
		"live cache": deleteLiveOld, "entities": deleteSomeEntities, "votes": deleteSomeVotes, "tallies": deleteSomeVoted,
		"deleted feeds": forgetDeletedFeed, "audit log": deleteAudit,
	} {
		if plan := planOf(t, db, statement); strings.Contains(plan, "SCAN") {
			t.Errorf("%s: %s", name, plan)
		}
	}
}

// TestTalliesAreFoundByAge: reading the tallies that changed since a moment does not read all of them, however many there
// are; reading all of them does not go by an index.
func TestTalliesAreFoundByAge(t *testing.T) {
	db := openNew(t, Options{})
	if plan := planOf(t, db, selectTalliesSince); !strings.Contains(plan, "voted_by_change (changed_at>?)") {
		t.Errorf("tallies since a moment: %s", plan)
	}
	if plan := planOf(t, db, selectAllTallies); strings.Contains(plan, "INDEX") {
		t.Errorf("all tallies: %s", plan)
	}
}

// planOf says how SQLite runs a statement.
func planOf(t *testing.T, db *DB, statement string) string {
	t.Helper()
	args := make([]any, parameters(statement))
	rows, err := db.writer.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+statement, args...)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	defer rows.Close()
	var plan []string
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		plan = append(plan, detail)
	}
	if err := rows.Err(); err != nil || len(plan) == 0 {
		t.Fatalf("%s: plan %q, %v", statement, plan, err)
	}
	return strings.Join(plan, "; ")
}

// parameters counts the parameters of a statement, whether they have numbers or not.
func parameters(statement string) (n int) {
	for i := range 9 {
		if strings.Contains(statement, "?"+string(rune('1'+i))) {
			n = i + 1
		}
	}
	if n == 0 {
		n = strings.Count(statement, "?")
	}
	return n
}

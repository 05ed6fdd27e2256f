package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"wayside/internal/store/sqlite"
)

// TestPendingWaitsForTheLock checks that migrations are listed while another process creates the database: for moments it holds a lock
// that lets nobody read.
func TestPendingWaitsForTheLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wayside.db")
	other, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	other.SetMaxOpenConns(1)
	for _, query := range []string{"CREATE TABLE t (v INTEGER)", "BEGIN EXCLUSIVE"} {
		if _, err := other.ExecContext(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	ended := make(chan error, 1)
	time.AfterFunc(50*time.Millisecond, func() {
		_, err := other.ExecContext(t.Context(), "ROLLBACK")
		ended <- err
	})
	pending, err := sqlite.Pending(t.Context(), path)
	if err != nil || len(pending) == 0 {
		t.Errorf("%d migrations, %v", len(pending), err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

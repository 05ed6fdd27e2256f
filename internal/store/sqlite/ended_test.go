package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	"wayside/internal/ground/mapdata"
	"wayside/internal/store"
)

// TestEndedContextIsNamed verifies that a transaction that ended with its context fails with the context's error,
// whatever error the driver returns, because a client that goes away must not look like a fault of the database.
func TestEndedContextIsNamed(t *testing.T) {
	db := openAt(t, filepath.Join(t.TempDir(), "wayside.db"), Options{})
	for name, run := range map[string]func(ctx context.Context, do func() error) error{
		"write": func(ctx context.Context, do func() error) error {
			return backend{db: db}.Write(ctx, "write", func(*store.Tx) error { return do() })
		},
		"read": func(ctx context.Context, do func() error) error {
			return db.read(ctx, "read", func(*readTx) error { return do() })
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		err := run(ctx, func() error {
			cancel()
			return sql.ErrTxDone // as database/sql returns for a transaction that it rolled back
		})
		if !errors.Is(err, context.Canceled) || !errors.Is(err, sql.ErrTxDone) {
			t.Errorf("%s: %v", name, err)
		}
		if err := run(t.Context(), func() error { return mapdata.ErrConflict }); !errors.Is(err, mapdata.ErrConflict) || errors.Is(err, context.Canceled) {
			t.Errorf("%s with a context that goes on: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	running := make(chan struct{})
	go func() { <-running; cancel() }()
	close(running)
	var n int
	err := db.reader.QueryRowContext(ctx, `WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c`).Scan(&n)
	if err = failure("count", err); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted query: %v", err)
	}
}

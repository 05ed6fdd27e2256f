package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// checkpointEvery bounds how far the write-ahead log grows before it is copied into the file.
const checkpointEvery = time.Second

// Passive: never waits for readers or writers, copies what it can.
const copyLog = `PRAGMA wal_checkpoint(PASSIVE)`

// RunCheckpoints copies the write-ahead log into the file until ctx ends, beside the writers, so that no write has to.
// What fails, on a full disk say, is logged and tried again.
func (db *DB) RunCheckpoints(ctx context.Context) error {
	own, err := sql.Open("sqlite", checkpointDSN(db.path))
	if err != nil {
		return fmt.Errorf("run checkpoints: %w", err)
	}
	defer own.Close() //nolint:errcheck // nothing is lost
	own.SetMaxOpenConns(1)
	tick := time.NewTicker(checkpointEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if err := db.checkpoint(ctx, own); err != nil && ctx.Err() == nil {
				db.logger.Warn("cannot copy the write-ahead log into the database", "error", err)
			}
		}
	}
}

// checkpoint copies most of the log beside the writer and then the rest in the writer's stead: with nothing left in it,
// the next write starts the log from its beginning, so it does not grow without bound under continuous writes.
func (db *DB) checkpoint(ctx context.Context, own *sql.DB) error {
	if !db.written.Swap(false) {
		return nil
	}
	for _, conn := range []*sql.DB{own, db.writer} {
		var busy, log, copied int
		if err := conn.QueryRowContext(ctx, copyLog).Scan(&busy, &log, &copied); err != nil {
			db.written.Store(true)
			return failure("copy the write-ahead log", err)
		}
		if copied < log {
			db.written.Store(true) // a reader still reads an older state
		}
	}
	return nil
}

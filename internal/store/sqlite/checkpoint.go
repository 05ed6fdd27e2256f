package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

const (
	// checkpointEvery bounds the growth of the write-ahead log before it is copied into the file.
	checkpointEvery = time.Second
	// truncateEvery is the number of checkpoints after which the log is emptied: until then it may contain data that
	// Prune or another process deleted.
	truncateEvery = 60
	// truncateTimeout is how long emptying the log waits for readers. Writers wait equally long.
	truncateTimeout = 50 * time.Millisecond
)

const (
	// Passive: never waits for readers or writers, copies what it can.
	copyLog = `PRAGMA wal_checkpoint(PASSIVE)`
	// Copies everything and makes the log an empty file, unless a reader still needs it.
	truncateLog = `PRAGMA wal_checkpoint(TRUNCATE)`
)

// RunCheckpoints copies the write-ahead log into the file until ctx ends, concurrently with the writers, so that no
// write has to. It empties the log after an erasure, and once a minute (D11.11). It logs failures, for example on a
// full disk, and retries.
func (db *DB) RunCheckpoints(ctx context.Context) error {
	own, err := sql.Open("sqlite", checkpointDSN(db.path))
	if err != nil {
		return fmt.Errorf("run checkpoints: %w", err)
	}
	defer own.Close() //nolint:errcheck // nothing is lost
	own.SetMaxOpenConns(1)
	tick := time.NewTicker(checkpointEvery)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if err := db.checkpoint(ctx, own); err != nil && ctx.Err() == nil {
				db.logger.Warn("cannot copy the write-ahead log into the database", "error", err)
			}
			if !db.erased.Load() && n%truncateEvery != 0 {
				continue
			}
			if err := db.removeTraces(ctx, own); err != nil && ctx.Err() == nil {
				db.logger.Warn("cannot remove traces of what was deleted; it is tried again", "error", err)
			}
		}
	}
}

// checkpoint copies most of the log concurrently with the writer and then the rest while it holds the writer's
// connection: once the log is copied completely, the next write restarts it from its beginning, so that it does not
// grow without bound under continuous writes.
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

// removeTraces overwrites erased data in the unused space of the file's pages, and then empties the write-ahead log, in
// which copied frames remain otherwise. While a reader still needs them, the log is not emptied, and an erasure is
// tried again.
func (db *DB) removeTraces(ctx context.Context, conn *sql.DB) error {
	erased := db.erased.Swap(false)
	emptied, err := db.emptyLog(ctx, conn, erased)
	if erased && !emptied {
		db.erased.Store(true)
	}
	return err
}

func (db *DB) emptyLog(ctx context.Context, conn *sql.DB, scrub bool) (emptied bool, err error) {
	if scrub {
		if err := db.scrub(ctx, conn); err != nil {
			return false, err
		}
	}
	var busy, log, copied int
	err = conn.QueryRowContext(ctx, truncateLog).Scan(&busy, &log, &copied)
	return err == nil && busy == 0, failure("empty the write-ahead log", err)
}

package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

const (
	selectLive    = `SELECT ids.key, live.value FROM json_each(?) AS ids JOIN live ON live.key = ids.value WHERE live.until > ?`
	selectOneLive = `SELECT value FROM live WHERE key = ? AND until > ?`
	replaceLive   = `INSERT INTO live (key, value, until) VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value, until = excluded.until`
	deleteLive    = `DELETE FROM live WHERE key = ?`
	deleteLiveOld = `DELETE FROM live WHERE key IN (SELECT key FROM live WHERE until <= ? LIMIT ?)`
)

// Live keeps live incidents in the database, for incidents.mode = database (D8.9): a driver of the live cache.
type Live struct{ db *DB }

// Live gives the driver.
func (db *DB) Live() *Live { return &Live{db} }

// Get gives the values under the keys in their order, nil where there is none or its time is over.
func (l *Live) Get(ctx context.Context, keys []string) ([][]byte, error) {
	values := make([][]byte, len(keys))
	rows, err := l.db.reader.QueryContext(ctx, selectLive, jsonArray(keys), l.db.now().UnixMilli())
	if err != nil {
		return nil, failure("read live cache", err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	for rows.Next() {
		var (
			at    int
			value []byte
		)
		if err := rows.Scan(&at, &value); err != nil {
			return nil, failure("read live cache", err)
		}
		values[at] = value
	}
	return values, failure("read live cache", rows.Err())
}

// Swap puts value under key for ttl if the key holds exactly old now (nil: nothing), and says whether it did.
func (l *Live) Swap(ctx context.Context, key string, old, value []byte, ttl time.Duration) (swapped bool, err error) {
	err = l.db.write(ctx, "write live cache", func(w *writing) error {
		swapped = false
		var held []byte
		err := w.QueryRowContext(ctx, selectOneLive, key, w.now).Scan(&held)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if absent := err != nil; absent != (old == nil) || !bytes.Equal(held, old) {
			return nil
		}
		if _, err := w.ExecContext(ctx, replaceLive, key, value, w.now+ttl.Milliseconds()); err != nil {
			return fmt.Errorf("put: %w", err)
		}
		swapped = true
		return nil
	})
	return swapped && err == nil, err
}

// Delete removes a key; one that is not there is no error.
func (l *Live) Delete(ctx context.Context, key string) error {
	return l.db.write(ctx, "write live cache", func(w *writing) error {
		_, err := w.ExecContext(ctx, deleteLive, key)
		return err
	})
}

// pruneLive removes what counts no more.
func (db *DB) pruneLive(ctx context.Context, now time.Time) error {
	for {
		var removed int64
		err := db.write(ctx, "prune live cache", func(w *writing) error {
			result, err := w.ExecContext(ctx, deleteLiveOld, now.UnixMilli(), pruneAtOnce)
			if err != nil {
				return err
			}
			removed, err = result.RowsAffected()
			return err
		})
		if err != nil || removed < pruneAtOnce {
			return err
		}
	}
}

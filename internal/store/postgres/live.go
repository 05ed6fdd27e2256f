package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	selectLive = `SELECT ids.at, live.value FROM unnest($1::text[]) WITH ORDINALITY AS ids (key, at)
		JOIN live USING (key) WHERE live.until > $2`
	insertLive = `INSERT INTO live AS l (key, value, until) VALUES ($1, $2, $3)
		ON CONFLICT (key) DO UPDATE SET value = excluded.value, until = excluded.until WHERE l.until <= $4`
	updateLive    = `UPDATE live SET value = $2, until = $3 WHERE key = $1 AND until > $4 AND value = $5`
	deleteLive    = `DELETE FROM live WHERE key = $1`
	deleteLiveOld = `DELETE FROM live WHERE key IN (SELECT key FROM live WHERE until <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)`
)

// Live keeps live incidents in the database, for incidents.mode = database (D8.9): a driver of the live cache. The nodes
// share it; their clocks must agree to a second.
type Live struct{ db *DB }

// Live gives the driver.
func (db *DB) Live() *Live { return &Live{db} }

// Get gives the values under the keys in their order, nil where there is none or its time is over.
func (l *Live) Get(ctx context.Context, keys []string) ([][]byte, error) {
	type found struct {
		at    int
		value []byte
	}
	all, err := list(ctx, l.db.pool, selectLive, func(r row) (f found, err error) {
		err = r.Scan(&f.at, &f.value)
		return f, err
	}, keys, l.db.now().UnixMilli())
	if err != nil {
		return nil, failure("read live cache", err)
	}
	values := make([][]byte, len(keys))
	for _, f := range all {
		values[f.at-1] = f.value
	}
	return values, nil
}

// Swap puts value under key for ttl if the key holds exactly old now (nil: nothing), and says whether it did. It is one
// statement: whoever comes second finds what the first has left.
func (l *Live) Swap(ctx context.Context, key string, old, value []byte, ttl time.Duration) (swapped bool, err error) {
	now := l.db.now().UnixMilli()
	if value == nil {
		value = []byte{} // NULL is no value
	}
	query, args := insertLive, []any{key, value, now + ttl.Milliseconds(), now}
	if old != nil {
		query, args = updateLive, append(args, old)
	}
	tag, err := l.db.pool.Exec(ctx, query, args...)
	return tag.RowsAffected() == 1, failure("write live cache", err)
}

// Delete removes a key; one that is not there is no error.
func (l *Live) Delete(ctx context.Context, key string) error {
	_, err := l.db.pool.Exec(ctx, deleteLive, key)
	return failure("write live cache", err)
}

// pruneLive removes what counts no more.
func (db *DB) pruneLive(ctx context.Context, now time.Time) error {
	return failure("prune live cache", db.repeat(ctx, deleteLiveOld, now.UnixMilli(), pruneAtOnce))
}

// repeat runs a statement that removes or alters at most pruneAtOnce rows, a transaction each time, until it met fewer.
func (db *DB) repeat(ctx context.Context, query string, args ...any) error {
	for {
		var tag pgconn.CommandTag
		tag, err := db.pool.Exec(ctx, query, args...)
		if err != nil || tag.RowsAffected() < pruneAtOnce {
			return err
		}
	}
}

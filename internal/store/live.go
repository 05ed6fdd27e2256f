package store

import (
	"context"
	"time"
)

const (
	insertLive = `INSERT INTO live AS l (key, value, until) VALUES ($1, $2, $3)
		ON CONFLICT (key) DO UPDATE SET value = excluded.value, until = excluded.until WHERE l.until <= $4`
	updateLive = `UPDATE live SET value = $2, until = $3 WHERE key = $1 AND until > $4 AND value = $5`
	deleteLive = `DELETE FROM live WHERE key = $1`
)

// Live stores live incidents in the database, for incidents.mode = database (D8.9); it is a driver of the live cache.
// Nodes that share it need clocks that agree to a second.
type Live struct{ scripts *Scripts }

// Live returns the driver.
func (db *Scripts) Live() *Live { return &Live{db} }

// Get returns the values of the keys in their order, nil for an absent or expired one.
func (l *Live) Get(ctx context.Context, keys []string) ([][]byte, error) {
	type found struct {
		place int
		value []byte
	}
	db := l.scripts
	all, err := List(ctx, db.backend, db.dialect.LiveValues, func(r Row) (f found, err error) {
		err = r.Scan(&f.place, &f.value)
		return f, err
	}, db.dialect.List(keys), db.now().UnixMilli())
	if err != nil {
		return nil, db.backend.Failure("read live cache", err)
	}
	values := make([][]byte, len(keys))
	for _, f := range all {
		values[f.place] = f.value
	}
	return values, nil
}

// Swap stores value under key for ttl if the key's current value is exactly old (nil: none), and reports whether it
// did. It is one statement, so that the second of two callers finds the value of the first.
func (l *Live) Swap(ctx context.Context, key string, old, value []byte, ttl time.Duration) (swapped bool, err error) {
	err = l.scripts.backend.Write(ctx, "write live cache", func(tx *Tx) error {
		if value == nil {
			value = []byte{} // NULL would count as absent
		}
		query, args := insertLive, []any{key, value, tx.Now + ttl.Milliseconds(), tx.Now}
		if old != nil {
			query, args = updateLive, append(args, old)
		}
		affected, err := tx.Exec(ctx, query, args...)
		swapped = affected == 1
		return err
	})
	return swapped && err == nil, err
}

// Delete removes a key; an absent one is not an error.
func (l *Live) Delete(ctx context.Context, key string) error {
	return l.scripts.exec(ctx, "write live cache", deleteLive, key)
}

package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"wayside/internal/mapdata"
)

const (
	attemptColumns = `at, duration_us, ok, outcome, rows, rejected, bytes, unchanged, retired, status, detail`

	selectAttempts = `SELECT ` + attemptColumns + ` FROM attempts WHERE feed_id = $1 AND at > $2 ORDER BY at, revision`
	selectTimeline = `SELECT ` + attemptColumns + ` FROM attempts WHERE feed_id = $1 AND at > $2 ORDER BY at DESC, revision DESC LIMIT $3`

	replaceRejection = `INSERT INTO rejections (feed_id, code, at, rows, examples) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (feed_id, code) DO UPDATE SET at = excluded.at, rows = excluded.rows, examples = excluded.examples`
	// What was rejected of the last body that had any is rejected again.
	repeatRejections = `UPDATE rejections SET at = $2 WHERE feed_id = $1 AND at = (SELECT MAX(at) FROM rejections WHERE feed_id = $1)`
	selectRejections = `SELECT at, code, rows, examples FROM rejections WHERE feed_id = $1 AND at > $2 ORDER BY at DESC, rows DESC, code`
	deleteRejections = `DELETE FROM rejections WHERE at <= $1`
)

// shareFeed keeps a feed from being deleted until the end of the transaction, and nobody from anything else.
const shareFeed = `SELECT 1 FROM feeds WHERE id = $1 FOR KEY SHARE`

// RecordAttempt records a push that was refused. It changes no entity. A feed that is gone by now is no error.
func (db *DB) RecordAttempt(ctx context.Context, feed mapdata.FeedID, attempt mapdata.Attempt) error {
	err := db.write(ctx, "record attempt", func(w *writing) error {
		if err := w.one(ctx, shareFeed, feed[:]); err != nil {
			return err
		}
		w.raise(feed)
		w.attempt(feed, &attempt)
		return nil
	})
	if errors.Is(err, mapdata.ErrNotFound) {
		return nil
	}
	return err
}

// rejections stores why rows of the change were rejected: a line for each code.
func (w *writing) rejections(ctx context.Context, c *mapdata.Change) error {
	at := c.Attempt.At.UnixMilli()
	if c.SameRejections && c.Attempt.Rejected > 0 {
		_, err := w.Exec(ctx, repeatRejections, c.Feed[:], at)
		return err
	}
	for i := range c.Rejections {
		r := &c.Rejections[i]
		examples, err := json.Marshal(r.Examples)
		if err != nil {
			return err
		}
		if _, err := w.Exec(ctx, replaceRejection, c.Feed[:], r.Code, at, r.Rows, string(examples)); err != nil {
			return err
		}
	}
	return nil
}

// Attempts reads a feed's attempts later than after, oldest first.
func (db *DB) Attempts(ctx context.Context, feed mapdata.FeedID, after time.Time) ([]mapdata.Attempt, error) {
	all, err := list(ctx, db.pool, selectAttempts, scanAttempt, feed[:], after.UnixMilli())
	return all, failure("read attempts", err)
}

// Timeline reads a feed's newest attempts later than after, newest first, at most limit.
func (db *DB) Timeline(ctx context.Context, feed mapdata.FeedID, after time.Time, limit int) ([]mapdata.Attempt, error) {
	all, err := list(ctx, db.pool, selectTimeline, scanAttempt, feed[:], after.UnixMilli(), limit)
	return all, failure("read timeline", err)
}

func scanAttempt(r row) (a mapdata.Attempt, err error) {
	var (
		at      instant
		elapsed int64
	)
	err = r.Scan(&at, &elapsed, &a.OK, &a.Outcome, &a.Rows, &a.Rejected, &a.Bytes, &a.Unchanged, &a.Retired, &a.Status, &a.Reason)
	a.At, a.Duration = at.Time, time.Duration(elapsed)*time.Microsecond
	return a, err
}

// Rejections reads why rows of a feed were rejected after the given time, newest first.
func (db *DB) Rejections(ctx context.Context, feed mapdata.FeedID, after time.Time) ([]mapdata.Rejection, error) {
	all, err := list(ctx, db.pool, selectRejections, func(r row) (one mapdata.Rejection, err error) {
		var (
			at       instant
			examples []byte
		)
		if err := r.Scan(&at, &one.Code, &one.Rows, &examples); err != nil {
			return one, err
		}
		one.At = at.Time
		return one, json.Unmarshal(examples, &one.Examples)
	}, feed[:], after.UnixMilli())
	return all, failure("read rejections", err)
}

func (db *DB) pruneRejections(ctx context.Context, now time.Time) error {
	_, err := db.pool.Exec(ctx, deleteRejections, now.Add(-mapdata.TimelineSpan).UnixMilli())
	return failure("prune rejections", err)
}

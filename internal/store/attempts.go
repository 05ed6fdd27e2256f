package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"wayside/internal/ground/mapdata"
)

const (
	attemptColumns = `at, duration_us, ok, outcome, rows, rejected, bytes, unchanged, retired, status, detail, skipped`

	selectTimeline = `SELECT ` + attemptColumns + ` FROM attempts WHERE feed_id = $1 AND at > $2 ORDER BY at DESC, revision DESC LIMIT $3`

	replaceRejection = `INSERT INTO rejections (feed_id, code, at, rows, examples) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (feed_id, code) DO UPDATE SET at = excluded.at, rows = excluded.rows, examples = excluded.examples`
	// The rejections of the last body that had any apply again.
	repeatRejections = `UPDATE rejections SET at = $2 WHERE feed_id = $1 AND at = (SELECT MAX(at) FROM rejections WHERE feed_id = $1)`
	selectRejections = `SELECT at, code, rows, examples FROM rejections WHERE feed_id = $1 AND at > $2 ORDER BY at DESC, rows DESC, code`

	insertAttempt = `INSERT INTO attempts (feed_id, at, revision, duration_us, ok, outcome, rows, rejected, bytes,
			unchanged, retired, status, detail, skipped)
		VALUES ($1, $2, ` + raisedRevision + `, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`
)

// RecordAttempt records a push that was refused. It changes no entity. A feed that no longer exists is not an error.
func (db *Scripts) RecordAttempt(ctx context.Context, feed mapdata.FeedID, attempt mapdata.Attempt) error {
	err := db.backend.Write(ctx, "record attempt", func(tx *Tx) error {
		// The lock prevents the feed's deletion before this transaction ends; no other transaction waits for it.
		if err := tx.lock(ctx, selectFeedExists, "KEY SHARE", feed[:]); err != nil {
			return err
		}
		tx.raiseRevision(feed)
		tx.attempt(feed, &attempt)
		return nil
	})
	if errors.Is(err, mapdata.ErrNotFound) {
		return nil
	}
	return err
}

// rejections stores the reasons for which rows of the change were rejected, one row per code.
func (tx *Tx) rejections(ctx context.Context, c *mapdata.Change) error {
	at := c.Attempt.At.UnixMilli()
	if c.SameRejections {
		_, err := tx.Exec(ctx, repeatRejections, c.Feed[:], at)
		return err
	}
	for i := range c.Rejections {
		r := &c.Rejections[i]
		examples, err := json.Marshal(r.Examples)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, replaceRejection, c.Feed[:], r.Code, at, r.Rows, string(examples)); err != nil {
			return err
		}
	}
	return nil
}

// Timeline reads a feed's newest attempts later than after, newest first, at most limit.
func (db *Scripts) Timeline(ctx context.Context, feed mapdata.FeedID, after time.Time, limit int) ([]mapdata.Attempt, error) {
	all, err := List(ctx, db.backend, selectTimeline, scanAttempt, feed[:], after.UnixMilli(), limit)
	return all, db.backend.Failure("read timeline", err)
}

func scanAttempt(r Row) (a mapdata.Attempt, err error) {
	var (
		at      instant
		elapsed int64
	)
	err = r.Scan(&at, &elapsed, &a.OK, &a.Outcome, &a.Rows, &a.Rejected, &a.Bytes, &a.Unchanged, &a.Retired, &a.Status, &a.Reason, &a.Skipped)
	a.At, a.Duration = at.Time, time.Duration(elapsed)*time.Microsecond
	return a, err
}

// Rejections returns the reasons for which rows of a feed were rejected after the given time, newest first.
func (db *Scripts) Rejections(ctx context.Context, feed mapdata.FeedID, after time.Time) ([]mapdata.Rejection, error) {
	all, err := List(ctx, db.backend, selectRejections, func(r Row) (one mapdata.Rejection, err error) {
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
	return all, db.backend.Failure("read rejections", err)
}

// attempt stores an attempt under the revision that the transaction raises.
func (tx *Tx) attempt(feed mapdata.FeedID, a *mapdata.Attempt) {
	tx.AtCommit(insertAttempt, feed[:], a.At.UnixMilli(), a.Duration.Microseconds(), a.OK, a.Outcome, a.Rows, a.Rejected, a.Bytes,
		a.Unchanged, a.Retired, a.Status, a.Reason, a.Skipped)
}

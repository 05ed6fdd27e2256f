package postgres

import (
	"cmp"
	"context"
	"slices"
	"time"

	"wayside/internal/mapdata"
)

const (
	// Of several nodes that ask at once each gets other feeds: what one has locked, the others pass over.
	claimFeeds = `WITH due AS MATERIALIZED (
			SELECT id AS due_id FROM feeds
			WHERE active AND direction = 'pull' AND next_fetch_at <= $1 AND (lease_until IS NULL OR lease_until <= $1)
			ORDER BY next_fetch_at LIMIT $4 FOR NO KEY UPDATE SKIP LOCKED)
		UPDATE feeds SET lease_owner = $2, lease_until = $3 FROM due WHERE id = due_id
		RETURNING ` + feedColumns

	anyDue = `SELECT EXISTS (SELECT 1 FROM feeds
		WHERE active AND direction = 'pull' AND next_fetch_at <= $1 AND (lease_until IS NULL OR lease_until <= $1))`

	releaseFeed = `UPDATE feeds SET lease_owner = NULL, lease_until = NULL WHERE id = $1 AND ` + holdsLease

	// What the last good snapshot left (shrank, body_hash) is not this poll's to change, and a feed that somebody
	// deactivated meanwhile stays so.
	updateFailed = `UPDATE feeds SET active = active AND $4, next_fetch_at = $5, last_fetched_at = $6, last_outcome = $7, last_error = $8,
			last_rows = $9, last_rejected = $10, consecutive_failures = $11, lease_owner = NULL, lease_until = NULL
		WHERE id = $1 AND ` + holdsLease

	// Whether the lease that a poll began with still matches; an expired one does until another node claims the feed.
	holdsLease = `COALESCE(lease_owner, '') = $2 AND generation = $3`
	feedExists = `SELECT EXISTS (SELECT 1 FROM feeds WHERE id = $1)`
)

// Claim leases at most limit due feeds that nobody else holds, oldest due first. Where nothing is due it writes nothing.
func (db *DB) Claim(ctx context.Context, node string, now, until time.Time, limit int) (claimed []mapdata.Feed, err error) {
	var some bool
	if err := db.pool.QueryRow(ctx, anyDue, now.UnixMilli()).Scan(&some); err != nil || !some {
		return nil, failure("look for due feeds", err)
	}
	err = db.write(ctx, "claim feeds", func(w *writing) error {
		claimed, err = list(ctx, w, claimFeeds, scannedFeed, now.UnixMilli(), node, until.UnixMilli(), limit)
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(claimed, func(a, b mapdata.Feed) int {
		return cmp.Or(a.Polling.NextFetchAt.Compare(b.Polling.NextFetchAt), slices.Compare(a.ID[:], b.ID[:]))
	})
	return claimed, nil
}

// Release gives a lease back, so that the feed is due again immediately. A lease that no longer matches is left alone.
func (db *DB) Release(ctx context.Context, feed mapdata.FeedID, lease mapdata.Lease) error {
	return db.write(ctx, "release feed", func(w *writing) error {
		_, err := w.Exec(ctx, releaseFeed, feed[:], lease.Node, lease.Generation)
		return err
	})
}

// PollFailed records a failed poll and ends the lease. It fails with mapdata.ErrFenced, having changed nothing, when the
// lease no longer matches. A feed that is gone by now is no error.
func (db *DB) PollFailed(ctx context.Context, failed *mapdata.PollFailed) error {
	return db.write(ctx, "record failed poll", func(w *writing) error {
		p := &failed.Polling
		tag, err := w.Exec(ctx, updateFailed, failed.Feed[:], failed.Lease.Node, failed.Lease.Generation,
			failed.Active, millis(p.NextFetchAt), millis(p.LastFetchedAt), p.LastOutcome, p.LastError,
			p.LastRows, p.LastRejected, p.ConsecutiveFailures)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return w.fenced(ctx, failed.Feed)
		}
		if err := w.audit(ctx, failed.Audit...); err != nil {
			return err
		}
		if err := w.letters(ctx, failed.Letters); err != nil {
			return err
		}
		w.raise(failed.Feed)
		w.attempt(failed.Feed, &failed.Attempt)
		return nil
	})
}

// fenced is why an outcome of a poll met no row: nil when the feed is gone.
func (w *writing) fenced(ctx context.Context, feed mapdata.FeedID) error {
	var exists bool
	err := w.QueryRow(ctx, feedExists, feed[:]).Scan(&exists)
	if err == nil && exists {
		err = mapdata.ErrFenced
	}
	return err
}

package sqlite

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"wayside/internal/mapdata"
)

const (
	due = `active = 1 AND direction = 'pull' AND next_fetch_at <= ?1 AND (lease_until IS NULL OR lease_until <= ?1)`

	anyDue = `SELECT EXISTS (SELECT 1 FROM feeds WHERE ` + due + `)`

	claimFeeds = `UPDATE feeds SET lease_owner = ?2, lease_until = ?3
		WHERE id IN (SELECT id FROM feeds WHERE ` + due + ` ORDER BY next_fetch_at LIMIT ?4)
		RETURNING ` + feedColumns

	releaseFeed = `UPDATE feeds SET lease_owner = NULL, lease_until = NULL WHERE id = ? AND ` + holdsLease

	// What the last good snapshot left (shrank, body_hash) is not this poll's to change, and a feed that somebody
	// deactivated meanwhile stays so.
	updateFailed = `UPDATE feeds SET active = active AND ?, next_fetch_at = ?, last_fetched_at = ?, last_outcome = ?, last_error = ?,
			last_rows = ?, last_rejected = ?, consecutive_failures = ?, lease_owner = NULL, lease_until = NULL
		WHERE id = ? AND ` + holdsLease

	// Whether the lease that a poll began with still matches; an expired one does until another node claims the feed.
	holdsLease = `COALESCE(lease_owner, '') = ? AND generation = ?`
	feedExists = `SELECT EXISTS (SELECT 1 FROM feeds WHERE id = ?)`
)

// Claim leases at most limit due feeds that nobody else holds, oldest due first. Where nothing is due it takes no lock.
func (db *DB) Claim(ctx context.Context, node string, now, until time.Time, limit int) (claimed []mapdata.Feed, err error) {
	var some bool
	if err := db.reader.QueryRowContext(ctx, anyDue, now.UnixMilli()).Scan(&some); err != nil || !some {
		return nil, failure("look for due feeds", err)
	}
	err = db.write(ctx, "claim feeds", func(w *writing) error {
		claimed, err = scanFeeds(w.QueryContext(ctx, claimFeeds, now.UnixMilli(), node, until.UnixMilli(), limit))
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
		_, err := w.ExecContext(ctx, releaseFeed, feed[:], lease.Node, lease.Generation)
		return err
	})
}

// PollFailed records a failed poll and ends the lease. It fails with mapdata.ErrFenced, having changed nothing, when the
// lease no longer matches. A feed that is gone by now is no error.
func (db *DB) PollFailed(ctx context.Context, failed *mapdata.PollFailed) error {
	return db.write(ctx, "record failed poll", func(w *writing) error {
		p := &failed.Polling
		result, err := w.ExecContext(ctx, updateFailed,
			failed.Active, millis(p.NextFetchAt), millis(p.LastFetchedAt), p.LastOutcome, p.LastError,
			p.LastRows, p.LastRejected, p.ConsecutiveFailures, failed.Feed[:], failed.Lease.Node, failed.Lease.Generation)
		if err != nil {
			return err
		}
		if met, err := result.RowsAffected(); err != nil || met == 0 {
			return errors.Join(err, w.fenced(ctx, failed.Feed))
		}
		revision, err := w.raise(ctx, failed.Feed)
		if err != nil {
			return err
		}
		if err := w.attempt(ctx, failed.Feed, revision, &failed.Attempt); err != nil {
			return err
		}
		if err := w.audit(ctx, failed.Audit...); err != nil {
			return err
		}
		return w.letters(ctx, failed.Letters)
	})
}

// fenced is why an outcome of a poll met no row: nil when the feed is gone.
func (w *writing) fenced(ctx context.Context, feed mapdata.FeedID) error {
	var exists bool
	err := w.QueryRowContext(ctx, feedExists, feed[:]).Scan(&exists)
	if err == nil && exists {
		err = mapdata.ErrFenced
	}
	return err
}

package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"wayside/internal/ground/mapdata"
)

const (
	due = `%[1]s AND direction = 'pull' AND next_fetch_at <= $1 AND (lease_until IS NULL OR lease_until <= $1)`

	anyDue = `SELECT EXISTS (SELECT 1 FROM feeds WHERE ` + due + `)`

	// The rows are locked in a separate query, which runs once: as a subquery of the condition it may run again and lock more than $4 rows.
	// Rows that another node has locked are skipped.
	claimFeeds = `WITH due AS MATERIALIZED (SELECT id AS due_id FROM feeds WHERE ` + due + ` ORDER BY next_fetch_at LIMIT $4%[2]s)
		UPDATE feeds SET lease_owner = $2, lease_until = CASE format WHEN '' THEN CAST($3 AS BIGINT) ELSE CAST($5 AS BIGINT) END FROM due WHERE id = due_id
		RETURNING ` + FeedColumns

	// It reads all feeds, once at each start.
	releaseNode = `UPDATE feeds SET lease_owner = NULL, lease_until = NULL WHERE substr(lease_owner, 1, $2) = $1`

	releaseFeed = `UPDATE feeds SET lease_owner = NULL, lease_until = NULL WHERE id = $1 AND ` + holdsLease

	// A failure does not change the results of the last good snapshot (shrank, body_hash). Only an active feed can stay active.
	updateFailed = `UPDATE feeds SET active = active AND $4, next_fetch_at = $5, last_fetched_at = $6, last_outcome = $7, last_error = $8,
			last_rows = $9, last_rejected = $10, consecutive_failures = $11, lease_owner = NULL, lease_until = NULL
		WHERE id = $1 AND ` + holdsLease

	// Whether the lease of a poll still matches; an expired one does until another node claims the feed.
	holdsLease = `COALESCE(lease_owner, '') = $2 AND generation = $3`
)

// Claim leases at most limit due feeds without a valid lease, oldest due first; bridged feeds get a longer lease (LeaseEnd). It writes
// nothing where nothing is due.
func (db *Scripts) Claim(ctx context.Context, node string, now, until time.Time, limit int) (claimed []mapdata.Feed, err error) {
	var some bool
	if err := db.backend.QueryRow(ctx, fmt.Sprintf(anyDue, db.dialect.Active), now.UnixMilli()).Scan(&some); err != nil || !some {
		return nil, db.backend.Failure("look for due feeds", err)
	}
	bridged := mapdata.Feed{Bridge: mapdata.Bridge{Format: "any"}}
	err = db.backend.Write(ctx, "claim feeds", func(tx *Tx) error {
		query := fmt.Sprintf(claimFeeds, tx.dialect.Active, tx.dialect.locking("", "NO KEY UPDATE SKIP LOCKED"))
		claimed, err = List(ctx, tx, query, scanFeedValue, now.UnixMilli(), node, until.UnixMilli(), limit, bridged.LeaseEnd(until).UnixMilli())
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

// Release releases a lease, so that the feed is due again immediately. A lease that no longer matches is left alone.
func (db *Scripts) Release(ctx context.Context, feed mapdata.FeedID, lease mapdata.Lease) error {
	return db.backend.Write(ctx, "release feed", func(tx *Tx) error {
		_, err := tx.Exec(ctx, releaseFeed, feed[:], lease.Node, lease.Generation)
		return err
	})
}

// ReleaseNode releases all leases whose nodes' names begin with the prefix: those of a process that was killed, which no other node could
// take before they end. It returns their number.
func (db *Scripts) ReleaseNode(ctx context.Context, prefix string) (n int64, err error) {
	err = db.backend.Write(ctx, "release leases", func(tx *Tx) error {
		n, err = tx.Exec(ctx, releaseNode, prefix, len(prefix))
		return err
	})
	return n, err
}

// PollFailed records a failed poll and ends the lease. It fails with mapdata.ErrFenced, having changed nothing, when the lease no longer
// matches. A feed that no longer exists is not an error.
func (db *Scripts) PollFailed(ctx context.Context, failed *mapdata.PollFailed) error {
	return db.backend.Write(ctx, "record failed poll", func(tx *Tx) error {
		p := &failed.Polling
		affected, err := tx.Exec(ctx, updateFailed, failed.Feed[:], failed.Lease.Node, failed.Lease.Generation,
			failed.Active, Millis(p.NextFetchAt), Millis(p.LastFetchedAt), p.LastOutcome, p.LastError,
			p.LastRows, p.LastRejected, p.ConsecutiveFailures)
		if err != nil {
			return err
		}
		if affected == 0 {
			return tx.fenced(ctx, failed.Feed)
		}
		if err := tx.audit(ctx, failed.Audit...); err != nil {
			return err
		}
		if err := tx.emails(ctx, failed.Emails); err != nil {
			return err
		}
		if err := tx.warnFailed(ctx, failed); err != nil {
			return fmt.Errorf("warn the owner: %w", err)
		}
		tx.raiseRevision(failed.Feed)
		tx.attempt(failed.Feed, &failed.Attempt)
		return nil
	})
}

// fenced returns why an outcome of a poll affected no row, or nil when the feed no longer exists.
func (tx *Tx) fenced(ctx context.Context, feed mapdata.FeedID) error {
	var one int
	err := tx.QueryRow(ctx, selectFeedExists, feed[:]).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return cmp.Or(err, mapdata.ErrFenced)
}

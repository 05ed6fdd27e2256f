package store

import (
	"context"
	"fmt"

	"wayside/internal/ground/mapdata"
)

const (
	selectAccountExists = `SELECT 1 FROM accounts WHERE id = $1`

	suspendAccount = `UPDATE accounts SET suspended_at = $2, suspend_reason = $3 WHERE id = $1 AND suspended_at IS NULL`
	resumeAccount  = `UPDATE accounts SET suspended_at = NULL, suspend_reason = '' WHERE id = $1 AND suspended_at IS NOT NULL`

	deletePairingsOf = `DELETE FROM pairings WHERE account = $1`

	// As after an edit of the feed, a running poll no longer counts, and the feed can be claimed.
	pauseFeed = `UPDATE feeds SET paused_by = 'suspension', pause_reason = $3, paused_at = $2, next_fetch_at = NULL,
			generation = generation + 1, lease_owner = NULL, lease_until = NULL
		WHERE id = $1 AND paused_by = ''`
	unpauseFeed = `UPDATE feeds SET paused_by = '', pause_reason = '', paused_at = NULL,
			next_fetch_at = CASE WHEN %s AND direction = 'pull' THEN CAST($2 AS bigint) END,
			generation = generation + 1, lease_owner = NULL, lease_until = NULL
		WHERE id = $1 AND paused_by = 'suspension'`
)

// SuspendAccount ends an account's sessions and pairings and pauses its feeds, in one transaction: until ResumeAccount
// none of its sessions and API tokens is found or created. Feeds that are paused already stay so. It fails with
// mapdata.ErrNotFound, and with mapdata.ErrConflict for an account that is suspended.
func (db *Scripts) SuspendAccount(ctx context.Context, id mapdata.AccountID, s mapdata.Suspension, side mapdata.Side) error {
	return db.backend.Write(ctx, "suspend account", func(tx *Tx) error {
		return tx.suspension(ctx, id, suspendAccount, pauseFeed, []any{id[:], Millis(s.At), s.Reason}, side)
	})
}

// ResumeAccount ends a suspension and the pauses of feeds that it caused, and makes their polls due. It fails with
// mapdata.ErrNotFound, and with mapdata.ErrConflict for an account that is not suspended.
func (db *Scripts) ResumeAccount(ctx context.Context, id mapdata.AccountID, side mapdata.Side) error {
	return db.backend.Write(ctx, "resume account", func(tx *Tx) error {
		return tx.suspension(ctx, id, resumeAccount, fmt.Sprintf(unpauseFeed, tx.dialect.Active), []any{id[:]}, side)
	})
}

// suspension changes an account and its feeds. The feeds are locked first, as by every transaction that locks both, and
// none is registered in the meantime. args are those of the account's statement; those of a feed begin with the feed's
// id instead.
func (tx *Tx) suspension(ctx context.Context, id mapdata.AccountID, account, feed string, args []any, side mapdata.Side) error {
	if err := tx.lockRegistrations(ctx); err != nil {
		return err
	}
	feeds, err := List(ctx, tx, tx.dialect.locking(selectFeedIDsOfOwner, "UPDATE"), scanFeedID, id[:])
	if err != nil {
		return err
	}
	affected, err := tx.Exec(ctx, account, args...)
	if err != nil {
		return err
	}
	if affected == 0 {
		if _, err := scanAccount(tx.QueryRow(ctx, selectAccount, id[:])); err != nil {
			return err
		}
		return mapdata.ErrConflict
	}
	of := args[1:]
	if len(of) == 0 {
		of = []any{tx.Now}
	}
	for _, f := range feeds {
		affected, err := tx.Exec(ctx, feed, append([]any{f[:]}, of...)...)
		if err != nil {
			return err
		}
		if affected > 0 {
			tx.raiseRevision(f)
		}
	}
	for _, statement := range []string{deleteSessionsOf, deletePairingsOf} {
		if _, err := tx.Exec(ctx, statement, id[:]); err != nil {
			return err
		}
	}
	if err := tx.raiseAppsOf(ctx, id); err != nil {
		return err
	}
	tx.raiseAccount(id) // its streams must end
	return tx.side(ctx, side)
}

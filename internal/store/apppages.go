package store

import (
	"context"
	"time"

	"wayside/internal/ground/mapdata"
)

const (
	claimAppPage = `UPDATE app_versions SET page_due_at = $3 WHERE app = $1 AND number = $2 AND state = 'approved'
		AND (page_due_at IS NULL OR page_due_at <= $4)`
	selectAppPageDue = `SELECT page_due_at FROM app_versions WHERE app = $1 AND number = $2`
	selectAppPage    = `SELECT page_digest, page_changed_at FROM app_versions WHERE app = $1 AND number = $2 AND state = 'approved'`
	updateAppPage    = `UPDATE app_versions SET page_digest = $3, page_changed_at = $4, page_due_at = $5 WHERE app = $1 AND number = $2`
	raiseApp         = `UPDATE apps SET revision = revision + 1 WHERE id = $1`
)

// raiseAppsOf raises the revisions of an account's served apps, if there are any.
func (tx *Tx) raiseAppsOf(ctx context.Context, owner mapdata.AccountID) error {
	raised, err := tx.Exec(ctx, raiseAppsOf, owner[:])
	if err == nil && raised > 0 {
		tx.raiseApps()
	}
	return err
}

// ClaimAppPage claims the check of the page of an approved version, if it is due now: until the given time no other node gets it. Otherwise
// it returns the time at which the check is due, or zero if the version is no longer approved.
func (db *Scripts) ClaimAppPage(ctx context.Context, app mapdata.AppID, version int, now, until time.Time) (claimed bool, due time.Time, err error) {
	err = db.backend.Write(ctx, "claim check of an app's page", func(tx *Tx) error {
		affected, err := tx.Exec(ctx, claimAppPage, app[:], version, Millis(until), Millis(now))
		if claimed = affected > 0; err != nil || claimed {
			return err
		}
		all, err := List(ctx, tx, selectAppPageDue, func(r Row) (at instant, err error) { return at, r.Scan(&at) }, app[:], version)
		for _, at := range all {
			due = at.Time
		}
		return err
	})
	return claimed, due, err
}

// RecordAppPage stores the result of a check of the page of a version, and when the next one is due. A version that is no longer approved
// is left alone. It raises the catalogue's revision when the page has changed, or is the approved one again.
func (db *Scripts) RecordAppPage(ctx context.Context, app mapdata.AppID, version int, page mapdata.AppPage, due time.Time) error {
	return db.backend.Write(ctx, "record check of an app's page", func(tx *Tx) error {
		all, err := List(ctx, tx, selectAppPage, func(r Row) (was mapdata.AppPage, err error) {
			var changed instant
			err = r.Scan(&was.Digest, &changed)
			was.ChangedAt = changed.Time
			return was, err
		}, app[:], version)
		if err != nil || len(all) == 0 {
			return err
		}
		if _, err := tx.Exec(ctx, updateAppPage, app[:], version, page.Digest, Millis(page.ChangedAt), Millis(due)); err != nil {
			return err
		}
		if page == all[0] {
			return nil
		}
		tx.raiseApps()
		_, err = tx.Exec(ctx, raiseApp, app[:])
		return err
	})
}

package store

import (
	"context"
	"time"

	"wayside/internal/ground/mapdata"
)

const (
	countOwners = `SELECT COUNT(DISTINCT owner) FROM feeds WHERE direction <> 'builtin'`

	// The audit log records who got a notice: in an entry whose note is the notice's key.
	selectUnnotified = `SELECT DISTINCT owner FROM feeds WHERE direction <> 'builtin' AND NOT EXISTS (SELECT 1 FROM audit
		WHERE audit.owner = feeds.owner AND action = '` + mapdata.AuditAccountNotice + `' AND note = $1)`
)

// noticeInterval spreads the e-mails of a notice, so that sign-in e-mails are not stuck behind thousands of them.
const noticeInterval = 200 * time.Millisecond

// NotifyOwners queues a notice for every account that has a feed and did not get the notice before, with an entry of
// the audit log for each. With dryRun it only counts them.
func (db *Scripts) NotifyOwners(ctx context.Context, n *mapdata.Notice, dryRun bool) (result mapdata.NoticeResult, err error) {
	err = db.backend.Write(ctx, "notify owners of feeds", func(tx *Tx) error {
		if err := tx.lockScope(ctx, scopeNotices, n.Key()); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, countOwners).Scan(&result.Owners); err != nil {
			return err
		}
		owners, err := List(ctx, tx, selectUnnotified, func(r Row) (mapdata.AccountID, error) {
			var id AccountID
			err := r.Scan(&id)
			return id.AccountID, err
		}, n.Key())
		if result.Queued = len(owners); err != nil || dryRun {
			return err
		}
		for i, owner := range owners {
			at := n.At.Add(time.Duration(i) * noticeInterval)
			email := mapdata.Email{
				Account: owner, Kind: mapdata.EmailNotice, At: at, Due: at, Data: map[string]string{"subject": n.Subject, "notice": n.Text},
			}
			entry := mapdata.AuditEntry{
				At: n.At, Via: mapdata.ViaOf(ctx), Action: mapdata.AuditAccountNotice, Subject: owner.String(), Owner: owner, Note: n.Key(),
			}
			if err := tx.auditAndEmail(ctx, entry, &email); err != nil {
				return err
			}
		}
		return nil
	})
	return result, err
}

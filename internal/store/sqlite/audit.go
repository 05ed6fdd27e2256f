package sqlite

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"wayside/internal/mapdata"
)

const (
	insertAudit = `INSERT INTO audit (at, actor, via, action, subject, owner, note, reviewed) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`

	// A subject that is no UUID names nothing here: unhex gives NULL.
	selectAudit = `SELECT e.id, e.at, e.actor, e.via, e.action, e.subject, e.owner, e.note, e.reviewed, COALESCE(a.email, ''),
			COALESCE((SELECT name FROM feeds WHERE id = unhex(replace(e.subject, '-', ''))),
				(SELECT email FROM accounts WHERE id = unhex(replace(e.subject, '-', ''))), '')
		FROM audit AS e LEFT JOIN accounts AS a ON a.id = e.actor WHERE `

	selectPending = `SELECT ` + feedColumns + `, (SELECT email FROM accounts WHERE id = feeds.owner)
		FROM feeds WHERE review_state = 'pending' ORDER BY created_at, id`
	selectPendingSince = `SELECT MAX(at) FROM audit WHERE subject = ? AND action = '` + mapdata.AuditFeedReviewAgain + `'`

	forgetReviewed = `UPDATE audit SET reviewed = '' WHERE subject = ? AND reviewed <> ''`
	// Notes may hold what a person wrote, such as the name of a feed.
	forgetNotes = `UPDATE audit SET note = '' WHERE owner = ? AND note <> ''`
	deleteAudit = `DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE at <= ? AND reviewed = '' LIMIT ?)`
)

// audit writes entries of the audit log (D11.8).
func (w *writing) audit(ctx context.Context, entries ...mapdata.AuditEntry) error {
	for i := range entries {
		e := &entries[i]
		reviewed := ""
		if e.Reviewed != nil {
			text, err := json.Marshal(e.Reviewed)
			if err != nil {
				return err
			}
			reviewed = string(text)
		}
		_, err := w.ExecContext(ctx, insertAudit,
			e.At.UnixMilli(), optional(e.Actor), e.Via, e.Action, e.Subject, optional(e.Owner), e.Note, reviewed)
		if err != nil {
			return err
		}
	}
	return nil
}

// Audit reads entries of the audit log, newest first.
func (db *DB) Audit(ctx context.Context, q *mapdata.AuditQuery) ([]mapdata.AuditRecord, error) {
	where, args := []string{"TRUE"}, []any(nil)
	if q.Actions != nil {
		where, args = append(where, "e.action IN (SELECT value FROM json_each(?))"), append(args, jsonArray(q.Actions))
	}
	if q.Subject != "" {
		where, args = append(where, "e.subject = ?"), append(args, q.Subject)
	}
	if !q.Account.IsZero() {
		where = append(where, "(e.actor = ? OR e.owner = ? OR e.subject = ?)")
		args = append(args, q.Account[:], q.Account[:], q.Account.String())
	}
	if q.Before > 0 {
		where, args = append(where, "e.id < ?"), append(args, q.Before)
	}
	query := selectAudit + strings.Join(where, " AND ") + " ORDER BY e.id DESC LIMIT ?"
	all, err := list(ctx, db, query, scanAudit, append(args, q.Limit)...)
	return all, failure("read audit log", err)
}

func scanAudit(r row) (one mapdata.AuditRecord, err error) {
	var (
		at           instant
		actor, owner accountID
		reviewed     string
	)
	err = r.Scan(&one.ID, &at, &actor, &one.Via, &one.Action, &one.Subject, &owner, &one.Note, &reviewed, &one.ActorEmail, &one.Named)
	if err != nil {
		return one, err
	}
	one.At, one.Actor, one.Owner = at.Time, actor.AccountID, owner.AccountID
	if reviewed != "" {
		one.Reviewed = new(mapdata.Reviewed)
		err = json.Unmarshal([]byte(reviewed), one.Reviewed)
	}
	return one, err
}

// pendingRow takes the columns of a feed, then its owner's address.
type pendingRow struct {
	row
	email *string
}

// Scan takes one column more than the feed's.
func (p pendingRow) Scan(dest ...any) error { return p.row.Scan(append(dest, p.email)...) }

// PendingFeeds lists the feeds that wait for a curator, the longest waiting first.
func (db *DB) PendingFeeds(ctx context.Context) (all []mapdata.PendingFeed, err error) {
	err = db.read(ctx, "list pending feeds", func(r *reading) error {
		rows, err := r.QueryContext(ctx, selectPending)
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // rows.Err tells
		for rows.Next() {
			var p mapdata.PendingFeed
			f, err := scanFeed(pendingRow{rows, &p.OwnerEmail})
			if err != nil {
				return err
			}
			p.Feed, p.Since = *f, f.CreatedAt
			all = append(all, p)
		}
		if err := rows.Err(); err != nil {
			return err
		}
		for i := range all {
			var since instant
			if err := r.QueryRowContext(ctx, selectPendingSince, all[i].ID.String()).Scan(&since); err != nil {
				return err
			}
			if !since.IsZero() {
				all[i].Since = since.Time
			}
		}
		return nil
	})
	mapdata.SortPending(all)
	return all, err
}

func (db *DB) pruneAudit(ctx context.Context, now time.Time) error {
	for more := true; more; {
		err := db.write(ctx, "prune audit log", func(w *writing) error {
			result, err := w.ExecContext(ctx, deleteAudit, now.Add(-mapdata.AuditKept).UnixMilli(), pruneAtOnce)
			if err != nil {
				return err
			}
			gone, err := result.RowsAffected()
			more = gone == pruneAtOnce
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"wayside/internal/mapdata"
)

const (
	insertAudit = `INSERT INTO audit (at, actor, via, action, subject, owner, note, reviewed) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`

	// A subject that is no UUID names nothing here.
	subjectID   = `CASE WHEN e.subject ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN e.subject::uuid END`
	selectAudit = `SELECT e.id, e.at, e.actor, e.via, e.action, e.subject, e.owner, e.note, e.reviewed, COALESCE(a.email, ''),
			COALESCE((SELECT name FROM feeds WHERE id = ` + subjectID + `), (SELECT email FROM accounts WHERE id = ` + subjectID + `), '')
		FROM audit AS e LEFT JOIN accounts AS a ON a.id = e.actor WHERE `

	selectPending = `SELECT ` + feedColumns + `, (SELECT email FROM accounts WHERE id = feeds.owner),
			(SELECT MAX(at) FROM audit WHERE subject = feeds.id::text AND action = '` + mapdata.AuditFeedReviewAgain + `')
		FROM feeds WHERE review_state = 'pending' ORDER BY created_at, id`

	forgetReviewed = `UPDATE audit SET reviewed = '' WHERE subject = $1 AND reviewed <> ''`
	// Notes may hold what a person wrote, such as the name of a feed.
	forgetNotes = `UPDATE audit SET note = '' WHERE owner = $1 AND note <> ''`
	deleteAudit = `DELETE FROM audit WHERE id IN
		(SELECT id FROM audit WHERE at <= $1 AND reviewed = '' LIMIT $2 FOR UPDATE SKIP LOCKED)`
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
		_, err := w.Exec(ctx, insertAudit,
			e.At.UnixMilli(), optional(e.Actor), string(e.Via), e.Action, e.Subject, optional(e.Owner), e.Note, reviewed)
		if err != nil {
			return err
		}
	}
	return nil
}

// Audit reads entries of the audit log, newest first.
func (db *DB) Audit(ctx context.Context, q *mapdata.AuditQuery) ([]mapdata.AuditRecord, error) {
	where, args := []string{"TRUE"}, []any(nil)
	and := func(condition string, arg any) {
		args = append(args, arg)
		where = append(where, strings.ReplaceAll(condition, "?", fmt.Sprintf("$%d", len(args))))
	}
	if q.Actions != nil {
		and("e.action = ANY(?)", q.Actions)
	}
	if q.Subject != "" {
		and("e.subject = ?", q.Subject)
	}
	if !q.Account.IsZero() {
		and("(e.actor = ?::uuid OR e.owner = ?::uuid OR e.subject = ?::uuid::text)", q.Account[:])
	}
	if q.Before > 0 {
		and("e.id < ?", q.Before)
	}
	args = append(args, q.Limit)
	query := selectAudit + strings.Join(where, " AND ") + fmt.Sprintf(" ORDER BY e.id DESC LIMIT $%d", len(args))
	all, err := list(ctx, db.pool, query, scanAudit, args...)
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

// pendingRow takes the columns of a feed, then its owner's address and since when it waits again.
type pendingRow struct {
	row
	email *string
	since *instant
}

// Scan takes two columns more than the feed's.
func (p pendingRow) Scan(dest ...any) error { return p.row.Scan(append(dest, p.email, p.since)...) }

// PendingFeeds lists the feeds that wait for a curator, the longest waiting first.
func (db *DB) PendingFeeds(ctx context.Context) ([]mapdata.PendingFeed, error) {
	all, err := list(ctx, db.pool, selectPending, func(r row) (p mapdata.PendingFeed, err error) {
		var since instant
		f, err := scanFeed(pendingRow{r, &p.OwnerEmail, &since})
		if err != nil {
			return p, err
		}
		p.Feed, p.Since = *f, f.CreatedAt
		if !since.IsZero() {
			p.Since = since.Time
		}
		return p, nil
	})
	mapdata.SortPending(all)
	return all, failure("list pending feeds", err)
}

func (db *DB) pruneAudit(ctx context.Context, now time.Time) error {
	for {
		tag, err := db.pool.Exec(ctx, deleteAudit, now.Add(-mapdata.AuditKept).UnixMilli(), pruneAtOnce)
		if err != nil || tag.RowsAffected() < pruneAtOnce {
			return failure("prune audit log", err)
		}
	}
}

package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"wayside/internal/ground/mapdata"
)

const (
	insertAudit = `INSERT INTO audit (at, actor, via, action, subject, owner, note, reviewed) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`

	selectAudit = `SELECT e.id, e.at, e.actor, e.via, e.action, e.subject, e.owner, e.note, e.reviewed, COALESCE(a.email, ''),
			COALESCE((SELECT name FROM feeds WHERE id = %[1]s), (SELECT email FROM accounts WHERE id = %[1]s), '')
		FROM audit AS e LEFT JOIN accounts AS a ON a.id = e.actor WHERE `

	selectPending = `SELECT ` + FeedColumns + `, (SELECT email FROM accounts WHERE id = feeds.owner),
			(SELECT MAX(at) FROM audit WHERE subject = %s AND action = '` + mapdata.AuditFeedReviewAgain + `')
		FROM feeds WHERE review_state = 'pending' OR proposed <> '' ORDER BY created_at, id`

	forgetReviewed = `UPDATE audit SET reviewed = '' WHERE subject = $1 AND reviewed <> ''`
	// Notes may contain text that a person wrote, such as the name of a feed.
	forgetNotes = `UPDATE audit SET note = '' WHERE owner = $1 AND note <> ''`
)

// audit writes entries of the audit log (D11.8).
func (tx *Tx) audit(ctx context.Context, entries ...mapdata.AuditEntry) error {
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
		_, err := tx.Exec(ctx, insertAudit,
			e.At.UnixMilli(), optional(e.Actor), string(e.Via), e.Action, e.Subject, optional(e.Owner), e.Note, reviewed)
		if err != nil {
			return err
		}
	}
	return nil
}

// Audit reads entries of the audit log, newest first.
func (db *Scripts) Audit(ctx context.Context, q *mapdata.AuditQuery) ([]mapdata.AuditRecord, error) {
	where, args := []string{"TRUE"}, []any(nil)
	and := func(condition string, arg any) {
		args = append(args, arg)
		where = append(where, strings.ReplaceAll(condition, "?", fmt.Sprintf("$%d", len(args))))
	}
	if q.Actions != nil {
		and(db.dialect.OneOf("e.action", "?"), db.dialect.List(q.Actions))
	}
	if q.Subject != "" {
		and("e.subject = ?", q.Subject)
	}
	if !q.Account.IsZero() {
		args = append(args, q.Account.String())
		and(fmt.Sprintf("(e.actor = ? OR e.owner = ? OR e.subject = $%d)", len(args)), q.Account[:])
	}
	if q.Before > 0 {
		and("e.id < ?", q.Before)
	}
	args = append(args, q.Limit)
	query := fmt.Sprintf(selectAudit, db.dialect.SubjectID) + strings.Join(where, " AND ") + fmt.Sprintf(" ORDER BY e.id DESC LIMIT $%d", len(args))
	all, err := List(ctx, db.backend, query, scanAudit, args...)
	return all, db.backend.Failure("read audit log", err)
}

func scanAudit(r Row) (one mapdata.AuditRecord, err error) {
	var (
		at           instant
		actor, owner AccountID
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

// pendingRow scans the columns of a feed, then its owner's address and the time since which it waits.
type pendingRow struct {
	Row
	email *string
	since *instant
}

// Scan scans two columns more than the feed's.
func (p pendingRow) Scan(dest ...any) error { return p.Row.Scan(append(dest, p.email, p.since)...) }

// PendingFeeds lists the feeds that wait for a curator, the longest waiting first.
func (db *Scripts) PendingFeeds(ctx context.Context) ([]mapdata.PendingFeed, error) {
	all, err := List(ctx, db.backend, fmt.Sprintf(selectPending, db.dialect.FeedSubject), func(r Row) (p mapdata.PendingFeed, err error) {
		var since instant
		f, err := ScanFeed(pendingRow{r, &p.OwnerEmail, &since})
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
	return all, db.backend.Failure("list pending feeds", err)
}

// AddAudit stores entries about actions outside of the store, such as on the files of regions.
func (db *Scripts) AddAudit(ctx context.Context, entries ...mapdata.AuditEntry) error {
	return db.backend.Write(ctx, "write the audit log", func(tx *Tx) error { return tx.audit(ctx, entries...) })
}

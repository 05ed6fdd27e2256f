package store

import (
	"context"
	"time"

	"wayside/internal/ground/mapdata"
)

const (
	insertComplaint = `INSERT INTO complaints (id, source, external_id, account, text, at) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (account, source) WHERE closed_at IS NULL DO UPDATE SET external_id = excluded.external_id, text = excluded.text`
	countComplaints  = `SELECT COUNT(*) FROM complaints WHERE account = $1 AND at > $2`
	openComplaint    = `SELECT EXISTS (SELECT 1 FROM complaints WHERE account = $1 AND source = $2 AND closed_at IS NULL)`
	selectComplaints = `SELECT c.id, c.source, c.external_id, c.account, c.text, c.at, a.email
		FROM complaints AS c JOIN accounts AS a ON a.id = c.account WHERE c.closed_at IS NULL ORDER BY c.at, c.id LIMIT $1`
	countOpenComplaints = `SELECT COUNT(*) FROM complaints WHERE closed_at IS NULL`
	closeComplaint      = `UPDATE complaints SET closed_at = $1 WHERE id = $2 AND closed_at IS NULL RETURNING source`
	deleteComplaintsOn  = `DELETE FROM complaints WHERE source = $1`
)

// Complain stores a driver's complaint. An account has one open complaint on a source, whose text another complaint
// replaces. It fails with *mapdata.LimitError for an account that complained limit times since the given time, and with
// mapdata.ErrNotFound for an account that does not exist.
func (db *Scripts) Complain(ctx context.Context, c *mapdata.Complaint, since time.Time, limit int) error {
	return db.backend.Write(ctx, "store complaint", func(tx *Tx) error {
		if err := tx.lock(ctx, selectAccountExists, "NO KEY UPDATE", c.Account[:]); err != nil {
			return err // an account's complaints wait for each other, so that the bound holds
		}
		var open bool
		if err := tx.QueryRow(ctx, openComplaint, c.Account[:], string(c.Source)).Scan(&open); err != nil {
			return err
		}
		if !open {
			var count int
			if err := tx.QueryRow(ctx, countComplaints, c.Account[:], since.UnixMilli()).Scan(&count); err != nil {
				return err
			}
			if count >= limit {
				return &mapdata.LimitError{RetryAfter: time.Hour, What: "complaints of this account in a day"}
			}
		}
		_, err := tx.Exec(ctx, insertComplaint, c.ID, string(c.Source), c.ExternalID, c.Account[:], c.Text, c.At.UnixMilli())
		return err
	})
}

// Complaints lists the open complaints, the oldest first, at most limit, and returns the number of all open ones.
func (db *Scripts) Complaints(ctx context.Context, limit int) (all []mapdata.Complaint, open int, err error) {
	err = db.backend.Read(ctx, "list complaints", func(q Querier) error {
		if err := q.QueryRow(ctx, countOpenComplaints).Scan(&open); err != nil {
			return err
		}
		all, err = List(ctx, q, selectComplaints, func(r Row) (c mapdata.Complaint, err error) {
			var (
				account AccountID
				at      instant
			)
			err = r.Scan(&c.ID, &c.Source, &c.ExternalID, &account, &c.Text, &at, &c.Email)
			c.Account, c.At = account.AccountID, at.Time
			return c, err
		}, limit)
		return err
	})
	return all, open, err
}

// CloseComplaint closes an open complaint with the audit entry that entry returns for its source, or fails with
// mapdata.ErrNotFound.
func (db *Scripts) CloseComplaint(ctx context.Context, id string, at time.Time, entry func(mapdata.SourceID) mapdata.AuditEntry) error {
	return db.backend.Write(ctx, "close complaint", func(tx *Tx) error {
		var source string
		if err := tx.QueryRow(ctx, closeComplaint, at.UnixMilli(), id).Scan(&source); err != nil {
			return err
		}
		return tx.audit(ctx, entry(mapdata.SourceID(source)))
	})
}

package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"wayside/internal/ground/mapdata"
)

const (
	insertEmail = `INSERT INTO outbox (account, address, kind, data, at, tries, due, language)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`

	// The addresses and languages are looked up when an e-mail is leased, because an account may have changed them in
	// the meantime.
	selectDueEmails = `SELECT o.id, o.account, o.kind, o.data, o.at, o.tries, o.due, COALESCE(o.address, a.email),
			COALESCE(NULLIF(a.language, ''), NULLIF(b.language, ''), o.language)
		FROM outbox AS o LEFT JOIN accounts AS a ON a.id = o.account LEFT JOIN accounts AS b ON b.email = o.address
		WHERE o.due <= $1 ORDER BY o.due, o.id LIMIT $2`
	leaseEmail = `UPDATE outbox SET due = $1 WHERE id = $2`

	anyEmailDue = `SELECT EXISTS (SELECT 1 FROM outbox WHERE due <= $1)`
	deleteEmail = `DELETE FROM outbox WHERE id = $1`
	putEmail    = `UPDATE outbox SET tries = $2, due = $3 WHERE id = $1`
)

// emails stores e-mails in the outbox.
func (tx *Tx) emails(ctx context.Context, all []mapdata.Email) error {
	for i := range all {
		if err := tx.email(ctx, &all[i]); err != nil {
			return fmt.Errorf("store e-mail: %w", err)
		}
	}
	return nil
}

// auditAndEmail stores an entry of the audit log and the e-mail about the same event; nil: none.
func (tx *Tx) auditAndEmail(ctx context.Context, audit mapdata.AuditEntry, email *mapdata.Email) error {
	if err := tx.audit(ctx, audit); err != nil || email == nil {
		return err
	}
	return tx.emails(ctx, []mapdata.Email{*email})
}

// email stores an e-mail. One without its own address goes to the address that the account has when the e-mail is due.
// E-mails about built-in feeds are dropped.
func (tx *Tx) email(ctx context.Context, l *mapdata.Email) error {
	if l.Account == mapdata.BuiltinOwner && l.Address == "" {
		return nil
	}
	data, err := json.Marshal(l.Data)
	if err != nil {
		return err
	}
	var address any
	if l.Account.IsZero() || l.Address != "" {
		address = l.Address
	}
	due := l.Due
	if due.IsZero() {
		due = l.At
	}
	_, err = tx.Exec(ctx, insertEmail, optional(l.Account), address, l.Kind, string(data), l.At.UnixMilli(), l.Tries, due.UnixMilli(), l.Language)
	return err
}

// DueEmails leases at most limit e-mails that are due at now until the given time, with their addresses and languages
// resolved. It takes no lock where nothing is due.
func (db *Scripts) DueEmails(ctx context.Context, now, until time.Time, limit int) (all []mapdata.Email, err error) {
	var some bool
	if err := db.backend.QueryRow(ctx, anyEmailDue, now.UnixMilli()).Scan(&some); err != nil || !some {
		return nil, db.backend.Failure("look for due e-mails", err)
	}
	err = db.backend.Write(ctx, "lease e-mails", func(tx *Tx) (err error) {
		query := tx.dialect.locking(selectDueEmails, "NO KEY UPDATE OF o SKIP LOCKED")
		all, err = List(ctx, tx, query, scanEmail, now.UnixMilli(), limit)
		for i := range all {
			tx.AtCommit(leaseEmail, until.UnixMilli(), all[i].ID)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

func scanEmail(r Row) (l mapdata.Email, err error) {
	var (
		account AccountID
		data    string
		at, due instant
	)
	if err := r.Scan(&l.ID, &account, &l.Kind, &data, &at, &l.Tries, &due, &l.Address, &l.Language); err != nil {
		return l, err
	}
	if err := json.Unmarshal([]byte(data), &l.Data); err != nil {
		return l, fmt.Errorf("e-mail %d: %w", l.ID, err)
	}
	l.Account, l.At, l.Due = account.AccountID, at.Time, due.Time
	return l, nil
}

// EmailSent removes an e-mail.
func (db *Scripts) EmailSent(ctx context.Context, id int64) error {
	return db.backend.Write(ctx, "remove e-mail", func(tx *Tx) error {
		_, err := tx.Exec(ctx, deleteEmail, id)
		return err
	})
}

// EmailFailed postpones an e-mail until due, with its number of tries.
func (db *Scripts) EmailFailed(ctx context.Context, id int64, tries int, due time.Time) error {
	return db.backend.Write(ctx, "put e-mail back", func(tx *Tx) error {
		_, err := tx.Exec(ctx, putEmail, id, tries, due.UnixMilli())
		return err
	})
}

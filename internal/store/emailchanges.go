package store

import (
	"context"
	"time"

	"wayside/internal/ground/mapdata"
)

const (
	countEmailChangesOf = `SELECT COUNT(*) FROM email_changes WHERE account = $1 AND created_at >= $2`
	countEmailChangesTo = `SELECT COUNT(*) FROM email_changes WHERE email = $1 AND created_at >= $2`
	endEmailChanges     = `UPDATE email_changes SET expires_at = created_at WHERE account = $1 AND expires_at > created_at`
	insertEmailChange   = `INSERT INTO email_changes (account, email, old_hash, new_hash, created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6)`
	deleteEmailChanges      = `DELETE FROM email_changes WHERE account = $1`
	deleteEmailChangeEmails = `DELETE FROM outbox WHERE account = $1 AND kind IN ('email_change_old', 'email_change_new')`

	emailChangeColumns = `account, email, old_hash, new_hash, created_at, expires_at`
	selectEmailChange  = `SELECT ` + emailChangeColumns + ` FROM email_changes WHERE account = $1 AND expires_at > $2`
	emailChangeOfToken = `SELECT account FROM email_changes WHERE (old_hash = $1 OR new_hash = $1) AND expires_at > $2`
	selectActive       = `SELECT 1 FROM accounts WHERE id = $1 AND suspended_at IS NULL`
	selectEmailTaken   = `SELECT EXISTS (SELECT 1 FROM accounts WHERE email = $1)`
	confirmEmailChange = `UPDATE email_changes SET old_confirmed = old_confirmed OR old_hash = $1, new_confirmed = new_confirmed OR new_hash = $1
		WHERE (old_hash = $1 OR new_hash = $1) AND expires_at > $2
		RETURNING email, new_hash = $1, old_confirmed AND new_confirmed`
)

// RequestEmailChange stores a change of an account's address with the e-mails to both addresses, and ends the account's previous change. If
// limit changes of the account, or to the address, were stored since the given time, it stores nothing and returns false. It does not check
// whether the new address has an account. It fails with mapdata.ErrNotFound.
func (db *Scripts) RequestEmailChange(
	ctx context.Context, c *mapdata.EmailChange, emails []mapdata.Email, since time.Time, limit int,
) (stored bool, err error) {
	err = db.backend.Write(ctx, "request change of address", func(tx *Tx) error {
		stored = false
		if err := tx.lockScope(ctx, scopeSignIns, c.Email); err != nil {
			return err
		}
		if err := tx.lockActive(ctx, c.Account); err != nil {
			return err
		}
		for query, of := range map[string]any{countEmailChangesOf: c.Account[:], countEmailChangesTo: c.Email} {
			var count int
			if err := tx.QueryRow(ctx, query, of, since.UnixMilli()).Scan(&count); err != nil || count >= limit {
				return err
			}
		}
		for _, statement := range []string{endEmailChanges, deleteEmailChangeEmails} {
			if _, err := tx.Exec(ctx, statement, c.Account[:]); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, insertEmailChange, c.Account[:], c.Email, c.OldHash, c.NewHash, Millis(c.CreatedAt), Millis(c.ExpiresAt))
		if err != nil {
			return err
		}
		stored = true
		return tx.emails(ctx, emails)
	})
	return stored, err
}

// lockActive locks an account that is not suspended, or fails with mapdata.ErrNotFound.
func (tx *Tx) lockActive(ctx context.Context, id mapdata.AccountID) error {
	var one int
	return tx.QueryRow(ctx, tx.dialect.locking(selectActive, forChange), id[:]).Scan(&one)
}

// EmailChange returns the change of the account's address that waits for a confirmation, or fails with mapdata.ErrNotFound.
func (db *Scripts) EmailChange(ctx context.Context, account mapdata.AccountID, now time.Time) (*mapdata.EmailChange, error) {
	var c mapdata.EmailChange
	var id AccountID
	var created, expires instant
	row := db.backend.QueryRow(ctx, selectEmailChange, account[:], now.UnixMilli())
	if err := row.Scan(&id, &c.Email, &c.OldHash, &c.NewHash, &created, &expires); err != nil {
		return nil, db.backend.Failure("read change of address", err)
	}
	c.Account, c.CreatedAt, c.ExpiresAt = id.AccountID, created.Time, expires.Time
	return &c, nil
}

// ConfirmEmailChange records that the address to which the token was sent confirms the change. When both have, the change takes effect,
// with the entry of the audit log, of which the store sets actor, subject and owner. It fails with mapdata.ErrNotFound, and with
// mapdata.ErrConflict when the new address confirms and has an account, or got one before the last confirmation.
func (db *Scripts) ConfirmEmailChange(
	ctx context.Context, tokenHash []byte, now time.Time, audit mapdata.AuditEntry,
) (step mapdata.EmailChangeStep, err error) {
	err = db.backend.Write(ctx, "confirm change of address", func(tx *Tx) error {
		var id AccountID
		if err := tx.QueryRow(ctx, emailChangeOfToken, tokenHash, now.UnixMilli()).Scan(&id); err != nil {
			return err
		}
		// Confirmations of one account wait for each other, so that the second one sees the first.
		if err := tx.lockActive(ctx, id.AccountID); err != nil {
			return err
		}
		row := tx.QueryRow(ctx, confirmEmailChange, tokenHash, now.UnixMilli())
		if err := row.Scan(&step.Email, &step.ByNew, &step.Done); err != nil {
			return err
		}
		var taken bool
		if err := tx.QueryRow(ctx, selectEmailTaken, step.Email).Scan(&taken); err != nil {
			return err
		}
		if taken && (step.ByNew || step.Done) {
			return mapdata.ErrConflict
		}
		if !step.Done {
			return nil
		}
		if err := tx.changeEmail(ctx, id.AccountID, step.Email); err != nil {
			return err
		}
		audit.Actor, audit.Subject, audit.Owner = id.AccountID, id.AccountID.String(), id.AccountID
		return tx.audit(ctx, audit)
	})
	return step, err
}

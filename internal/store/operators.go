package store

import (
	"context"

	"wayside/internal/ground/mapdata"
)

const (
	deleteSessionsOf = `DELETE FROM sessions WHERE account = $1`
	updateEmail      = `UPDATE accounts SET email = $1 WHERE id = $2`
)

// EndSessions ends one session of the account, or all of them where id is empty, and returns their number. Approvals of
// screens that have not signed in yet end too. It fails with mapdata.ErrNotFound where the account has no such session.
func (db *Scripts) EndSessions(ctx context.Context, account mapdata.AccountID, id string, audit mapdata.AuditEntry) (ended int, err error) {
	err = db.backend.Write(ctx, "end sessions", func(tx *Tx) error {
		if id != "" {
			if err := tx.one(ctx, deleteSession, account[:], id); err != nil {
				return err
			}
			ended = 1
		} else {
			n, err := tx.Exec(ctx, deleteSessionsOf, account[:])
			if err != nil {
				return err
			}
			ended = int(n)
		}
		tx.raiseAccount(account)
		if err := tx.endApprovals(ctx, account); err != nil {
			return err
		}
		return tx.audit(ctx, audit)
	})
	return ended, err
}

// ChangeEmail changes the address of an account. Pending sign-ins of the old one end. It fails with
// mapdata.ErrNotFound, or with mapdata.ErrConflict when the new address has an account.
func (db *Scripts) ChangeEmail(ctx context.Context, account mapdata.AccountID, email string, audit mapdata.AuditEntry) error {
	return db.backend.Write(ctx, "change address", func(tx *Tx) error {
		if err := tx.changeEmail(ctx, account, email); err != nil {
			return err
		}
		return tx.audit(ctx, audit)
	})
}

// changeEmail changes the address, and removes e-mails that wait for the old address alone, while those to the account
// follow it. The old address must not stay in the file (D11.11). Other changes of the address end, because the old
// address can no longer confirm them.
func (tx *Tx) changeEmail(ctx context.Context, account mapdata.AccountID, email string) error {
	for _, statement := range []string{deleteSignInsOf, deleteEmailsTo, deleteEmailChanges, deleteEmailChangeEmails} {
		if _, err := tx.Exec(ctx, statement, account[:]); err != nil {
			return err
		}
	}
	tx.erase()
	return tx.one(ctx, updateEmail, email, account[:])
}

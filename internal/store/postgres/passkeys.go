package postgres

import (
	"context"
	"time"

	"wayside/internal/mapdata"
)

const (
	passkeyColumns = `p.id, p.credential_id, p.account, p.name, p.blob, p.created_at, p.used_at`

	insertPasskey = `INSERT INTO passkeys (id, credential_id, account, name, blob, created_at, used_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`
	selectPasskey = `SELECT ` + passkeyColumns + `, ` + accountColumns + `
		FROM passkeys AS p JOIN accounts AS a ON a.id = p.account WHERE p.credential_id = $1`
	selectPasskeys = `SELECT ` + passkeyColumns + ` FROM passkeys AS p WHERE p.account = $1 ORDER BY p.created_at, p.id`
	lockAccount    = `SELECT 1 FROM accounts AS a JOIN passkeys AS p ON p.account = a.id WHERE p.id = $1 FOR KEY SHARE OF a`
	usePasskey     = `UPDATE passkeys SET blob = $1, used_at = $2 WHERE id = $3 AND blob = $4`
	flagPasskey    = `UPDATE passkeys SET blob = $1 WHERE id = $2 AND blob = $3`
	renamePasskey  = `UPDATE passkeys SET name = $1 WHERE account = $2 AND id = $3`
	deletePasskey  = `DELETE FROM passkeys WHERE account = $1 AND id = $2`
	insertAnswer   = `INSERT INTO passkey_answers (challenge_hash, expires_at) VALUES ($1, $2)`
	deleteAnswers  = `DELETE FROM passkey_answers WHERE expires_at <= $1`
	proveSession   = `UPDATE sessions SET proved_at = $1, passkey_at = $2
		WHERE id = $3 AND account = (SELECT account FROM passkeys WHERE id = $4)`
)

// CreatePasskey stores a passkey, the answer that brought it and its letter (nil: none). It fails with mapdata.ErrConflict when the credential is
// stored already or the challenge was answered before, and with mapdata.ErrNotFound when there is no such account.
func (db *DB) CreatePasskey(ctx context.Context, p *mapdata.Passkey, answer mapdata.Challenge, audit mapdata.AuditEntry, letter *mapdata.Letter) error {
	return db.write(ctx, "create passkey", func(w *writing) error {
		if err := w.answer(ctx, answer); err != nil {
			return err
		}
		_, err := w.Exec(ctx, insertPasskey,
			p.ID, p.CredentialID, p.Account[:], p.Name, p.Blob, millis(p.CreatedAt), millis(p.UsedAt))
		if err != nil {
			return err
		}
		return w.noted(ctx, audit, letter)
	})
}

// answer notes that a challenge was answered, once.
func (w *writing) answer(ctx context.Context, answer mapdata.Challenge) error {
	_, err := w.Exec(ctx, insertAnswer, answer.Hash, millis(answer.ExpiresAt))
	return err
}

func scanPasskey(r row, more ...any) (mapdata.Passkey, error) {
	var (
		p             mapdata.Passkey
		account       accountID
		created, used instant
	)
	err := r.Scan(append([]any{&p.ID, &p.CredentialID, &account, &p.Name, &p.Blob, &created, &used}, more...)...)
	p.Account, p.CreatedAt, p.UsedAt = account.AccountID, created.Time, used.Time
	return p, err
}

// Passkey finds a passkey and its account by its credential's id, or fails with mapdata.ErrNotFound.
func (db *DB) Passkey(ctx context.Context, credentialID []byte) (*mapdata.Passkey, *mapdata.Account, error) {
	var a scannedAccount
	p, err := scanPasskey(db.pool.QueryRow(ctx, selectPasskey, credentialID), a.columns()...)
	if err != nil {
		return nil, nil, failure("find passkey", err)
	}
	return &p, a.account(), nil
}

// Passkeys lists the account's passkeys, oldest first.
func (db *DB) Passkeys(ctx context.Context, account mapdata.AccountID) ([]mapdata.Passkey, error) {
	all, err := list(ctx, db.pool, selectPasskeys, func(r row) (mapdata.Passkey, error) { return scanPasskey(r) }, account[:])
	return all, failure("list passkeys", err)
}

// UsePasskey stores a use that was verified, and what it is for: all or nothing. It fails with mapdata.ErrConflict when the
// challenge was answered before, and with mapdata.ErrNotFound when the passkey or the session is gone, or the passkey is
// no longer what it was verified with. The account is locked first: who deletes it goes from the account to its passkeys.
func (db *DB) UsePasskey(ctx context.Context, u *mapdata.PasskeyUse) error {
	return db.write(ctx, "use passkey", func(w *writing) error {
		if err := w.answer(ctx, u.Answer); err != nil {
			return err
		}
		if err := w.one(ctx, lockAccount, u.Passkey); err != nil {
			return err
		}
		if err := w.one(ctx, usePasskey, u.Blob, millis(u.Day), u.Passkey, u.Was); err != nil {
			return err
		}
		if u.Session == "" {
			return w.insertSession(ctx, u.NewSession)
		}
		return w.one(ctx, proveSession, millis(u.At), millis(u.At), u.Session, u.Passkey)
	})
}

// FlagPasskey stores what is newly known of a passkey that is refused, and the answer that told it, as UsePasskey does. It
// fails as that does.
func (db *DB) FlagPasskey(ctx context.Context, u *mapdata.PasskeyUse, audit mapdata.AuditEntry) error {
	return db.write(ctx, "flag passkey", func(w *writing) error {
		if err := w.answer(ctx, u.Answer); err != nil {
			return err
		}
		if err := w.one(ctx, flagPasskey, u.Blob, u.Passkey, u.Was); err != nil {
			return err
		}
		return w.audit(ctx, audit)
	})
}

// RenamePasskey gives a passkey of the account another name, or fails with mapdata.ErrNotFound.
func (db *DB) RenamePasskey(ctx context.Context, account mapdata.AccountID, id, name string) error {
	return db.write(ctx, "rename passkey", func(w *writing) error {
		return w.one(ctx, renamePasskey, name, account[:], id)
	})
}

// DeletePasskey removes a passkey of the account, or fails with mapdata.ErrNotFound.
func (db *DB) DeletePasskey(ctx context.Context, account mapdata.AccountID, id string, audit mapdata.AuditEntry) error {
	return db.write(ctx, "delete passkey", func(w *writing) error {
		if err := w.one(ctx, deletePasskey, account[:], id); err != nil {
			return err
		}
		return w.audit(ctx, audit)
	})
}

// pruneAnswers forgets answers to challenges that ended: nobody can answer those again.
func (db *DB) pruneAnswers(ctx context.Context, now time.Time) error {
	return db.write(ctx, "prune answers of passkeys", func(w *writing) error {
		_, err := w.Exec(ctx, deleteAnswers, now.UnixMilli())
		return err
	})
}

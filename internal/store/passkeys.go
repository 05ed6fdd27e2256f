package store

import (
	"context"
	"database/sql"
	"errors"

	"wayside/internal/ground/mapdata"
)

const (
	passkeyColumns = `p.id, p.credential_id, p.account, p.name, p.blob, p.created_at, p.used_at`

	insertPasskey = `INSERT INTO passkeys (id, credential_id, account, name, blob, created_at, used_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`
	selectPasskey = `SELECT ` + passkeyColumns + `, ` + accountColumns + `
		FROM passkeys AS p JOIN accounts AS a ON a.id = p.account WHERE p.credential_id = $1`
	selectPasskeys = `SELECT ` + passkeyColumns + ` FROM passkeys AS p WHERE p.account = $1 ORDER BY p.created_at, p.id`
	selectEmailOf  = `SELECT a.email FROM accounts AS a JOIN passkeys AS p ON p.account = a.id WHERE p.id = $1`
	selectHolder   = `SELECT 1 FROM accounts AS a JOIN passkeys AS p ON p.account = a.id WHERE p.id = $1`
	usePasskey     = `UPDATE passkeys SET blob = $1, used_at = $2 WHERE id = $3 AND blob = $4`
	flagPasskey    = `UPDATE passkeys SET blob = $1 WHERE id = $2 AND blob = $3`
	renamePasskey  = `UPDATE passkeys SET name = $1 WHERE account = $2 AND id = $3`
	deletePasskey  = `DELETE FROM passkeys WHERE account = $1 AND id = $2`
	insertAnswer   = `INSERT INTO passkey_answers (challenge_hash, expires_at) VALUES ($1, $2)`
	proveSession   = `UPDATE sessions SET proved_at = $1, passkey_at = $2
		WHERE id = $3 AND account = (SELECT account FROM passkeys WHERE id = $4)`
)

// CreatePasskey stores a passkey, the answered challenge and its e-mail (nil: none). It fails with mapdata.ErrConflict
// when the credential is stored already or the challenge was answered before, and with mapdata.ErrNotFound when the
// account does not exist.
func (db *Scripts) CreatePasskey(ctx context.Context, p *mapdata.Passkey, answer mapdata.Challenge, audit mapdata.AuditEntry, email *mapdata.Email) error {
	return db.backend.Write(ctx, "create passkey", func(tx *Tx) error {
		if err := tx.answer(ctx, answer); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, insertPasskey,
			p.ID, p.CredentialID, p.Account[:], p.Name, p.Blob, Millis(p.CreatedAt), Millis(p.UsedAt))
		if err != nil {
			return err
		}
		return tx.auditAndEmail(ctx, audit, email)
	})
}

// answer records that a challenge was answered, which must happen only once.
func (tx *Tx) answer(ctx context.Context, answer mapdata.Challenge) error {
	_, err := tx.Exec(ctx, insertAnswer, answer.Hash, Millis(answer.ExpiresAt))
	return err
}

func scanPasskey(r Row, more ...any) (mapdata.Passkey, error) {
	var (
		p             mapdata.Passkey
		account       AccountID
		created, used instant
	)
	err := r.Scan(append([]any{&p.ID, &p.CredentialID, &account, &p.Name, &p.Blob, &created, &used}, more...)...)
	p.Account, p.CreatedAt, p.UsedAt = account.AccountID, created.Time, used.Time
	return p, err
}

// Passkey returns a passkey and its account by its credential's id, or fails with mapdata.ErrNotFound.
func (db *Scripts) Passkey(ctx context.Context, credentialID []byte) (*mapdata.Passkey, *mapdata.Account, error) {
	var a scannedAccount
	p, err := scanPasskey(db.backend.QueryRow(ctx, selectPasskey, credentialID), a.columns()...)
	if err != nil {
		return nil, nil, db.backend.Failure("find passkey", err)
	}
	return &p, a.account(), nil
}

// Passkeys lists the account's passkeys, oldest first.
func (db *Scripts) Passkeys(ctx context.Context, account mapdata.AccountID) ([]mapdata.Passkey, error) {
	all, err := List(ctx, db.backend, selectPasskeys, func(r Row) (mapdata.Passkey, error) { return scanPasskey(r) }, account[:])
	return all, db.backend.Failure("list passkeys", err)
}

// UsePasskey stores a verified use and its purpose in one transaction. It fails with mapdata.ErrConflict when the
// challenge was answered before, and with mapdata.ErrNotFound when the passkey or the session does not exist, or the
// passkey's record has changed since the verification. The account is locked first, in the order in which a deletion of
// the account locks them.
func (db *Scripts) UsePasskey(ctx context.Context, u *mapdata.PasskeyUse) error {
	return db.backend.Write(ctx, "use passkey", func(tx *Tx) error {
		if u.Session == "" {
			if err := tx.useUpOfPasskey(ctx, u.Passkey); err != nil {
				return err
			}
		}
		if err := tx.answer(ctx, u.Answer); err != nil {
			return err
		}
		if err := tx.lock(ctx, selectHolder, "KEY SHARE OF a", u.Passkey); err != nil {
			return err
		}
		if err := tx.one(ctx, usePasskey, u.Blob, Millis(u.Day), u.Passkey, u.Was); err != nil {
			return err
		}
		if u.Session == "" {
			if err := tx.replaceSession(ctx, u.Replaces, true); err != nil {
				return err
			}
			return tx.insertSession(ctx, u.NewSession)
		}
		return tx.one(ctx, proveSession, Millis(u.At), Millis(u.At), u.Session, u.Passkey)
	})
}

// useUpOfPasskey uses up the waiting sign-ins of the address of a passkey's account, which may not exist any more.
func (tx *Tx) useUpOfPasskey(ctx context.Context, passkey string) error {
	var email string
	err := tx.QueryRow(ctx, selectEmailOf, passkey).Scan(&email)
	if errors.Is(err, sql.ErrNoRows) {
		return nil // the use fails with ErrNotFound
	}
	if err != nil {
		return err
	}
	if err := tx.lockScope(ctx, scopeSignIns, email); err != nil {
		return err
	}
	return tx.useUp(ctx, email)
}

// FlagPasskey stores the new record of a passkey that is refused, and the answered challenge, as UsePasskey does. It
// fails as UsePasskey does.
func (db *Scripts) FlagPasskey(ctx context.Context, u *mapdata.PasskeyUse, audit mapdata.AuditEntry) error {
	return db.backend.Write(ctx, "flag passkey", func(tx *Tx) error {
		if err := tx.answer(ctx, u.Answer); err != nil {
			return err
		}
		if err := tx.one(ctx, flagPasskey, u.Blob, u.Passkey, u.Was); err != nil {
			return err
		}
		return tx.audit(ctx, audit)
	})
}

// RenamePasskey renames a passkey of the account, or fails with mapdata.ErrNotFound.
func (db *Scripts) RenamePasskey(ctx context.Context, account mapdata.AccountID, id, name string) error {
	return db.backend.Write(ctx, "rename passkey", func(tx *Tx) error {
		return tx.one(ctx, renamePasskey, name, account[:], id)
	})
}

// DeletePasskey removes a passkey of the account, or fails with mapdata.ErrNotFound.
func (db *Scripts) DeletePasskey(ctx context.Context, account mapdata.AccountID, id string, audit mapdata.AuditEntry) error {
	return db.backend.Write(ctx, "delete passkey", func(tx *Tx) error {
		if err := tx.one(ctx, deletePasskey, account[:], id); err != nil {
			return err
		}
		return tx.audit(ctx, audit)
	})
}

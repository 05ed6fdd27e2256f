package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"wayside/internal/ground/mapdata"
)

const (
	sessionColumns = `s.id, s.token_hash, s.account, s.created_at, s.seen_at, s.agent, s.proved_at, s.passkey_at, s.scope`

	// A suspended account cannot sign in: storing the session has failed before.
	signInFirst = `UPDATE accounts SET first_sign_in_at = $2 WHERE id = $1 AND first_sign_in_at IS NULL`

	insertSession = `INSERT INTO sessions (id, token_hash, account, created_at, seen_at, agent, proved_at, passkey_at, scope)
		SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9 FROM accounts WHERE id = $3 AND suspended_at IS NULL`
	selectSession = `SELECT ` + sessionColumns + `, ` + accountColumns + `
		FROM sessions AS s JOIN accounts AS a ON a.id = s.account WHERE s.token_hash = $1 AND a.suspended_at IS NULL`
	selectSessions = `SELECT ` + sessionColumns + ` FROM sessions AS s WHERE s.account = $1 ORDER BY s.created_at, s.id`
	touchSession   = `UPDATE sessions SET seen_at = $1 WHERE id = $2`
	deleteSession  = `DELETE FROM sessions WHERE account = $1 AND id = $2`
	deleteOthers   = `DELETE FROM sessions WHERE account = $1 AND id <> $2`
	replaceSession = `DELETE FROM sessions WHERE id = $1 RETURNING account`
	lockSession    = `SELECT 1 FROM sessions WHERE account = $1 AND id = $2`

	apiTokenColumns = `t.id, t.account, t.name, t.token_hash, t.created_at, t.used_at`

	insertAPIToken = `INSERT INTO api_tokens (id, account, name, token_hash, created_at, used_at) VALUES ($1, $2, $3, $4, $5, $6)`
	selectAPIToken = `SELECT ` + apiTokenColumns + `, ` + accountColumns + `
		FROM api_tokens AS t JOIN accounts AS a ON a.id = t.account WHERE t.token_hash = $1 AND a.suspended_at IS NULL`
	selectAPITokens = `SELECT ` + apiTokenColumns + ` FROM api_tokens AS t WHERE t.account = $1 ORDER BY t.created_at, t.id`
	touchAPIToken   = `UPDATE api_tokens SET used_at = $1 WHERE id = $2`
	deleteAPIToken  = `DELETE FROM api_tokens WHERE account = $1 AND id = $2`
)

// CreateSession stores a session and ends the one that it replaces (an id; empty: none). It fails with mapdata.ErrNotFound when the account
// does not exist, and with mapdata.ErrForbidden when it is suspended. An account's first session is its first sign-in (D9.8), but not that
// of a paired screen, which another session approved.
func (db *Scripts) CreateSession(ctx context.Context, s *mapdata.Session, replaces string) error {
	return db.backend.Write(ctx, "create session", func(tx *Tx) error {
		if err := tx.replaceSession(ctx, replaces, true); err != nil {
			return err
		}
		if err := tx.insertSession(ctx, s); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, signInFirst, s.Account[:], Millis(s.CreatedAt))
		return err
	})
}

// replaceSession ends the session with this id, whatever its account, if it exists. With approvals it also ends the account's approvals of
// screens.
func (tx *Tx) replaceSession(ctx context.Context, id string, approvals bool) error {
	if id == "" {
		return nil
	}
	var account AccountID
	err := tx.QueryRow(ctx, replaceSession, id).Scan(&account)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	tx.raiseAccount(account.AccountID)
	if !approvals {
		return nil
	}
	return tx.endApprovals(ctx, account.AccountID)
}

// endApprovals ends the account's approvals of screens that have not signed in yet (D11.10).
func (tx *Tx) endApprovals(ctx context.Context, account mapdata.AccountID) error {
	_, err := tx.Exec(ctx, endApprovals, account[:], mapdata.PairingApproved)
	return err
}

func (tx *Tx) insertSession(ctx context.Context, s *mapdata.Session) error {
	affected, err := tx.Exec(ctx, insertSession,
		s.ID, s.TokenHash, s.Account[:], Millis(s.CreatedAt), Millis(s.SeenAt), s.Agent, Millis(s.ProvedAt), Millis(s.PasskeyAt), s.Scope)
	if err != nil || affected > 0 {
		return err
	}
	a, err := scanAccount(tx.QueryRow(ctx, selectAccount, s.Account[:]))
	if err != nil {
		return err
	}
	return mapdata.Explain(mapdata.ErrForbidden, "suspended", "This account is suspended: "+a.Suspension.Reason)
}

func scanSession(r Row, more ...any) (mapdata.Session, error) {
	var (
		s                              mapdata.Session
		account                        AccountID
		created, seen, proved, passkey instant
	)
	err := r.Scan(append([]any{&s.ID, &s.TokenHash, &account, &created, &seen, &s.Agent, &proved, &passkey, &s.Scope}, more...)...)
	s.Account, s.CreatedAt, s.SeenAt = account.AccountID, created.Time, seen.Time
	s.ProvedAt, s.PasskeyAt = proved.Time, passkey.Time
	return s, err
}

// Session returns a session and its account by the token's hash, or fails with mapdata.ErrNotFound.
func (db *Scripts) Session(ctx context.Context, tokenHash []byte) (*mapdata.Session, *mapdata.Account, error) {
	var a scannedAccount
	s, err := scanSession(db.backend.QueryRow(ctx, selectSession, tokenHash), a.columns()...)
	if err != nil {
		return nil, nil, db.backend.Failure("find session", err)
	}
	return &s, a.account(), nil
}

// TouchSession stores when a session was last used.
func (db *Scripts) TouchSession(ctx context.Context, id string, at time.Time) error {
	return db.backend.Write(ctx, "touch session", func(tx *Tx) error {
		_, err := tx.Exec(ctx, touchSession, Millis(at), id)
		return err
	})
}

// Sessions lists the account's sessions, oldest first.
func (db *Scripts) Sessions(ctx context.Context, account mapdata.AccountID) ([]mapdata.Session, error) {
	all, err := List(ctx, db.backend, selectSessions, func(r Row) (mapdata.Session, error) { return scanSession(r) }, account[:])
	return all, db.backend.Failure("list sessions", err)
}

// DeleteSession ends a session of the account and the account's approvals of screens, or fails with mapdata.ErrNotFound.
func (db *Scripts) DeleteSession(ctx context.Context, account mapdata.AccountID, id string) error {
	return db.backend.Write(ctx, "end session", func(tx *Tx) error {
		if err := tx.one(ctx, deleteSession, account[:], id); err != nil {
			return err
		}
		tx.raiseAccount(account)
		return tx.endApprovals(ctx, account)
	})
}

// DeleteOtherSessions ends all sessions of the account but one, and the account's approvals of screens. Approvals end both before and after
// the sessions, so that an approved screen cannot sign in between, and a session that is about to end approves none.
func (db *Scripts) DeleteOtherSessions(ctx context.Context, account mapdata.AccountID, but string) error {
	return db.backend.Write(ctx, "end other sessions", func(tx *Tx) error {
		if err := tx.endApprovals(ctx, account); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, deleteOthers, account[:], but); err != nil {
			return err
		}
		tx.raiseAccount(account)
		return tx.endApprovals(ctx, account)
	})
}

// CreateAPIToken stores a token and its e-mail (nil: none), or fails with mapdata.ErrNotFound when the account does not exist.
func (db *Scripts) CreateAPIToken(ctx context.Context, t *mapdata.APIToken, audit mapdata.AuditEntry, email *mapdata.Email) error {
	return db.backend.Write(ctx, "create API token", func(tx *Tx) error {
		_, err := tx.Exec(ctx, insertAPIToken, t.ID, t.Account[:], t.Name, t.TokenHash, Millis(t.CreatedAt), Millis(t.UsedAt))
		if err != nil {
			return err
		}
		return tx.auditAndEmail(ctx, audit, email)
	})
}

func scanAPIToken(r Row, more ...any) (mapdata.APIToken, error) {
	var (
		t             mapdata.APIToken
		account       AccountID
		created, used instant
	)
	err := r.Scan(append([]any{&t.ID, &account, &t.Name, &t.TokenHash, &created, &used}, more...)...)
	t.Account, t.CreatedAt, t.UsedAt = account.AccountID, created.Time, used.Time
	return t, err
}

// APIToken returns a token and its account by the token's hash, or fails with mapdata.ErrNotFound.
func (db *Scripts) APIToken(ctx context.Context, tokenHash []byte) (*mapdata.APIToken, *mapdata.Account, error) {
	var a scannedAccount
	t, err := scanAPIToken(db.backend.QueryRow(ctx, selectAPIToken, tokenHash), a.columns()...)
	if err != nil {
		return nil, nil, db.backend.Failure("find API token", err)
	}
	return &t, a.account(), nil
}

// TouchAPIToken stores when a token was last used.
func (db *Scripts) TouchAPIToken(ctx context.Context, id string, at time.Time) error {
	return db.backend.Write(ctx, "touch API token", func(tx *Tx) error {
		_, err := tx.Exec(ctx, touchAPIToken, Millis(at), id)
		return err
	})
}

// APITokens lists the account's tokens, oldest first.
func (db *Scripts) APITokens(ctx context.Context, account mapdata.AccountID) ([]mapdata.APIToken, error) {
	all, err := List(ctx, db.backend, selectAPITokens, func(r Row) (mapdata.APIToken, error) { return scanAPIToken(r) }, account[:])
	return all, db.backend.Failure("list API tokens", err)
}

// DeleteAPIToken revokes a token of the account, or fails with mapdata.ErrNotFound.
func (db *Scripts) DeleteAPIToken(ctx context.Context, account mapdata.AccountID, id string, audit mapdata.AuditEntry) error {
	return db.backend.Write(ctx, "revoke API token", func(tx *Tx) error {
		if err := tx.one(ctx, deleteAPIToken, account[:], id); err != nil {
			return err
		}
		tx.raiseAccount(account)
		return tx.audit(ctx, audit)
	})
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"wayside/internal/ground/mapdata"
)

const (
	countSignIns = `SELECT COUNT(*) FROM sign_ins WHERE email = $1 AND created_at >= $2`

	insertSignIn = `INSERT INTO sign_ins (token_hash, email, code_hash, created_at, expires_at, tries, browser_hash) VALUES ($1, $2, $3, $4, $5, $6, $7)
		RETURNING id`

	signInColumns = `id, token_hash, email, code_hash, created_at, expires_at, tries, browser_hash`

	// A transaction that waits for a row which another one takes then finds it used.
	takeSignIn = `UPDATE sign_ins SET used = true WHERE token_hash = $1 AND NOT used AND expires_at > $2
		RETURNING ` + signInColumns

	takeSignInByCode = `UPDATE sign_ins SET used = true
		WHERE id = (SELECT id FROM sign_ins
			WHERE email = $1 AND code_hash = $2 AND browser_hash = $5 AND NOT used AND expires_at > $3 AND tries < $4
			ORDER BY id DESC LIMIT 1)
			AND NOT used
		RETURNING ` + signInColumns

	countTry = `UPDATE sign_ins SET tries = tries + 1 WHERE email = $1 AND browser_hash = $3 AND NOT used AND expires_at > $2`

	selectSignInEmail = `SELECT email FROM sign_ins WHERE token_hash = $1`
	useUpSignIns      = `UPDATE sign_ins SET used = true WHERE email = $1 AND NOT used`
)

// CreateSignIn stores a waiting sign-in together with its e-mail, and sets the sign-in's ID. If limit sign-ins of the address were made
// since the given time, it stores nothing and returns false.
func (db *Scripts) CreateSignIn(
	ctx context.Context, s *mapdata.SignIn, email *mapdata.Email, since time.Time, limit int,
) (stored bool, err error) {
	var id int64
	err = db.backend.Write(ctx, "create sign-in", func(tx *Tx) error {
		if err := tx.lockScope(ctx, scopeSignIns, s.Email); err != nil {
			return err
		}
		var count int
		if err := tx.QueryRow(ctx, countSignIns, s.Email, since.UnixMilli()).Scan(&count); err != nil || count >= limit {
			return err
		}
		row := tx.QueryRow(ctx, insertSignIn, s.TokenHash, s.Email, s.CodeHash, Millis(s.CreatedAt), Millis(s.ExpiresAt), s.Tries, s.Browser)
		if err := row.Scan(&id); err != nil {
			return err
		}
		stored = true
		if email == nil {
			return nil
		}
		own := *email
		own.Account, own.Address = mapdata.AccountID{}, s.Email
		return tx.email(ctx, &own)
	})
	if err != nil {
		return false, err
	}
	if stored {
		s.ID = id
	}
	return stored, nil
}

func scanSignIn(r Row) (*mapdata.SignIn, error) {
	var (
		s                mapdata.SignIn
		created, expires instant
	)
	if err := r.Scan(&s.ID, &s.TokenHash, &s.Email, &s.CodeHash, &created, &expires, &s.Tries, &s.Browser); err != nil {
		return nil, err
	}
	s.CreatedAt, s.ExpiresAt = created.Time, expires.Time
	return &s, nil
}

// useUp uses up the address's waiting sign-ins (D11.10). The caller holds the lock on the address.
func (tx *Tx) useUp(ctx context.Context, email string) error {
	_, err := tx.Exec(ctx, useUpSignIns, email)
	return err
}

// TakeSignIn removes and returns the unexpired sign-in with this token hash, and uses up the others of its address. It fails with
// mapdata.ErrNotFound.
func (db *Scripts) TakeSignIn(ctx context.Context, tokenHash []byte, now time.Time) (s *mapdata.SignIn, err error) {
	err = db.backend.Write(ctx, "take sign-in", func(tx *Tx) (err error) {
		var email string
		if err := tx.QueryRow(ctx, selectSignInEmail, tokenHash).Scan(&email); err != nil {
			return err
		}
		if err := tx.lockScope(ctx, scopeSignIns, email); err != nil {
			return err
		}
		if s, err = scanSignIn(tx.QueryRow(ctx, takeSignIn, tokenHash, now.UnixMilli())); err != nil {
			return err
		}
		return tx.useUp(ctx, email)
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// TakeSignInByCode removes and returns the address's unexpired sign-in with this code hash that the browser requested, and uses up the
// others of the address. A wrong code counts one try on every waiting sign-in of the address that the browser requested; one with maxTries
// wrong tries no longer matches. It fails with mapdata.ErrNotFound. Attempts on one address are serialized, because otherwise a hundred
// concurrent guesses would all be compared before the first was counted.
func (db *Scripts) TakeSignInByCode(
	ctx context.Context, email string, codeHash, browserHash []byte, now time.Time, maxTries int,
) (s *mapdata.SignIn, err error) {
	err = db.backend.Write(ctx, "take sign-in by code", func(tx *Tx) (err error) {
		if err := tx.lockScope(ctx, scopeSignIns, email); err != nil {
			return err
		}
		s, err = scanSignIn(tx.QueryRow(ctx, takeSignInByCode, email, codeHash, now.UnixMilli(), maxTries, browserHash))
		if err == nil {
			return tx.useUp(ctx, email)
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		_, err = tx.Exec(ctx, countTry, email, now.UnixMilli(), browserHash)
		return err
	})
	if err != nil {
		return nil, err
	}
	if s == nil {
		return nil, db.backend.Failure("take sign-in by code", mapdata.ErrNotFound)
	}
	return s, nil
}

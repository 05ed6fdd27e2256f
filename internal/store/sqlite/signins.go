package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"wayside/internal/mapdata"
)

const (
	countSignIns = `SELECT COUNT(*) FROM sign_ins WHERE email = ? AND created_at >= ?`

	insertSignIn = `INSERT INTO sign_ins (token_hash, email, code_hash, created_at, expires_at, tries) VALUES (?, ?, ?, ?, ?, ?)`

	signInColumns = `id, token_hash, email, code_hash, created_at, expires_at, tries`

	takeSignIn = `UPDATE sign_ins SET used = 1 WHERE token_hash = ?1 AND used = 0 AND expires_at > ?2
		RETURNING ` + signInColumns

	takeSignInByCode = `UPDATE sign_ins SET used = 1
		WHERE id = (SELECT id FROM sign_ins
			WHERE email = ?1 AND code_hash = ?2 AND used = 0 AND expires_at > ?3 AND tries < ?4 ORDER BY id DESC LIMIT 1)
		RETURNING ` + signInColumns

	countTry = `UPDATE sign_ins SET tries = tries + 1 WHERE email = ? AND used = 0 AND expires_at > ?`
)

// CreateSignIn stores a waiting sign-in together with its letter, unless limit sign-ins of the address were made since
// the given time; it then stores nothing and reports false. It sets the sign-in's ID.
func (db *DB) CreateSignIn(
	ctx context.Context, s *mapdata.SignIn, letter *mapdata.Letter, since time.Time, limit int,
) (stored bool, err error) {
	var id int64
	err = db.write(ctx, "create sign-in", func(w *writing) error {
		var count int
		if err := w.QueryRowContext(ctx, countSignIns, s.Email, since.UnixMilli()).Scan(&count); err != nil {
			return err
		}
		if count >= limit {
			return nil
		}
		result, err := w.ExecContext(ctx, insertSignIn, s.TokenHash, s.Email, s.CodeHash, millis(s.CreatedAt), millis(s.ExpiresAt), s.Tries)
		if err != nil {
			return err
		}
		if id, err = result.LastInsertId(); err != nil {
			return err
		}
		stored = true
		if letter == nil {
			return nil
		}
		own := *letter
		own.Account, own.Address = mapdata.AccountID{}, s.Email
		return w.letter(ctx, &own)
	})
	if err != nil {
		return false, err
	}
	if stored {
		s.ID = id
	}
	return stored, nil
}

func scanSignIn(r row) (*mapdata.SignIn, error) {
	var (
		s                mapdata.SignIn
		created, expires instant
	)
	if err := r.Scan(&s.ID, &s.TokenHash, &s.Email, &s.CodeHash, &created, &expires, &s.Tries); err != nil {
		return nil, err
	}
	s.CreatedAt, s.ExpiresAt = created.Time, expires.Time
	return &s, nil
}

// TakeSignIn removes and returns the unexpired sign-in with this token hash, or fails with mapdata.ErrNotFound.
func (db *DB) TakeSignIn(ctx context.Context, tokenHash []byte, now time.Time) (s *mapdata.SignIn, err error) {
	err = db.write(ctx, "take sign-in", func(w *writing) (err error) {
		s, err = scanSignIn(w.QueryRowContext(ctx, takeSignIn, tokenHash, now.UnixMilli()))
		return err
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// TakeSignInByCode removes and returns the address's unexpired sign-in with this code hash. A wrong code counts one try
// on every waiting sign-in of the address; one with maxTries wrong tries no longer matches. Fails with
// mapdata.ErrNotFound.
func (db *DB) TakeSignInByCode(
	ctx context.Context, email string, codeHash []byte, now time.Time, maxTries int,
) (s *mapdata.SignIn, err error) {
	err = db.write(ctx, "take sign-in by code", func(w *writing) (err error) {
		s, err = scanSignIn(w.QueryRowContext(ctx, takeSignInByCode, email, codeHash, now.UnixMilli(), maxTries))
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		_, err = w.ExecContext(ctx, countTry, email, now.UnixMilli())
		return err
	})
	if err != nil {
		return nil, err
	}
	if s == nil {
		return nil, failure("take sign-in by code", mapdata.ErrNotFound)
	}
	return s, nil
}

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"wayside/internal/mapdata"
)

const (
	pairingColumns = `id, device_hash, name, code_hash, agent, created_at, expires_at, state, account, tries`

	insertPairing = `INSERT INTO pairings (device_hash, name, code_hash, agent, created_at, expires_at, state, tries)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
	selectPairing       = `SELECT ` + pairingColumns + ` FROM pairings WHERE device_hash = ?`
	selectPairingByCode = `SELECT ` + pairingColumns + ` FROM pairings WHERE code_hash = ? AND expires_at > ?`
	countPairingTry     = `UPDATE pairings SET tries = tries + 1 WHERE name = ? AND state = ? AND expires_at > ?`
	answerPairing       = `UPDATE pairings SET state = ?, account = ? WHERE id = ?`
	takePairing         = `UPDATE pairings SET state = ? WHERE device_hash = ? AND state = ? AND expires_at > ? RETURNING account`
	deletePairings      = `DELETE FROM pairings WHERE expires_at <= ?`
)

// CreatePairing stores a pairing that waits, and sets its ID. It fails with mapdata.ErrConflict when the secret or the
// code is another's.
func (db *DB) CreatePairing(ctx context.Context, p *mapdata.Pairing) error {
	var id int64
	err := db.write(ctx, "create pairing", func(w *writing) error {
		result, err := w.ExecContext(ctx, insertPairing,
			p.DeviceHash, p.Name, p.CodeHash, p.Agent, millis(p.CreatedAt), millis(p.ExpiresAt), p.State, p.Tries)
		if err != nil {
			return err
		}
		id, err = result.LastInsertId()
		return err
	})
	if err == nil {
		p.ID = id
	}
	return err
}

func scanPairing(r row) (*mapdata.Pairing, error) {
	var (
		p                mapdata.Pairing
		account          accountID
		created, expires instant
	)
	err := r.Scan(&p.ID, &p.DeviceHash, &p.Name, &p.CodeHash, &p.Agent, &created, &expires, &p.State, &account, &p.Tries)
	if err != nil {
		return nil, err
	}
	p.CreatedAt, p.ExpiresAt, p.Account = created.Time, expires.Time, account.AccountID
	return &p, nil
}

// Pairing finds a pairing by the hash of its secret, whatever its state, or fails with mapdata.ErrNotFound.
func (db *DB) Pairing(ctx context.Context, deviceHash []byte) (*mapdata.Pairing, error) {
	p, err := scanPairing(db.reader.QueryRowContext(ctx, selectPairing, deviceHash))
	return p, failure("find pairing", err)
}

// PairingByCode finds an unexpired pairing by the hash of its code; one that waits and had maxTries wrong tries no longer
// matches. A code that matches nothing counts one try on every waiting pairing of the name. Fails with
// mapdata.ErrNotFound.
func (db *DB) PairingByCode(
	ctx context.Context, name string, codeHash []byte, now time.Time, maxTries int,
) (p *mapdata.Pairing, err error) {
	err = db.write(ctx, "find pairing by code", func(w *writing) (err error) {
		p, err = w.pairingByCode(ctx, name, codeHash, now, maxTries)
		return err
	})
	if err == nil && p == nil {
		err = failure("find pairing by code", mapdata.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// pairingByCode gives nil, and counts a try, where nothing matches: the transaction is to be committed then.
func (w *writing) pairingByCode(ctx context.Context, name string, codeHash []byte, now time.Time, maxTries int) (*mapdata.Pairing, error) {
	p, err := scanPairing(w.QueryRowContext(ctx, selectPairingByCode, codeHash, now.UnixMilli()))
	if err == nil && p.At(now, maxTries) != mapdata.PairingOver {
		return p, nil
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	_, err = w.ExecContext(ctx, countPairingTry, name, mapdata.PairingWaiting, now.UnixMilli())
	return nil, err
}

// AnswerPairing has the account approve or deny a pairing that waits, found as by PairingByCode. Whoever repeats an
// answer of their own is told the same again. It fails with mapdata.ErrNotFound, or with mapdata.ErrConflict when it was
// answered otherwise.
func (db *DB) AnswerPairing(
	ctx context.Context, name string, codeHash []byte, now time.Time, maxTries int, account mapdata.AccountID, answer mapdata.PairingState,
) (p *mapdata.Pairing, err error) {
	err = db.write(ctx, "answer pairing", func(w *writing) (err error) {
		if p, err = w.pairingByCode(ctx, name, codeHash, now, maxTries); err != nil || p == nil {
			return err
		}
		if p.State != mapdata.PairingWaiting {
			if p.Account == account && (p.State == mapdata.PairingDenied) == (answer == mapdata.PairingDenied) {
				return nil
			}
			return mapdata.ErrConflict
		}
		p.State, p.Account = answer, account
		return w.one(ctx, answerPairing, answer, account[:], p.ID)
	})
	if err == nil && p == nil {
		err = failure("answer pairing", mapdata.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// TakePairing uses up the approved, unexpired pairing of the secret and stores the session as its account's, both or
// neither; it sets the session's account, and returns it. Fails with mapdata.ErrNotFound.
func (db *DB) TakePairing(ctx context.Context, deviceHash []byte, now time.Time, s *mapdata.Session) (a *mapdata.Account, err error) {
	err = db.write(ctx, "take pairing", func(w *writing) error {
		var id accountID
		row := w.QueryRowContext(ctx, takePairing, mapdata.PairingUsed, deviceHash, mapdata.PairingApproved, now.UnixMilli())
		if err := row.Scan(&id); err != nil {
			return err
		}
		s.Account = id.AccountID
		if err := w.insertSession(ctx, s); err != nil {
			return err
		}
		var err error
		a, err = scanAccount(w.QueryRowContext(ctx, selectAccount, s.Account[:]))
		return err
	})
	if err != nil {
		return nil, err
	}
	return a, nil
}

// prunePairings forgets those that are over: nothing counts them any more.
func (db *DB) prunePairings(ctx context.Context, now time.Time) error {
	return db.write(ctx, "prune pairings", func(w *writing) error {
		_, err := w.ExecContext(ctx, deletePairings, now.UnixMilli())
		return err
	})
}

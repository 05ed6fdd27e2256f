package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"wayside/internal/ground/mapdata"
)

const (
	pairingColumns = `id, device_hash, name, code_hash, agent, created_at, expires_at, state, account, tries`

	insertPairing = `INSERT INTO pairings (device_hash, name, code_hash, agent, created_at, expires_at, state, tries)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id`
	selectPairing       = `SELECT ` + pairingColumns + ` FROM pairings WHERE device_hash = $1`
	selectPairingByCode = `SELECT ` + pairingColumns + ` FROM pairings WHERE code_hash = $1 AND expires_at > $2`
	countPairingTry     = `UPDATE pairings SET tries = tries + 1 WHERE name = $1 AND state = $2 AND expires_at > $3`
	answerPairing       = `UPDATE pairings SET state = $2, account = $3 WHERE id = $1`
	endApprovals        = `UPDATE pairings SET expires_at = created_at WHERE account = $1 AND state = $2`
	takePairing         = `UPDATE pairings SET state = $1 WHERE device_hash = $2 AND state = $3 AND expires_at > $4 RETURNING account`
)

// CreatePairing stores a waiting pairing, and sets its ID. It fails with mapdata.ErrConflict when another pairing has
// the secret or the code.
func (db *Scripts) CreatePairing(ctx context.Context, p *mapdata.Pairing) error {
	var id int64
	err := db.backend.Write(ctx, "create pairing", func(tx *Tx) error {
		return tx.QueryRow(ctx, insertPairing,
			p.DeviceHash, p.Name, p.CodeHash, p.Agent, Millis(p.CreatedAt), Millis(p.ExpiresAt), p.State, p.Tries).Scan(&id)
	})
	if err == nil {
		p.ID = id
	}
	return err
}

func scanPairing(r Row) (*mapdata.Pairing, error) {
	var (
		p                mapdata.Pairing
		account          AccountID
		created, expires instant
	)
	err := r.Scan(&p.ID, &p.DeviceHash, &p.Name, &p.CodeHash, &p.Agent, &created, &expires, &p.State, &account, &p.Tries)
	if err != nil {
		return nil, err
	}
	p.CreatedAt, p.ExpiresAt, p.Account = created.Time, expires.Time, account.AccountID
	return &p, nil
}

// Pairing returns the pairing with the hash of its secret, whatever its state, or fails with mapdata.ErrNotFound.
func (db *Scripts) Pairing(ctx context.Context, deviceHash []byte) (*mapdata.Pairing, error) {
	p, err := scanPairing(db.backend.QueryRow(ctx, selectPairing, deviceHash))
	return p, db.backend.Failure("find pairing", err)
}

// PairingByCode returns the unexpired pairing with the hash of its code; a waiting one with maxTries wrong tries no
// longer matches. A code without a match counts one try on every waiting pairing of the name. It fails with
// mapdata.ErrNotFound.
func (db *Scripts) PairingByCode(
	ctx context.Context, name string, codeHash []byte, now time.Time, maxTries int,
) (p *mapdata.Pairing, err error) {
	err = db.backend.Write(ctx, "find pairing by code", func(tx *Tx) (err error) {
		p, err = tx.pairingByCode(ctx, name, codeHash, now, maxTries)
		return err
	})
	if err == nil && p == nil {
		err = db.backend.Failure("find pairing by code", mapdata.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// pairingByCode returns nil, and counts a try, where nothing matches; the caller must then commit the transaction.
// Attempts on one name are serialized, because otherwise concurrent guesses would all be compared before the first was
// counted. Therefore no other transaction answers a pairing that is found waiting; its screen takes it only afterwards.
func (tx *Tx) pairingByCode(ctx context.Context, name string, codeHash []byte, now time.Time, maxTries int) (*mapdata.Pairing, error) {
	if err := tx.lockScope(ctx, scopePairings, name); err != nil {
		return nil, err
	}
	p, err := scanPairing(tx.QueryRow(ctx, selectPairingByCode, codeHash, now.UnixMilli()))
	if err == nil && p.At(now, maxTries) != mapdata.PairingOver {
		return p, nil
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	_, err = tx.Exec(ctx, countPairingTry, name, mapdata.PairingWaiting, now.UnixMilli())
	return nil, err
}

// AnswerPairing approves or denies a waiting pairing for the account, found as by PairingByCode. An account that
// repeats its own answer gets the same result. It fails with mapdata.ErrNotFound, with mapdata.ErrConflict when it was
// answered otherwise, and with mapdata.ErrUnauthenticated when the session of the answer has ended. The session is
// locked, so that a transaction that ends it finds the approval.
func (db *Scripts) AnswerPairing(
	ctx context.Context, name string, codeHash []byte, now time.Time, maxTries int, by mapdata.PairingAnswer,
) (p *mapdata.Pairing, err error) {
	account, answer := by.Account, by.State
	err = db.backend.Write(ctx, "answer pairing", func(tx *Tx) (err error) {
		if err := tx.lockSession(ctx, by); err != nil {
			return err
		}
		if p, err = tx.pairingByCode(ctx, name, codeHash, now, maxTries); err != nil || p == nil {
			return err
		}
		if p.State != mapdata.PairingWaiting {
			if p.Account == account && (p.State == mapdata.PairingDenied) == (answer == mapdata.PairingDenied) {
				return nil
			}
			return mapdata.ErrConflict
		}
		p.State, p.Account = answer, account
		return tx.one(ctx, answerPairing, p.ID, answer, account[:])
	})
	if err == nil && p == nil {
		err = db.backend.Failure("answer pairing", mapdata.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// lockSession prevents the session of an answer from ending before the transaction does.
func (tx *Tx) lockSession(ctx context.Context, by mapdata.PairingAnswer) error {
	if by.Session == "" {
		return nil
	}
	var one int
	err := tx.QueryRow(ctx, tx.dialect.locking(lockSession, "KEY SHARE"), by.Account[:], by.Session).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return mapdata.ErrUnauthenticated
	}
	return err
}

// TakePairing uses up the approved, unexpired pairing of the secret, stores the session as its account's, ends the
// session that it replaces (an id; empty: none) and stores the e-mail to the account (nil: none), all in one
// transaction. It sets the session's account, and returns it. It fails with mapdata.ErrNotFound.
func (db *Scripts) TakePairing(
	ctx context.Context, deviceHash []byte, now time.Time, s *mapdata.Session, replaces string, email *mapdata.Email,
) (a *mapdata.Account, err error) {
	err = db.backend.Write(ctx, "take pairing", func(tx *Tx) error {
		// Sessions are locked before pairings, as by transactions that end sessions. The approval that is taken does
		// not end with the session.
		if err := tx.replaceSession(ctx, replaces, false); err != nil {
			return err
		}
		var id AccountID
		row := tx.QueryRow(ctx, takePairing, mapdata.PairingUsed, deviceHash, mapdata.PairingApproved, now.UnixMilli())
		if err := row.Scan(&id); err != nil {
			return err
		}
		s.Account = id.AccountID
		if err := tx.insertSession(ctx, s); err != nil {
			return err
		}
		if email != nil {
			own := *email
			own.Account = s.Account
			if err := tx.email(ctx, &own); err != nil {
				return err
			}
		}
		var err error
		a, err = scanAccount(tx.QueryRow(ctx, selectAccount, s.Account[:]))
		return err
	})
	if err != nil {
		return nil, err
	}
	return a, nil
}

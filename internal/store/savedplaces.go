package store

import (
	"context"
	"database/sql"
	"errors"

	"wayside/internal/ground/mapdata"
)

const (
	selectSavedPlaces  = `SELECT sealed FROM saved_places WHERE account = $1`
	replaceSavedPlaces = `INSERT INTO saved_places (account, sealed) VALUES ($1, $2)
		ON CONFLICT (account) DO UPDATE SET sealed = excluded.sealed`
	deleteSavedPlaces = `DELETE FROM saved_places WHERE account = $1`

	selectSavedPlacesAfter = `SELECT account, sealed FROM saved_places WHERE account > $1 ORDER BY account LIMIT $2`
)

// SavedPlaces returns the sealed places of an account; nil: none.
func (db *Scripts) SavedPlaces(ctx context.Context, account mapdata.AccountID) ([]byte, error) {
	var sealed []byte
	err := db.backend.QueryRow(ctx, selectSavedPlaces, account[:]).Scan(&sealed)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return sealed, db.backend.Failure("read saved places", err)
}

// SetSavedPlaces replaces an account's sealed places, and erases the previous ones from the database's files (D11.11). It fails with
// mapdata.ErrNotFound when the account does not exist.
func (db *Scripts) SetSavedPlaces(ctx context.Context, account mapdata.AccountID, sealed []byte) error {
	return db.backend.Write(ctx, "store saved places", func(tx *Tx) error {
		_, err := tx.Exec(ctx, replaceSavedPlaces, account[:], sealed)
		tx.erase()
		return err
	})
}

// DeleteSavedPlaces deletes the places of an account, also from the database's files.
func (db *Scripts) DeleteSavedPlaces(ctx context.Context, account mapdata.AccountID) error {
	return db.backend.Write(ctx, "delete saved places", func(tx *Tx) error {
		_, err := tx.Exec(ctx, deleteSavedPlaces, account[:])
		tx.erase()
		return err
	})
}

// resealBatch is the number of accounts whose places one transaction reseals: at most some megabytes.
const resealBatch = 200

// ResealSavedPlaces replaces all sealed places by the results of reseal; nil deletes them. It takes several transactions: after an
// interruption, reseal is called again with its own results.
func (db *Scripts) ResealSavedPlaces(ctx context.Context, reseal func(account mapdata.AccountID, sealed []byte) ([]byte, error)) error {
	var last mapdata.AccountID
	for more := true; more; {
		var batch []savedPlaces
		err := db.backend.Write(ctx, "seal saved places anew", func(tx *Tx) error {
			var err error
			batch, err = List(ctx, tx, tx.dialect.locking(selectSavedPlacesAfter, "UPDATE"), scanSavedPlaces, last[:], resealBatch)
			if err != nil {
				return err
			}
			for i := range batch {
				id := batch[i].account
				sealed, err := reseal(id, batch[i].sealed)
				switch {
				case err != nil:
					return err
				case sealed == nil:
					_, err = tx.Exec(ctx, deleteSavedPlaces, id[:])
				default:
					_, err = tx.Exec(ctx, replaceSavedPlaces, id[:], sealed)
				}
				if err != nil {
					return err
				}
			}
			tx.erase()
			return nil
		})
		if err != nil {
			return err
		}
		if more = len(batch) == resealBatch; more {
			last = batch[len(batch)-1].account
		}
	}
	return nil
}

type savedPlaces struct {
	account mapdata.AccountID
	sealed  []byte
}

func scanSavedPlaces(r Row) (p savedPlaces, err error) {
	var id AccountID
	err = r.Scan(&id, &p.sealed)
	p.account = id.AccountID
	return p, err
}

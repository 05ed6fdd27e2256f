package store

import (
	"context"
	"database/sql"
	"errors"

	"wayside/internal/mapdata"
)

const (
	selectSealed = `SELECT id, pull_auth_sealed FROM feeds WHERE pull_auth_sealed IS NOT NULL ORDER BY seq`
	updateSealed = `UPDATE feeds SET pull_auth_sealed = $1 WHERE id = $2`
)

// SealedHeader is the sealed auth header of a feed.
type SealedHeader struct {
	Feed mapdata.FeedID
	Text []byte
}

func scanSealed(r Row) (h SealedHeader, err error) {
	var id FeedID
	err = r.Scan(&id, &h.Text)
	h.Feed = id.FeedID
	return h, err
}

// AnySealed reads one sealed header, with which a key can be tried; nil: there is none.
func (db *Scripts) AnySealed(ctx context.Context) (*SealedHeader, error) {
	h, err := scanSealed(db.backend.QueryRow(ctx, selectSealed+" LIMIT 1"))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil //nolint:nilnil // there is none, which is no error
	}
	return &h, db.backend.Failure("read a sealed header", err)
}

// Reseal replaces every sealed header in one transaction by what reseal makes of it; nil removes it. It returns how many
// there were.
func (db *Scripts) Reseal(ctx context.Context, reseal func(SealedHeader) ([]byte, error), audit mapdata.AuditEntry) (n int, err error) {
	err = db.backend.Write(ctx, "seal headers anew", func(tx *Tx) error {
		all, err := List(ctx, tx, tx.dialect.locking(selectSealed, "UPDATE"), scanSealed)
		if err != nil {
			return err
		}
		n = len(all)
		for i := range all {
			text, err := reseal(all[i])
			if err != nil {
				return err
			}
			if err := tx.one(ctx, updateSealed, text, all[i].Feed[:]); err != nil {
				return err
			}
		}
		tx.erase()
		return tx.audit(ctx, audit)
	})
	return n, err
}

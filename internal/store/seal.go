package store

import (
	"context"
	"database/sql"
	"errors"

	"wayside/internal/ground/mapdata"
)

const (
	selectSealed = `SELECT id, pull_auth_sealed FROM feeds WHERE pull_auth_sealed IS NOT NULL ORDER BY seq`
	updateSealed = `UPDATE feeds SET pull_auth_sealed = $1 WHERE id = $2`

	selectSealedConfigs = `SELECT account, app, config FROM app_installs ORDER BY account, app`
	updateSealedConfig  = `UPDATE app_installs SET config = $1 WHERE account = $2 AND app = $3`
)

// SealedHeader is the sealed auth header of a feed, or an account's config of an app, for which Feed is zero.
type SealedHeader struct {
	Feed    mapdata.FeedID
	Account mapdata.AccountID
	App     mapdata.AppID
	Text    []byte
}

func scanSealed(r Row) (h SealedHeader, err error) {
	var id FeedID
	err = r.Scan(&id, &h.Text)
	h.Feed = id.FeedID
	return h, err
}

func scanSealedConfig(r Row) (h SealedHeader, err error) {
	var (
		account AccountID
		app     AppID
	)
	err = r.Scan(&account, &app, &h.Text)
	h.Account, h.App = account.AccountID, app.AppID
	return h, err
}

// AnySealed returns one sealed header or config, with which a key can be tried; nil: there is none.
func (db *Scripts) AnySealed(ctx context.Context) (*SealedHeader, error) {
	h, err := scanSealed(db.backend.QueryRow(ctx, selectSealed+" LIMIT 1"))
	if errors.Is(err, sql.ErrNoRows) {
		h, err = scanSealedConfig(db.backend.QueryRow(ctx, selectSealedConfigs+" LIMIT 1"))
	}
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil //nolint:nilnil // absence is not an error
	}
	return &h, db.backend.Failure("read a sealed header", err)
}

// Reseal replaces every sealed header and config in one transaction by the result of reseal; nil removes it, and a
// config together with its install. It returns their number.
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
		configs, err := List(ctx, tx, tx.dialect.locking(selectSealedConfigs, "UPDATE"), scanSealedConfig)
		if err != nil {
			return err
		}
		n += len(configs)
		for i := range configs {
			if err := tx.resealConfig(ctx, &configs[i], reseal); err != nil {
				return err
			}
		}
		tx.erase()
		return tx.audit(ctx, audit)
	})
	return n, err
}

func (tx *Tx) resealConfig(ctx context.Context, h *SealedHeader, reseal func(SealedHeader) ([]byte, error)) error {
	text, err := reseal(*h)
	switch {
	case err != nil:
		return err
	case text == nil:
		return tx.one(ctx, deleteInstall, h.Account[:], h.App[:])
	}
	return tx.one(ctx, updateSealedConfig, text, h.Account[:], h.App[:])
}

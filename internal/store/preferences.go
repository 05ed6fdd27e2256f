package store

import (
	"context"
	"database/sql"
	"errors"

	"wayside/internal/ground/mapdata"
)

const (
	selectPreferences = `SELECT units, theme, language, density, tones, lead, sources_off, kinds_off, networks
		FROM preferences WHERE account = $1`
	replacePreferences = `INSERT INTO preferences
		(account, units, theme, language, density, tones, lead, sources_off, kinds_off, networks) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT (account) DO UPDATE SET units = excluded.units, theme = excluded.theme, language = excluded.language,
			density = excluded.density, tones = excluded.tones, lead = excluded.lead, sources_off = excluded.sources_off,
			kinds_off = excluded.kinds_off, networks = excluded.networks`
)

// Preferences returns the account's settings, all nil where nothing was stored.
func (db *Scripts) Preferences(ctx context.Context, account mapdata.AccountID) (*mapdata.Preferences, error) {
	var p mapdata.Preferences
	err := db.backend.QueryRow(ctx, selectPreferences, account[:]).Scan(
		&p.Units, &p.Theme, &p.Language, &p.Density, &p.Tones, &p.Lead,
		db.dialect.ScanList(&p.SourcesOff), db.dialect.ScanList(&p.KindsOff), db.dialect.ScanList(&p.Networks))
	if errors.Is(err, sql.ErrNoRows) {
		return &mapdata.Preferences{}, nil
	}
	if err != nil {
		return nil, db.backend.Failure("read preferences", err)
	}
	return &p, nil
}

// SetPreferences replaces all of the account's settings, or fails with mapdata.ErrNotFound when the account does not
// exist.
func (db *Scripts) SetPreferences(ctx context.Context, account mapdata.AccountID, p *mapdata.Preferences) error {
	return db.backend.Write(ctx, "store preferences", func(tx *Tx) error {
		_, err := tx.Exec(ctx, replacePreferences, account[:], p.Units, p.Theme, p.Language, p.Density, p.Tones, p.Lead,
			tx.dialect.List(p.SourcesOff), tx.dialect.List(p.KindsOff), tx.dialect.List(p.Networks))
		return err
	})
}

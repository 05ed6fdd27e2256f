package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"wayside/internal/mapdata"
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

// Preferences reads what the account chose; nothing but nil where nothing was stored.
func (db *DB) Preferences(ctx context.Context, account mapdata.AccountID) (*mapdata.Preferences, error) {
	var p mapdata.Preferences
	err := db.pool.QueryRow(ctx, selectPreferences, account[:]).Scan(
		&p.Units, &p.Theme, &p.Language, &p.Density, &p.Tones, &p.Lead, &p.SourcesOff, &p.KindsOff, &p.Networks)
	if errors.Is(err, pgx.ErrNoRows) {
		return &mapdata.Preferences{}, nil
	}
	if err != nil {
		return nil, failure("read preferences", err)
	}
	return &p, nil
}

// SetPreferences stores what the account chose in place of all that it chose before, or fails with mapdata.ErrNotFound
// when there is no such account.
func (db *DB) SetPreferences(ctx context.Context, account mapdata.AccountID, p *mapdata.Preferences) error {
	return db.write(ctx, "store preferences", func(w *writing) error {
		_, err := w.Exec(ctx, replacePreferences, account[:], p.Units, p.Theme, p.Language, p.Density, p.Tones, p.Lead,
			p.SourcesOff, p.KindsOff, p.Networks)
		return err
	})
}

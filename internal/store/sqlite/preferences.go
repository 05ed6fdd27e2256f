package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"wayside/internal/mapdata"
)

const (
	selectPreferences = `SELECT units, theme, language, density, tones, lead, sources_off, kinds_off, networks
		FROM preferences WHERE account = ?`
	replacePreferences = `INSERT OR REPLACE INTO preferences
		(account, units, theme, language, density, tones, lead, sources_off, kinds_off, networks) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
)

// names is a column that holds a list of strings as a JSON array, or NULL for none.
type names struct{ list []string }

// Scan takes a JSON array or NULL.
func (n *names) Scan(value any) error {
	n.list = nil
	if value == nil {
		return nil
	}
	if err := json.Unmarshal([]byte(text(value)), &n.list); err != nil {
		return fmt.Errorf("list of strings: %w", err)
	}
	return nil
}

func namesOf(list []string) any {
	if list == nil {
		return nil
	}
	return jsonArray(list)
}

// Preferences reads what the account chose; nothing but nil where nothing was stored.
func (db *DB) Preferences(ctx context.Context, account mapdata.AccountID) (*mapdata.Preferences, error) {
	var (
		p                        mapdata.Preferences
		sources, kinds, networks names
	)
	err := db.reader.QueryRowContext(ctx, selectPreferences, account[:]).Scan(
		&p.Units, &p.Theme, &p.Language, &p.Density, &p.Tones, &p.Lead, &sources, &kinds, &networks)
	if errors.Is(err, sql.ErrNoRows) {
		return &mapdata.Preferences{}, nil
	}
	if err != nil {
		return nil, failure("read preferences", err)
	}
	p.SourcesOff, p.KindsOff, p.Networks = sources.list, kinds.list, networks.list
	return &p, nil
}

// SetPreferences stores what the account chose in place of all that it chose before, or fails with mapdata.ErrNotFound
// when there is no such account.
func (db *DB) SetPreferences(ctx context.Context, account mapdata.AccountID, p *mapdata.Preferences) error {
	return db.write(ctx, "store preferences", func(w *writing) error {
		_, err := w.ExecContext(ctx, replacePreferences, account[:], p.Units, p.Theme, p.Language, p.Density, p.Tones, p.Lead,
			namesOf(p.SourcesOff), namesOf(p.KindsOff), namesOf(p.Networks))
		return err
	})
}

package postgres

import (
	"context"
	"encoding/json"
	"fmt"

	"wayside/internal/mapdata"
)

const insertLetter = `INSERT INTO outbox (account, address, kind, data, at, tries, due) VALUES ($1, $2, $3, $4, $5, $6, $7)`

// letters puts letters into the outbox.
func (w *writing) letters(ctx context.Context, all []mapdata.Letter) error {
	for i := range all {
		if err := w.letter(ctx, &all[i]); err != nil {
			return fmt.Errorf("store letter: %w", err)
		}
	}
	return nil
}

// letter stores a letter. With an account it goes to the address that the account will have then.
func (w *writing) letter(ctx context.Context, l *mapdata.Letter) error {
	data, err := json.Marshal(l.Data)
	if err != nil {
		return err
	}
	var address any
	if l.Account.IsZero() {
		address = l.Address
	}
	due := l.Due
	if due.IsZero() {
		due = l.At
	}
	_, err = w.Exec(ctx, insertLetter, optional(l.Account), address, l.Kind, string(data), l.At.UnixMilli(), l.Tries, due.UnixMilli())
	return err
}

package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"wayside/internal/mapdata"
)

const (
	insertLetter = `INSERT INTO outbox (account, address, kind, data, at, tries, due, language)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`

	selectDueLetters = `SELECT o.id, o.account, o.kind, o.data, o.at, o.tries, o.due, COALESCE(o.address, a.email),
		COALESCE(NULLIF(a.language, ''), NULLIF(b.language, ''), o.language)
		FROM outbox AS o LEFT JOIN accounts AS a ON a.id = o.account LEFT JOIN accounts AS b ON b.email = o.address
		WHERE o.due <= ? ORDER BY o.due, o.id LIMIT ?`

	anyLetterDue = `SELECT EXISTS (SELECT 1 FROM outbox WHERE due <= ?)`
	leaseLetter  = `UPDATE outbox SET due = ? WHERE id = ?`
	deleteLetter = `DELETE FROM outbox WHERE id = ?`
	putLetter    = `UPDATE outbox SET tries = ?, due = ? WHERE id = ?`
)

// letters puts letters into the outbox.
func (w *writing) letters(ctx context.Context, all []mapdata.Letter) error {
	for i := range all {
		if err := w.letter(ctx, &all[i]); err != nil {
			return fmt.Errorf("store letter: %w", err)
		}
	}
	return nil
}

// noted writes an entry of the audit log and the letter that tells of the same; nil: none does.
func (w *writing) noted(ctx context.Context, audit mapdata.AuditEntry, letter *mapdata.Letter) error {
	if err := w.audit(ctx, audit); err != nil || letter == nil {
		return err
	}
	return w.letters(ctx, []mapdata.Letter{*letter})
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
	_, err = w.ExecContext(ctx, insertLetter, optional(l.Account), address, l.Kind, string(data), l.At.UnixMilli(), l.Tries, due.UnixMilli(), l.Language)
	return err
}

// DueLetters leases at most limit letters that are due at now until the given time, with their addresses and languages
// resolved. Where
// nothing is due it takes no lock.
func (db *DB) DueLetters(ctx context.Context, now, until time.Time, limit int) ([]mapdata.Letter, error) {
	var some bool
	if err := db.reader.QueryRowContext(ctx, anyLetterDue, now.UnixMilli()).Scan(&some); err != nil || !some {
		return nil, failure("look for due letters", err)
	}
	var all []mapdata.Letter
	err := db.write(ctx, "lease letters", func(w *writing) (err error) {
		if all, err = dueLetters(ctx, w, now, limit); err != nil {
			return err
		}
		for i := range all {
			if _, err := w.ExecContext(ctx, leaseLetter, until.UnixMilli(), all[i].ID); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

func dueLetters(ctx context.Context, w *writing, now time.Time, limit int) ([]mapdata.Letter, error) {
	rows, err := w.QueryContext(ctx, selectDueLetters, now.UnixMilli(), limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	var all []mapdata.Letter
	for rows.Next() {
		var (
			l       mapdata.Letter
			account accountID
			data    []byte
			at, due instant
		)
		if err := rows.Scan(&l.ID, &account, &l.Kind, &data, &at, &l.Tries, &due, &l.Address, &l.Language); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(data, &l.Data); err != nil {
			return nil, fmt.Errorf("letter %d: %w", l.ID, err)
		}
		l.Account, l.At, l.Due = account.AccountID, at.Time, due.Time
		all = append(all, l)
	}
	return all, rows.Err()
}

// LetterSent removes a letter.
func (db *DB) LetterSent(ctx context.Context, id int64) error {
	return db.write(ctx, "remove letter", func(w *writing) error {
		_, err := w.ExecContext(ctx, deleteLetter, id)
		return err
	})
}

// LetterFailed puts a letter back until due, with its number of tries.
func (db *DB) LetterFailed(ctx context.Context, id int64, tries int, due time.Time) error {
	return db.write(ctx, "put letter back", func(w *writing) error {
		_, err := w.ExecContext(ctx, putLetter, tries, due.UnixMilli(), id)
		return err
	})
}

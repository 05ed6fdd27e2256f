package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"wayside/internal/mapdata"
)

const (
	insertLetter = `INSERT INTO outbox (account, address, kind, data, at, tries, due, language)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`

	// Letters that another node is just leasing are passed over.
	leaseLetters = `WITH due AS (
			SELECT id, due FROM outbox WHERE due <= $1 ORDER BY due, id LIMIT $3 FOR NO KEY UPDATE SKIP LOCKED
		), leased AS (
			UPDATE outbox AS o SET due = $2 FROM due WHERE o.id = due.id
			RETURNING o.id, o.account, o.kind, o.data, o.at, o.tries, due.due AS was_due, o.address, o.language
		)
		SELECT l.id, l.account, l.kind, l.data, l.at, l.tries, l.was_due, COALESCE(l.address, a.email),
			COALESCE(NULLIF(a.language, ''), NULLIF(b.language, ''), l.language)
		FROM leased AS l LEFT JOIN accounts AS a ON a.id = l.account LEFT JOIN accounts AS b ON b.email = l.address
		ORDER BY l.was_due, l.id`

	anyLetterDue = `SELECT EXISTS (SELECT 1 FROM outbox WHERE due <= $1)`
	deleteLetter = `DELETE FROM outbox WHERE id = $1`
	putLetter    = `UPDATE outbox SET tries = $2, due = $3 WHERE id = $1`
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
	_, err = w.Exec(ctx, insertLetter, optional(l.Account), address, l.Kind, string(data), l.At.UnixMilli(), l.Tries, due.UnixMilli(), l.Language)
	return err
}

// DueLetters leases at most limit letters that are due at now until the given time, with their addresses and languages
// resolved. Where
// nothing is due it takes no lock.
func (db *DB) DueLetters(ctx context.Context, now, until time.Time, limit int) (all []mapdata.Letter, err error) {
	var some bool
	if err := db.pool.QueryRow(ctx, anyLetterDue, now.UnixMilli()).Scan(&some); err != nil || !some {
		return nil, failure("look for due letters", err)
	}
	err = db.write(ctx, "lease letters", func(w *writing) (err error) {
		all, err = list(ctx, w, leaseLetters, scanLetter, now.UnixMilli(), until.UnixMilli(), limit)
		return err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

func scanLetter(r row) (l mapdata.Letter, err error) {
	var (
		account accountID
		data    string
		at, due instant
	)
	if err := r.Scan(&l.ID, &account, &l.Kind, &data, &at, &l.Tries, &due, &l.Address, &l.Language); err != nil {
		return l, err
	}
	if err := json.Unmarshal([]byte(data), &l.Data); err != nil {
		return l, fmt.Errorf("letter %d: %w", l.ID, err)
	}
	l.Account, l.At, l.Due = account.AccountID, at.Time, due.Time
	return l, nil
}

// LetterSent removes a letter.
func (db *DB) LetterSent(ctx context.Context, id int64) error {
	return db.write(ctx, "remove letter", func(w *writing) error {
		_, err := w.Exec(ctx, deleteLetter, id)
		return err
	})
}

// LetterFailed puts a letter back until due, with its number of tries.
func (db *DB) LetterFailed(ctx context.Context, id int64, tries int, due time.Time) error {
	return db.write(ctx, "put letter back", func(w *writing) error {
		_, err := w.Exec(ctx, putLetter, id, tries, due.UnixMilli())
		return err
	})
}

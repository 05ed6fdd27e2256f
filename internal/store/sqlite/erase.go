package sqlite

import (
	"context"

	"wayside/internal/mapdata"
)

const (
	selectBallots = `SELECT source, external_id, vote, at FROM votes WHERE account = ? ORDER BY at, id`

	selectFeedIDsOfOwner = `SELECT id FROM feeds WHERE owner = ? ORDER BY seq`
	deleteSignInsOf      = `DELETE FROM sign_ins WHERE email = (SELECT email FROM accounts WHERE id = ?)`
	deleteLettersTo      = `DELETE FROM outbox WHERE address = (SELECT email FROM accounts WHERE id = ?)`
	deleteAccount        = `DELETE FROM accounts WHERE id = ?`
)

// Ballots lists the votes that are still tied to the account, oldest first, without records of what they were on.
func (db *DB) Ballots(ctx context.Context, account mapdata.AccountID) ([]mapdata.Ballot, error) {
	all, err := list(ctx, db, selectBallots, func(r row) (mapdata.Ballot, error) {
		b := mapdata.Ballot{Account: account}
		var cast instant
		err := r.Scan(&b.Source, &b.ExternalID, &b.Vote, &cast)
		b.At = cast.Time
		return b, err
	}, account[:])
	return all, failure("list votes", err)
}

// DeleteAccount forgets an account and what is its own, as account.Store says. Sessions, API tokens, pairings, preferences
// and letters go with its row, and votes lose it, by the foreign keys.
func (db *DB) DeleteAccount(ctx context.Context, id mapdata.AccountID, audit mapdata.AuditEntry) error {
	return db.write(ctx, "delete account", func(w *writing) error {
		feeds, err := w.feedIDsOf(ctx, id)
		if err != nil {
			return err
		}
		for _, feed := range feeds {
			if err := w.deleteFeed(ctx, feed); err != nil {
				return err
			}
		}
		for _, statement := range []string{deleteSignInsOf, deleteLettersTo, forgetNotes} {
			if _, err := w.ExecContext(ctx, statement, id[:]); err != nil {
				return err
			}
		}
		if err := w.one(ctx, deleteAccount, id[:]); err != nil {
			return err
		}
		return w.audit(ctx, audit)
	})
}

func (w *writing) feedIDsOf(ctx context.Context, owner mapdata.AccountID) ([]mapdata.FeedID, error) {
	rows, err := w.QueryContext(ctx, selectFeedIDsOfOwner, owner[:])
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	var all []mapdata.FeedID
	for rows.Next() {
		var feed feedID
		if err := rows.Scan(&feed); err != nil {
			return nil, err
		}
		all = append(all, feed.FeedID)
	}
	return all, rows.Err()
}

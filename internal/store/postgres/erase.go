package postgres

import (
	"context"

	"wayside/internal/mapdata"
)

const (
	selectBallots = `SELECT source, external_id, vote, at FROM votes WHERE account = $1 ORDER BY at, id`

	selectFeedIDsOfOwner = `SELECT id FROM feeds WHERE owner = $1 ORDER BY seq FOR UPDATE`
	severVotesOf         = `UPDATE votes SET account = NULL WHERE account = $1`
	deleteSignInsOf      = `DELETE FROM sign_ins WHERE email = (SELECT email FROM accounts WHERE id = $1)`
	deleteLettersTo      = `DELETE FROM outbox WHERE address = (SELECT email FROM accounts WHERE id = $1)`
	deleteAccount        = `DELETE FROM accounts WHERE id = $1`
)

// Ballots lists the votes that are still tied to the account, oldest first, without records of what they were on.
func (db *DB) Ballots(ctx context.Context, account mapdata.AccountID) ([]mapdata.Ballot, error) {
	all, err := list(ctx, db.pool, selectBallots, func(r row) (mapdata.Ballot, error) {
		b := mapdata.Ballot{Account: account}
		var cast instant
		err := r.Scan(&b.Source, &b.ExternalID, &b.Vote, &cast)
		b.At = cast.Time
		return b, err
	}, account[:])
	return all, failure("list votes", err)
}

// DeleteAccount forgets an account and what is its own, as account.Store says. Sessions, API tokens, pairings, preferences
// and letters go with its row, by the foreign keys. Feeds are locked first, as by everybody; nobody registers one
// meanwhile. Votes are severed before the account's row is locked: who votes holds a vote and then looks for the account.
func (db *DB) DeleteAccount(ctx context.Context, id mapdata.AccountID, audit mapdata.AuditEntry) error {
	return db.write(ctx, "delete account", func(w *writing) error {
		if _, err := w.Exec(ctx, lockRegister); err != nil {
			return err
		}
		feeds, err := list(ctx, w, selectFeedIDsOfOwner, func(r row) (mapdata.FeedID, error) {
			var feed feedID
			err := r.Scan(&feed)
			return feed.FeedID, err
		}, id[:])
		if err != nil {
			return err
		}
		for _, feed := range feeds {
			if err := w.deleteFeed(ctx, feed); err != nil {
				return err
			}
		}
		for _, statement := range []string{severVotesOf, deleteSignInsOf, deleteLettersTo, forgetNotes} {
			if _, err := w.Exec(ctx, statement, id[:]); err != nil {
				return err
			}
		}
		if err := w.one(ctx, deleteAccount, id[:]); err != nil {
			return err
		}
		return w.audit(ctx, audit)
	})
}

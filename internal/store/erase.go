package store

import (
	"context"

	"wayside/internal/ground/mapdata"
)

const (
	selectBallots = `SELECT source, external_id, vote, at FROM votes WHERE account = $1 ORDER BY at, id`

	selectFeedIDsOfOwner = `SELECT id FROM feeds WHERE owner = $1 ORDER BY seq`
	selectReportsOf      = `SELECT external_id FROM voted WHERE author = $1`
	severReportsOf       = `UPDATE voted SET author = NULL WHERE author = $1`
	severVotesOf         = `UPDATE votes SET account = NULL WHERE account = $1`
	deleteSignInsOf      = `DELETE FROM sign_ins WHERE email = (SELECT email FROM accounts WHERE id = $1)`
	deleteEmailsTo       = `DELETE FROM outbox WHERE address = (SELECT email FROM accounts WHERE id = $1)`
	deleteAccount        = `DELETE FROM accounts WHERE id = $1`
)

// Ballots lists the votes that are still linked to the account, oldest first, without the records of their entities.
func (db *Scripts) Ballots(ctx context.Context, account mapdata.AccountID) ([]mapdata.Ballot, error) {
	all, err := List(ctx, db.backend, selectBallots, func(r Row) (mapdata.Ballot, error) {
		b := mapdata.Ballot{Account: account}
		var cast instant
		err := r.Scan(&b.Source, &b.ExternalID, &b.Vote, &cast)
		b.At = cast.Time
		return b, err
	}, account[:])
	return all, db.backend.Failure("list votes", err)
}

// DeleteAccount deletes an account and its data, as described at account.Store. Sessions, API tokens, pairings,
// preferences, places and e-mails are deleted with its row, by the foreign keys. Feeds are locked first, as by every
// transaction, and no feed is registered in the meantime. Votes are severed before the account's row is locked, because
// a transaction that casts a vote locks the vote first and then the account.
func (db *Scripts) DeleteAccount(ctx context.Context, id mapdata.AccountID, audit mapdata.AuditEntry) error {
	return db.backend.Write(ctx, "delete account", func(tx *Tx) error {
		if err := tx.lockRegistrations(ctx); err != nil {
			return err
		}
		feeds, err := List(ctx, tx, tx.dialect.locking(selectFeedIDsOfOwner, "UPDATE"), scanFeedID, id[:])
		if err != nil {
			return err
		}
		for _, feed := range feeds {
			if err := tx.deleteFeed(ctx, feed); err != nil {
				return err
			}
		}
		if err := tx.stopMaintaining(ctx, id); err != nil {
			return err
		}
		if err := tx.severReports(ctx, id); err != nil {
			return err
		}
		for _, statement := range []string{severVotesOf, deleteSignInsOf, deleteEmailsTo, deleteInvitationsTo, forgetNotes, deleteAppsUnserved} {
			if _, err := tx.Exec(ctx, statement, id[:]); err != nil {
				return err
			}
		}
		if err := tx.raiseAppsOf(ctx, id); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, deleteEmailsThatName, `%"`+mapdata.EmailWhoID+`":"`+id.String()+`"%`); err != nil {
			return err
		}
		if err := tx.one(ctx, deleteAccount, id[:]); err != nil {
			return err
		}
		tx.raiseAccount(id)
		tx.erase()
		return tx.audit(ctx, audit)
	})
}

// severReports removes the author of the account's reports, which otherwise stay unchanged (D17.38).
func (tx *Tx) severReports(ctx context.Context, id mapdata.AccountID) error {
	reports, err := List(ctx, tx, selectReportsOf, func(r Row) (externalID string, err error) {
		err = r.Scan(&externalID)
		return externalID, err
	}, id[:])
	if err != nil || len(reports) == 0 {
		return err
	}
	if _, err := tx.Exec(ctx, severReportsOf, id[:]); err != nil {
		return err
	}
	tx.logChange(logged{feed: mapdata.DriversID, votes: true}, reports)
	return nil
}

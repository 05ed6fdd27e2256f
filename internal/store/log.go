package store

import (
	"context"
	"slices"

	"wayside/internal/ground/mapdata"
)

const (
	raiseRevision = `UPDATE state SET revision = revision + 1 WHERE id = 1`
	insertChange  = `INSERT INTO changes (revision, feed_id, at, entities, external_ids, votes, account, apps)
		SELECT revision, $1, $2, $3, $4, $5, $6, $7 FROM state WHERE id = 1`

	// The revision that the transaction has raised.
	raisedRevision = `(SELECT revision FROM state WHERE id = 1)`
)

// raiseRevision raises the counter of revisions at the end of the transaction, logs the entities that followers must
// read, and wakes them. The counter's row stays locked until the commit, so that the order of revisions is the order of
// commits.
func (tx *Tx) raiseRevision(feed mapdata.FeedID, ids ...[]string) {
	tx.logChange(logged{feed: feed}, ids...)
}

// raiseVotes raises the revision where only the votes on one entity changed. The feed is zero for a live incident.
func (tx *Tx) raiseVotes(feed mapdata.FeedID, externalID string) {
	tx.logChange(logged{feed: feed, votes: true}, []string{externalID})
}

// raiseAccount raises the revision where sessions of an account ended or its rights changed. The row is marked as one of
// votes without a live incident, so that a node of an earlier version ignores it.
func (tx *Tx) raiseAccount(account mapdata.AccountID) {
	tx.logChange(logged{votes: true, account: account})
}

// raiseApps raises the revision where served apps changed. The row is marked as that of an account is, for the same
// reason.
func (tx *Tx) raiseApps() { tx.logChange(logged{votes: true, apps: true}) }

// logged is the content of a row of the log beside the entities that it names.
type logged struct {
	feed    mapdata.FeedID
	votes   bool
	account mapdata.AccountID
	apps    bool
}

func (tx *Tx) logChange(l logged, ids ...[]string) {
	all := slices.Concat(ids...)
	if all == nil {
		all = []string{} // a list must not be NULL
	}
	tx.AtCommit(raiseRevision)
	tx.AtCommit(insertChange, l.feed[:], tx.Now, len(all), tx.dialect.List(all), l.votes, optional(l.account), l.apps)
	if tx.dialect.Notify != "" {
		tx.AtCommit(tx.dialect.Notify)
	}
}

// State returns the current state of the log of changes.
func (db *Scripts) State(ctx context.Context) (mapdata.StoreState, error) {
	s, err := db.StateIn(ctx, db.backend)
	return s, db.backend.Failure("read state", err)
}

// StateIn returns the state as a transaction sees it.
func (db *Scripts) StateIn(ctx context.Context, q Querier) (s mapdata.StoreState, err error) {
	err = q.QueryRow(ctx, db.dialect.State).Scan(&s.Epoch, &s.Revision, &s.Floor)
	return s, err
}

// AllFeeds yields every feed.
func (db *Scripts) AllFeeds(ctx context.Context, yield func(*mapdata.Feed)) error {
	all, err := List(ctx, db.backend, selectAllFeeds, ScanFeed)
	for _, f := range all {
		yield(f)
	}
	return db.backend.Failure("load feeds", err)
}

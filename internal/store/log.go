package store

import (
	"context"
	"slices"

	"wayside/internal/mapdata"
)

const (
	raiseRevision = `UPDATE state SET revision = revision + 1 WHERE id = 1`
	insertChange  = `INSERT INTO changes (revision, feed_id, at, entities, external_ids, votes, account, apps)
		SELECT revision, $1, $2, $3, $4, $5, $6, $7 FROM state WHERE id = 1`

	// The revision that the transaction has raised.
	raisedRevision = `(SELECT revision FROM state WHERE id = 1)`
)

// raiseRevision raises the counter of revisions at the end of the transaction, logs what followers have to look at, and
// wakes them. The counter's row stays locked until the commit, so the order of revisions is the order of commits.
func (tx *Tx) raiseRevision(feed mapdata.FeedID, ids ...[]string) {
	tx.logChange(logged{feed: feed}, ids...)
}

// raiseVotes does so when only the votes on one entity changed. The feed is zero for a live incident.
func (tx *Tx) raiseVotes(feed mapdata.FeedID, externalID string) {
	tx.logChange(logged{feed: feed, votes: true}, []string{externalID})
}

// raiseAccount does so when sessions of an account ended or its rights changed. The row claims to be of votes on no live
// incident, so that a node of an earlier version ignores it.
func (tx *Tx) raiseAccount(account mapdata.AccountID) {
	tx.logChange(logged{votes: true, account: account})
}

// raiseApps does so when what is served of apps changed. The row claims what that of an account claims, for the same reason.
func (tx *Tx) raiseApps() { tx.logChange(logged{votes: true, apps: true}) }

// logged is what a row of the log says beside the entities that it names.
type logged struct {
	feed    mapdata.FeedID
	votes   bool
	account mapdata.AccountID
	apps    bool
}

func (tx *Tx) logChange(l logged, ids ...[]string) {
	all := slices.Concat(ids...)
	if all == nil {
		all = []string{} // NULL is no list
	}
	tx.AtCommit(raiseRevision)
	tx.AtCommit(insertChange, l.feed[:], tx.Now, len(all), tx.dialect.List(all), l.votes, optional(l.account), l.apps)
	if tx.dialect.Notify != "" {
		tx.AtCommit(tx.dialect.Notify)
	}
}

// State tells where the log of changes stands.
func (db *Scripts) State(ctx context.Context) (mapdata.StoreState, error) {
	s, err := db.StateIn(ctx, db.backend)
	return s, db.backend.Failure("read state", err)
}

// StateIn reads the state as a transaction sees it.
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

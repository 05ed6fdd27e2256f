package postgres

import (
	"context"
	"time"

	"wayside/internal/mapdata"
)

// How much of the past is kept.
const (
	keepChanges   = time.Hour
	keepChangeIDs = 2_000_000 // entities named in the log of changes, at most about
	keepAttempts  = time.Hour // all of them, as health counts; of a feed's older ones what its timeline shows
	keepSignIns   = time.Hour // used or expired ones count towards the limit that long

	severAfter = 30 * 24 * time.Hour // a vote is its account's that long (D9.7)
)

// pruneAtOnce bounds how long others wait for what one transaction has locked: rows that it removes.
const pruneAtOnce = 2_000

// attemptsSlack is how many attempts more than its timeline shows a feed may have before they are looked at.
const attemptsSlack = 20

// Every node prunes. SKIP LOCKED lets them work side by side: none waits for another, or for a writer.
const (
	// The newest revision that goes: by age, or because those after it name enough already.
	selectOldChange = `SELECT GREATEST((SELECT MAX(revision) FROM changes WHERE at < $1),
		(SELECT MAX(revision) FROM (SELECT revision, SUM(entities) OVER (ORDER BY revision DESC) AS named FROM changes) AS summed
			WHERE named > $2), 0)`

	// The floor rises before the rows go, in a transaction before: no follower reads a log with a hole.
	raiseFloor    = `UPDATE state SET floor = $1 WHERE id = 1 AND floor < $1`
	deleteChanges = `DELETE FROM changes WHERE revision IN
		(SELECT revision FROM changes WHERE revision <= $1 ORDER BY revision LIMIT $2 FOR UPDATE SKIP LOCKED)`

	// Beyond the timeline's length, or its span; the newest of all, which health counts, stay whatever their age. Only feeds
	// that have some tens too many are looked at row by row.
	deleteAttempts = `DELETE FROM attempts AS a USING (
			SELECT feed_id, at, revision, ROW_NUMBER() OVER (PARTITION BY feed_id ORDER BY at DESC, revision DESC) AS place
			FROM attempts WHERE feed_id IN (SELECT feed_id FROM attempts GROUP BY feed_id
				HAVING COUNT(*) > $1::bigint + $2::bigint OR COUNT(*) > $4 AND MIN(at) < $5)) AS old
		WHERE (old.place > $1 AND old.at < $3 OR old.place > $4 AND old.at < $5)
			AND a.feed_id = old.feed_id AND a.at = old.at AND a.revision = old.revision`

	deleteSignIns  = `DELETE FROM sign_ins WHERE created_at < $1 AND expires_at <= $2`
	deleteSessions = `DELETE FROM sessions WHERE seen_at <= $1 OR created_at <= $2`

	severOldVotes = `UPDATE votes SET account = NULL WHERE id IN
		(SELECT id FROM votes WHERE account IS NOT NULL AND at <= $1 ORDER BY at LIMIT $2 FOR UPDATE SKIP LOCKED)`

	selectDeletedFeeds = `SELECT id FROM deleted_feeds`
	deleteSomeEntities = `DELETE FROM entities WHERE feed_id = $1 AND external_id IN
		(SELECT external_id FROM entities WHERE feed_id = $1 ORDER BY external_id LIMIT $2 FOR UPDATE SKIP LOCKED)`
	deleteSomeVotes = `DELETE FROM votes WHERE id IN (SELECT id FROM votes WHERE source = $1 LIMIT $2 FOR UPDATE SKIP LOCKED)`
	deleteSomeVoted = `DELETE FROM voted WHERE source = $1 AND external_id IN
		(SELECT external_id FROM voted WHERE source = $1 LIMIT $2 FOR UPDATE SKIP LOCKED)`
	// Where another node has rows locked, the next round will find them gone.
	forgetDeletedFeed = `DELETE FROM deleted_feeds WHERE id = $1
		AND NOT EXISTS (SELECT 1 FROM entities WHERE feed_id = $1)
		AND NOT EXISTS (SELECT 1 FROM votes WHERE source = $2) AND NOT EXISTS (SELECT 1 FROM voted WHERE source = $2)`
)

// Prune removes what nobody needs any more at now: changes that followers have had the time to see, attempts beyond
// those that health counts, sign-ins, pairings and sessions that ended, entities and votes of feeds that are gone. Votes
// lose their accounts in time (D9.7). It works in small transactions; run it every minute or so, on every node.
func (db *DB) Prune(ctx context.Context, now time.Time) error {
	for _, step := range []func(context.Context, time.Time) error{
		db.pruneChanges, db.pruneAttempts, db.pruneRejections, db.pruneSignIns, db.prunePairings, db.pruneAnswers, db.severVotes, db.pruneLive, db.pruneDeletedFeeds, db.pruneAudit,
	} {
		if err := step(ctx, now); err != nil {
			return err
		}
	}
	return nil
}

func (db *DB) pruneChanges(ctx context.Context, now time.Time) error {
	var last int64
	err := db.pool.QueryRow(ctx, selectOldChange, now.Add(-keepChanges).UnixMilli(), keepChangeIDs).Scan(&last)
	if err != nil || last == 0 {
		return failure("look for old changes", err)
	}
	if _, err := db.pool.Exec(ctx, raiseFloor, last); err != nil {
		return failure("prune changes", err)
	}
	return failure("prune changes", db.repeat(ctx, deleteChanges, last, pruneAtOnce))
}

func (db *DB) pruneAttempts(ctx context.Context, now time.Time) error {
	_, err := db.pool.Exec(ctx, deleteAttempts, mapdata.TimelineLength, attemptsSlack, now.Add(-keepAttempts).UnixMilli(),
		mapdata.RecentPolls, now.Add(-mapdata.TimelineSpan).UnixMilli())
	return failure("prune attempts", err)
}

func (db *DB) pruneSignIns(ctx context.Context, now time.Time) error {
	if _, err := db.pool.Exec(ctx, deleteSignIns, now.Add(-keepSignIns).UnixMilli(), now.UnixMilli()); err != nil {
		return failure("prune sign-ins", err)
	}
	_, err := db.pool.Exec(ctx, deleteSessions, now.Add(-mapdata.SessionIdle).UnixMilli(), now.Add(-mapdata.SessionTotal).UnixMilli())
	return failure("prune sessions", err)
}

// severVotes takes the accounts off old votes: counts and history stay as they are (D9.7).
func (db *DB) severVotes(ctx context.Context, now time.Time) error {
	return failure("sever votes from their accounts", db.repeat(ctx, severOldVotes, now.Add(-severAfter).UnixMilli(), pruneAtOnce))
}

// pruneDeletedFeeds removes the entities of feeds that are gone, and the votes on them, a few at a time.
func (db *DB) pruneDeletedFeeds(ctx context.Context, _ time.Time) error {
	all, err := list(ctx, db.pool, selectDeletedFeeds, func(r row) (id feedID, err error) {
		err = r.Scan(&id)
		return id, err
	})
	if err != nil {
		return failure("look for deleted feeds", err)
	}
	for _, id := range all {
		if err := db.pruneDeletedFeed(ctx, id.FeedID); err != nil {
			return failure("remove entities of a deleted feed", err)
		}
	}
	return nil
}

func (db *DB) pruneDeletedFeed(ctx context.Context, id mapdata.FeedID) error {
	source := string(id.Source())
	for _, table := range []struct {
		statement string
		of        any
	}{{deleteSomeEntities, id[:]}, {deleteSomeVotes, source}, {deleteSomeVoted, source}} {
		if err := db.repeat(ctx, table.statement, table.of, pruneAtOnce); err != nil {
			return err
		}
	}
	_, err := db.pool.Exec(ctx, forgetDeletedFeed, id[:], source)
	return err
}

package sqlite

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

// pruneAtOnce bounds how long others wait for the write lock meanwhile: rows that one transaction removes.
const pruneAtOnce = 2_000

// attemptsSlack is how many attempts more than its timeline shows a feed may have before they are looked at.
const attemptsSlack = 20

const (
	// The newest revision that goes: by age, or because those after it name enough already.
	selectOldChange = `SELECT MAX(COALESCE((SELECT MAX(revision) FROM changes WHERE at < ?1), 0), COALESCE((
		SELECT MAX(revision) FROM (SELECT revision, SUM(entities) OVER (ORDER BY revision DESC) AS named FROM changes)
		WHERE named > ?2), 0))`

	deleteChanges = `DELETE FROM changes WHERE revision IN (SELECT revision FROM changes WHERE revision <= ? ORDER BY revision LIMIT ?)
		RETURNING revision`
	raiseFloor = `UPDATE state SET floor = MAX(floor, ?) WHERE id = 1`

	// Beyond the timeline's length, or its span; the newest of all, which health counts, stay whatever their age. Only feeds
	// that have some tens too many are looked at row by row.
	selectOldAttempts = `SELECT feed_id, at, revision
		FROM (SELECT feed_id, at, revision, ROW_NUMBER() OVER (PARTITION BY feed_id ORDER BY at DESC, revision DESC) AS place FROM attempts
			WHERE feed_id IN (SELECT feed_id FROM attempts GROUP BY feed_id HAVING COUNT(*) > ?1 + ?2 OR COUNT(*) > ?4 AND MIN(at) < ?5))
		WHERE place > ?1 AND at < ?3 OR place > ?4 AND at < ?5`
	deleteAttempt = `DELETE FROM attempts WHERE feed_id = ? AND at = ? AND revision = ?`

	deleteSignIns  = `DELETE FROM sign_ins WHERE created_at < ? AND expires_at <= ?`
	deleteSessions = `DELETE FROM sessions WHERE seen_at <= ? OR created_at <= ?`

	severOldVotes = `UPDATE votes SET account = NULL
		WHERE id IN (SELECT id FROM votes WHERE account IS NOT NULL AND at <= ? ORDER BY at LIMIT ?)`

	selectDeletedFeed  = `SELECT id FROM deleted_feeds LIMIT 1`
	deleteSomeEntities = `DELETE FROM entities WHERE feed_id = ?1 AND external_id IN
		(SELECT external_id FROM entities WHERE feed_id = ?1 ORDER BY external_id LIMIT ?2)`
	deleteSomeVotes   = `DELETE FROM votes WHERE id IN (SELECT id FROM votes WHERE source = ? LIMIT ?)`
	deleteSomeVoted   = `DELETE FROM voted WHERE rowid IN (SELECT rowid FROM voted WHERE source = ? LIMIT ?)`
	forgetDeletedFeed = `DELETE FROM deleted_feeds WHERE id = ?`
)

// Prune removes what nobody needs any more at now: changes that followers have had the time to see, attempts beyond
// those that health counts, sign-ins, pairings and sessions that ended, entities and votes of feeds that are gone. Votes lose their
// accounts in time (D9.7). It works in small transactions; run it every minute or so.
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
	err := db.reader.QueryRowContext(ctx, selectOldChange, now.Add(-keepChanges).UnixMilli(), keepChangeIDs).Scan(&last)
	if err != nil {
		return failure("look for old changes", err)
	}
	for more := last > 0; more; {
		err := db.write(ctx, "prune changes", func(w *writing) error {
			floor, count, err := w.deleteChanges(ctx, last)
			more = count > 0
			if err != nil || !more {
				return err
			}
			_, err = w.ExecContext(ctx, raiseFloor, floor)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// changesAtOnce is less than pruneAtOnce: a row of the log may be a megabyte.
const changesAtOnce = 100

// deleteChanges removes some of the log's rows up to the last, and tells the highest revision among them.
func (w *writing) deleteChanges(ctx context.Context, last int64) (floor int64, count int, err error) {
	rows, err := w.QueryContext(ctx, deleteChanges, last, changesAtOnce)
	if err != nil {
		return 0, 0, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	for rows.Next() {
		var revision int64
		if err := rows.Scan(&revision); err != nil {
			return 0, 0, err
		}
		floor, count = max(floor, revision), count+1
	}
	return floor, count, rows.Err()
}

type attemptKey struct {
	feed         feedID
	at, revision int64
}

// pruneAttempts looks for what is old beside the writers: that takes far longer than to remove it.
func (db *DB) pruneAttempts(ctx context.Context, now time.Time) error {
	old, err := list(ctx, db, selectOldAttempts, func(r row) (k attemptKey, err error) {
		err = r.Scan(&k.feed, &k.at, &k.revision)
		return k, err
	}, mapdata.TimelineLength, attemptsSlack, now.Add(-keepAttempts).UnixMilli(),
		mapdata.RecentPolls, now.Add(-mapdata.TimelineSpan).UnixMilli())
	if err != nil {
		return failure("look for old attempts", err)
	}
	for len(old) > 0 {
		some := old[:min(len(old), pruneAtOnce)]
		old = old[len(some):]
		err := db.write(ctx, "prune attempts", func(w *writing) error {
			for _, k := range some {
				if _, err := w.ExecContext(ctx, deleteAttempt, k.feed.FeedID[:], k.at, k.revision); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (db *DB) pruneSignIns(ctx context.Context, now time.Time) error {
	return db.write(ctx, "prune sign-ins and sessions", func(w *writing) error {
		if _, err := w.ExecContext(ctx, deleteSignIns, now.Add(-keepSignIns).UnixMilli(), now.UnixMilli()); err != nil {
			return err
		}
		_, err := w.ExecContext(ctx, deleteSessions, now.Add(-mapdata.SessionIdle).UnixMilli(), now.Add(-mapdata.SessionTotal).UnixMilli())
		return err
	})
}

// severVotes takes the accounts off old votes: counts and history stay as they are (D9.7).
func (db *DB) severVotes(ctx context.Context, now time.Time) error {
	for {
		var severed int64
		err := db.write(ctx, "sever votes from their accounts", func(w *writing) error {
			result, err := w.ExecContext(ctx, severOldVotes, now.Add(-severAfter).UnixMilli(), pruneAtOnce)
			if err == nil {
				severed, err = result.RowsAffected()
			}
			return err
		})
		if err != nil || severed < pruneAtOnce {
			return err
		}
	}
}

// pruneDeletedFeeds removes the entities of feeds that are gone, and the votes on them, a few at a time.
func (db *DB) pruneDeletedFeeds(ctx context.Context, _ time.Time) error {
	for {
		gone, err := list(ctx, db, selectDeletedFeed, func(r row) (id feedID, err error) {
			err = r.Scan(&id)
			return id, err
		})
		if err != nil || len(gone) == 0 {
			return failure("look for deleted feeds", err)
		}
		err = db.write(ctx, "remove entities of a deleted feed", func(w *writing) error {
			id := gone[0].FeedID
			for _, table := range []struct {
				statement string
				of        any
			}{{deleteSomeEntities, id[:]}, {deleteSomeVotes, string(id.Source())}, {deleteSomeVoted, string(id.Source())}} {
				result, err := w.ExecContext(ctx, table.statement, table.of, pruneAtOnce)
				if err != nil {
					return err
				}
				if removed, err := result.RowsAffected(); err != nil || removed == pruneAtOnce {
					return err
				}
			}
			_, err := w.ExecContext(ctx, forgetDeletedFeed, id[:])
			return err
		})
		if err != nil {
			return err
		}
	}
}

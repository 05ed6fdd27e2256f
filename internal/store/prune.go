package store

import (
	"context"
	"slices"
	"time"

	"wayside/internal/ground/mapdata"
)

// Retention.
const (
	changesMaxAge  = time.Hour
	ChangesMaxIDs  = 2_000_000 // entities named in the log of changes, at most about
	attemptsMinAge = time.Hour // all younger ones are kept, because health counts them; of a feed's older ones those that its timeline shows
	signInsMinAge  = time.Hour // used or expired ones count towards the limit for that long

	SeverAfter = 30 * 24 * time.Hour // after which a vote is severed from its account (D9.7)
)

// Rows that one transaction of Prune removes: the limits bound how long other writers wait.
const (
	PruneBatch   = 2_000
	changesBatch = 100 // a row of the log may be a megabyte
)

// attemptsSlack is the number of attempts beyond its timeline that a feed may have before its attempts are read.
const attemptsSlack = 20

const (
	// The newest revision to remove: by age, or because those after it name enough entities already.
	selectOldChange = `SELECT COALESCE(MAX(revision), 0)
		FROM (SELECT revision, at, SUM(entities) OVER (ORDER BY revision DESC) AS named FROM changes) AS summed
		WHERE at < $1 OR named > $2`

	// The floor rises before the rows are removed, in an earlier transaction, so that no follower reads a log with a
	// gap.
	raiseFloor = `UPDATE state SET floor = $1 WHERE id = 1 AND floor < $1`

	// Beyond the timeline's length, or its span; the newest of all, which health counts, stay whatever their age. Only
	// feeds with some tens too many are read row by row.
	selectOldAttempts = `SELECT feed_id, at, revision
		FROM (SELECT feed_id, at, revision, ROW_NUMBER() OVER (PARTITION BY feed_id ORDER BY at DESC, revision DESC) AS place FROM attempts
			WHERE feed_id IN (SELECT feed_id FROM attempts GROUP BY feed_id
				HAVING COUNT(*) > CAST($1 AS bigint) + CAST($2 AS bigint) OR COUNT(*) > $4 AND MIN(at) < $5)) AS numbered
		WHERE place > $1 AND at < $3 OR place > $4 AND at < $5`
	deleteAttempt = `DELETE FROM attempts WHERE feed_id = $1 AND at = $2 AND revision = $3`

	deleteRejections  = `DELETE FROM rejections WHERE at <= $1`
	deleteSignIns     = `DELETE FROM sign_ins WHERE created_at < $1 AND expires_at <= $2`
	pruneEmailChanges = `DELETE FROM email_changes WHERE created_at <= $1`
	deleteSessions    = `DELETE FROM sessions WHERE seen_at <= $1 OR created_at <= $2`
	deleteComplaints  = `DELETE FROM complaints WHERE at <= $1`
	deletePairings    = `DELETE FROM pairings WHERE expires_at <= $1`
	deleteAnswers     = `DELETE FROM passkey_answers WHERE expires_at <= $1`

	selectDeletedFeeds = `SELECT id FROM deleted_feeds`
	// Rows that another node has locked now are deleted in the next round.
	forgetDeletedFeed = `DELETE FROM deleted_feeds WHERE id = $1
		AND NOT EXISTS (SELECT 1 FROM entities WHERE feed_id = $1)
		AND NOT EXISTS (SELECT 1 FROM votes WHERE source = $2) AND NOT EXISTS (SELECT 1 FROM voted WHERE source = $2)`
)

// Statements that end with their limit. Every node prunes; none waits for another, or for a writer.
var (
	deleteChanges = bounded{
		`DELETE FROM changes WHERE revision`,
		`SELECT revision FROM changes WHERE revision <= $1 ORDER BY revision LIMIT $2`,
	}
	severOldVotes = bounded{
		`UPDATE votes SET account = NULL WHERE id`,
		`SELECT id FROM votes WHERE account IS NOT NULL AND at <= $1 ORDER BY at LIMIT $2`,
	}
	severOldReports = bounded{
		`UPDATE voted SET author = NULL WHERE source = 'drivers' AND external_id`,
		`SELECT external_id FROM voted WHERE source = 'drivers' AND author IS NOT NULL AND first_seen_at <= $1 ORDER BY first_seen_at LIMIT $2`,
	}
	deleteLiveValues = bounded{`DELETE FROM live WHERE key`, `SELECT key FROM live WHERE until <= $1 LIMIT $2`}
	deleteAudit      = bounded{`DELETE FROM audit WHERE id`, `SELECT id FROM audit WHERE at <= $1 AND reviewed = '' LIMIT $2`}
	deleteEntitiesOf = bounded{
		`DELETE FROM entities WHERE feed_id = $1 AND external_id`,
		`SELECT external_id FROM entities WHERE feed_id = $1 ORDER BY external_id LIMIT $2`,
	}
	deleteVotesOf   = bounded{`DELETE FROM votes WHERE id`, `SELECT id FROM votes WHERE source = $1 LIMIT $2`}
	deleteTalliesOf = bounded{
		`DELETE FROM voted WHERE source = $1 AND external_id`, `SELECT external_id FROM voted WHERE source = $1 LIMIT $2`,
	}
)

// Prune removes data that are no longer needed at now: changes that followers have had the time to read, attempts
// beyond those that health counts, ended sign-ins, pairings and sessions, and entities and votes of deleted feeds. It
// also severs old votes from their accounts (D9.7). It works in small transactions; every node should run it every
// minute or so.
func (db *Scripts) Prune(ctx context.Context, now time.Time) error {
	steps := []func(context.Context, time.Time) error{db.pruneChanges, db.pruneAttempts, db.pruneExpired, db.PruneBatches, db.pruneDeletedFeeds}
	for _, step := range steps {
		if err := step(ctx, now); err != nil {
			return err
		}
	}
	return nil
}

func (db *Scripts) pruneChanges(ctx context.Context, now time.Time) error {
	var last int64
	err := db.backend.QueryRow(ctx, selectOldChange, now.Add(-changesMaxAge).UnixMilli(), ChangesMaxIDs).Scan(&last)
	if err != nil || last == 0 {
		return db.backend.Failure("look for old changes", err)
	}
	if err := db.exec(ctx, "prune changes", raiseFloor, last); err != nil {
		return err
	}
	return db.repeat(ctx, "prune changes", deleteChanges, last, changesBatch)
}

type attemptKey struct {
	feed         FeedID
	at, revision int64
}

// pruneAttempts finds old attempts outside of the write transaction, because that takes far longer than removing them.
func (db *Scripts) pruneAttempts(ctx context.Context, now time.Time) error {
	old, err := List(ctx, db.backend, selectOldAttempts, func(r Row) (k attemptKey, err error) {
		err = r.Scan(&k.feed, &k.at, &k.revision)
		return k, err
	}, mapdata.TimelineLength, attemptsSlack, now.Add(-attemptsMinAge).UnixMilli(),
		mapdata.RecentPolls, now.Add(-mapdata.TimelineSpan).UnixMilli())
	if err != nil {
		return db.backend.Failure("look for old attempts", err)
	}
	for batch := range slices.Chunk(old, PruneBatch) {
		err := db.backend.Write(ctx, "prune attempts", func(tx *Tx) error {
			for _, k := range batch {
				tx.AtCommit(deleteAttempt, k.feed.FeedID[:], k.at, k.revision)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// pruneExpired removes data that are valid for minutes or days, never many rows a minute.
func (db *Scripts) pruneExpired(ctx context.Context, now time.Time) error {
	for _, expired := range []struct {
		operation, query string
		args             []any
	}{
		{"prune rejections", deleteRejections, []any{now.Add(-mapdata.TimelineSpan).UnixMilli()}},
		{"prune sign-ins", deleteSignIns, []any{now.Add(-signInsMinAge).UnixMilli(), now.UnixMilli()}},
		{"prune changes of addresses", pruneEmailChanges, []any{now.Add(-mapdata.EmailChangeTTL).UnixMilli()}},
		{"prune sessions", deleteSessions, []any{now.Add(-mapdata.SessionIdle).UnixMilli(), now.Add(-mapdata.SessionTotal).UnixMilli()}},
		{"prune complaints", deleteComplaints, []any{now.Add(-mapdata.ComplaintKept).UnixMilli()}},
		{"prune invitations", deleteInvitations, []any{now.UnixMilli(), now.Add(-mapdata.InvitationWindow).UnixMilli()}},
		{"prune pairings", deletePairings, []any{now.UnixMilli()}},
		{"prune looks at reviews", deleteReviewLooks, []any{now.Add(-mapdata.ReviewLookKept).UnixMilli()}},
		{"prune places of reports", pruneReporters, []any{now.Add(-mapdata.ReportPlaceKept).UnixMilli()}},
		{"prune answers of passkeys", deleteAnswers, []any{now.UnixMilli()}},
	} {
		if err := db.exec(ctx, expired.operation, expired.query, expired.args...); err != nil {
			return err
		}
	}
	return nil
}

// PruneBatches prunes tables that may have many rows to remove. It severs votes from their accounts; counts and history
// stay (D9.7).
func (db *Scripts) PruneBatches(ctx context.Context, now time.Time) error {
	if err := db.repeat(ctx, "sever votes from their accounts", severOldVotes, now.Add(-SeverAfter).UnixMilli(), PruneBatch); err != nil {
		return err
	}
	if err := db.repeat(ctx, "sever reports from their accounts", severOldReports, now.Add(-SeverAfter).UnixMilli(), PruneBatch); err != nil {
		return err
	}
	if err := db.repeat(ctx, "prune live cache", deleteLiveValues, now.UnixMilli(), PruneBatch); err != nil {
		return err
	}
	return db.repeat(ctx, "prune audit log", deleteAudit, now.Add(-mapdata.AuditKept).UnixMilli(), PruneBatch)
}

// pruneDeletedFeeds removes the entities of deleted feeds, and the votes on them.
func (db *Scripts) pruneDeletedFeeds(ctx context.Context, _ time.Time) error {
	all, err := List(ctx, db.backend, selectDeletedFeeds, scanFeedID)
	if err != nil {
		return db.backend.Failure("look for deleted feeds", err)
	}
	for _, id := range all {
		source := string(id.SourceID())
		for _, table := range []struct {
			delete bounded
			of     any
		}{{deleteEntitiesOf, id[:]}, {deleteVotesOf, source}, {deleteTalliesOf, source}} {
			if err := db.repeat(ctx, "remove entities of a deleted feed", table.delete, table.of, PruneBatch); err != nil {
				return err
			}
		}
		if err := db.exec(ctx, "remove a deleted feed", forgetDeletedFeed, id[:], source); err != nil {
			return err
		}
	}
	return nil
}

// exec runs one statement in a separate transaction.
func (db *Scripts) exec(ctx context.Context, operation, query string, args ...any) error {
	return db.backend.Write(ctx, operation, func(tx *Tx) error {
		_, err := tx.Exec(ctx, query, args...)
		return err
	})
}

// repeat runs a statement over at most limit rows, in a transaction each time, until it affects fewer.
func (db *Scripts) repeat(ctx context.Context, operation string, statement bounded, of any, limit int64) error {
	for affected := limit; affected >= limit; {
		err := db.backend.Write(ctx, operation, func(tx *Tx) (err error) {
			affected, err = tx.Exec(ctx, db.dialect.bounded(statement), of, limit)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

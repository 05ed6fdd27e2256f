package postgres

import (
	"context"
	"time"

	"wayside/internal/mapdata"
)

// Queries that read many feeds at a time, for the replica.
const (
	recordedColumns = `feed_id, revision, ` + attemptColumns

	selectRecorded = `SELECT ` + recordedColumns + ` FROM attempts WHERE revision > $1 AND revision <= $2 ORDER BY revision`
	selectRecent   = `SELECT ` + recordedColumns + ` FROM (
			SELECT *, ROW_NUMBER() OVER (PARTITION BY feed_id ORDER BY revision DESC) AS place FROM attempts) AS ranked
		WHERE place <= $1 OR at > $2 ORDER BY revision`

	selectOldTallies = `SELECT ` + tallyColumns + `, v.source FROM feeds AS f
		JOIN voted AS v ON v.source = 'feed:' || f.id
		JOIN entities AS e ON e.feed_id = f.id AND e.external_id = v.external_id
		WHERE v.changed_at < $1`
)

func scanRecorded(r row) (a mapdata.FeedAttempt, err error) {
	var id feedID
	a.Attempt, err = scanAttempt(prefixed{r, []any{&id, &a.Revision}})
	a.Feed = id.FeedID
	return a, err
}

// prefixed is a row with columns before those that its reader knows.
type prefixed struct {
	row
	first []any
}

// Scan reads the first columns beside those of dest.
func (p prefixed) Scan(dest ...any) error { return p.row.Scan(append(p.first, dest...)...) }

// RecordedAttempts reads the attempts that were recorded by the revisions after the one given, up to and including upTo,
// in the order of revisions.
func (db *DB) RecordedAttempts(ctx context.Context, after, upTo int64) ([]mapdata.FeedAttempt, error) {
	all, err := list(ctx, db.pool, selectRecorded, scanRecorded, after, upTo)
	return all, failure("read recorded attempts", err)
}

// RecentAttempts yields each feed's newest mapdata.RecentPolls attempts and those later than since, in the order of
// revisions. What is yielded is valid only during the call.
func (db *DB) RecentAttempts(ctx context.Context, since time.Time, yield func(*mapdata.FeedAttempt)) error {
	rows, err := db.pool.Query(ctx, selectRecent, mapdata.RecentPolls, since.UnixMilli())
	if err != nil {
		return failure("load attempts", err)
	}
	defer rows.Close()
	for rows.Next() {
		a, err := scanRecorded(rows)
		if err != nil {
			return failure("load attempts", err)
		}
		yield(&a)
	}
	return failure("load attempts", rows.Err())
}

// OldTallies yields the tallies of entities of feeds that are stored, if the newest vote was cast or taken back before the
// given time. It costs what is stored, not what was ever voted on. What is yielded is valid only during the call.
func (db *DB) OldTallies(ctx context.Context, before time.Time, yield func(*mapdata.Tally)) error {
	return failure("load old votes", db.eachTally(ctx, selectOldTallies, before, yield))
}

// eachTally yields the tallies of a query whose parameter is a time.
func (db *DB) eachTally(ctx context.Context, query string, at time.Time, yield func(*mapdata.Tally)) error {
	rows, err := db.pool.Query(ctx, query, at.UnixMilli())
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var (
			s      scannedTally
			source string
		)
		if err := rows.Scan(append(s.columns(), &source)...); err != nil {
			return err
		}
		t := s.tally(mapdata.SourceID(source))
		yield(&t)
	}
	return rows.Err()
}

package sqlite

import (
	"context"
	"database/sql/driver"
	"time"

	"wayside/internal/mapdata"
)

// Queries that read many feeds at a time, for the replica.
const (
	recordedColumns = `feed_id, revision, ` + attemptColumns

	selectRecorded = `SELECT ` + recordedColumns + ` FROM attempts WHERE revision > ? AND revision <= ? ORDER BY revision`
	selectRecent   = `SELECT ` + recordedColumns + ` FROM (
			SELECT *, ROW_NUMBER() OVER (PARTITION BY feed_id ORDER BY revision DESC) AS place FROM attempts)
		WHERE place <= ?1 OR at > ?2 ORDER BY revision`

	selectOldVoted = `SELECT EXISTS (SELECT 1 FROM voted WHERE source = ? AND changed_at < ?)`
	// CROSS keeps the order: a feed may have had votes on far more entities than it holds.
	selectOldTallies = `SELECT ` + tallyColumns + `, v.external_id FROM entities AS e
		CROSS JOIN voted AS v ON v.source = ?2 AND v.external_id = e.external_id
		WHERE e.feed_id = ?1 AND v.changed_at < ?3`
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
	all, err := list(ctx, db, selectRecorded, scanRecorded, after, upTo)
	return all, failure("read recorded attempts", err)
}

// RecentAttempts yields each feed's newest mapdata.RecentPolls attempts and those later than since, in the order of
// revisions. What is yielded is valid only during the call.
func (db *DB) RecentAttempts(ctx context.Context, since time.Time, yield func(*mapdata.FeedAttempt)) error {
	rows, err := db.reader.QueryContext(ctx, selectRecent, mapdata.RecentPolls, since.UnixMilli())
	if err != nil {
		return failure("load attempts", err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
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
	return db.read(ctx, "load old votes", func(r *reading) error {
		feeds, err := scanFeeds(r.QueryContext(ctx, selectAllFeeds))
		if err != nil {
			return err
		}
		for i := range feeds {
			id, source := feeds[i].ID, feeds[i].ID.Source()
			var voted bool
			if err := r.QueryRowContext(ctx, selectOldVoted, string(source), before.UnixMilli()).Scan(&voted); err != nil {
				return err
			}
			if !voted {
				continue
			}
			args := []driver.Value{id[:], string(source), before.UnixMilli()}
			err := scan(ctx, r.conn, selectOldTallies, args, func(row []driver.Value) error {
				t := tallyOf(source, text(row[6]), row)
				yield(&t)
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

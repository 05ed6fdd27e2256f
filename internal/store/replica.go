package store

import (
	"context"
	"time"

	"wayside/internal/ground/mapdata"
)

// Queries that read many feeds at a time, for the replica.
const (
	recordedColumns = `feed_id, revision, ` + attemptColumns

	selectRecorded = `SELECT ` + recordedColumns + ` FROM attempts WHERE revision > $1 AND revision <= $2 ORDER BY revision`
	selectRecent   = `SELECT ` + recordedColumns + ` FROM (
			SELECT *, ROW_NUMBER() OVER (PARTITION BY feed_id ORDER BY revision DESC) AS place FROM attempts) AS ranked
		WHERE place <= $1 OR at > $2 ORDER BY revision`

	selectLiveTallies = selectAllTallies + ` WHERE v.source = 'incidents' AND v.kind = $1 AND v.changed_at >= $2`
)

func scanRecorded(r Row) (a mapdata.FeedAttempt, err error) {
	var id FeedID
	a.Attempt, err = scanAttempt(prefixed{r, []any{&id, &a.Revision}})
	a.Feed = id.FeedID
	return a, err
}

// prefixed is a row with columns before those that its scanner knows.
type prefixed struct {
	Row
	first []any
}

// Scan scans the first columns, then those of dest.
func (p prefixed) Scan(dest ...any) error { return p.Row.Scan(append(p.first, dest...)...) }

// RecordedAttempts returns the attempts that were recorded by the revisions after the given one, up to and including
// upTo, in the order of revisions.
func (db *Scripts) RecordedAttempts(ctx context.Context, after, upTo int64) ([]mapdata.FeedAttempt, error) {
	all, err := List(ctx, db.backend, selectRecorded, scanRecorded, after, upTo)
	return all, db.backend.Failure("read recorded attempts", err)
}

// RecentAttempts yields each feed's newest mapdata.RecentPolls attempts and those later than since, in the order of
// revisions. The yielded values are valid only during the call.
func (db *Scripts) RecentAttempts(ctx context.Context, since time.Time, yield func(*mapdata.FeedAttempt)) error {
	err := each(ctx, db.backend, selectRecent, scanRecorded, yield, mapdata.RecentPolls, since.UnixMilli())
	return db.backend.Failure("load attempts", err)
}

// OldTallies yields the tallies of stored entities of feeds whose newest vote was cast or withdrawn before the given
// time. Its cost is proportional to the stored entities, not to all votes ever cast. The yielded values are valid only
// during the call.
func (db *Scripts) OldTallies(ctx context.Context, before time.Time, yield func(*mapdata.Tally)) error {
	err := each(ctx, db.backend, db.dialect.OldTallies, ScanTallies(), yield, before.UnixMilli())
	return db.backend.Failure("load old votes", err)
}

// LiveTallies yields the tallies of live incidents of the kind that changed since the given time. The yielded values
// are valid only during the call.
func (db *Scripts) LiveTallies(ctx context.Context, kind mapdata.Kind, since time.Time, yield func(*mapdata.Tally)) error {
	err := each(ctx, db.backend, selectLiveTallies, ScanTallies(), yield, kind.ID(), since.UnixMilli())
	return db.backend.Failure("load votes on live incidents", err)
}

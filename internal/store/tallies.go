package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"wayside/internal/mapdata"
)

// TallyColumns are what ScanTally takes, in its order.
const TallyColumns = `v.confirms, v.disputes, v.last_dispute_at, v.kept_until, v.changed_at, v.life_at, v.external_id, v.source`

const (
	selectTally        = `SELECT ` + TallyColumns + ` FROM voted AS v WHERE v.source = $1 AND v.external_id = $2`
	selectAllTallies   = `SELECT ` + TallyColumns + ` FROM voted AS v`
	selectTalliesSince = selectAllTallies + ` WHERE v.changed_at >= $1`

	// Those of a feed's entities that their tallies say are kept, with what each would be without: few, however much the
	// feed holds.
	selectKept = `SELECT ` + TallyColumns + `, e.kind, e.first_seen_at, COALESCE(e.seen_at, f.snapshot_at) + e.lifetime_ms
		FROM voted AS v JOIN feeds AS f ON f.id = $1 JOIN entities AS e ON e.feed_id = $1 AND e.external_id = v.external_id
		WHERE v.source = $2 AND v.kept_until > $3 AND e.lifetime_ms > 0`
)

// ScanTally takes a row of TallyColumns and more columns behind them.
func ScanTally(r Row, more ...any) (t mapdata.Tally, err error) {
	var (
		dispute, kept, changed instant
		life                   int64
		columns                = []any{&t.Confirms, &t.Disputes, &dispute, &kept, &changed, &life, &t.ExternalID, &t.Source}
	)
	if err := r.Scan(append(columns, more...)...); err != nil {
		return t, err
	}
	t.LastDisputeAt, t.KeptUntil, t.ChangedAt = dispute.Time, kept.Time, changed.Time
	if t.Source != mapdata.Incidents {
		t.LifeAt = time.UnixMilli(life).UTC()
	}
	return t, nil
}

func scanTally(r Row) (mapdata.Tally, error) { return ScanTally(r) }

// lifeMillis is how Tally.LifeAt is stored.
func lifeMillis(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.UnixMilli()
}

// tallyOf reads the tally on an entity that is stored, whichever life it is of; one of no votes where there is none.
func tallyOf(ctx context.Context, q Querier, source mapdata.SourceID, externalID string) (mapdata.Tally, error) {
	t, err := ScanTally(q.QueryRow(ctx, selectTally, string(source), externalID))
	if errors.Is(err, sql.ErrNoRows) {
		return mapdata.Tally{Source: source, ExternalID: externalID}, nil
	}
	return t, err
}

// AllTallies yields what the votes on each entity add up to that were cast or taken back since then; zero: all, also of
// lives that are over. What is yielded is valid only during the call.
func (db *Scripts) AllTallies(ctx context.Context, since time.Time, yield func(*mapdata.Tally)) error {
	query, args := selectAllTallies, []any(nil)
	if !since.IsZero() {
		query, args = selectTalliesSince, []any{since.UnixMilli()}
	}
	return db.backend.Failure("load votes", each(ctx, db.backend, query, scanTally, yield, args...))
}

// KeptEntity is an entity that drivers' confirms keep.
type KeptEntity struct {
	Until time.Time
	Ends  int64 // when it would expire otherwise; milliseconds
}

// KeptEntities finds those of a feed's entities that confirms keep beyond now (D9.6), by external id.
func (db *Scripts) KeptEntities(ctx context.Context, q Querier, feed mapdata.FeedID, now time.Time) (map[string]KeptEntity, error) {
	rows, err := q.Query(ctx, selectKept, feed[:], string(feed.Source()), now.UnixMilli())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := make(map[string]KeptEntity)
	for rows.Next() {
		var (
			name      string
			firstSeen instant
			ends      int64
		)
		t, err := ScanTally(rows, &name, &firstSeen, &ends)
		if err != nil {
			return nil, err
		}
		kind, err := db.Kind(name)
		if err != nil {
			return nil, err
		}
		if t.Counts(kind, firstSeen.Time, now) {
			all[t.ExternalID] = KeptEntity{Until: t.KeptUntil, Ends: ends}
		}
	}
	return all, rows.Err()
}

// Kind finds a kind that is stored by its id.
func (db *Scripts) Kind(id string) (mapdata.Kind, error) {
	k, ok := db.kinds[id]
	if !ok {
		return 0, fmt.Errorf("stored kind %q is not in the catalogue: the database was written by another version", id)
	}
	return k, nil
}

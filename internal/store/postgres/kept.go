package postgres

import (
	"context"
	"time"

	"wayside/internal/mapdata"
)

// tallyColumns are what scannedTally takes, in its order.
const tallyColumns = `v.confirms, v.disputes, v.last_dispute_at, v.kept_until, v.changed_at, v.life_at, v.external_id`

const (
	selectTallied = `SELECT ` + tallyColumns + ` FROM voted AS v WHERE v.source = $1 AND v.external_id = ANY($2)`

	// Those of a feed's entities that their tallies say are kept, with what each would be without: few, however much the
	// feed holds.
	selectKept = `SELECT ` + tallyColumns + `, e.kind, e.first_seen_at, COALESCE(e.seen_at, f.snapshot_at) + e.lifetime_ms
		FROM voted AS v JOIN feeds AS f ON f.id = $1 JOIN entities AS e ON e.feed_id = $1 AND e.external_id = v.external_id
		WHERE v.source = $2 AND v.kept_until > $3 AND e.lifetime_ms > 0`
)

// scannedTally is where tallyColumns go.
type scannedTally struct {
	mapdata.Tally
	dispute, kept, changed instant
	life                   int64
}

func (s *scannedTally) columns() []any {
	return []any{&s.Confirms, &s.Disputes, &s.dispute, &s.kept, &s.changed, &s.life, &s.ExternalID}
}

// tally is what was scanned, of an entity of the source.
func (s *scannedTally) tally(source mapdata.SourceID) mapdata.Tally {
	s.Source, s.LastDisputeAt, s.KeptUntil, s.ChangedAt = source, s.dispute.Time, s.kept.Time, s.changed.Time
	if source != mapdata.Incidents {
		s.LifeAt = instantOf(s.life)
	}
	return s.Tally
}

// tallied reads the tallies on the named entities of a feed, or of live incidents where the feed is zero.
func tallied(ctx context.Context, q querier, feed mapdata.FeedID, externalIDs []string) ([]mapdata.Tally, error) {
	source := mapdata.Incidents
	if !feed.IsZero() {
		source = feed.Source()
	}
	return list(ctx, q, selectTallied, func(r row) (mapdata.Tally, error) {
		var s scannedTally
		err := r.Scan(s.columns()...)
		return s.tally(source), err
	}, string(source), externalIDs)
}

// kept is an entity that drivers' confirms keep.
type kept struct {
	until time.Time
	ends  int64 // when it would expire otherwise; milliseconds
}

// keptEntities finds those of a feed's entities that confirms keep beyond now (D9.6), by external id.
func keptEntities(ctx context.Context, db *DB, q querier, feed mapdata.FeedID, now time.Time) (map[string]kept, error) {
	source := feed.Source()
	rows, err := q.Query(ctx, selectKept, feed[:], string(source), now.UnixMilli())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := make(map[string]kept)
	for rows.Next() {
		var (
			s         scannedTally
			name      string
			firstSeen instant
			k         kept
		)
		if err := rows.Scan(append(s.columns(), &name, &firstSeen, &k.ends)...); err != nil {
			return nil, err
		}
		kind, err := db.kind([]byte(name))
		if err != nil {
			return nil, err
		}
		if t := s.tally(source); t.Counts(kind, firstSeen.Time, now) {
			k.until = t.KeptUntil
			all[t.ExternalID] = k
		}
	}
	return all, rows.Err()
}

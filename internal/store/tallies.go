package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"wayside/internal/ground/mapdata"
)

// TallyColumns are the columns that ScanTallies scans, in its order.
const TallyColumns = `v.confirms, v.disputes, v.last_dispute_at, v.kept_until, v.changed_at, v.life_at, v.external_id, v.source, v.kind,
	v.hidden_until, v.hidden_reason, v.untrusted_confirms, v.untrusted_disputes, v.author, v.author_trusted, v.needs_two`

const (
	selectTally        = `SELECT ` + TallyColumns + ` FROM voted AS v WHERE v.source = $1 AND v.external_id = $2`
	selectAllTallies   = `SELECT ` + TallyColumns + ` FROM voted AS v`
	selectTalliesSince = selectAllTallies + ` WHERE v.changed_at >= $1 OR v.hidden_until > $2`

	// A feed's entities that confirms keep according to their tallies, with their expiry without the confirms: few,
	// however large the feed.
	selectKept = `SELECT ` + TallyColumns + `, e.kind, e.first_seen_at, COALESCE(e.seen_at, f.snapshot_at) + e.lifetime_ms, e.ends_at
		FROM voted AS v JOIN feeds AS f ON f.id = $1 JOIN entities AS e ON e.feed_id = $1 AND e.external_id = v.external_id
		WHERE v.source = $2 AND v.kept_until > $3 AND e.lifetime_ms > 0
			AND (e.ends_at IS NULL OR e.ends_at > $3)`
)

// ScanTallies returns a scanner of rows of TallyColumns, with more columns after them. It scans all rows into the same
// destinations, because there may be millions of tallies.
func ScanTallies(more ...any) func(Row) (mapdata.Tally, error) {
	var (
		source, externalID, kind string
		reason                   string
		confirms, disputes, life number
		dispute, kept, changed   instant
		hidden                   instant
		newConfirms, newDisputes number
		author                   AccountID
		authorTrusted, needsTwo  bool
	)
	columns := append([]any{
		&confirms, &disputes, &dispute, &kept, &changed, &life, &externalID, &source, &kind, &hidden, &reason, &newConfirms, &newDisputes,
		&author, &authorTrusted, &needsTwo,
	}, more...)
	return func(r Row) (t mapdata.Tally, err error) {
		if err := r.Scan(columns...); err != nil {
			return t, err
		}
		t = mapdata.Tally{
			Source: mapdata.SourceID(source), ExternalID: externalID, Confirms: int(confirms), Disputes: int(disputes),
			UntrustedConfirms: int(newConfirms), UntrustedDisputes: int(newDisputes),
			LastDisputeAt: dispute.Time, KeptUntil: kept.Time, ChangedAt: changed.Time,
			Report: mapdata.Report{Author: author.AccountID, AuthorTrusted: authorTrusted, NeedsTwo: needsTwo},
		}
		if !hidden.IsZero() {
			t.Hidden = &mapdata.Hiding{Until: hidden.Time, Reason: reason}
		}
		if t.Source != mapdata.Incidents {
			t.LifeAt = time.UnixMilli(int64(life)).UTC()
			return t, nil
		}
		var known bool
		if t.Kind, known = mapdata.ParseKind(kind); !known {
			return t, unknownKind(kind)
		}
		return t, nil
	}
}

// lifeMillis returns the stored form of Tally.LifeAt.
func lifeMillis(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.UnixMilli()
}

// tallyOf returns the stored tally on an entity, whichever life it is of, or one without votes if there is none.
func tallyOf(ctx context.Context, q Querier, source mapdata.SourceID, externalID string) (mapdata.Tally, error) {
	t, err := ScanTallies()(q.QueryRow(ctx, selectTally, string(source), externalID))
	if errors.Is(err, sql.ErrNoRows) {
		return mapdata.Tally{Source: source, ExternalID: externalID}, nil
	}
	return t, err
}

// AllTallies yields the tallies of the entities whose votes were cast or withdrawn since then, and of those that a
// curator hides; zero: all, also of earlier lives. The yielded values are valid only during the call.
func (db *Scripts) AllTallies(ctx context.Context, since time.Time, yield func(*mapdata.Tally)) error {
	query, args := selectAllTallies, []any(nil)
	if !since.IsZero() {
		query, args = selectTalliesSince, []any{since.UnixMilli(), db.now().UnixMilli()}
	}
	return db.backend.Failure("load votes", each(ctx, db.backend, query, ScanTallies(), yield, args...))
}

// KeptEntity is an entity that drivers' confirms keep.
type KeptEntity struct {
	Until time.Time // no later than its end (D17.3)
	Ends  int64     // expiry without the confirms; milliseconds
}

// KeptEntities returns the feed's entities that confirms keep beyond now (D9.6), by external id.
func (db *Scripts) KeptEntities(ctx context.Context, q Querier, feed mapdata.FeedID, now time.Time) (map[string]KeptEntity, error) {
	var (
		kindID    string
		firstSeen instant
		ends      number
		end       instant
		unknown   error
	)
	all := make(map[string]KeptEntity)
	err := each(ctx, q, selectKept, ScanTallies(&kindID, &firstSeen, &ends, &end), func(t *mapdata.Tally) {
		kind, err := db.Kind(kindID)
		if err != nil {
			unknown = err
		}
		if err == nil && t.Counts(kind, firstSeen.Time, now) {
			kept := KeptEntity{Until: t.KeptUntil, Ends: int64(ends)}
			if !end.IsZero() && end.Before(kept.Until) {
				kept.Until = end.Time
			}
			all[t.ExternalID] = kept
		}
	}, feed[:], string(feed.SourceID()), now.UnixMilli())
	return all, cmp.Or(err, unknown)
}

// Kind returns a stored kind by its id.
func (db *Scripts) Kind(id string) (mapdata.Kind, error) {
	k, ok := db.kinds[id]
	if !ok {
		return 0, unknownKind(id)
	}
	return k, nil
}

func unknownKind(id string) error {
	return fmt.Errorf("stored kind %q is not in the catalogue: the database was written by another version", id)
}

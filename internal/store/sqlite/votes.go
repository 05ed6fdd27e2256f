package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"wayside/internal/mapdata"
)

// tallyColumns are what tallyOf takes, in its order.
const tallyColumns = `v.confirms, v.disputes, v.last_dispute_at, v.kept_until, v.changed_at, v.life_at`

const (
	selectVoted = `SELECT ` + tallyColumns + `, f.snapshot_at, ` + entityColumns + ` FROM entities AS e JOIN feeds AS f ON f.id = e.feed_id
		LEFT JOIN voted AS v ON v.source = ?3 AND v.external_id = e.external_id
		WHERE e.feed_id = ?1 AND e.external_id = ?2`
	selectTally = `SELECT ` + tallyColumns + ` FROM voted AS v WHERE v.source = ? AND v.external_id = ?`

	// The tallies that one row of the log names, as they are now. CROSS keeps the order: otherwise all of the source are read.
	selectTallied = `SELECT ` + tallyColumns + `, v.external_id
		FROM changes AS c, json_each(c.external_ids) AS ids CROSS JOIN voted AS v ON v.source = ?2 AND v.external_id = ids.value
		WHERE c.revision = ?1`
	selectAllTallies   = `SELECT ` + tallyColumns + `, v.external_id, v.source FROM voted AS v`
	selectTalliesSince = selectAllTallies + ` WHERE v.changed_at >= ?`

	// Those of a feed's entities that their tallies say are kept, with what each would be without: few, however much the
	// feed holds.
	selectKept = `SELECT ` + tallyColumns + `, e.external_id, e.kind, e.first_seen_at, COALESCE(e.seen_at, f.snapshot_at) + e.lifetime_ms
		FROM voted AS v JOIN feeds AS f ON f.id = ?1 JOIN entities AS e ON e.feed_id = f.id AND e.external_id = v.external_id
		WHERE v.source = ?2 AND v.kept_until > ?3 AND e.lifetime_ms > 0`

	selectVote = `SELECT b.vote FROM votes AS b JOIN voted AS v USING (source, external_id, life_at)
		WHERE b.source = ? AND b.external_id = ? AND b.account = ?`
	castVote = `INSERT INTO votes (source, external_id, life_at, account, vote, at) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (source, external_id, life_at, account) DO UPDATE SET vote = excluded.vote, at = excluded.at`
	takeVote          = `DELETE FROM votes WHERE source = ? AND external_id = ? AND life_at = ? AND account = ?`
	selectLastDispute = `SELECT MAX(at) FROM votes WHERE source = ? AND external_id = ? AND life_at = ? AND vote = -1`

	replaceVoted = `REPLACE INTO voted (confirms, disputes, last_dispute_at, kept_until, changed_at, life_at, source, external_id,
		kind, lat, lng, first_seen_at, last_seen_at, properties) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	updateTally = `UPDATE voted SET confirms = ?, disputes = ?, last_dispute_at = ?, kept_until = ?, changed_at = ?, life_at = ?
		WHERE source = ? AND external_id = ?`
)

// lifeMillis is how Tally.LifeAt is stored.
func lifeMillis(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.UnixMilli()
}

// tallyOf takes a row of tallyColumns, whose last is NULL when nobody voted.
func tallyOf(source mapdata.SourceID, externalID string, row []driver.Value) mapdata.Tally {
	t := mapdata.Tally{
		Source: source, ExternalID: externalID,
		Confirms: int(integer(row[0])), Disputes: int(integer(row[1])),
		LastDisputeAt: instantOf(row[2]), KeptUntil: instantOf(row[3]), ChangedAt: instantOf(row[4]),
	}
	if source != mapdata.Incidents {
		t.LifeAt = instantOf(row[5])
	}
	return t
}

// voted reads an entity of a feed with the tally that is stored, whichever life it is of; false: it is not stored, or has
// expired at now.
func (db *DB) voted(ctx context.Context, conn *sql.Conn, feed mapdata.FeedID, externalID string, now time.Time) (v mapdata.Voted, ok bool, err error) {
	source := feed.Source()
	err = scan(ctx, conn, selectVoted, []driver.Value{feed[:], externalID, string(source)}, func(row []driver.Value) error {
		const tally = 6
		ok = true
		v.Tally, v.SnapshotAt, v.Entity.Feed = tallyOf(source, externalID, row), instantOf(row[tally]), feed
		return db.readEntity(&v.Entity, row[tally+1:])
	})
	if ends, expires := v.ExpiresAt(now); expires && !now.Before(ends) {
		ok = false
	}
	return v, ok, err
}

// counting leaves nothing of a tally that is of an earlier life.
func counting(v *mapdata.Voted, now time.Time) {
	if !v.Tally.Counts(v.Entity.Kind, v.Entity.FirstSeenAt, now) {
		v.Tally = mapdata.Tally{Source: v.Tally.Source, ExternalID: v.Tally.ExternalID}
	}
}

// Voted reads an entity of a feed that is alive at now, with the votes that count for it, or fails with
// mapdata.ErrNotFound.
func (db *DB) Voted(ctx context.Context, feed mapdata.FeedID, externalID string, now time.Time) (v mapdata.Voted, err error) {
	err = db.read(ctx, "read an entity with its votes", func(r *reading) error {
		var ok bool
		if v, ok, err = db.voted(ctx, r.conn, feed, externalID, now); err == nil && !ok {
			err = mapdata.ErrNotFound
		}
		return err
	})
	if err != nil {
		return mapdata.Voted{}, err
	}
	counting(&v, now)
	return v, nil
}

// Vote gives the account's standing vote on an entity, of the life that its tally is of: mapdata.NoVote if it has none,
// or took it back, or was severed from it (D9.7).
func (db *DB) Vote(ctx context.Context, source mapdata.SourceID, externalID string, account mapdata.AccountID) (mapdata.Vote, error) {
	v, err := scanVote(db.reader.QueryRowContext(ctx, selectVote, string(source), externalID, account[:]))
	return v, failure("read vote", err)
}

func scanVote(r row) (v mapdata.Vote, err error) {
	if err = r.Scan(&v); errors.Is(err, sql.ErrNoRows) {
		return mapdata.NoVote, nil
	}
	return v, err
}

// CastVote stores a ballot together with the service's own record of the entity, in one transaction, durably (Live
// incidents, 2; D9.2), and gives the entity with its votes as they are now. To take back a vote that does not stand
// changes nothing. It fails with mapdata.ErrNotFound for an entity of a feed that is not stored or has expired at b.At,
// for a live incident without a record of its own, and for an account that is gone. It does not move the feed's entities:
// no snapshot and no push is refused because of it.
func (db *DB) CastVote(ctx context.Context, b *mapdata.Ballot) (v mapdata.Voted, err error) {
	at := b.At.UTC().Truncate(time.Millisecond) // as it will be read
	err = db.write(ctx, "cast vote", func(w *writing) error {
		if v, err = w.votable(ctx, db, b, at); err != nil {
			return err
		}
		before, err := scanVote(w.QueryRowContext(ctx, selectVote, string(b.Source), b.ExternalID, b.Account[:]))
		if err != nil {
			return fmt.Errorf("read standing vote: %w", err)
		}
		first := v.Tally.ChangedAt.IsZero()
		if !v.Tally.Counts(v.Entity.Kind, v.Entity.FirstSeenAt, at) {
			first, before = true, mapdata.NoVote
		}
		if before == mapdata.NoVote && b.Vote == mapdata.NoVote {
			return nil
		}
		next := v.Tally.Cast(&v.Entity, before, b.Vote, at)
		first = first || !next.LifeAt.Equal(v.Tally.LifeAt)
		v.Tally = next
		if err := w.vote(ctx, b, &v.Tally, at); err != nil {
			return err
		}
		if before == mapdata.Dispute && b.Vote != mapdata.Dispute {
			if v.Tally.LastDisputeAt, err = w.lastDispute(ctx, &v.Tally); err != nil {
				return fmt.Errorf("find the last dispute: %w", err)
			}
		}
		if err := w.tally(ctx, &v, first); err != nil {
			return fmt.Errorf("store tally: %w", err)
		}
		_, err = w.raiseVotes(ctx, v.Entity.Feed, b.ExternalID)
		return err
	})
	if err != nil {
		return mapdata.Voted{}, err
	}
	counting(&v, at)
	return v, nil
}

// votable is what the ballot is about, with the tally that is stored, whichever life it is of.
func (w *writing) votable(ctx context.Context, db *DB, b *mapdata.Ballot, at time.Time) (v mapdata.Voted, err error) {
	if b.Source == mapdata.Incidents {
		if b.Live == nil {
			return v, mapdata.ErrNotFound
		}
		if int(b.Live.Kind) >= mapdata.KindCount || !b.Live.Feed.IsZero() || b.Live.ExternalID != b.ExternalID {
			return v, errors.New("the record is of no live incident, or of another one")
		}
		v = mapdata.Voted{Entity: *b.Live, Tally: mapdata.Tally{Source: b.Source, ExternalID: b.ExternalID}}
		return v, scan(ctx, w.conn, selectTally, []driver.Value{string(b.Source), b.ExternalID}, func(row []driver.Value) error {
			v.Tally = tallyOf(b.Source, b.ExternalID, row)
			return nil
		})
	}
	feed, ok := b.Source.Feed()
	if !ok {
		return v, mapdata.ErrNotFound
	}
	v, ok, err = db.voted(ctx, w.conn, feed, b.ExternalID, at)
	if err == nil && !ok {
		err = mapdata.ErrNotFound
	}
	return v, err
}

// vote writes the ballot itself, for the life of the tally that it counts in.
func (w *writing) vote(ctx context.Context, b *mapdata.Ballot, t *mapdata.Tally, at time.Time) error {
	query, args := takeVote, []any{string(b.Source), b.ExternalID, lifeMillis(t.LifeAt), b.Account[:]}
	if b.Vote != mapdata.NoVote {
		query, args = castVote, append(args, b.Vote, at.UnixMilli())
	}
	if _, err := w.ExecContext(ctx, query, args...); err != nil {
		return fmt.Errorf("store vote: %w", err)
	}
	return nil
}

// lastDispute finds the newest of the disputes that stand.
func (w *writing) lastDispute(ctx context.Context, t *mapdata.Tally) (time.Time, error) {
	var at instant
	err := w.QueryRowContext(ctx, selectLastDispute, string(t.Source), t.ExternalID, lifeMillis(t.LifeAt)).Scan(&at)
	return at.Time, err
}

// tally writes the tally, and the record with it when the vote is the first of a life: later ones leave it as it was.
func (w *writing) tally(ctx context.Context, v *mapdata.Voted, first bool) error {
	t, e := &v.Tally, &v.Entity
	args := []any{
		t.Confirms, t.Disputes, millis(t.LastDisputeAt), millis(t.KeptUntil), millis(t.ChangedAt), lifeMillis(t.LifeAt),
		string(t.Source), t.ExternalID,
	}
	if !first {
		return w.one(ctx, updateTally, args...)
	}
	args = append(args, e.Kind.ID(), e.Point.Lat, e.Point.Lng, millis(e.FirstSeenAt), millis(e.LastSeenAt(v.SnapshotAt)), string(e.Properties))
	return w.one(ctx, replaceVoted, args...)
}

// AllTallies yields what the votes on each entity add up to that were cast or taken back since then; zero: all, also of
// lives that are over. What is yielded is valid only during the call.
func (db *DB) AllTallies(ctx context.Context, since time.Time, yield func(*mapdata.Tally)) error {
	return db.read(ctx, "load votes", func(r *reading) error {
		query, args := selectAllTallies, []driver.Value(nil)
		if !since.IsZero() {
			query, args = selectTalliesSince, []driver.Value{since.UnixMilli()}
		}
		return scan(ctx, r.conn, query, args, func(row []driver.Value) error {
			t := tallyOf(mapdata.SourceID(text(row[7])), text(row[6]), row)
			yield(&t)
			return nil
		})
	})
}

// tallied reads the tallies of one revision of votes.
func (r *reading) tallied(ctx context.Context, c *mapdata.FeedChange) error {
	source := mapdata.Incidents
	if !c.FeedID.IsZero() {
		source = c.FeedID.Source()
	}
	return scan(ctx, r.conn, selectTallied, []driver.Value{c.Revision, string(source)}, func(row []driver.Value) error {
		c.Tallies = append(c.Tallies, tallyOf(source, text(row[6]), row))
		return nil
	})
}

// kept is an entity that drivers' confirms keep.
type kept struct {
	until time.Time
	ends  int64 // when it would expire otherwise; milliseconds
}

// keptEntities finds those of a feed's entities that confirms keep beyond now (D9.6), by external id.
func keptEntities(ctx context.Context, db *DB, conn *sql.Conn, feed mapdata.FeedID, now time.Time) (map[string]kept, error) {
	var all map[string]kept
	source := feed.Source()
	args := []driver.Value{feed[:], string(source), now.UnixMilli()}
	err := scan(ctx, conn, selectKept, args, func(row []driver.Value) error {
		kind, ok := db.kinds[text(row[7])]
		if !ok {
			return fmt.Errorf("stored kind %q is not in the catalogue: the database was written by another version", text(row[7]))
		}
		t := tallyOf(source, text(row[6]), row)
		if !t.Counts(kind, instantOf(row[8]), now) {
			return nil
		}
		if all == nil {
			all = make(map[string]kept)
		}
		all[t.ExternalID] = kept{until: t.KeptUntil, ends: integer(row[9])}
		return nil
	})
	return all, err
}

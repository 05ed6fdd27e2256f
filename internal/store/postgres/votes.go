package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"wayside/internal/mapdata"
)

const (
	// Whoever votes on an entity waits for others who do, and for whoever writes it: nothing that was just confirmed is
	// forgotten. Nothing of it is changed.
	lockEntity = `SELECT 1 FROM entities WHERE feed_id = $1 AND external_id = $2 FOR NO KEY UPDATE`

	selectVoted = `SELECT ` + entityColumns + `, f.snapshot_at FROM entities AS e JOIN feeds AS f ON f.id = e.feed_id
		WHERE e.feed_id = $1 AND e.external_id = $2`
	selectTally        = `SELECT ` + tallyColumns + ` FROM voted AS v WHERE v.source = $1 AND v.external_id = $2`
	selectAllTallies   = `SELECT ` + tallyColumns + `, v.source FROM voted AS v`
	selectTalliesSince = selectAllTallies + ` WHERE v.changed_at >= $1`

	selectVote = `SELECT b.vote FROM votes AS b JOIN voted AS v USING (source, external_id, life_at)
		WHERE b.source = $1 AND b.external_id = $2 AND b.account = $3`
	// Locked: else it could be severed from its account before it is replaced, and count twice.
	lockVote = selectVote + ` FOR UPDATE OF b`

	castVote = `INSERT INTO votes (source, external_id, life_at, account, vote, at) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (source, external_id, life_at, account) DO UPDATE SET vote = excluded.vote, at = excluded.at`
	takeVote          = `DELETE FROM votes WHERE source = $1 AND external_id = $2 AND life_at = $3 AND account = $4`
	selectLastDispute = `SELECT MAX(at) FROM votes WHERE source = $1 AND external_id = $2 AND life_at = $3 AND vote = -1`

	replaceVoted = `INSERT INTO voted (confirms, disputes, last_dispute_at, kept_until, changed_at, life_at, source, external_id,
			kind, lat, lng, first_seen_at, last_seen_at, properties) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
		ON CONFLICT (source, external_id) DO UPDATE SET confirms = excluded.confirms, disputes = excluded.disputes,
			last_dispute_at = excluded.last_dispute_at, kept_until = excluded.kept_until, changed_at = excluded.changed_at,
			life_at = excluded.life_at, kind = excluded.kind, lat = excluded.lat, lng = excluded.lng,
			first_seen_at = excluded.first_seen_at, last_seen_at = excluded.last_seen_at, properties = excluded.properties`
	updateTally = `UPDATE voted SET confirms = $1, disputes = $2, last_dispute_at = $3, kept_until = $4, changed_at = $5, life_at = $6
		WHERE source = $7 AND external_id = $8`
)

// lifeMillis is how Tally.LifeAt is stored.
func lifeMillis(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.UnixMilli()
}

// tallyOf reads the tally on an entity that is stored, whichever life it is of; one of no votes where there is none.
func tallyOf(ctx context.Context, q querier, source mapdata.SourceID, externalID string) (mapdata.Tally, error) {
	var s scannedTally
	err := q.QueryRow(ctx, selectTally, string(source), externalID).Scan(s.columns()...)
	if errors.Is(err, pgx.ErrNoRows) {
		return mapdata.Tally{Source: source, ExternalID: externalID}, nil
	}
	return s.tally(source), err
}

// voted reads an entity of a feed with the tally that is stored, whichever life it is of; false: it is not stored, or has
// expired at now.
func (db *DB) voted(ctx context.Context, q querier, feed mapdata.FeedID, externalID string, now time.Time) (v mapdata.Voted, ok bool, err error) {
	err = scan(ctx, q, selectVoted, []any{feed[:], externalID}, func(row [][]byte) error {
		const snapshotAt = 12
		ok = true
		v.SnapshotAt, v.Entity.Feed = instantIn(row[snapshotAt]), feed
		err := db.readEntity(&v.Entity, row)
		v.Entity.Properties = append([]byte(nil), v.Entity.Properties...)
		return err
	})
	if err != nil || !ok {
		return v, false, err
	}
	if v.Tally, err = tallyOf(ctx, q, feed.Source(), externalID); err != nil {
		return v, false, err
	}
	ends, expires := v.ExpiresAt(now)
	return v, !expires || now.Before(ends), nil
}

// counting leaves out a tally that is of an earlier life.
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
		if v, ok, err = db.voted(ctx, r, feed, externalID, now); err == nil && !ok {
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
	v, err := scanVote(db.pool.QueryRow(ctx, selectVote, string(source), externalID, account[:]))
	return v, failure("read vote", err)
}

func scanVote(r row) (v mapdata.Vote, err error) {
	if err = r.Scan(&v); errors.Is(err, pgx.ErrNoRows) {
		return mapdata.NoVote, nil
	}
	return v, err
}

// CastVote stores a ballot together with the service's own record of the entity, in one transaction, durably (Live
// incidents, 2; D9.2), and gives the entity with its votes as they are now. To take back a vote that does not stand
// changes nothing. It fails with mapdata.ErrNotFound for an entity of a feed that is not stored or has expired at b.At,
// for a live incident without a record of its own, and for an account that is gone. It does not move the feed's entities:
// no snapshot and no push is refused because of it. Votes on one entity wait for each other, on whichever nodes they are.
func (db *DB) CastVote(ctx context.Context, b *mapdata.Ballot) (v mapdata.Voted, err error) {
	at := b.At.UTC().Truncate(time.Millisecond) // as it will be read
	err = db.write(ctx, "cast vote", func(w *writing) error {
		if v, err = w.votable(ctx, db, b, at); err != nil {
			return err
		}
		before, err := scanVote(w.QueryRow(ctx, lockVote, string(b.Source), b.ExternalID, b.Account[:]))
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
		w.raiseVotes(v.Entity.Feed, b.ExternalID)
		return nil
	})
	if err != nil {
		return mapdata.Voted{}, err
	}
	counting(&v, at)
	return v, nil
}

// votable is what the ballot is about, with the tally that is stored, whichever life it is of. Nobody else votes on it
// until the transaction ends.
func (w *writing) votable(ctx context.Context, db *DB, b *mapdata.Ballot, at time.Time) (v mapdata.Voted, err error) {
	if b.Source == mapdata.Incidents {
		if b.Live == nil {
			return v, mapdata.ErrNotFound
		}
		if int(b.Live.Kind) >= mapdata.KindCount || !b.Live.Feed.IsZero() || b.Live.ExternalID != b.ExternalID {
			return v, errors.New("the record is of no live incident, or of another one")
		}
		if err := w.alone(ctx, scopeVotes, b.ExternalID); err != nil {
			return v, err
		}
		tally, err := tallyOf(ctx, w, b.Source, b.ExternalID)
		return mapdata.Voted{Entity: *b.Live, Tally: tally}, err
	}
	feed, ok := b.Source.Feed()
	if !ok {
		return v, mapdata.ErrNotFound
	}
	if err := w.one(ctx, lockEntity, feed[:], b.ExternalID); err != nil {
		return v, err
	}
	v, ok, err = db.voted(ctx, w, feed, b.ExternalID, at)
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
	if _, err := w.Exec(ctx, query, args...); err != nil {
		return fmt.Errorf("store vote: %w", err)
	}
	return nil
}

// lastDispute finds the newest of the disputes that stand.
func (w *writing) lastDispute(ctx context.Context, t *mapdata.Tally) (time.Time, error) {
	var at instant
	err := w.QueryRow(ctx, selectLastDispute, string(t.Source), t.ExternalID, lifeMillis(t.LifeAt)).Scan(&at)
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
	query, args := selectAllTallies, []any(nil)
	if !since.IsZero() {
		query, args = selectTalliesSince, []any{since.UnixMilli()}
	}
	rows, err := db.pool.Query(ctx, query, args...)
	if err != nil {
		return failure("load votes", err)
	}
	defer rows.Close()
	for rows.Next() {
		var (
			s      scannedTally
			source string
		)
		if err := rows.Scan(append(s.columns(), &source)...); err != nil {
			return failure("load votes", err)
		}
		t := s.tally(mapdata.SourceID(source))
		yield(&t)
	}
	return failure("load votes", rows.Err())
}

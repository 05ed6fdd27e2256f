package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
)

// entityColumns are what readEntity takes, in its order.
const entityColumns = `e.external_id, e.kind, e.lat, e.lng, e.properties, e.network, e.digest, e.lifetime_ms,
	e.first_seen_at, e.seen_at, e.changed_at, e.absent_since`

const (
	selectStoredAll    = `SELECT external_id, digest, first_seen_at, seen_at, lifetime_ms, absent_since, changed_at FROM entities WHERE feed_id = $1`
	selectStored       = selectStoredAll + ` AND external_id = ANY($2)`
	selectEntitiesByID = `SELECT ` + entityColumns + ` FROM entities AS e WHERE e.feed_id = $1 AND e.external_id = ANY($2)`
	selectPart         = `SELECT id FROM feeds WHERE seq % $2 = $1`
	selectEntitiesOf   = `SELECT ` + entityColumns + `, e.feed_id FROM entities AS e WHERE e.feed_id = ANY($1::uuid[])`
	selectAliveOf      = `SELECT ` + entityColumns + ` FROM entities AS e
		WHERE e.feed_id = $1 AND (e.lifetime_ms = 0 OR COALESCE(e.seen_at, $2) + e.lifetime_ms > $3 OR e.external_id = ANY($4))
		ORDER BY e.external_id LIMIT $5`

	selectMark = `SELECT entities_revision, snapshot_at, snapshot, snapshot_rows, body_hash, COALESCE(lease_owner, ''), generation FROM feeds WHERE id = $1`

	deleteEntities = `DELETE FROM entities WHERE feed_id = $1 AND external_id = ANY($2)`
	touchEntities  = `UPDATE entities SET seen_at = $3, absent_since = NULL WHERE feed_id = $1 AND external_id = ANY($2)`
	missEntities   = `UPDATE entities SET seen_at = COALESCE(seen_at, $3), absent_since = $4 WHERE feed_id = $1 AND external_id = ANY($2)`

	// Locked before it is read what votes say of them: whoever votes locks the entity too.
	lockExpired = `SELECT external_id FROM entities
		WHERE feed_id = $1 AND external_id = ANY($2) AND lifetime_ms > 0 AND COALESCE(seen_at, $3) + lifetime_ms <= $4
		ORDER BY external_id FOR UPDATE`

	updateEntitiesOf = `UPDATE feeds SET entities_revision = ` + raised + ` WHERE id = $1`
	updatePushed     = `UPDATE feeds SET last_push_at = $2 WHERE id = $1`

	updateSnapshot = `UPDATE feeds SET
			snapshot_at = $2, snapshot = $3, snapshot_rows = $4, shrank = $5, body_hash = $6,
			next_fetch_at = $7, last_fetched_at = $8, last_outcome = $9, last_error = $10, last_rows = $11, last_rejected = $12,
			consecutive_failures = $13, lease_owner = NULL, lease_until = NULL
		WHERE id = $1`
)

// Mark reads the state of a feed to compare against, or fails with mapdata.ErrNotFound.
func (db *DB) Mark(ctx context.Context, feed mapdata.FeedID) (mapdata.Mark, error) {
	m, err := scanMark(db.pool.QueryRow(ctx, selectMark, feed[:]))
	return m.Mark, failure("read mark", err)
}

// leasedMark is a mark and the lease that the feed's polls have at the same moment.
type leasedMark struct {
	mapdata.Mark
	lease mapdata.Lease
}

func scanMark(r row) (m leasedMark, err error) {
	var at instant
	err = r.Scan(&m.EntitiesRevision, &at, &m.Snapshot, &m.LastRows, &m.BodyHash, &m.lease.Node, &m.lease.Generation)
	m.SnapshotAt = at.Time
	return m, err
}

// Stored yields what the feed holds under the given external ids, or everything it holds when ids is nil, in no order.
// KeptUntil is there while it is still to come. A feed that is gone holds nothing, though its entities may not be removed
// yet.
func (db *DB) Stored(ctx context.Context, feed mapdata.FeedID, ids []string, yield func(mapdata.Stored)) error {
	query, args := selectStoredAll, []any{feed[:]}
	if ids != nil {
		query, args = selectStored, append(args, ids)
	}
	return db.read(ctx, "read stored entities", func(r *reading) error {
		if _, err := scanMark(r.QueryRow(ctx, selectMark, feed[:])); err != nil {
			if errors.Is(err, pgx.ErrNoRows) {
				return nil
			}
			return err
		}
		// Those that are kept are few: to join the votes would cost every row of every snapshot.
		byVotes, err := keptEntities(ctx, db, r, feed, db.now())
		if err != nil {
			return err
		}
		return scan(ctx, r, query, args, func(row [][]byte) error {
			id := string(row[0])
			yield(mapdata.Stored{
				ExternalID:  id,
				KeptUntil:   byVotes[id].until,
				Digest:      uint64(integer(row[1])),
				FirstSeenAt: instantIn(row[2]),
				SeenAt:      instantIn(row[3]),
				Lifetime:    time.Duration(integer(row[4])) * time.Millisecond,
				AbsentSince: integer(row[5]),
				ChangedAt:   instantIn(row[6]),
			})
			return nil
		})
	})
}

// Columns in the binary format; NULL gives zero.

func integer(column []byte) int64 {
	if column == nil {
		return 0
	}
	return int64(binary.BigEndian.Uint64(column))
}

func instantIn(column []byte) time.Time {
	if column == nil {
		return time.Time{}
	}
	return instantOf(integer(column))
}

func real(column []byte) float64 { return math.Float64frombits(uint64(integer(column))) }

// kind finds a kind that is stored by its name.
func (db *DB) kind(name []byte) (mapdata.Kind, error) {
	k, ok := db.kinds[string(name)]
	if !ok {
		return 0, fmt.Errorf("stored kind %q is not in the catalogue: the database was written by another version", name)
	}
	return k, nil
}

// readEntity takes a row of entityColumns in the binary format. Properties remain the row's.
func (db *DB) readEntity(e *mapdata.Entity, row [][]byte) (err error) {
	if e.Kind, err = db.kind(row[1]); err != nil {
		return err
	}
	e.ExternalID = string(row[0])
	e.Point = geo.Point{Lat: real(row[2]), Lng: real(row[3])}
	e.Properties, e.Network = row[4], string(row[5])
	e.Digest = uint64(integer(row[6]))
	e.Lifetime = time.Duration(integer(row[7])) * time.Millisecond
	e.FirstSeenAt, e.SeenAt, e.ChangedAt = instantIn(row[8]), instantIn(row[9]), instantIn(row[10])
	e.AbsentSince = integer(row[11])
	return nil
}

// AllEntities yields every stored entity of the feeds of part number part of parts. What is yielded is valid only during
// the call. A feed's part is its own for ever: parts that are read at different moments never leave one out.
func (db *DB) AllEntities(ctx context.Context, part, parts int, yield func(*mapdata.Entity)) error {
	return db.read(ctx, "load entities", func(r *reading) error {
		feeds, err := list(ctx, r, selectPart, func(r row) ([]byte, error) {
			var id feedID
			err := r.Scan(&id)
			return id.FeedID[:], err
		}, part, parts)
		if err != nil || len(feeds) == 0 {
			return err
		}
		var e mapdata.Entity
		return scan(ctx, r, selectEntitiesOf, []any{feeds}, func(row [][]byte) error {
			const feed = 12
			copy(e.Feed[:], row[feed])
			if err := db.readEntity(&e, row); err != nil {
				return err
			}
			yield(&e)
			return nil
		})
	})
}

// FeedEntities yields the feed's entities that have not expired at now, those among them that confirms keep (D9.6), in the
// order of their external ids, at most limit. What is yielded remains valid. A feed that is gone holds none.
func (db *DB) FeedEntities(ctx context.Context, id mapdata.FeedID, now time.Time, limit int, yield func(*mapdata.Entity)) error {
	return db.read(ctx, "read entities of a feed", func(r *reading) error {
		mark, err := scanMark(r.QueryRow(ctx, selectMark, id[:]))
		if err != nil {
			if errors.Is(err, pgx.ErrNoRows) {
				return nil
			}
			return err
		}
		byVotes, err := keptEntities(ctx, db, r, id, now)
		if err != nil {
			return err
		}
		args := []any{id[:], millis(mark.SnapshotAt), now.UnixMilli(), slices.Collect(maps.Keys(byVotes)), limit}
		return scan(ctx, r, selectAliveOf, args, func(row [][]byte) error {
			e := mapdata.Entity{Feed: id}
			if err := db.readEntity(&e, row); err != nil {
				return err
			}
			e.Properties = slices.Clone(e.Properties)
			yield(&e)
			return nil
		})
	})
}

// Apply stores a change, whole, durably, before it returns. It fails with mapdata.ErrConflict, having changed nothing,
// when the feed's entities moved since the change's Base or the snapshot is not a later one, with mapdata.ErrFenced when
// the lease of the snapshot no longer matches, with mapdata.ErrNotFound when the feed is gone, and with mapdata.ErrUnavailable when there is no room.
func (db *DB) Apply(ctx context.Context, c *mapdata.Change) error {
	if err := check(c); err != nil {
		return failure("apply change", err)
	}
	upserts := inOrder(c.Upserts)
	ids := make([]string, len(upserts))
	for i, e := range upserts {
		ids[i] = e.ExternalID
	}
	return db.write(ctx, "apply change", func(w *writing) error {
		mark, err := scanMark(w.QueryRow(ctx, selectMark+lockFeed, c.Feed[:]))
		if err != nil {
			return err
		}
		if c.Snapshot != nil && c.Snapshot.Lease != mark.lease {
			return mapdata.ErrFenced
		}
		if mark.EntitiesRevision != c.Base {
			return mapdata.Describe(mapdata.ErrConflict, "The feed's entities moved meanwhile.")
		}
		if c.Snapshot != nil && c.Snapshot.Snapshot <= mark.Snapshot {
			return mapdata.Describe(mapdata.ErrConflict, "A later snapshot of the feed was stored meanwhile.")
		}
		if err := w.entities(ctx, c, upserts, mark.SnapshotAt); err != nil {
			return err
		}
		if err := w.moveFeed(ctx, c); err != nil {
			return fmt.Errorf("move feed: %w", err)
		}
		if err := w.rejections(ctx, c); err != nil {
			return fmt.Errorf("store rejections: %w", err)
		}
		if err := w.letters(ctx, c.Letters); err != nil {
			return err
		}
		w.raise(c.Feed, ids, c.Touched, c.Absent, c.Retired)
		if c.Moves() {
			w.last(updateEntitiesOf, c.Feed[:])
		}
		w.attempt(c.Feed, &c.Attempt)
		return nil
	})
}

// check refuses what no caller may ask for.
func check(c *mapdata.Change) error {
	if len(c.Absent) > 0 && c.Snapshot == nil {
		return errors.New("entities are absent from a snapshot only")
	}
	for i := range c.Upserts {
		if e := &c.Upserts[i]; int(e.Kind) >= mapdata.KindCount || e.Feed != c.Feed {
			return fmt.Errorf("upsert %d: kind outside the catalogue, or another feed", i)
		}
	}
	return nil
}

// entities writes what changes of the feed's entities. snapshotAt is of the snapshot before.
func (w *writing) entities(ctx context.Context, c *mapdata.Change, upserts []*mapdata.Entity, snapshotAt time.Time) error {
	if err := w.upsert(ctx, c.Feed, upserts); err != nil {
		return fmt.Errorf("upsert: %w", err)
	}
	if len(c.Touched) > 0 {
		if _, err := w.Exec(ctx, touchEntities, c.Feed[:], c.Touched, c.At.UnixMilli()); err != nil {
			return fmt.Errorf("touch: %w", err)
		}
	}
	if len(c.Absent) > 0 {
		if _, err := w.Exec(ctx, missEntities, c.Feed[:], c.Absent, millis(snapshotAt), c.Snapshot.Snapshot); err != nil {
			return fmt.Errorf("mark as absent: %w", err)
		}
	}
	if len(c.Retired) > 0 {
		if _, err := w.Exec(ctx, deleteEntities, c.Feed[:], c.Retired); err != nil {
			return fmt.Errorf("retire: %w", err)
		}
	}
	return nil
}

// moveFeed writes down when the feed brought something. A push that was refused brought nothing.
func (w *writing) moveFeed(ctx context.Context, c *mapdata.Change) error {
	if c.Snapshot == nil {
		if !c.Attempt.OK {
			return nil
		}
		_, err := w.Exec(ctx, updatePushed, c.Feed[:], millis(c.At))
		return err
	}
	p := &c.Snapshot.Polling
	_, err := w.Exec(ctx, updateSnapshot, c.Feed[:],
		millis(c.At), c.Snapshot.Snapshot, p.LastRows, p.Shrank, p.BodyHash,
		millis(p.NextFetchAt), millis(p.LastFetchedAt), p.LastOutcome, p.LastError, p.LastRows, p.LastRejected,
		p.ConsecutiveFailures)
	return err
}

// forgetAtOnce bounds how long the feed's writers wait meanwhile.
const forgetAtOnce = 5_000

// Forget removes the named entities of a feed that had expired at the given time and still have; nothing to follow. What
// a confirm kept then, or since, stays (D9.6).
func (db *DB) Forget(ctx context.Context, feed mapdata.FeedID, externalIDs []string, before time.Time) error {
	for chunk := range slices.Chunk(externalIDs, forgetAtOnce) {
		err := db.write(ctx, "forget expired entities", func(w *writing) error { return w.forget(ctx, db, feed, chunk, before) })
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *writing) forget(ctx context.Context, db *DB, feed mapdata.FeedID, externalIDs []string, before time.Time) error {
	mark, err := scanMark(w.QueryRow(ctx, selectMark+lockFeed, feed[:]))
	if errors.Is(err, pgx.ErrNoRows) {
		return nil // gone, and all that it had with it
	}
	if err != nil {
		return err
	}
	expired, err := list(ctx, w, lockExpired, func(r row) (id string, err error) {
		err = r.Scan(&id)
		return id, err
	}, feed[:], externalIDs, millis(mark.SnapshotAt), before.UnixMilli())
	if err != nil || len(expired) == 0 {
		return err
	}
	byVotes, err := keptEntities(ctx, db, w, feed, before)
	if err != nil {
		return err
	}
	expired = slices.DeleteFunc(expired, func(id string) bool { return !byVotes[id].until.IsZero() })
	_, err = w.Exec(ctx, deleteEntities, feed[:], expired)
	return err
}

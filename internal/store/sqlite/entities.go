package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
)

// entityColumns are what readEntity takes, in its order. The cast spares a copy of the properties.
const entityColumns = `e.external_id, e.kind, e.lat, e.lng, CAST(e.properties AS BLOB), e.network, e.digest, e.lifetime_ms,
	e.first_seen_at, e.seen_at, e.changed_at, e.absent_since`

const (
	// A feed that is gone holds nothing, though its entities may not be removed yet.
	storedColumns = `SELECT external_id, digest, first_seen_at, seen_at, lifetime_ms, absent_since, changed_at FROM entities
		WHERE feed_id = ?1 AND EXISTS (SELECT 1 FROM feeds WHERE id = ?1)`
	selectStored    = storedColumns + ` AND external_id IN (SELECT value FROM json_each(?2))`
	selectStoredAll = storedColumns
	selectMark      = `SELECT entities_revision, snapshot_at, snapshot, snapshot_rows, body_hash, COALESCE(lease_owner, ''), generation FROM feeds WHERE id = ?`
	selectPart      = `SELECT id FROM feeds WHERE seq % ?2 = ?1 ORDER BY id`
	selectEntities  = `SELECT ` + entityColumns + ` FROM entities AS e WHERE e.feed_id = ?`
	selectAliveOf   = `SELECT ` + entityColumns + ` FROM entities AS e
		WHERE e.feed_id = (SELECT id FROM feeds WHERE id = ?1) AND (e.lifetime_ms = 0
			OR COALESCE(e.seen_at, (SELECT snapshot_at FROM feeds WHERE id = ?1)) + e.lifetime_ms > ?2
			OR e.external_id IN (SELECT value FROM json_each(?3)))
		ORDER BY e.external_id LIMIT ?4`
	deleteEntities   = `DELETE FROM entities WHERE feed_id = ?1 AND external_id IN (SELECT value FROM json_each(?2))`
	touchEntities    = `UPDATE entities SET seen_at = ?3, absent_since = NULL WHERE feed_id = ?1 AND external_id IN (SELECT value FROM json_each(?2))`
	missEntities     = `UPDATE entities SET seen_at = COALESCE(seen_at, ?3), absent_since = ?4 WHERE feed_id = ?1 AND external_id IN (SELECT value FROM json_each(?2))`
	forgetEntities   = `DELETE FROM entities WHERE feed_id = ?1 AND external_id IN (SELECT value FROM json_each(?2)) AND lifetime_ms > 0 AND COALESCE(seen_at, (SELECT snapshot_at FROM feeds WHERE id = ?1)) + lifetime_ms <= ?3`
	updateEntitiesOf = `UPDATE feeds SET entities_revision = ? WHERE id = ?`
	updatePushed     = `UPDATE feeds SET last_push_at = ? WHERE id = ?`

	updateSnapshot = `UPDATE feeds SET
			snapshot_at = ?, snapshot = ?, snapshot_rows = ?, shrank = ?, body_hash = ?,
			next_fetch_at = ?, last_fetched_at = ?, last_outcome = ?, last_error = ?, last_rows = ?, last_rejected = ?,
			consecutive_failures = ?, lease_owner = NULL, lease_until = NULL
		WHERE id = ?`
)

// Mark reads the state of a feed to compare against, or fails with mapdata.ErrNotFound.
func (db *DB) Mark(ctx context.Context, feed mapdata.FeedID) (mapdata.Mark, error) {
	m, err := scanMark(db.reader.QueryRowContext(ctx, selectMark, feed[:]))
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
// KeptUntil is there while it is still to come.
func (db *DB) Stored(ctx context.Context, feed mapdata.FeedID, ids []string, yield func(mapdata.Stored)) error {
	query, args := selectStoredAll, []driver.Value{feed[:]}
	if ids != nil {
		query, args = selectStored, append(args, jsonArray(ids))
	}
	return db.read(ctx, "read stored entities", func(r *reading) error {
		// Those that are kept are few: to join the votes would cost every row of every snapshot.
		byVotes, err := keptEntities(ctx, db, r.conn, feed, db.now())
		if err != nil {
			return err
		}
		return scan(ctx, r.conn, query, args, func(row []driver.Value) error {
			id := text(row[0])
			yield(mapdata.Stored{
				ExternalID:  id,
				KeptUntil:   byVotes[id].until,
				Digest:      uint64(integer(row[1])),
				FirstSeenAt: instantOf(row[2]),
				SeenAt:      instantOf(row[3]),
				Lifetime:    time.Duration(integer(row[4])) * time.Millisecond,
				AbsentSince: integer(row[5]),
				ChangedAt:   instantOf(row[6]),
			})
			return nil
		})
	})
}

// readEntity takes a row of entityColumns. Properties are the row's own.
func (db *DB) readEntity(e *mapdata.Entity, row []driver.Value) error {
	kind, ok := db.kinds[text(row[1])]
	if !ok {
		return fmt.Errorf("stored kind %q is not in the catalogue: the database was written by another version", text(row[1]))
	}
	e.ExternalID, e.Kind = text(row[0]), kind
	e.Point = geo.Point{Lat: real(row[2]), Lng: real(row[3])}
	e.Properties, e.Network = blob(row[4]), text(row[5])
	e.Digest = uint64(integer(row[6]))
	e.Lifetime = time.Duration(integer(row[7])) * time.Millisecond
	e.FirstSeenAt, e.SeenAt, e.ChangedAt = instantOf(row[8]), instantOf(row[9]), instantOf(row[10])
	e.AbsentSince = integer(row[11])
	return nil
}

// AllEntities yields every stored entity of the feeds of part number part of parts. What is yielded is valid only during
// the call.
func (db *DB) AllEntities(ctx context.Context, part, parts int, yield func(*mapdata.Entity)) error {
	return db.read(ctx, "load entities", func(r *reading) error {
		feeds, err := r.part(ctx, part, parts)
		if err != nil {
			return err
		}
		var e mapdata.Entity
		for _, e.Feed = range feeds {
			err := scan(ctx, r.conn, selectEntities, []driver.Value{e.Feed[:]}, func(row []driver.Value) error {
				if err := db.readEntity(&e, row); err != nil {
					return err
				}
				yield(&e)
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// part lists the feeds of a part. A feed's part is its own for ever: parts that are read at different moments never
// leave one out.
func (r *reading) part(ctx context.Context, part, parts int) ([]mapdata.FeedID, error) {
	rows, err := r.QueryContext(ctx, selectPart, part, parts)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	var all []mapdata.FeedID
	for rows.Next() {
		var id feedID
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		all = append(all, id.FeedID)
	}
	return all, rows.Err()
}

// FeedEntities yields the feed's entities that have not expired at now, those among them that confirms keep (D9.6), in the
// order of their external ids, at most limit. What is yielded remains valid. A feed that is gone holds none.
func (db *DB) FeedEntities(ctx context.Context, id mapdata.FeedID, now time.Time, limit int, yield func(*mapdata.Entity)) error {
	return db.read(ctx, "read entities of a feed", func(r *reading) error {
		byVotes, err := keptEntities(ctx, db, r.conn, id, now)
		if err != nil {
			return err
		}
		args := []driver.Value{id[:], now.UnixMilli(), jsonArray(slices.Collect(maps.Keys(byVotes))), int64(limit)}
		return scan(ctx, r.conn, selectAliveOf, args, func(row []driver.Value) error {
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

// Apply stores a change whole, durably, before it returns. It fails with mapdata.ErrConflict, having changed nothing,
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
		mark, err := scanMark(w.QueryRowContext(ctx, selectMark, c.Feed[:]))
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
		revision, err := w.raise(ctx, c.Feed, ids, c.Touched, c.Absent, c.Retired)
		if err != nil {
			return err
		}
		if err := w.entities(ctx, c, upserts, mark.SnapshotAt); err != nil {
			return err
		}
		if c.Moves() {
			if _, err := w.ExecContext(ctx, updateEntitiesOf, revision, c.Feed[:]); err != nil {
				return fmt.Errorf("move feed: %w", err)
			}
		}
		if err := w.moveFeed(ctx, c); err != nil {
			return fmt.Errorf("move feed: %w", err)
		}
		if err := w.attempt(ctx, c.Feed, revision, &c.Attempt); err != nil {
			return err
		}
		if err := w.rejections(ctx, c); err != nil {
			return fmt.Errorf("store rejections: %w", err)
		}
		return w.letters(ctx, c.Letters)
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

// inOrder gives the entities in the order of the table's key, in which writing them costs least.
func inOrder(entities []mapdata.Entity) []*mapdata.Entity {
	all := make([]*mapdata.Entity, len(entities))
	for i := range entities {
		all[i] = &entities[i]
	}
	slices.SortFunc(all, func(a, b *mapdata.Entity) int { return strings.Compare(a.ExternalID, b.ExternalID) })
	return all
}

// entities writes what changes of the feed's entities. snapshotAt is of the snapshot before.
func (w *writing) entities(ctx context.Context, c *mapdata.Change, upserts []*mapdata.Entity, snapshotAt time.Time) error {
	if err := w.upsert(ctx, c.Feed, upserts); err != nil {
		return fmt.Errorf("upsert: %w", err)
	}
	if len(c.Touched) > 0 {
		if _, err := w.ExecContext(ctx, touchEntities, c.Feed[:], jsonArray(c.Touched), c.At.UnixMilli()); err != nil {
			return fmt.Errorf("touch: %w", err)
		}
	}
	if len(c.Absent) > 0 {
		_, err := w.ExecContext(ctx, missEntities, c.Feed[:], jsonArray(c.Absent), millis(snapshotAt), c.Snapshot.Snapshot)
		if err != nil {
			return fmt.Errorf("mark as absent: %w", err)
		}
	}
	if len(c.Retired) > 0 {
		if _, err := w.ExecContext(ctx, deleteEntities, c.Feed[:], jsonArray(c.Retired)); err != nil {
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
		_, err := w.ExecContext(ctx, updatePushed, millis(c.At), c.Feed[:])
		return err
	}
	p := &c.Snapshot.Polling
	_, err := w.ExecContext(ctx, updateSnapshot,
		millis(c.At), c.Snapshot.Snapshot, p.LastRows, p.Shrank, p.BodyHash,
		millis(p.NextFetchAt), millis(p.LastFetchedAt), p.LastOutcome, p.LastError, p.LastRows, p.LastRejected,
		p.ConsecutiveFailures, c.Feed[:])
	return err
}

// Forget removes the named entities of a feed that had expired at the given time and still have; nothing to follow. What
// a confirm kept then, or since, stays (D9.6).
func (db *DB) Forget(ctx context.Context, feed mapdata.FeedID, externalIDs []string, before time.Time) error {
	for chunk := range slices.Chunk(externalIDs, forgetAtOnce) {
		err := db.write(ctx, "forget expired entities", func(w *writing) error {
			byVotes, err := keptEntities(ctx, db, w.conn, feed, before)
			if err != nil {
				return err
			}
			gone := slices.DeleteFunc(slices.Clone(chunk), func(id string) bool { return !byVotes[id].until.IsZero() })
			_, err = w.ExecContext(ctx, forgetEntities, feed[:], jsonArray(gone), before.UnixMilli())
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// forgetAtOnce bounds how long others wait for the write lock meanwhile.
const forgetAtOnce = 5_000

package sqlite

import (
	"context"
	"database/sql/driver"
	"maps"
	"slices"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/store"
)

// entityColumns are the columns that readEntity decodes, in its order. The cast saves a copy of the properties.
const entityColumns = `e.external_id, e.kind, e.lat, e.lng, CAST(e.properties AS BLOB), e.network, e.digest, e.lifetime_ms,
	e.first_seen_at, e.seen_at, e.changed_at, e.absent_since, e.ends_at, e.line`

const (
	// A deleted feed has no entities, although they may not be removed yet.
	storedColumns = `SELECT external_id, digest, first_seen_at, seen_at, lifetime_ms, absent_since, changed_at,
		` + store.EntityBytes + `, ends_at FROM entities
		WHERE feed_id = $1 AND EXISTS (SELECT 1 FROM feeds WHERE id = $1)`
	selectStored    = storedColumns + ` AND external_id IN (SELECT value FROM json_each($2))`
	selectStoredAll = storedColumns
	selectPart      = `SELECT id FROM feeds WHERE seq % $2 = $1 ORDER BY id`
	selectEntities  = `SELECT ` + entityColumns + ` FROM entities AS e WHERE e.feed_id = $1`
	selectAliveOf   = `SELECT ` + entityColumns + ` FROM entities AS e
		WHERE e.feed_id = (SELECT id FROM feeds WHERE id = $1) AND (e.lifetime_ms = 0
			OR COALESCE(e.seen_at, (SELECT snapshot_at FROM feeds WHERE id = $1)) + e.lifetime_ms > $2
			OR e.external_id IN (SELECT value FROM json_each($3))) AND (e.ends_at IS NULL OR e.ends_at > $2)
		ORDER BY e.external_id LIMIT $4`
)

// Stored yields the feed's entities with the given external ids, or all of them when ids is nil, in no order. It sets
// KeptUntil while that is in the future.
func (db *DB) Stored(ctx context.Context, feed mapdata.FeedID, ids []string, yield func(mapdata.Stored)) error {
	query, args := selectStoredAll, []driver.Value{feed[:]}
	if ids != nil {
		query, args = selectStored, append(args, jsonArray(ids))
	}
	return db.read(ctx, "read stored entities", func(r *readTx) error {
		// Only few are kept; joining the votes would slow down every row of every snapshot.
		kept, err := db.KeptEntities(ctx, r, feed, db.now())
		if err != nil {
			return err
		}
		return scan(ctx, r.conn, query, args, func(row []driver.Value) error {
			id := text(row[0])
			yield(mapdata.Stored{
				ExternalID:  id,
				KeptUntil:   kept[id].Until,
				Digest:      uint64(integer(row[1])),
				FirstSeenAt: instantOf(row[2]),
				SeenAt:      instantOf(row[3]),
				Lifetime:    time.Duration(integer(row[4])) * time.Millisecond,
				AbsentSince: integer(row[5]),
				ChangedAt:   instantOf(row[6]),
				Bytes:       integer(row[7]),
				EndsAt:      instantOf(row[8]),
			})
			return nil
		})
	})
}

// readEntity decodes a row of entityColumns. Properties alias the row.
func (db *DB) readEntity(e *mapdata.Entity, row []driver.Value) error {
	kind, err := db.Kind(text(row[1]))
	if err != nil {
		return err
	}
	e.ExternalID, e.Kind = text(row[0]), kind
	e.Point = geo.Point{Lat: real(row[2]), Lng: real(row[3])}
	e.Properties, e.Network = blob(row[4]), text(row[5])
	e.Digest = uint64(integer(row[6]))
	e.Lifetime = time.Duration(integer(row[7])) * time.Millisecond
	e.FirstSeenAt, e.SeenAt, e.ChangedAt = instantOf(row[8]), instantOf(row[9]), instantOf(row[10])
	e.AbsentSince = integer(row[11])
	e.EndsAt = instantOf(row[12])
	e.Line, err = mapdata.ParseLine(blob(row[13]))
	return err
}

// AllEntities yields every stored entity of the feeds of part number part of parts. The yielded values are valid only
// during the call.
func (db *DB) AllEntities(ctx context.Context, part, parts int, yield func(*mapdata.Entity)) error {
	return db.read(ctx, "load entities", func(r *readTx) error {
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

// part lists the feeds of a part. A feed always belongs to the same part, so that parts that are read at different
// moments never leave one out.
func (r *readTx) part(ctx context.Context, part, parts int) ([]mapdata.FeedID, error) {
	return store.List(ctx, r, selectPart, func(row store.Row) (mapdata.FeedID, error) {
		var id store.FeedID
		err := row.Scan(&id)
		return id.FeedID, err
	}, part, parts)
}

// FeedEntities yields the feed's entities that have not expired at now, including those that confirms keep (D9.6), in
// the order of their external ids, at most limit. The yielded values remain valid. It yields nothing of a feed that no
// longer exists.
func (db *DB) FeedEntities(ctx context.Context, id mapdata.FeedID, now time.Time, limit int, yield func(*mapdata.Entity)) error {
	return db.read(ctx, "read entities of a feed", func(r *readTx) error {
		kept, err := db.KeptEntities(ctx, r, id, now)
		if err != nil {
			return err
		}
		args := []driver.Value{id[:], now.UnixMilli(), jsonArray(slices.Collect(maps.Keys(kept))), int64(limit)}
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

package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/store"
)

const (
	selectStoredAll = `SELECT external_id, digest, first_seen_at, seen_at, lifetime_ms, absent_since, changed_at,
		(` + store.EntityBytes + `)::bigint, ends_at FROM entities WHERE feed_id = $1`
	selectStored       = selectStoredAll + ` AND external_id = ANY($2)`
	selectEntitiesByID = `SELECT ` + store.EntityColumns + ` FROM entities AS e WHERE e.feed_id = $1 AND e.external_id = ANY($2)`
	selectPart         = `SELECT id FROM feeds WHERE seq % $2 = $1`
	selectEntitiesOf   = `SELECT ` + store.EntityColumns + `, e.feed_id FROM entities AS e WHERE e.feed_id = ANY($1::uuid[])`
	selectAliveOf      = `SELECT ` + store.EntityColumns + ` FROM entities AS e
		WHERE e.feed_id = $1 AND (e.lifetime_ms = 0 OR COALESCE(e.seen_at, $2) + e.lifetime_ms > $3 OR e.external_id = ANY($4))
			AND (e.ends_at IS NULL OR e.ends_at > $3)
		ORDER BY e.external_id LIMIT $5`
)

// Stored yields the feed's entities with the given external ids, or all of them when ids is nil, in no order. It sets
// KeptUntil while that is in the future. It yields nothing of a deleted feed, although its entities may not be removed
// yet.
func (db *DB) Stored(ctx context.Context, feed mapdata.FeedID, ids []string, yield func(mapdata.Stored)) error {
	query, args := selectStoredAll, []any{feed[:]}
	if ids != nil {
		query, args = selectStored, append(args, ids)
	}
	return db.read(ctx, "read stored entities", func(r *readTx) error {
		if _, err := store.ScanMark(r.QueryRow(ctx, store.SelectMark, feed[:])); err != nil {
			if errors.Is(err, pgx.ErrNoRows) {
				return nil
			}
			return err
		}
		// Only few are kept; joining the votes would slow down every row of every snapshot.
		kept, err := db.KeptEntities(ctx, r, feed, db.now())
		if err != nil {
			return err
		}
		return scan(ctx, r, query, args, func(row [][]byte) error {
			id := string(row[0])
			yield(mapdata.Stored{
				ExternalID:  id,
				KeptUntil:   kept[id].Until,
				Digest:      uint64(integer(row[1])),
				FirstSeenAt: instantIn(row[2]),
				SeenAt:      instantIn(row[3]),
				Lifetime:    time.Duration(integer(row[4])) * time.Millisecond,
				AbsentSince: integer(row[5]),
				ChangedAt:   instantIn(row[6]),
				Bytes:       integer(row[7]),
				EndsAt:      instantIn(row[8]),
			})
			return nil
		})
	})
}

// Decoders of columns in the binary format; NULL becomes zero.

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
	return time.UnixMilli(integer(column)).UTC()
}

func real(column []byte) float64 { return math.Float64frombits(uint64(integer(column))) }

// readEntity decodes a row of store.EntityColumns in the binary format. Properties alias the row.
func (db *DB) readEntity(e *mapdata.Entity, row [][]byte) (err error) {
	if e.Kind, err = db.Kind(string(row[1])); err != nil {
		return err
	}
	e.ExternalID = string(row[0])
	e.Point = geo.Point{Lat: real(row[2]), Lng: real(row[3])}
	e.Properties, e.Network = row[4], string(row[5])
	e.Digest = uint64(integer(row[6]))
	e.Lifetime = time.Duration(integer(row[7])) * time.Millisecond
	e.FirstSeenAt, e.SeenAt, e.ChangedAt = instantIn(row[8]), instantIn(row[9]), instantIn(row[10])
	e.AbsentSince = integer(row[11])
	e.EndsAt = instantIn(row[12])
	e.Line, err = mapdata.ParseLine(row[13])
	return err
}

// AllEntities yields every stored entity of the feeds of part number part of parts. The yielded values are valid only
// during the call. A feed always belongs to the same part, so that parts that are read at different moments never leave
// one out.
func (db *DB) AllEntities(ctx context.Context, part, parts int, yield func(*mapdata.Entity)) error {
	return db.read(ctx, "load entities", func(r *readTx) error {
		feeds, err := store.List(ctx, r, selectPart, func(r store.Row) ([]byte, error) {
			var id store.FeedID
			err := r.Scan(&id)
			return id.FeedID[:], err
		}, part, parts)
		if err != nil || len(feeds) == 0 {
			return err
		}
		var e mapdata.Entity
		return scan(ctx, r, selectEntitiesOf, []any{feeds}, func(row [][]byte) error {
			const feed = 14
			copy(e.Feed[:], row[feed])
			if err := db.readEntity(&e, row); err != nil {
				return err
			}
			yield(&e)
			return nil
		})
	})
}

// FeedEntities yields the feed's entities that have not expired at now, including those that confirms keep (D9.6), in
// the order of their external ids, at most limit. The yielded values remain valid. It yields nothing of a feed that no
// longer exists.
func (db *DB) FeedEntities(ctx context.Context, id mapdata.FeedID, now time.Time, limit int, yield func(*mapdata.Entity)) error {
	return db.read(ctx, "read entities of a feed", func(r *readTx) error {
		mark, err := store.ScanMark(r.QueryRow(ctx, store.SelectMark, id[:]))
		if err != nil {
			if errors.Is(err, pgx.ErrNoRows) {
				return nil
			}
			return err
		}
		kept, err := db.KeptEntities(ctx, r, id, now)
		if err != nil {
			return err
		}
		args := []any{id[:], store.Millis(mark.SnapshotAt), now.UnixMilli(), slices.Collect(maps.Keys(kept)), limit}
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

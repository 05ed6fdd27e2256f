package postgres

import (
	"context"
	"runtime"
	"slices"

	"wayside/internal/ground/mapdata"
)

// upsertBatch is the number of rows that one statement writes.
const upsertBatch = 5_000

const upsertEntities = `INSERT INTO entities (feed_id, external_id, kind, lat, lng, properties, network, digest, lifetime_ms,
		first_seen_at, seen_at, changed_at, absent_since, ends_at, line)
	SELECT $1::uuid, * FROM unnest($2::text[], $3::text[], $4::double precision[], $5::double precision[], $6::text[], $7::text[],
		$8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[],
		$14::bigint[], $15::bytea[])
	ON CONFLICT (feed_id, external_id) DO UPDATE SET
		kind = excluded.kind, lat = excluded.lat, lng = excluded.lng, properties = excluded.properties, network = excluded.network,
		digest = excluded.digest, lifetime_ms = excluded.lifetime_ms, first_seen_at = excluded.first_seen_at,
		seen_at = excluded.seen_at, changed_at = excluded.changed_at, absent_since = excluded.absent_since,
		ends_at = excluded.ends_at, line = excluded.line`

// columns are the rows of one statement, column by column.
type columns struct {
	externalID, kind, properties, network []string
	lat, lng                              []float64
	digest, lifetime, firstSeen, changed  []int64
	seen, absent, ends                    []*int64
	line                                  [][]byte // nil: none
}

// Upsert writes entities of a feed whose row the transaction has locked.
func (w *writeTx) Upsert(ctx context.Context, feed mapdata.FeedID, entities []*mapdata.Entity) error {
	var c columns
	for chunk := range slices.Chunk(entities, upsertBatch) {
		c.set(chunk)
		_, err := w.Exec(ctx, upsertEntities, feed[:], c.externalID, c.kind, c.lat, c.lng, c.properties, c.network,
			c.digest, c.lifetime, c.firstSeen, c.seen, c.changed, c.absent, c.ends, c.line)
		if err != nil {
			return err
		}
	}
	return nil
}

// set fills the columns, reusing their memory.
func (c *columns) set(entities []*mapdata.Entity) {
	c.externalID, c.kind, c.properties, c.network = c.externalID[:0], c.kind[:0], c.properties[:0], c.network[:0]
	c.lat, c.lng = c.lat[:0], c.lng[:0]
	c.digest, c.lifetime, c.firstSeen, c.changed = c.digest[:0], c.lifetime[:0], c.firstSeen[:0], c.changed[:0]
	c.seen, c.absent, c.ends, c.line = c.seen[:0], c.absent[:0], c.ends[:0], c.line[:0]
	for i, e := range entities {
		c.externalID, c.kind = append(c.externalID, e.ExternalID), append(c.kind, e.Kind.ID())
		c.lat, c.lng = append(c.lat, e.Point.Lat), append(c.lng, e.Point.Lng)
		c.properties, c.network = append(c.properties, string(e.Properties)), append(c.network, e.Network)
		c.digest, c.lifetime = append(c.digest, int64(e.Digest)), append(c.lifetime, e.Lifetime.Milliseconds())
		c.firstSeen, c.changed = append(c.firstSeen, e.FirstSeenAt.UnixMilli()), append(c.changed, e.ChangedAt.UnixMilli())
		c.seen, c.absent, c.ends = append(c.seen, nil), append(c.absent, nil), append(c.ends, nil)
		c.line = append(c.line, mapdata.AppendLine(nil, e.Line))
		if !e.SeenAt.IsZero() {
			ms := e.SeenAt.UnixMilli()
			c.seen[i] = &ms
		}
		if e.AbsentSince != 0 {
			c.absent[i] = &e.AbsentSince
		}
		if !e.EndsAt.IsZero() {
			ms := e.EndsAt.UnixMilli()
			c.ends[i] = &ms
		}
		if i%yieldEvery == 0 {
			runtime.Gosched() // readers' requests are short
		}
	}
}

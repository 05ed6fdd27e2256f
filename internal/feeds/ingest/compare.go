package ingest

import (
	"encoding/binary"
	"math"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"wayside/internal/ground/mapdata"
)

// digest returns a hash of the content of a row. It is stored, so that another way to compute it would make every row count as changed
// once.
func digest(row *Row, lifetime time.Duration) uint64 {
	var d xxhash.Digest
	d.Reset()
	var numbers [24]byte
	binary.LittleEndian.PutUint64(numbers[0:], math.Float64bits(row.Point.Lat))
	binary.LittleEndian.PutUint64(numbers[8:], math.Float64bits(row.Point.Lng))
	binary.LittleEndian.PutUint64(numbers[16:], uint64(lifetime.Milliseconds()))
	_, _ = d.Write(numbers[:]) // a hash never fails
	_, _ = d.WriteString(row.Kind.ID())
	_, _ = d.Write([]byte{0})
	_, _ = d.Write(row.Properties)
	digestBeside(&d, &row.Beside)
	return d.Sum64()
}

// Separators before line and end in a digest. A row without either has the same digest as before lines and ends were added.
const (
	digestOfLine = 1
	digestOfEnd  = 2
)

func digestBeside(d *xxhash.Digest, b *Beside) {
	if b.Line != nil {
		position := [1 + 16]byte{digestOfLine}
		for _, p := range b.Line {
			binary.LittleEndian.PutUint64(position[1:], math.Float64bits(p.Lng))
			binary.LittleEndian.PutUint64(position[9:], math.Float64bits(p.Lat))
			_, _ = d.Write(position[:])
		}
	}
	if !b.EndsAt.IsZero() {
		end := [1 + 8]byte{digestOfEnd}
		binary.LittleEndian.PutUint64(end[1:], uint64(b.EndsAt.Unix()))
		_, _ = d.Write(end[:])
	}
}

// upsert returns the entity of a row; alive is the stored state under its external id, or nil if there is none or it had expired by then,
// which is equivalent (D3.6).
func upsert(feed mapdata.FeedID, row *Row, alive *mapdata.Stored, now time.Time) mapdata.Entity {
	lifetime := row.Kind.Lifetime(row.TTL)
	e := mapdata.Entity{
		Feed: feed, ExternalID: row.ExternalID, Kind: row.Kind, Point: row.Point,
		Properties: row.Properties, Network: row.Network, Digest: digest(row, lifetime), Lifetime: lifetime,
		Line: row.Line, EndsAt: row.EndsAt, FirstSeenAt: now, SeenAt: now, ChangedAt: now,
	}
	if !row.ObservedAt.IsZero() && row.ObservedAt.Before(now) {
		e.FirstSeenAt = row.ObservedAt // D3.5
	}
	if alive == nil {
		return e
	}
	e.FirstSeenAt = alive.FirstSeenAt
	if alive.Digest == e.Digest {
		e.ChangedAt = alive.ChangedAt
	}
	return e
}

// Entity returns the entity of a live incident's row at now. It belongs to no feed. FirstSeenAt is zero where the row does not state when
// the incident was observed, or names a future time (D3.5).
func (r *Row) Entity(now time.Time) mapdata.Entity {
	e := upsert(mapdata.FeedID{}, r, nil, now)
	if r.ObservedAt.IsZero() || !r.ObservedAt.Before(now) {
		e.FirstSeenAt = time.Time{}
	}
	return e
}

// ifAlive returns s if it had not expired at now, otherwise nil.
func ifAlive(s *mapdata.Stored, snapshotAt, now time.Time) *mapdata.Stored {
	if s == nil || !s.Alive(snapshotAt, now) {
		return nil
	}
	return s
}

// compareBatch builds the change of a push from the stored state of its external ids. It returns the rows for which there is no room;
// allowed has counted the others. Entities that the batch retires or shrinks make room for all of its rows.
func compareBatch(
	feed mapdata.FeedID, rows []batchRow, allowed *allowance, stored map[string]*mapdata.Stored, now time.Time,
) (c *mapdata.Change, full []*RowError) {
	mark := allowed.mark
	c = &mapdata.Change{Feed: feed, Base: mark.EntitiesRevision, At: now}
	var growing []int // indexes of upserts that need room, and then of their rows
	for i := range rows {
		row := &rows[i].Row
		old := stored[row.ExternalID]
		if row.Retire {
			if old != nil {
				c.Retired = append(c.Retired, row.ExternalID)
				allowed.retire(old)
			}
			continue
		}
		alive := ifAlive(old, mark.SnapshotAt, now)
		e := upsert(feed, row, alive, now)
		if alive != nil && alive.Digest == e.Digest {
			c.Touched = append(c.Touched, row.ExternalID)
			continue
		}
		if by := growth(&e, old); frees(by) {
			allowed.admit(by)
		} else {
			growing = append(growing, len(c.Upserts), i)
		}
		c.Upserts = append(c.Upserts, e)
	}
	for n := 0; n < len(growing); n += 2 {
		e, row := &c.Upserts[growing[n]], &rows[growing[n+1]]
		if !allowed.admit(growth(e, stored[e.ExternalID])) {
			full = append(full, allowed.full(row.index, row.ExternalID))
			e.ExternalID = ""
		}
	}
	if full != nil {
		c.Upserts = slices.DeleteFunc(c.Upserts, func(e mapdata.Entity) bool { return e.ExternalID == "" })
	}
	return c, full
}

package index

import (
	"slices"
	"time"

	"wayside/internal/ground/mapdata"
)

// maxCompacted bounds the segments whose slots one change moves.
const maxCompacted = 2

// compacted counts the removals and additions of a change that compaction made, which readers do not see.
type compacted struct{ removed, added int }

// compact moves the entities out of segments most of whose slots are dead, so that memory is proportional to the
// entities held, not to those written. It runs before everything else in a change.
func (c *change) compact() {
	moved := 0
	for number, seg := range c.v.segments {
		if seg == nil || uint32(number) == c.w.open || seg.deadSlots*2 <= seg.used {
			continue
		}
		if seg.deadSlots < seg.used {
			if moved == maxCompacted {
				continue
			}
			moved++
			for row := range seg.used {
				if s := &seg.slots[row]; !s.dead {
					c.relocate(ref{uint32(number), uint32(row)}, s, seg)
				}
			}
		}
		c.v.segments = slices.Clone(c.v.segments)
		c.v.segments[number] = nil
		c.freed = append(c.freed, uint32(number))
	}
	c.compacted = compacted{len(c.removed), len(c.added)}
}

// relocate copies a slot into the open segment.
func (c *change) relocate(from ref, s *slot, seg *segment) {
	c.pace.row(1)
	rec := s.record()
	to := c.write(&rec, s.text(seg))
	c.w.deleteKey(s.feed, s.externalID(seg), from, c.undo)
	c.w.setKey(c.v, s.feed, s.externalID(seg), to, c.undo)
	cell := grid.Cell(s.point(seg))
	c.removed = append(c.removed, removal{cell, from})
	moved, in := c.v.slot(to)
	c.added = append(c.added, addition{cell, moved.entry(in, to, c.v.law)})
	c.kill(s, seg)
}

// kept reports whether drivers' confirms keep the entity beyond the limit (D9.6).
func (c *change) kept(s *slot, limit int64) bool {
	number := s.tally.Load()
	return number != 0 && judge(c.v.tallies.at(number), s, limit).keptUntil > limit
}

// Sweep removes and returns the entities that had expired at the given time, and publishes the resulting version.
// Searches skip expired entities in any case; sweeping frees their memory. It reads every slot, some nanoseconds each.
func (ix *Index) Sweep(before time.Time) []mapdata.Expired {
	limit := before.UnixMilli()
	c := ix.newChange()
	c.compact()
	c.forgetWithheld(limit)
	swept := make(map[uint32]int) // places in expired, by place of the feed
	var expired []mapdata.Expired
	for number, seg := range c.v.segments {
		if seg == nil {
			continue
		}
		c.pace.row(rowsPerSegment)
		for row := range seg.used {
			s := &seg.slots[row]
			if s.dead || !s.expires() || s.expiresAt(c.v.feeds[s.feed]) > limit || c.kept(s, limit) {
				continue
			}
			at, known := swept[s.feed]
			if !known {
				at = len(expired)
				swept[s.feed] = at
				expired = append(expired, mapdata.Expired{Feed: c.v.feeds[s.feed].id})
			}
			expired[at].ExternalIDs = append(expired[at].ExternalIDs, string(s.externalID(seg)))
			c.drop(ref{uint32(number), uint32(row)})
		}
	}
	c.finish().Publish()
	return expired
}

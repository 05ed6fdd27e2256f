package index

import (
	"slices"
	"time"

	"wayside/internal/mapdata"
)

// publish makes the edit the version that searches see. It costs a copy of the bands that changed, and of the list of
// bands.
func (e *edit) publish() {
	if len(e.cells) > 0 {
		e.v.bands = slices.Clone(e.v.bands)
		changed := make(map[int32][]cell)
		for c := range e.cells {
			changed[c.band] = append(changed[c.band], c)
		}
		for number, cells := range changed {
			e.v.bands[number] = e.rebuilt(e.v.bands[number], cells)
		}
	}
	e.ix.current.Store(e.v)
}

// rebuilt merges a band with its changed cells; cells that became empty fall out, and an empty band is nil.
func (e *edit) rebuilt(old *band, changed []cell) *band {
	slices.SortFunc(changed, func(a, b cell) int { return int(a.col) - int(b.col) })
	if old == nil {
		old = new(band)
	}
	next := &band{
		cols:  make([]int32, 0, len(old.cols)+len(changed)),
		cells: make([][]entry, 0, len(old.cols)+len(changed)),
	}
	at := 0
	for _, c := range changed {
		for at < len(old.cols) && old.cols[at] < c.col {
			next.cols = append(next.cols, old.cols[at])
			next.cells = append(next.cells, old.cells[at])
			at++
		}
		if at < len(old.cols) && old.cols[at] == c.col {
			at++
		}
		if entries := e.cells[c]; len(entries) > 0 {
			next.cols = append(next.cols, c.col)
			next.cells = append(next.cells, entries)
		}
	}
	next.cols = append(next.cols, old.cols[at:]...)
	next.cells = append(next.cells, old.cells[at:]...)
	if len(next.cols) == 0 {
		return nil
	}
	return next
}

// compactAtOnce bounds the work that compaction adds to one change.
const compactAtOnce = 2

// compact moves what still lives in segments that are mostly dead, so that memory follows what is there and not what was
// written.
func (e *edit) compact() {
	moved := 0
	for number, seg := range e.v.segments {
		if seg == nil || uint32(number) == e.ix.open || seg.deadSlots*2 <= seg.used || moved == compactAtOnce {
			continue
		}
		moved++
		for row := range seg.used {
			if s := &seg.slots[row]; !s.dead {
				e.move(ref{uint32(number), uint32(row)}, s, seg)
			}
		}
		e.v.segments = slices.Clone(e.v.segments)
		e.v.segments[number] = nil
		e.ix.free = append(e.ix.free, uint32(number))
	}
}

// move copies a living slot into the open segment.
func (e *edit) move(from ref, s *slot, seg *segment) {
	text := s.text(seg)
	rec := s.record()
	to := e.openSegment(len(text))
	r := ref{e.ix.open, to.write(&rec, text)}
	e.ix.deleteKey(s.feed, s.externalID(seg), from)
	e.ix.setKey(e.v, s.feed, s.externalID(seg), r)
	entries := e.own(cellOf(s.point))
	for i := range entries {
		if entries[i].ref == from {
			entries[i].ref = r
			break
		}
	}
	s.dead = true
}

// Expired names entities of one feed that have expired.
type Expired struct {
	Feed        mapdata.FeedID
	ExternalIDs []string
}

// kept says whether drivers' confirms keep the entity beyond the limit (D9.6).
func (e *edit) kept(s *slot, limit int64) bool {
	place := s.tally.Load()
	return place != 0 && judge(e.ix.tallies.at(place), s, limit).keptUntil > limit
}

// Sweep takes out what had expired at the given time and tells what it was. Searches pass over expired entities by
// themselves; sweeping gives their memory back. It looks at every slot, some nanoseconds each.
func (ix *Index) Sweep(before time.Time) []Expired {
	limit := before.UnixMilli()
	e := ix.edit()
	swept := make(map[uint32]int)
	var out []Expired
	for number, seg := range e.v.segments {
		if seg == nil {
			continue
		}
		for row := range seg.used {
			s := &seg.slots[row]
			if s.dead || s.lifetime == 0 || s.expiresAt(e.v.feeds[s.feed]) > limit || e.kept(s, limit) {
				continue
			}
			at, known := swept[s.feed]
			if !known {
				at = len(out)
				swept[s.feed] = at
				out = append(out, Expired{Feed: e.v.feeds[s.feed].id})
			}
			out[at].ExternalIDs = append(out[at].ExternalIDs, string(s.externalID(seg)))
			e.drop(ref{uint32(number), uint32(row)})
		}
	}
	if len(out) > 0 {
		e.compact()
		e.publish()
	}
	return out
}

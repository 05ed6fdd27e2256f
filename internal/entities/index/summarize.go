package index

import (
	"maps"
	"slices"

	"wayside/internal/entities/law"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// spot returns the entity as overviews count it: where a law hides its exact position, in the middle of its zone.
func (e *entry) spot(s *slot, seg *segment) spot {
	p := spot{at: e.shownAt(s, seg), feed: e.feed, kind: e.kind}
	if mapdata.Kind(e.kind).Charger() && s.network != 0 {
		p.network = shortNetwork(s.network)
	}
	if s.lifetime != 0 {
		p.flags |= decaying
	}
	if e.hidden {
		p.flags |= hidden
	}
	return p
}

// shortNetwork shortens the hash of a network's name.
func shortNetwork(hash uint64) uint32 { return max(1, uint32(hash>>32)) }

// shownAt returns the position at which readers to whom the law applies see the entity.
func (e *entry) shownAt(s *slot, seg *segment) geo.Mercator {
	if e.zone == 0 {
		return e.at.Mercator()
	}
	return law.Middle(s.point(seg), float64(e.zone)).Vector().Mercator()
}

// summarize applies the change to the summaries. It runs before mergeCells, which reorders the lists.
func (c *change) summarize() {
	removed, added := c.removed[c.compacted.removed:], c.added[c.compacted.added:]
	rows := make([]row, 0, min(batchRows, len(removed)+len(added)))
	take := func(e *entry, s *slot, seg *segment, by int32) {
		c.pace.row(1)
		p := e.spot(s, seg)
		if rows = append(rows, p.row(by)); len(rows) == batchRows {
			c.v.summaries.add(rows, &c.pace)
			rows = rows[:0]
		}
	}
	for i := range removed {
		s, seg := c.v.slot(removed[i].ref)
		e := s.entry(seg, removed[i].ref, c.v.law)
		take(&e, s, seg, -1)
	}
	for i := range added {
		s, seg := c.v.slot(added[i].entry.ref)
		take(&added[i].entry, s, seg, 1)
	}
	c.v.summaries.add(rows, &c.pace)
}

// summarize adds one entity of a load.
func (m *merge) summarize(s *slot, seg *segment, e *entry) {
	p := e.spot(s, seg)
	if m.rows = append(m.rows, p.row(1)); len(m.rows) == batchRows {
		m.endBatch()
	}
}

func (m *merge) endBatch() {
	finest := &m.v.summaries[len(summaryLevels)-1]
	*finest = finest.with(combine(m.rows), &m.pace)
	m.rows = m.rows[:0]
}

// endSummaries sums up the coarser levels.
func (m *merge) endSummaries() {
	m.endBatch()
	m.rows = nil
	m.v.summaries.fillCoarser(&m.pace)
}

// withheld is an entity that votes or a curator hide until a time. There are few: an overview subtracts each from the
// counts of the summaries.
type withheld struct {
	ref   ref
	until int64 // milliseconds since 1970
	spot  spot
	waits bool // a report that its author alone reads: it counts for nobody
}

// withhold updates the list of withheld entities: those whose votes changed, and those with votes that were added,
// moved or removed.
func (c *change) withhold() {
	next := make(map[ref]withheld, len(c.v.withheld))
	for _, w := range c.v.withheld {
		next[w.ref] = w
	}
	judge := func(e *entry, number uint32) {
		s, seg := c.v.slot(e.ref)
		if end, withholds := returnOf(s, seg, c.tally(number)); withholds {
			next[e.ref] = withheld{e.ref, milli(end.At), e.spot(s, seg), c.tally(number).Waits()}
		} else {
			delete(next, e.ref)
		}
	}
	for i := range c.added {
		e := &c.added[i].entry
		if s, _ := c.v.slot(e.ref); s.tally.Load() != 0 {
			judge(e, s.tally.Load())
		}
	}
	for i := range c.moves.votes {
		s, seg := c.v.slot(c.moves.votes[i].ref)
		e := s.entry(seg, c.moves.votes[i].ref, c.v.law)
		judge(&e, c.moves.votes[i].number)
	}
	if len(next) == 0 {
		c.v.withheld = nil
		return
	}
	for i := range c.removed {
		delete(next, c.removed[i].ref)
	}
	c.v.withheld = slices.Collect(maps.Values(next))
}

// forgetWithheld removes entities that are no longer withheld.
func (c *change) forgetWithheld(now int64) {
	c.v.withheld = slices.DeleteFunc(slices.Clone(c.v.withheld), func(w withheld) bool { return w.until <= now })
}

// waiting returns the reports that wait, as rows of one of the summaries, sorted.
func (v *version) waiting(summary int) []row {
	var rows []row
	for k := range v.withheld {
		if !v.withheld[k].waits {
			continue
		}
		r := v.withheld[k].spot.row(1)
		for i := len(summaryLevels) - 1; i > summary; i-- {
			r = r.coarser(i)
		}
		rows = append(rows, r)
	}
	return combine(rows)
}

// allIn reports whether all entities of a summary's row are among those of sorted rows.
func allIn(rows []row, r *row) bool {
	at, found := slices.BinarySearchFunc(rows, r, func(a row, b *row) int { return a.compare(b) })
	return found && rows[at].count >= r.count
}

// waits returns the set of reports that wait.
func (v *version) waits() map[ref]bool {
	var waits map[ref]bool
	for k := range v.withheld {
		if w := &v.withheld[k]; w.waits {
			if waits == nil {
				waits = make(map[ref]bool)
			}
			waits[w.ref] = true
		}
	}
	return waits
}

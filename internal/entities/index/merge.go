package index

import (
	"slices"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// merge copies the slots of a load's runs in the order of their cells, so that entities near each other on the globe
// are near each other in memory, where a search reads them. It reuses a segment once all of its slots are copied, so
// that the merge takes little more memory than its result.
type merge struct {
	v    *version
	w    *writer
	pace pace

	runs    []cursor    // a heap: the first run is the one whose next entity comes first
	sources []*segment  // by number
	left    []int       // by number: slots that are not copied yet
	empty   []*segment  // copied, to be reused
	open    *segment    // the last of the result; nil: none
	entries []entry     // of the current band
	cells   []cellStart // of these entries
	band    int32
	rows    []row // to be summed up
}

// cursor is the progress of the merge in a run.
type cursor struct {
	next ref
	left int
	at   position // of the next entity
}

// cellStart is the index at which a cell's entries begin.
type cellStart struct {
	column int32
	from   int
}

// start takes the runs over from the parts.
func (m *merge) start(parts []*Part) {
	for _, p := range parts {
		base := uint32(len(m.sources))
		m.sources = append(m.sources, p.segments...)
		for _, r := range p.runs {
			c := cursor{next: ref{base + r.first.segment, r.first.row}, left: r.count}
			c.at = m.position(c.next)
			m.runs = append(m.runs, c)
		}
		p.segments, p.runs = nil, nil
	}
	for _, seg := range m.sources {
		m.left = append(m.left, seg.used)
	}
	for i := len(m.runs)/2 - 1; i >= 0; i-- {
		m.sink(i)
	}
}

// position returns the position of a slot of the sources.
func (m *merge) position(r ref) position {
	seg := m.sources[r.segment]
	return positionOf(seg.slots[r.row].point(seg))
}

// sink moves a run down the heap to its place.
func (m *merge) sink(i int) {
	for {
		first := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(m.runs); child++ {
			if m.runs[child].at.compare(m.runs[first].at) < 0 {
				first = child
			}
		}
		if first == i {
			return
		}
		m.runs[i], m.runs[first] = m.runs[first], m.runs[i]
		i = first
	}
}

// next takes the next entity of all runs, and reports whether there was one.
func (m *merge) next() bool {
	if len(m.runs) == 0 {
		return false
	}
	c := &m.runs[0]
	r, at := c.next, c.at
	if c.left--; c.left == 0 {
		last := len(m.runs) - 1
		m.runs[0], m.runs = m.runs[last], m.runs[:last]
	} else {
		if c.next.row++; int(c.next.row) == m.sources[c.next.segment].used {
			c.next = ref{segment: c.next.segment + 1}
		}
		c.at = m.position(c.next)
	}
	m.sink(0)
	m.take(r, at.cell)
	return true
}

// take copies an entity's slot and adds the entity to its cell and the tables.
func (m *merge) take(from ref, cell geo.Cell) {
	source := m.sources[from.segment]
	old := &source.slots[from.row]
	text, rec := old.text(source), old.record()
	if m.open == nil || !m.open.fits(len(text)) {
		m.open = m.segment(len(text))
		m.v.segments = append(m.v.segments, m.open)
	}
	seg := m.open
	r := ref{uint32(len(m.v.segments) - 1), seg.write(&rec, text)}
	if m.left[from.segment]--; m.left[from.segment] == 0 {
		m.empty = append(m.empty, source)
		m.sources[from.segment] = nil
	}
	s := &seg.slots[r.row]
	e := s.entry(seg, r, m.v.law)
	m.enter(cell, e)
	m.summarize(s, seg, &e)
	m.w.setKey(m.v, s.feed, s.externalID(seg), r, nil)
	m.v.coverage.add(s.feed, regions.Cell(s.point(seg)))
	m.v.entities++
	if f := m.v.feeds[s.feed]; s.lifetime == 0 {
		f.persistent.Add(1)
	} else {
		f.decaying.Add(1)
	}
}

// segment returns an empty segment with room for the given bytes of text.
func (m *merge) segment(text int) *segment {
	n := len(m.empty)
	if n == 0 || len(m.empty[n-1].text) < text {
		return newSegment(text, m.open)
	}
	seg := m.empty[n-1]
	m.empty = m.empty[:n-1]
	seg.used, seg.textUsed = 0, 0
	return seg
}

// enter appends an entry to the current band.
func (m *merge) enter(cell geo.Cell, e entry) {
	if cell.Band != m.band {
		m.endBand()
		m.band = cell.Band
	}
	if n := len(m.cells); n == 0 || m.cells[n-1].column != cell.Column {
		m.cells = append(m.cells, cellStart{cell.Column, len(m.entries)})
	}
	m.entries = append(m.entries, e)
}

// endBand makes a band of the current entries; its cells share one array.
func (m *merge) endBand() {
	if len(m.entries) == 0 {
		return
	}
	entries := slices.Clone(m.entries)
	b := &band{columns: make([]int32, 0, len(m.cells)), cells: make([][]entry, 0, len(m.cells))}
	for i, c := range m.cells {
		to := len(entries)
		if i+1 < len(m.cells) {
			to = m.cells[i+1].from
		}
		b.add(c.column, entries[c.from:to:to])
	}
	m.v.bands[m.band] = b
	m.entries, m.cells = m.entries[:0], m.cells[:0]
}

// vote assigns votes to their entities, and returns when the votes cease to hide each. Votes on absent entities are
// kept, because an entity may come back while they count.
func (m *merge) vote(votes []mapdata.Tally) []mapdata.Return {
	var returns []mapdata.Return
	for i := range votes {
		t := &votes[i]
		id, ok := t.Source.FeedID()
		place, known := m.v.places[id]
		if !ok || !known {
			continue
		}
		externalID := []byte(t.ExternalID)
		number := m.w.addVote(id, externalID, nil)
		m.v.tallies.set(number, t)
		r, held := m.w.find(m.v, place, externalID)
		if !held {
			continue
		}
		s, seg := m.v.slot(r)
		s.tally.Store(number)
		if end, hidden := returnOf(s, seg, t); hidden {
			returns = append(returns, end)
			e := s.entry(seg, r, m.v.law)
			m.v.withheld = append(m.v.withheld, withheld{r, milli(end.At), e.spot(s, seg), t.Waits()})
		}
	}
	return returns
}

package index

import (
	"slices"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
)

// merge writes the slots of a load's runs anew, in the order of their cells: entities near each other on the globe then lie
// near each other in memory, where a search reads them. A segment of which every slot was copied is written next, so that
// the merge takes little more memory than its result.
type merge struct {
	v    *version
	w    *writer
	pace pace

	runs    []cursor    // a heap: the run whose next entity comes first of all is the first
	sources []*segment  // by number
	left    []int       // by number: slots that are not copied yet
	empty   []*segment  // copied, to be written again
	open    *segment    // the last of the result; nil: none
	entries []entry     // of the band at hand
	cells   []cellStart // of these entries
	band    int32
	rows    []row // to be summed up
}

// cursor is where the merge stands in a run.
type cursor struct {
	next ref
	left int
	at   position // of the next entity
}

// cellStart is where a cell's entries begin.
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

// position is that of a slot of the sources.
func (m *merge) position(r ref) position {
	seg := m.sources[r.segment]
	return positionOf(seg.slots[r.row].point(seg))
}

// sink moves a run down the heap to where its next entity belongs.
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

// next takes over the next entity of all, and says whether there was one.
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

// take copies an entity's slot and enters it into its cell and the tables.
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

// segment gives an empty segment with room for so many bytes of text.
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

// enter puts an entry behind those of its band.
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

// endBand makes a band of the entries at hand; its cells share one array.
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

// vote gives entities their votes, and tells when those that hide one end. Votes on entities that are not there are kept:
// an entity may come back while they count.
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

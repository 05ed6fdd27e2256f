package index

import (
	"cmp"
	"slices"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// Loader builds a version from nothing, several parts in parallel. The index answers from its current version in the
// meantime.
type Loader struct {
	ix    *Index
	v     *version
	parts []*Part
}

// Part takes the entities of one part; it is for one goroutine.
type Part struct {
	ix       *Index
	v        *version // its feeds
	pace     pace
	segments []*segment
	open     *segment // the last of them; nil: none
	runs     []run

	waiting []waiting // to be written in the order of their cells
	order   []ordered // of these
	text    []byte    // of these
}

// run is a sequence of entities in the order of their cells, in consecutive slots.
type run struct {
	first ref
	count int
}

// position is the sort key of an entity in the order of cells.
type position struct {
	cell geo.Cell
	lat  float64
}

func positionOf(p geo.Point) position { return position{grid.Cell(p), p.Lat} }

func (p position) compare(o position) int {
	return cmp.Or(p.cell.Compare(o.cell), cmp.Compare(p.lat, o.lat))
}

// waiting is an entity that has not been given a slot yet.
type waiting struct {
	record     record
	start, end int // of its text
}

// ordered is the position of a waiting entity, because sorting these moves less memory.
type ordered struct {
	position
	waiting int
}

// runSize is the number of entities that are sorted by cell in one run. Stage merges the runs and frees their segments
// one by one.
const runSize = 1 << 16

// Load begins to build a version from nothing, from feeds and the entities that the given number of parts take. A load
// that is never staged leaves the index unchanged.
func (ix *Index) Load(feeds []*mapdata.Feed, parts int) *Loader {
	v := &version{
		places: make(map[mapdata.FeedID]uint32, len(feeds)), bands: make([]*band, grid.Bands()),
		coverage: newCoverage(), tallies: new(tallies), law: ix.law.Load(),
	}
	for _, f := range feeds {
		place := uint32(len(v.feeds))
		made := newFeed(f)
		v.feeds = append(v.feeds, made)
		v.places[f.ID] = place
		if v.served = v.served.with(place); !made.served {
			v.served.without(place)
		}
		v.setLapsing(place)
	}
	l := &Loader{ix: ix, v: v}
	for range parts {
		l.parts = append(l.parts, &Part{v: v, ix: ix})
	}
	return l
}

// Part returns part i.
func (l *Loader) Part(i int) *Part { return l.parts[i] }

// Add takes an entity. It leaves out an entity whose feed is not among those loaded, because that feed was registered
// later and comes with the following changes.
func (p *Part) Add(ent *mapdata.Entity) {
	place, ok := p.v.places[ent.Feed]
	if !ok {
		return
	}
	p.pace.row(1)
	start := len(p.text)
	p.text = p.ix.encode(appendText(p.text, ent), ent)
	p.order = append(p.order, ordered{positionOf(ent.Point), len(p.waiting)})
	p.waiting = append(p.waiting, waiting{p.ix.recordOf(place, ent), start, len(p.text)})
	if len(p.waiting) == runSize {
		p.flush()
	}
}

// flush assigns slots to the waiting entities.
func (p *Part) flush() {
	if len(p.waiting) == 0 {
		return
	}
	slices.SortFunc(p.order, func(a, b ordered) int { return a.compare(b.position) })
	for i, o := range p.order {
		p.pace.row(1)
		w := &p.waiting[o.waiting]
		text := p.text[w.start:w.end]
		if p.open == nil || !p.open.fits(len(text)) {
			p.open = newSegment(len(text), p.open)
			p.segments = append(p.segments, p.open)
		}
		row := p.open.write(&w.record, text)
		if i == 0 {
			p.runs = append(p.runs, run{ref{uint32(len(p.segments) - 1), row}, len(p.order)})
		}
	}
	p.waiting, p.order, p.text = p.waiting[:0], p.order[:0], p.text[:0]
}

// Stage builds the version of the entities that the parts took, with the votes on them. Searches do not see it until it
// is published. Nothing may be added afterwards.
func (l *Loader) Stage(votes []mapdata.Tally) *Staged {
	ix, v := l.ix, l.v
	ix.dropStaged()
	m := &merge{v: v, w: newWriter(ix.seed, l.take())}
	m.start(l.parts)
	l.parts = nil
	for m.next() {
		m.pace.row(1)
	}
	m.endBand()
	m.endSummaries()
	if len(v.segments) == 0 {
		v.segments = append(v.segments, newSegment(0, nil))
	}
	m.w.open = uint32(len(v.segments) - 1)
	s := &Staged{ix: ix, version: v, writer: m.w, touched: mapdata.Touched{Everywhere: true, Returns: m.vote(votes)}}
	ix.staged = s
	return s
}

// Finish stages the entities of the parts and publishes the version.
func (l *Loader) Finish(votes []mapdata.Tally) mapdata.Touched { return l.Stage(votes).Publish() }

// take ends the parts' work and returns the number of entities that they took.
func (l *Loader) take() int {
	total := 0
	for _, p := range l.parts {
		p.flush()
		p.waiting, p.order, p.text = nil, nil, nil
		for _, run := range p.runs {
			total += run.count
		}
	}
	return total
}

package index

import (
	"cmp"
	"slices"

	"wayside/internal/mapdata"
)

// Loader fills an index from nothing, several parts at once.
type Loader struct {
	ix    *Index
	feeds *version // feeds and their places
	parts []*Part
}

// Part takes the entities of one part; it is for one goroutine.
type Part struct {
	feeds    *version
	ix       *Index
	segments []*segment
	placed   []placed

	waiting []waiting // to be written in the order of their cells
	text    []byte    // theirs
}

type placed struct {
	cell cell
	entry
}

// waiting is an entity that has not been given a slot yet.
type waiting struct {
	cell       cell
	record     record
	start, end int // of its text
}

// writeAtOnce is how many entities are given slots in the order of their cells as they come, so that Finish, which puts all
// of them into that order, is done with one segment after the other.
const writeAtOnce = 1 << 16

// Load begins to fill the index anew with so many parts. Searches see what was there before until Finish.
func (ix *Index) Load(feeds []*mapdata.Feed, parts int) *Loader {
	v := &version{
		places:  make(map[mapdata.FeedID]uint32, len(feeds)),
		trodden: &footprint{regions: make(map[int32]bitset)},
	}
	for _, f := range feeds {
		fs := &feedSlot{id: f.ID, source: f.ID.Source(), layer: f.Layer.Slug, served: f.Served()}
		fs.snapshotAt.Store(milli(f.SnapshotAt))
		place := uint32(len(v.feeds))
		v.feeds = append(v.feeds, fs)
		v.places[f.ID] = place
		v.served = v.served.with(place)
		if !fs.served {
			v.served[place>>6] &^= 1 << (place & 63)
		}
	}
	l := &Loader{ix: ix, feeds: v}
	for range parts {
		l.parts = append(l.parts, &Part{feeds: v, ix: ix})
	}
	return l
}

// Part gives one of the parts.
func (l *Loader) Part(i int) *Part { return l.parts[i] }

// Add takes an entity. One whose feed is not among those loaded is left out: it was registered since, and comes with
// the changes.
func (p *Part) Add(ent *mapdata.Entity) {
	place, ok := p.feeds.places[ent.Feed]
	if !ok {
		return
	}
	start := len(p.text)
	p.text = append(p.text, ent.ExternalID...)
	p.text = p.ix.encode(p.text, ent)
	p.waiting = append(p.waiting, waiting{cellOf(ent.Point), p.ix.recordOf(place, ent), start, len(p.text)})
	if len(p.waiting) == writeAtOnce {
		p.flush()
	}
}

// flush gives the waiting entities their slots.
func (p *Part) flush() {
	slices.SortFunc(p.waiting, func(a, b waiting) int {
		return cmp.Or(a.cell.compare(b.cell), cmp.Compare(a.record.point.Lat, b.record.point.Lat))
	})
	for i := range p.waiting {
		w := &p.waiting[i]
		text := p.text[w.start:w.end]
		last := len(p.segments) - 1
		if last < 0 || !p.segments[last].fits(len(text)) {
			p.segments = append(p.segments, newSegment(len(text)))
			last++
		}
		r := ref{uint32(last), p.segments[last].write(&w.record, text)}
		p.placed = append(p.placed, placed{w.cell, entry{at: w.record.point.Vector(), ref: r, feed: w.record.feed, kind: w.record.kind}})
	}
	p.waiting, p.text = p.waiting[:0], p.text[:0]
}

// Finish publishes what the parts took, with the votes on it, and tells what it touched: everything.
func (l *Loader) Finish(votes []mapdata.Tally) mapdata.Touched {
	ix := l.ix
	ix.reset()
	v := l.feeds
	v.tallies = ix.tallies
	v.bands = make([]*band, bandCount)
	total := 0
	for _, p := range l.parts {
		p.flush()
		p.waiting, p.text = nil, nil
		total += len(p.placed)
	}
	all := make([]placed, 0, total)
	ix.keys = make(map[uint64]ref, total)
	for _, p := range l.parts {
		base := uint32(len(v.segments))
		v.segments = append(v.segments, p.segments...)
		for i := range p.placed {
			p.placed[i].ref.seg += base
		}
		all = append(all, p.placed...)
		p.placed = nil
	}
	slices.SortFunc(all, func(a, b placed) int {
		return cmp.Or(a.cell.compare(b.cell), cmp.Compare(a.entry.at.Z, b.entry.at.Z))
	})
	v.segments = lineUp(v.segments, all)
	if len(v.segments) == 0 {
		v.segments = append(v.segments, newSegment(0))
	}
	ix.open = uint32(len(v.segments) - 1)
	for i := range all {
		r := all[i].ref
		s := &v.segments[r.seg].slots[r.row]
		ix.setKey(v, s.feed, s.externalID(v.segments[r.seg]), r)
		if region := regionOf(s.point); !v.trodden.regions[region].has(s.feed) {
			v.trodden.tread(s.feed, region)
		}
		if s.lifetime == 0 {
			v.feeds[s.feed].persistent++
		} else {
			v.feeds[s.feed].decaying++
		}
	}
	ix.entities = total
	returns := l.vote(votes)
	v.fillBands(all)
	ix.current.Store(v)
	return mapdata.Touched{Everywhere: true, Returns: returns}
}

// vote gives the slots their votes, and tells when those that hide one end.
func (l *Loader) vote(votes []mapdata.Tally) []mapdata.Return {
	e := &edit{ix: l.ix, v: l.feeds}
	for i := range votes {
		id, ok := votes[i].Source.Feed()
		if place, known := l.feeds.places[id]; ok && known {
			e.setTally(place, &votes[i])
		}
	}
	return e.returns
}

// lineUp writes the slots anew in the order of all, and turns its references to them: what lies near each other on the globe
// then lies near each other in memory, where a search reads it. A segment from which all has been taken is written next, so
// that this takes hardly more memory than there is.
func lineUp(from []*segment, all []placed) []*segment {
	left := make([]int, len(from))
	for i, seg := range from {
		left[i] = seg.used
	}
	var to, empty []*segment
	for i := range all {
		r := all[i].ref
		source := from[r.seg]
		s := &source.slots[r.row]
		text := s.text(source)
		last := len(to) - 1
		if last < 0 || !to[last].fits(len(text)) {
			to = append(to, nextSegment(&empty, len(text)))
			last++
		}
		rec := s.record()
		all[i].ref = ref{uint32(last), to[last].write(&rec, text)}
		if left[r.seg]--; left[r.seg] == 0 {
			empty = append(empty, source)
			from[r.seg] = nil
		}
	}
	return to
}

// nextSegment gives an empty segment with room for so much text: one of those that were emptied, if there is one.
func nextSegment(empty *[]*segment, text int) *segment {
	n := len(*empty)
	if n == 0 || len((*empty)[n-1].text) < text {
		return newSegment(text)
	}
	seg := (*empty)[n-1]
	*empty = (*empty)[:n-1]
	seg.used, seg.textUsed = 0, 0
	return seg
}

// fillBands puts entries, which are in the order of their cells, into cells that share one array.
func (v *version) fillBands(all []placed) {
	entries := make([]entry, len(all))
	for i := range all {
		entries[i] = all[i].entry
	}
	for from := 0; from < len(all); {
		c := all[from].cell
		to := from + 1
		for to < len(all) && all[to].cell == c {
			to++
		}
		b := v.bands[c.band]
		if b == nil {
			b = new(band)
			v.bands[c.band] = b
		}
		b.cols = append(b.cols, c.col)
		b.cells = append(b.cells, entries[from:to:to])
		from = to
	}
}

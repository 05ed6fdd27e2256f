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
	buf      []byte
	placed   []placed
}

type placed struct {
	cell cell
	entry
}

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
	p.buf = append(p.buf[:0], ent.ExternalID...)
	p.buf = p.ix.encode(p.buf, ent)
	last := len(p.segments) - 1
	if last < 0 || !p.segments[last].fits(len(p.buf)) {
		p.segments = append(p.segments, newSegment(len(p.buf)))
		last++
	}
	seg := p.segments[last]
	r := ref{uint32(last), uint32(seg.used)}
	seg.write(p.buf, ent, place, p.ix.networkHash(ent.Network))
	p.placed = append(p.placed, placed{cellOf(ent.Point), entry{at: ent.Point.Vector(), ref: r, feed: place, kind: uint8(ent.Kind)}})
}

// Finish publishes what the parts took.
func (l *Loader) Finish() {
	ix := l.ix
	ix.reset()
	v := l.feeds
	v.bands = make([]*band, bandCount)
	total := 0
	for _, p := range l.parts {
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
	v.fillBands(all)
	ix.current.Store(v)
}

// fillBands sorts entries into cells that share one array.
func (v *version) fillBands(all []placed) {
	slices.SortFunc(all, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.cell.band, b.cell.band), cmp.Compare(a.cell.col, b.cell.col))
	})
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

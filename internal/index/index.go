package index

import (
	"bytes"
	"hash/maphash"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
)

// Encoder prepares the part of an entity's wire form that only a change of its content changes. It appends to dst and
// returns it; what it reads of e is valid during the call only.
type Encoder func(dst []byte, e *mapdata.Entity) []byte

// Index answers searches and follows changes. Search is safe for any number of callers beside one writer; the methods
// that change it are for one goroutine at a time.
type Index struct {
	current  atomic.Pointer[version]
	searches sync.Pool
	seed     maphash.Seed
	encode   Encoder
	tallies  *tallies

	// The writer's own.
	keys     map[uint64]ref // by hash of feed and external id
	twins    map[string]ref // by feed and external id, where two have one hash
	open     uint32         // segment that takes the next slots
	free     []uint32       // places of segments that are gone
	buf      []byte
	entities int
}

// New makes an empty index.
func New(encode Encoder) *Index {
	ix := &Index{seed: maphash.MakeSeed(), encode: encode}
	ix.searches.New = func() any { return new(search) }
	ix.reset()
	return ix
}

func (ix *Index) reset() {
	ix.keys = make(map[uint64]ref)
	ix.twins = make(map[string]ref)
	ix.open, ix.free = 0, nil
	ix.entities = 0
	ix.tallies = newTallies()
	ix.current.Store(&version{
		tallies:  ix.tallies,
		bands:    make([]*band, bandCount),
		segments: []*segment{newSegment(0)},
		places:   make(map[mapdata.FeedID]uint32),
		trodden:  &footprint{regions: make(map[int32]bitset)},
	})
}

// Len is how many entities the index holds, expired ones included until they are swept.
func (ix *Index) Len() int { return ix.entities }

// Counts tells how many entities of a feed the index holds, by whether they expire.
func (ix *Index) Counts(id mapdata.FeedID) (persistent, decaying int) {
	v := ix.current.Load()
	if place, ok := v.places[id]; ok {
		f := v.feeds[place]
		return f.persistent, f.decaying
	}
	return 0, 0
}

// edit is the next version in the making: what it changes are copies of its own.
type edit struct {
	ix    *Index
	v     *version
	cells map[cell][]entry // changed
	added bool             // feeds or places are copies already

	ownTrodden bool // so is trodden

	areas   []geo.Circle // beside the changed cells
	returns []mapdata.Return
}

func (ix *Index) edit() *edit {
	next := *ix.current.Load()
	return &edit{ix: ix, v: &next, cells: make(map[cell][]entry)}
}

// yieldEvery is after how many entities following lets others run: searches take some microseconds each, and must not wait
// for a time slice of ten milliseconds.
const yieldEvery = 32

// Apply follows changes, in their order, publishes one new version and tells what it touched.
func (ix *Index) Apply(changes []mapdata.FeedChange) mapdata.Touched {
	e := ix.edit()
	for i := range changes {
		c := &changes[i]
		if c.FeedID.IsZero() {
			continue // votes on live incidents, which are none of the index's
		}
		if c.Feed == nil {
			e.removeFeed(c.FeedID)
			continue
		}
		place := e.setFeed(c.Feed)
		for _, id := range c.Gone {
			e.remove(place, []byte(id))
		}
		for k := range c.Entities {
			e.put(place, &c.Entities[k])
			if k%yieldEvery == 0 {
				runtime.Gosched()
			}
		}
		for k := range c.Tallies {
			e.setTally(place, &c.Tallies[k])
		}
	}
	touched := e.touched()
	e.compact()
	e.publish()
	return touched
}

// ownFeeds makes the tables of feeds the edit's own.
func (e *edit) ownFeeds() {
	if e.added {
		return
	}
	e.added = true
	e.v.feeds = slices.Clone(e.v.feeds)
	places := make(map[mapdata.FeedID]uint32, len(e.v.places)+1)
	for id, place := range e.v.places {
		places[id] = place
	}
	e.v.places = places
}

// setFeed takes over what changed of a feed and gives its place.
func (e *edit) setFeed(f *mapdata.Feed) uint32 {
	place, known := e.v.places[f.ID]
	if known {
		old := e.v.feeds[place]
		if old.layer == f.Layer.Slug && old.served == f.Served() {
			old.snapshotAt.Store(milli(f.SnapshotAt))
			return place
		}
	}
	e.ownFeeds()
	next := &feedSlot{id: f.ID, source: f.ID.Source(), layer: f.Layer.Slug, served: f.Served()}
	next.snapshotAt.Store(milli(f.SnapshotAt))
	if known {
		old := e.v.feeds[place]
		next.persistent, next.decaying = old.persistent, old.decaying
		e.v.feeds[place] = next
	} else {
		place = e.freePlace(next)
		e.v.places[f.ID] = place
	}
	e.v.served = slices.Clone(e.v.served).with(place)
	if !next.served {
		e.v.served[place>>6] &^= 1 << (place & 63)
	}
	e.touchFeed(place)
	return place
}

// freePlace puts a new feed behind the others. Places of feeds that are gone are not used again before the next load: an
// entry that still names one must not turn into another feed's.
func (e *edit) freePlace(f *feedSlot) uint32 {
	e.v.feeds = append(e.v.feeds, f)
	return uint32(len(e.v.feeds) - 1)
}

// removeFeed takes out a feed with all that it has.
func (e *edit) removeFeed(id mapdata.FeedID) {
	place, ok := e.v.places[id]
	if !ok {
		return
	}
	e.ownFeeds()
	for number, seg := range e.v.segments {
		if seg == nil {
			continue
		}
		for row := range seg.used {
			if s := &seg.slots[row]; s.feed == place && !s.dead {
				e.drop(ref{uint32(number), uint32(row)})
			}
		}
	}
	delete(e.v.places, id)
	e.v.served = slices.Clone(e.v.served)
	if int(place>>6) < len(e.v.served) {
		e.v.served[place>>6] &^= 1 << (place & 63)
	}
}

// put stores an entity as it is now.
func (e *edit) put(place uint32, ent *mapdata.Entity) {
	ix := e.ix
	ix.buf = append(ix.buf[:0], ent.ExternalID...)
	ix.buf = ix.encode(ix.buf, ent)
	old, known := e.find(place, ix.buf[:len(ent.ExternalID)])
	if known {
		if s, seg := e.slot(old); s.same(seg, ent, ix.buf, ix.networkHash(ent.Network)) {
			s.seen.Store(milli(ent.SeenAt))
			return
		}
		e.drop(old)
	}
	r := e.addSlot(place, ent)
	e.ix.setKey(e.v, place, ix.buf[:len(ent.ExternalID)], r)
	e.place(r)
}

// same says whether the entity differs from the slot in nothing but when it was last seen.
func (s *slot) same(seg *segment, ent *mapdata.Entity, text []byte, network uint64) bool {
	return s.point == ent.Point && s.kind == uint8(ent.Kind) && s.lifetime == ent.Lifetime.Milliseconds() &&
		s.firstSeen == milli(ent.FirstSeenAt) && s.changed == milli(ent.ChangedAt) && s.network == network &&
		bytes.Equal(s.text(seg), text)
}

// addSlot writes the entity, whose text lies in ix.buf, into the open segment.
func (e *edit) addSlot(place uint32, ent *mapdata.Entity) ref {
	rec := e.ix.recordOf(place, ent)
	seg := e.openSegment(len(e.ix.buf))
	return ref{e.ix.open, seg.write(&rec, e.ix.buf)}
}

// openSegment gives the segment that takes the next slot, with room for so much text.
func (e *edit) openSegment(text int) *segment {
	seg := e.v.segments[e.ix.open]
	if seg.fits(text) {
		return seg
	}
	seg = newSegment(text)
	if n := len(e.ix.free); n > 0 {
		e.ix.open, e.ix.free = e.ix.free[n-1], e.ix.free[:n-1]
		e.v.segments = slices.Clone(e.v.segments) // published versions keep what they had in this place
		e.v.segments[e.ix.open] = seg
		return seg
	}
	e.v.segments = append(e.v.segments, seg) // beyond what published versions see
	e.ix.open = uint32(len(e.v.segments) - 1)
	return seg
}

func (e *edit) slot(r ref) (*slot, *segment) {
	seg := e.v.segments[r.seg]
	return &seg.slots[r.row], seg
}

// count keeps the number of entities held, by feed and in all.
func (e *edit) count(s *slot, by int) {
	f := e.v.feeds[s.feed]
	if s.lifetime == 0 {
		f.persistent += by
	} else {
		f.decaying += by
	}
	e.ix.entities += by
}

// remove takes an entity out, if it is there.
func (e *edit) remove(place uint32, externalID []byte) {
	if r, ok := e.find(place, externalID); ok {
		e.drop(r)
	}
}

// drop takes a slot out of its cell and out of the keys.
func (e *edit) drop(r ref) {
	s, seg := e.slot(r)
	e.ix.deleteKey(s.feed, s.externalID(seg), r)
	c := cellOf(s.point)
	entries := e.own(c)
	for i := range entries {
		if entries[i].ref == r {
			e.cells[c] = slices.Delete(entries, i, i+1)
			break
		}
	}
	e.count(s, -1)
	s.dead = true
	seg.deadSlots++
}

// place puts a slot into its cell.
func (e *edit) place(r ref) {
	s, _ := e.slot(r)
	e.tread(s.feed, s.point)
	c := cellOf(s.point)
	added := entry{at: s.point.Vector(), ref: r, feed: s.feed, kind: s.kind}
	entries := e.own(c)
	e.cells[c] = slices.Insert(entries, northOf(entries, added.at.Z), added)
	if number := s.tally.Load(); number != 0 {
		e.touchVoted(s, e.ix.tallies.at(number))
	}
	e.count(s, 1)
}

// own gives the edit's copy of a cell.
func (e *edit) own(c cell) []entry {
	if entries, ok := e.cells[c]; ok {
		return entries
	}
	var old []entry
	if b := e.v.bands[c.band]; b != nil {
		if at := b.find(c.col); at < len(b.cols) && b.cols[at] == c.col {
			old = b.cells[at]
		}
	}
	entries := make([]entry, len(old), len(old)+1)
	copy(entries, old)
	e.cells[c] = entries
	return entries
}

// milli is a time in milliseconds since 1970, 0 for the zero time.
func milli(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

package index

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"wayside/internal/entities/law"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// grid is the index's grid. Cells about 2.2 km high were measured best for radii of 1 to 5 km in towns.
var grid = geo.Grid{Height: 0.02}

// Encoder encodes the part of an entity's wire form that only a change of its content changes. It appends to dst and
// returns the result; the parts of e are valid during the call only.
type Encoder func(dst []byte, e *mapdata.Entity) []byte

// Index answers searches and follows changes. Search, Around, Len and Counts are safe for any number of callers beside
// one writer. The other methods, and those of a Loader and a Staged, are for the writer, one goroutine at a time.
type Index struct {
	current  atomic.Pointer[version]
	law      atomic.Pointer[law.Law] // the law that later versions follow; nil: none
	searches sync.Pool
	seed     maphash.Seed
	encode   Encoder

	writer *writer
	staged *Staged // not published yet; nil: none
}

// New returns an empty index.
func New(encode Encoder) *Index {
	ix := &Index{seed: maphash.MakeSeed(), encode: encode}
	ix.searches.New = func() any { return new(search) }
	ix.writer = newWriter(ix.seed, 0)
	ix.current.Store(&version{
		tallies:  new(tallies),
		bands:    make([]*band, grid.Bands()),
		segments: []*segment{newSegment(0, nil)},
		places:   make(map[mapdata.FeedID]uint32),
		coverage: newCoverage(),
	})
	return ix
}

// SetLaw sets the law that overviews follow; nil: none. The next change or load applies it to the index. Until then,
// overviews under the new law leave out the kinds that either the new or the previous law concerns. Searches do not
// apply a law; callers apply it to the results. SetLaw is safe beside the writer.
func (ix *Index) SetLaw(l *law.Law) { ix.law.Store(l) }

// Len returns the number of entities that the index holds. Expired ones count until they are swept.
func (ix *Index) Len() int { return ix.current.Load().entities }

// Counts returns the numbers of entities of a feed that the index holds, by whether they expire.
func (ix *Index) Counts(id mapdata.FeedID) (persistent, decaying int) {
	v := ix.current.Load()
	place, ok := v.places[id]
	if !ok {
		return 0, 0
	}
	f := v.feeds[place]
	return int(f.persistent.Load()), int(f.decaying.Load())
}

// Apply stages changes and publishes them.
func (ix *Index) Apply(changes []mapdata.FeedChange) mapdata.Touched {
	return ix.Stage(changes).Publish()
}

// Stage builds the version that follows from changes, in their order. Searches do not see it until it is published. It
// replaces a staged version that was never published.
func (ix *Index) Stage(changes []mapdata.FeedChange) *Staged {
	c := ix.newChange()
	c.compact()
	for i := range changes {
		fc := &changes[i]
		if fc.FeedID.IsZero() {
			continue // votes on live incidents, which the index does not hold
		}
		if fc.Feed == nil {
			c.removeFeed(fc.FeedID)
			continue
		}
		place := c.setFeed(fc.Feed)
		for _, id := range fc.Gone {
			c.remove(place, []byte(id))
		}
		for k := range fc.Entities {
			c.put(place, &fc.Entities[k])
		}
		for k := range fc.Tallies {
			c.setTally(place, &fc.Tallies[k])
		}
	}
	return c.finish()
}

// milli returns a time in milliseconds since 1970, and 0 for the zero time.
func milli(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

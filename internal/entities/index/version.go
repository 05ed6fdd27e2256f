package index

import (
	"slices"
	"sync/atomic"

	"wayside/internal/entities/law"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// version is one immutable state of the index. A load numbers feeds and votes anew, so that a version's places and
// numbers are meaningless in a version of another load.
type version struct {
	bands    []*band    // by number; nil: empty
	segments []*segment // by number; nil: removed
	feeds    []*feed    // by place
	places   map[mapdata.FeedID]uint32
	served   bitset // places of the feeds that everybody may read
	lapsing  bitset // places of the feeds whose persistent entities are hidden at some time; nil: none
	coverage *coverage
	tallies  *tallies
	entities int

	law       *law.Law // of entries, summaries and withheld entities; nil: none
	summaries summaries
	withheld  []withheld // by votes or a curator, unordered
}

// cell returns the entries of a cell.
func (v *version) cell(c geo.Cell) []entry {
	b := v.bands[c.Band]
	if b == nil {
		return nil
	}
	if at := b.find(c.Column); at < len(b.columns) && b.columns[at] == c.Column {
		return b.cells[at]
	}
	return nil
}

func (v *version) slot(r ref) (*slot, *segment) {
	seg := v.segments[r.segment]
	return &seg.slots[r.row], seg
}

// band is one band of the grid: its cells that are not empty, by column.
type band struct {
	columns []int32 // ascending
	cells   [][]entry
}

// find returns the index of the first cell whose column is not below the given one.
func (b *band) find(column int32) int {
	at, _ := slices.BinarySearch(b.columns, column)
	return at
}

// add appends a cell; a cell without entries is left out.
func (b *band) add(column int32, entries []entry) {
	if len(entries) > 0 {
		b.columns = append(b.columns, column)
		b.cells = append(b.cells, entries)
	}
}

// feed is the state of a feed in the index. The atomic fields change when a version is published.
type feed struct {
	id         mapdata.FeedID
	source     mapdata.SourceID
	layer      string
	served     bool
	lapses     int64        // when its persistent entities become hidden, in milliseconds since 1970; 0: never (D4.16)
	snapshotAt atomic.Int64 // milliseconds since 1970

	persistent, decaying atomic.Int64 // number of entities held, by whether they expire
}

func newFeed(f *mapdata.Feed) *feed {
	made := &feed{id: f.ID, source: f.ID.SourceID(), layer: f.Layer.Slug, served: f.Served(), lapses: milli(f.PersistentUntil())}
	made.snapshotAt.Store(milli(f.SnapshotAt))
	return made
}

// bitset is a set of small numbers.
type bitset []uint64

func (b bitset) has(i uint32) bool { return int(i>>6) < len(b) && b[i>>6]&(1<<(i&63)) != 0 }

// with returns the set with i added, grown where needed.
func (b bitset) with(i uint32) bitset {
	for int(i>>6) >= len(b) {
		b = append(b, 0)
	}
	b[i>>6] |= 1 << (i & 63)
	return b
}

// empty reports whether the set is empty.
func (b bitset) empty() bool {
	for _, word := range b {
		if word != 0 {
			return false
		}
	}
	return true
}

// without removes i from the set in place.
func (b bitset) without(i uint32) {
	if int(i>>6) < len(b) {
		b[i>>6] &^= 1 << (i & 63)
	}
}

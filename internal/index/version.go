package index

import (
	"slices"
	"sync/atomic"

	"wayside/internal/mapdata"
)

// version is one immutable state of the index.
type version struct {
	bands    []*band // by number; nil: empty
	segments []*segment
	feeds    []*feedSlot // by place; nil: a feed that is gone
	places   map[mapdata.FeedID]uint32
	trodden  *footprint
	tallies  *tallies
	served   bitset // places of the feeds that everybody may read
}

// band is one band of latitude: its cells that are not empty, by column.
type band struct {
	cols  []int32 // ascending
	cells [][]entry
}

// find gives the place of the first cell whose column is not below col.
func (b *band) find(col int32) int {
	at, _ := slices.BinarySearch(b.cols, col)
	return at
}

// feedSlot is what the index knows of a feed.
type feedSlot struct {
	id         mapdata.FeedID
	source     mapdata.SourceID
	layer      string
	served     bool
	snapshotAt atomic.Int64 // milliseconds since 1970

	persistent, decaying int // entities held, by whether they expire: the writer's own
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

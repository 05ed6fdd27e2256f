package index_test

import (
	"fmt"
	"testing"

	"wayside/internal/entities/index"
	"wayside/internal/ground/mapdata"
)

// TestCompactionWithinOneChange compacts two segments in one change, while the open one fills up, and checks that
// entities moved out of the second do not take the slots of the first, which are removed from their cell.
func TestCompactionWithinOneChange(t *testing.T) {
	const slots, live = 4096, 1000
	ix, f := index.New(encode), feed(1, mapdata.Approved)
	var all []mapdata.Entity
	for i := range 3*slots - live - live/2 {
		all = append(all, entity(1, fmt.Sprint(i), 52.01, 4.01)) // all in one cell
	}
	ix.Apply(change(f, all...))
	c := mapdata.FeedChange{Feed: f, FeedID: f.ID}
	for _, segment := range []int{0, slots} {
		for i := live; i < slots; i++ {
			c.Gone = append(c.Gone, fmt.Sprint(segment+i))
		}
	}
	ix.Apply([]mapdata.FeedChange{c})
	ix.Apply(change(f)) // compacts
	s := around(52.01, 4.01, 100)
	s.Limit = len(all)
	if found := len(ids(ix, s)); found != ix.Len() {
		t.Errorf("a search finds %d of %d entities", found, ix.Len())
	}
}

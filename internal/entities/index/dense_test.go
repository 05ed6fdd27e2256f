//go:build !race || nightly

package index_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/entities/index"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// TestDenseCells checks that every search in a dense cell, which is searched by strips, has the result of a linear scan
// after a load and many single changes.
func TestDenseCells(t *testing.T) {
	const rows, south, west, width = 3000, 52.003, 5.003, 0.01
	rng := rand.New(rand.NewPCG(7, 8))
	f := feed(1, mapdata.Approved)
	place := func(i int) mapdata.Entity {
		return entity(1, fmt.Sprintf("e%05d", i), south+rng.Float64()*width, west+rng.Float64()*width)
	}
	ix := index.New(encode)
	alive := map[string]mapdata.Entity{}
	loader := ix.Load([]*mapdata.Feed{f}, 1)
	for i := range rows {
		e := place(i)
		alive[e.ExternalID] = e
		loader.Part(0).Add(&e)
	}
	loader.Finish(nil)
	for round := range 20 {
		var moved []mapdata.Entity
		var gone []string
		for i, number := range rng.Perm(2 * rows)[:rows/20] {
			e := place(number)
			if i%3 == 0 {
				gone = append(gone, e.ExternalID)
				delete(alive, e.ExternalID)
			} else {
				moved = append(moved, e)
				alive[e.ExternalID] = e
			}
		}
		ix.Apply([]mapdata.FeedChange{{Feed: f, FeedID: f.ID, Entities: moved, Gone: gone}})
		for range 20 {
			s := around(south+rng.Float64()*width, west+rng.Float64()*width, 1+rng.Float64()*rng.Float64()*2000)
			s.Limit = 10 * rows
			var want []string
			for id, e := range alive {
				if e.Point.Vector().ChordSquared(s.Center.Vector()) <= geo.ChordSquaredOf(s.Radius) {
					want = append(want, id)
				}
			}
			got := ids(ix, s)
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" && len(got)+len(want) > 0 {
				t.Fatalf("round %d, within %.0f m of %v: %s", round, s.Radius, s.Center, diff)
			}
		}
	}
}

// TestCrowdAtOnePoint holds that of many entities at one point a search finds those with the lowest ids, in whatever order they
// came.
func TestCrowdAtOnePoint(t *testing.T) {
	const rows = 2000
	f := feed(1, mapdata.Approved)
	ix := index.New(encode)
	loader := ix.Load([]*mapdata.Feed{f}, 1)
	var names []string
	for _, i := range rand.New(rand.NewPCG(9, 10)).Perm(rows) {
		e := entity(1, fmt.Sprintf("e%05d", i), 52, 5)
		names = append(names, e.ExternalID)
		loader.Part(0).Add(&e)
	}
	loader.Finish(nil)
	source := f.ID.SourceID()
	slices.SortFunc(names, func(a, b string) int {
		return strings.Compare(mapdata.EntityID(source, a), mapdata.EntityID(source, b))
	})
	for _, limit := range []int{1, 20, 300, rows - 1, rows} {
		s := around(52, 5, 100)
		s.Limit = limit
		if diff := cmp.Diff(names[:limit], ids(ix, s)); diff != "" {
			t.Errorf("limit %d: %s", limit, diff)
		}
		if _, more := ix.Search(s, nil); more != (limit < rows) {
			t.Errorf("limit %d: more %v", limit, more)
		}
	}
}

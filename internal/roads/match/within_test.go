package match_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/match"
)

// TestInAgreesWithLookingAtAll checks that each piece with a position in a box is yielded exactly once, also across the
// antimeridian.
func TestInAgreesWithLookingAtAll(t *testing.T) {
	for _, around := range []geo.Point{{Lat: 45, Lng: 9}, {Lat: -17, Lng: 179.99}, {Lat: 60, Lng: -180}} {
		r := rand.New(rand.NewPCG(1, 2))
		g := pieces(randomLines(r, 1000, around, 0.2)...)
		x := match.NewIndex(g)
		for range 50 {
			b := geo.Box{South: around.Lat + (r.Float64()-0.5)*0.4, West: around.Lng + (r.Float64()-0.5)*0.4}
			b.North, b.East = b.South+r.Float64()*0.1, b.West+r.Float64()*0.1
			got := slices.Sorted(x.In(b))
			if len(slices.Compact(slices.Clone(got))) != len(got) {
				t.Fatalf("%+v: twice in %v", b, got)
			}
			for piece := range g.Pieces {
				in := false
				for _, p := range g.PieceLine(uint32(piece)) {
					at := p.Point()
					in = in || b.Meets(geo.Box{South: at.Lat, North: at.Lat, West: at.Lng, East: at.Lng})
				}
				if _, found := slices.BinarySearch(got, uint32(piece)); in && !found {
					t.Fatalf("%+v: piece %d is left out", b, piece)
				}
			}
		}
		if all := slices.Sorted(x.In(geo.Box{South: -90, West: -180, North: 90, East: 180})); len(all) != len(g.Pieces) {
			t.Errorf("%d pieces on the globe, want %d", len(all), len(g.Pieces))
		}
		for range x.In(geo.Box{South: -90, West: -180, North: 90, East: 180}) {
			break
		}
	}
}

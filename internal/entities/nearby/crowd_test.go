package nearby_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"wayside/internal/entities/nearby"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// newCrowd returns a reader of hazards that several feeds say in one place: a square whose sides are width metres long.
func newCrowd(t testing.TB, rows, feeds int, width float64) *feedReader {
	t.Helper()
	w := newFeedReader(t, byte(feeds))
	random := rand.New(rand.NewPCG(1, uint64(rows)))
	said := make([][]mapdata.Entity, feeds)
	for i := range rows {
		e := entityAt(fmt.Sprintf("%06d", i), "alert.hazard", (random.Float64()-0.5)*width)
		e.Point.Lng += (random.Float64() - 0.5) * width / 68_456
		said[i%feeds] = append(said[i%feeds], e)
	}
	for n, entities := range said {
		w.put(byte(n+1), entities...)
	}
	return w
}

// crowdQuery reads what is nearest to the middle of a crowd.
func crowdQuery(limit int) *nearby.Query {
	return &nearby.Query{Center: geo.Point{Lat: 52, Lng: 5}, Radius: 5000, Kinds: mapdata.AllKinds, Limit: limit}
}

// TestReadsOfCrowdsMerge holds that reads of a crowd, with and without upstreams, show as many pins as the limit says, merged, and
// those that are nearest.
func TestReadsOfCrowdsMerge(t *testing.T) {
	const limit = 20
	for _, width := range []float64{0, 300} {
		with, without := newCrowd(t, 3000, 2, width), newCrowd(t, 3000, 2, width)
		with.Live = &fakeLive{health: mapdata.Health{Status: mapdata.Online}}
		for name, w := range map[string]*feedReader{"with upstreams": with, "without": without} {
			var a nearby.Answer
			if err := w.Near(t.Context(), crowdQuery(limit), &a); err != nil {
				t.Fatal(err)
			}
			merged := 0
			for i := range a.Hits {
				merged += len(a.Hits[i].Merged)
				if i > 0 && a.Hits[i].Compare(&a.Hits[i-1]) < 0 {
					t.Errorf("%s, within %v m: pins are out of order", name, width)
				}
			}
			if len(a.Hits) != limit || !a.Truncated || merged < limit*3/4 {
				t.Errorf("%s, within %v m: %d pins, of which %d are merged, truncated %v", name, width, len(a.Hits), merged, a.Truncated)
			}
		}
	}
}

// BenchmarkNearCrowd measures reads of 20 pins in a crowd.
func BenchmarkNearCrowd(b *testing.B) {
	for _, feeds := range []int{2, 20} {
		for _, width := range []float64{0, 100, 300, 1000} {
			for _, rows := range []int{5000, 20_000} {
				b.Run(fmt.Sprintf("feeds=%d/width=%v/rows=%d", feeds, width, rows), func(b *testing.B) {
					w := newCrowd(b, rows, feeds, width)
					var a nearby.Answer
					for b.Loop() {
						if err := w.Near(b.Context(), crowdQuery(20), &a); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

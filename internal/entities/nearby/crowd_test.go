package nearby_test

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

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

// TestReadsOfCrowdsAreFast holds that 20 000 rows of one kind in one place cost a reader 100 ms of a processor at most, and twice as
// much as half of them. The best of several runs counts, because caches are shared with others.
func TestReadsOfCrowdsAreFast(t *testing.T) {
	const (
		rows   = 20_000
		most   = slowdown * 100 * time.Millisecond
		growth = 2.2
		small  = slowdown * 10 * time.Millisecond // growth up to it is no matter: sparse places become crowds
		runs   = 5
	)
	var a nearby.Answer
	best := func(w *feedReader, limit int) time.Duration {
		least := time.Hour
		for range runs {
			began := processorTime(t)
			if err := w.Near(t.Context(), crowdQuery(limit), &a); err != nil {
				t.Fatal(err)
			}
			least = min(least, processorTime(t)-began)
		}
		return least
	}
	for _, feeds := range []int{2, 20} {
		for _, width := range []float64{0, 300} {
			half, all := newCrowd(t, rows/2, feeds, width), newCrowd(t, rows, feeds, width)
			for _, limit := range []int{20, nearby.MaxLimit} {
				before, now := best(half, limit), best(all, limit)
				t.Logf("%d feeds within %v m, limit %d: %v, half of them %v", feeds, width, limit, now, before)
				if now > most || now > max(small, time.Duration(growth*float64(before))) {
					t.Errorf("%d feeds within %v m, limit %d: a read of %d rows takes %v, of half as many %v", feeds, width, limit, rows, now, before)
				}
			}
		}
	}
}

// processorTime returns how long processors have worked for this process.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
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

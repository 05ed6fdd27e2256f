package nearby_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"wayside/internal/catalog"
	"wayside/internal/geo"
	"wayside/internal/index"
	"wayside/internal/mapdata"
	"wayside/internal/nearby"
)

// BenchmarkManyFeeds reads at rest, and while 100 of 10 000 feeds change in each second. It reports the 99th percentile.
func BenchmarkManyFeeds(b *testing.B) {
	for _, changing := range []bool{false, true} {
		b.Run(fmt.Sprintf("changing=%v", changing), func(b *testing.B) {
			w := newManyFeeds(10_000)
			b.ResetTimer()
			b.ReportMetric(float64(w.percentile99(b, b.N, changing).Nanoseconds()), "p99-ns")
		})
	}
}

// TestManyFeedsDoNotSlowReads: with 10 000 feeds of which 100 change in each second, the 99th percentile of reads is at most
// 0.2 ms more than at rest.
func TestManyFeedsDoNotSlowReads(t *testing.T) {
	const reads = 3000
	w := newManyFeeds(10_000)
	best := time.Hour
	for range 3 { // others use the machine too
		rest := w.percentile99(t, reads, false)
		moving := w.percentile99(t, reads, true)
		t.Logf("99 %% of reads: %v at rest, %v while feeds change", rest, moving)
		best = min(best, moving-rest)
	}
	if best > 200*time.Microsecond {
		t.Errorf("changes of feeds cost a read %v", best)
	}
}

// manyFeeds are public feeds all over the globe, with one entity each.
type manyFeeds struct {
	index    *index.Index
	catalog  *catalog.Catalog
	reader   *nearby.Reader
	changes  []mapdata.FeedChange
	revision int64
}

func newManyFeeds(n int) *manyFeeds {
	w := &manyFeeds{index: index.New(func(dst []byte, e *mapdata.Entity) []byte { return append(dst, e.Properties...) })}
	w.catalog = catalog.New(w.index.Counts)
	for i := range n {
		f := &mapdata.Feed{
			ID: mapdata.FeedID{1, byte(i >> 8), byte(i)}, Owner: mapdata.AccountID{byte(i), byte(i >> 8)}, Layer: mapdata.Layer{Slug: fmt.Sprint("l", i)},
			Visibility: mapdata.Public, ReviewState: mapdata.Approved, Active: true, Direction: mapdata.Push, LastPushAt: start,
		}
		w.revision++
		w.changes = append(w.changes, mapdata.FeedChange{
			Revision: w.revision, Feed: f, FeedID: f.ID, Attempts: []mapdata.Attempt{{At: start, OK: true}},
			Entities: []mapdata.Entity{{
				Feed: f.ID, ExternalID: "a", Point: geo.Point{Lat: float64(i%160) - 80, Lng: float64(i % 360)}, Properties: []byte("{}"),
				FirstSeenAt: start, SeenAt: start, ChangedAt: start,
			}},
		})
	}
	w.index.Apply(w.changes)
	w.catalog.Apply(w.changes).Publish()
	w.reader = nearby.New(nearby.Config{Index: w.index, Catalog: w.catalog, Primary: "tesla", Now: func() time.Time { return start }})
	return w
}

// percentile99 reads, and gives the time below which 99 of 100 reads are. While feeds change, one does before each tenth
// read: the reader pays for it, as it would if it were alone on its core. That is far more often than 100 in a second.
func (w *manyFeeds) percentile99(t testing.TB, reads int, changing bool) time.Duration {
	t.Helper()
	var a nearby.Answer
	q := &nearby.Query{Center: geo.Point{Lat: 0.5, Lng: 0.5}, Radius: 5000, Kinds: mapdata.AllKinds, Limit: 200}
	took := make([]time.Duration, 0, reads)
	for i := range reads {
		began := time.Now()
		if changing && i%10 == 0 {
			w.revision++
			c := w.changes[(i/10)%len(w.changes)]
			c.Revision = w.revision
			c.Attempts = []mapdata.Attempt{{At: start, OK: i%3 == 0}}
			w.index.Apply([]mapdata.FeedChange{c})
			w.catalog.Apply([]mapdata.FeedChange{c}).Publish()
		}
		if err := w.reader.Near(t.Context(), q, &a); err != nil {
			t.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[len(took)*99/100]
}

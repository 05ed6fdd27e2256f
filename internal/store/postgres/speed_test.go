package postgres_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/proof/testenv"
	"wayside/internal/store/postgres"
)

// The figures in the documentation are for a million entities; since filling the store is slow, a flag sets the number.
var millionFlag = flag.Int("entities", 1_000_000, "entities in the store of the benchmarks")

const (
	benchFeeds = 20
	benchBatch = 5_000
)

// full is a filled store, created once for all benchmarks of a run.
type full struct {
	db    *postgres.DB
	feeds []*mapdata.Feed
	each  int // entities in each feed
}

func openFull(b *testing.B) *full {
	b.Helper()
	if testing.Short() {
		b.Skip("fills a store with many entities: not with -short")
	}
	server := testenv.Postgres(b) // every commit reaches the disk
	url := server.Database(b)
	f := &full{db: open(b, url), each: *millionFlag / benchFeeds}
	for n := range benchFeeds {
		f.feeds = append(f.feeds, newFeed(b, f.db, url, byte(n+1)))
	}
	began := time.Now()
	for from := 0; from < f.each; from += benchBatch {
		for feed := range f.feeds {
			f.apply(b, f.batch(feed, from, min(benchBatch, f.each-from), 0))
		}
	}
	b.Logf("filled with %d entities, %.0f rows/s by one writer", f.each*benchFeeds, float64(f.each*benchFeeds)/time.Since(began).Seconds())
	return f
}

// batch returns entities from, from+1, … of a feed, with about 200 bytes of properties. Odd versions have other positions
// than even ones.
func (f *full) batch(feed, from, count, version int) []mapdata.Entity {
	all := make([]mapdata.Entity, count)
	for i := range all {
		n := from + i
		rng := rand.New(rand.NewPCG(uint64(n), uint64(feed+100*(version%2))))
		all[i] = entity(f.feeds[feed], fmt.Sprintf("bench:%07d", n))
		all[i].Kind = mapdata.Kind(n % mapdata.KindCount)
		all[i].Point = geo.Point{Lat: 44 + rng.Float64(), Lng: 5 + rng.Float64()}
		all[i].Digest = rng.Uint64()
		all[i].Properties = fmt.Appendf(nil, `{"street":"Street %d","city":"Town %d","maxspeed_kmh":%d,"version":%d,"note":"%s"}`,
			n%977, n%300, 30+n%10*10, version, "something that the provider has to say of this place, long enough to make two hundred bytes of it all together")
	}
	return all
}

func (f *full) apply(b *testing.B, all []mapdata.Entity) {
	feed := &mapdata.Feed{ID: all[0].Feed}
	if err := put(b.Context(), f.db, feed, all...); err != nil {
		b.Fatal(err)
	}
}

func rowsPerSecond(b *testing.B, rows int) {
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rows), "ns/row")
}

// BenchmarkStore measures the store's part of the documented figures, with fsync and synchronous commit:
// go test -run - -bench Store -benchtime 20x ./internal/store/postgres
func BenchmarkStore(b *testing.B) {
	f := openFull(b)
	for _, c := range []struct {
		name             string
		writers, version int
	}{
		{"upsert by one", 1, 2}, {"upsert by four", 4, 4}, {"upsert elsewhere by one", 1, 5}, {"upsert elsewhere by four", 4, 6},
	} {
		b.Run(c.name, func(b *testing.B) {
			var at atomic.Int64
			var writers sync.WaitGroup
			batches := make([][]mapdata.Entity, b.N)
			for i := range batches {
				batches[i] = f.batch(i%benchFeeds, i/benchFeeds*benchBatch%f.each, benchBatch, c.version)
			}
			b.ResetTimer()
			for range c.writers {
				writers.Go(func() {
					for i := at.Add(1); i <= int64(b.N); i = at.Add(1) {
						f.apply(b, batches[i-1])
					}
				})
			}
			writers.Wait()
			rowsPerSecond(b, b.N*benchBatch)
		})
	}
	b.Run("touch", func(b *testing.B) {
		for i := range b.N {
			feed := f.feeds[i%benchFeeds]
			c := &mapdata.Change{Feed: feed.ID, At: start, Attempt: mapdata.Attempt{At: start, OK: true}}
			for n := range benchBatch {
				c.Touched = append(c.Touched, fmt.Sprintf("bench:%07d", n))
			}
			mark, err := f.db.Mark(b.Context(), feed.ID)
			if err != nil {
				b.Fatal(err)
			}
			c.Base = mark.EntitiesRevision
			if err := f.db.Apply(b.Context(), c); err != nil {
				b.Fatal(err)
			}
		}
		rowsPerSecond(b, b.N*benchBatch)
	})
	b.Run("stored all", func(b *testing.B) {
		rows := 0
		for i := range b.N {
			if err := f.db.Stored(b.Context(), f.feeds[i%benchFeeds].ID, nil, func(mapdata.Stored) { rows++ }); err != nil {
				b.Fatal(err)
			}
		}
		rowsPerSecond(b, rows)
	})
	b.Run("load by two", func(b *testing.B) {
		var rows [2]int
		for range b.N {
			var both sync.WaitGroup
			for part := range rows {
				both.Go(func() {
					if err := f.db.AllEntities(b.Context(), part, len(rows), func(*mapdata.Entity) { rows[part]++ }); err != nil {
						b.Error(err)
					}
				})
			}
			both.Wait()
		}
		rowsPerSecond(b, rows[0]+rows[1])
	})
	b.Run("changes", func(b *testing.B) {
		state, err := f.db.State(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		rows := 0
		for i := range b.N {
			changes, err := f.db.Changes(b.Context(), state.Revision-20+int64(i%16), 20_000)
			if err != nil {
				b.Fatal(err)
			}
			for i := range changes {
				rows += len(changes[i].Entities)
			}
		}
		rowsPerSecond(b, rows)
	})
	b.Run("state", func(b *testing.B) {
		for range b.N {
			if _, err := f.db.State(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
}

package sqlite_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/store/sqlite"
)

// The figures in the documentation are for a million entities; since filling the store is slow, a flag sets the number.
var millionFlag = flag.Int("entities", 1_000_000, "entities in the store of the benchmarks")

const (
	benchFeeds = 20
	benchBatch = 5_000
)

var benchTime = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

// full is a filled store, created once for all benchmarks of a run.
type full struct {
	db    *sqlite.DB
	feeds []mapdata.FeedID
	each  int // entities in each feed
	rng   *rand.Rand
}

func openFull(b *testing.B) *full {
	b.Helper()
	if testing.Short() {
		b.Skip("fills a store with many entities: not with -short")
	}
	db, err := sqlite.Open(b.Context(), b.TempDir()+"/bench.db", sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	f := &full{db: db, each: *millionFlag / benchFeeds, rng: rand.New(rand.NewPCG(1, 2))}
	ctx, cancel := context.WithCancel(b.Context())
	var job sync.WaitGroup
	job.Go(func() {
		if err := db.RunCheckpoints(ctx); err != nil {
			b.Error(err)
		}
	})
	b.Cleanup(func() {
		cancel()
		job.Wait()
		if err := db.Close(); err != nil {
			b.Error(err)
		}
	})
	account, _ := mapdata.NewAccountID()
	if err := db.CreateAccount(b.Context(), &mapdata.Account{ID: account, Email: "a@example.org", CreatedAt: benchTime}); err != nil {
		b.Fatal(err)
	}
	for i := range benchFeeds {
		id, _ := mapdata.NewFeedID()
		feed := &mapdata.Feed{
			ID: id, Owner: account, Layer: mapdata.Layer{ID: id.String(), Slug: fmt.Sprint("layer-", i)},
			Direction: mapdata.Push, Active: true, PushTokenHash: id[:], CreatedAt: benchTime, UpdatedAt: benchTime,
		}
		if err := db.CreateFeed(b.Context(), feed, benchFeeds); err != nil {
			b.Fatal(err)
		}
		f.feeds = append(f.feeds, id)
		for from := 0; from < f.each; from += benchBatch {
			f.apply(b, i, f.batch(i, from, min(benchBatch, f.each-from), 0))
		}
	}
	return f
}

// batch returns entities from, from+1, … of a feed, with about 200 bytes of properties.
func (f *full) batch(feed, from, count, version int) []mapdata.Entity {
	all := make([]mapdata.Entity, count)
	for i := range all {
		n := from + i
		all[i] = mapdata.Entity{
			Feed: f.feeds[feed], ExternalID: fmt.Sprintf("bench:%07d", n), Kind: mapdata.Kind(n % mapdata.KindCount),
			Point: geo.Point{Lat: 44 + f.rng.Float64(), Lng: 5 + f.rng.Float64()},
			Properties: fmt.Appendf(nil, `{"street":"Street %d","city":"Town %d","maxspeed_kmh":%d,"version":%d,"note":"%s"}`,
				n%977, n%300, 30+n%10*10, version, "something that the provider has to say of this place, long enough to make two hundred bytes of it all together"),
			Digest: f.rng.Uint64(), FirstSeenAt: benchTime, SeenAt: benchTime, ChangedAt: benchTime, Lifetime: time.Hour,
		}
	}
	return all
}

func (f *full) change(tb testing.TB, feed int) *mapdata.Change {
	mark, err := f.db.Mark(tb.Context(), f.feeds[feed])
	if err != nil {
		tb.Fatal(err)
	}
	return &mapdata.Change{
		Feed: f.feeds[feed], Base: mark.EntitiesRevision, At: benchTime, Attempt: mapdata.Attempt{At: benchTime, OK: true},
	}
}

func (f *full) apply(tb testing.TB, feed int, upserts []mapdata.Entity) {
	c := f.change(tb, feed)
	c.Upserts = upserts
	if err := f.db.Apply(tb.Context(), c); err != nil {
		tb.Fatal(err)
	}
}

func ids(entities []mapdata.Entity) []string {
	all := make([]string, len(entities))
	for i := range entities {
		all[i] = entities[i].ExternalID
	}
	return all
}

func rowsPerSecond(b *testing.B, rows int) {
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rows), "ns/row")
}

// BenchmarkStore measures the store's part of the documented figures:
// go test -run - -bench Store -benchtime 100x ./internal/store/sqlite
func BenchmarkStore(b *testing.B) {
	f := openFull(b)
	at := 0
	next := func(version int) (feed int, entities []mapdata.Entity) {
		at++
		feed = at % benchFeeds
		return feed, f.batch(feed, at/benchFeeds*benchBatch%f.each, min(benchBatch, f.each), version)
	}
	b.Run("upsert", func(b *testing.B) {
		rows := 0
		for i := range b.N {
			b.StopTimer()
			feed, entities := next(i + 1)
			c := f.change(b, feed)
			c.Upserts = entities
			rows += len(entities)
			b.StartTimer()
			if err := f.db.Apply(b.Context(), c); err != nil {
				b.Fatal(err)
			}
		}
		rowsPerSecond(b, rows)
	})
	b.Run("upsert scattered", func(b *testing.B) {
		rows := 0
		for i := range b.N {
			b.StopTimer()
			feed := i % benchFeeds
			entities := f.batch(feed, 0, min(benchBatch, f.each), i+1)
			for j, n := range f.rng.Perm(f.each)[:len(entities)] {
				entities[j].ExternalID = fmt.Sprintf("bench:%07d", n)
			}
			c := f.change(b, feed)
			c.Upserts = entities
			rows += len(entities)
			b.StartTimer()
			if err := f.db.Apply(b.Context(), c); err != nil {
				b.Fatal(err)
			}
		}
		rowsPerSecond(b, rows)
	})
	b.Run("touch", func(b *testing.B) {
		rows := 0
		for range b.N {
			b.StopTimer()
			feed, entities := next(0)
			c := f.change(b, feed)
			c.Touched = ids(entities)
			rows += len(entities)
			b.StartTimer()
			if err := f.db.Apply(b.Context(), c); err != nil {
				b.Fatal(err)
			}
		}
		rowsPerSecond(b, rows)
	})
	b.Run("stored by ids", func(b *testing.B) {
		rows := 0
		for range b.N {
			b.StopTimer()
			feed, entities := next(0)
			wanted := ids(entities)
			b.StartTimer()
			if err := f.db.Stored(b.Context(), f.feeds[feed], wanted, func(mapdata.Stored) { rows++ }); err != nil {
				b.Fatal(err)
			}
		}
		rowsPerSecond(b, rows)
	})
	b.Run("stored all", func(b *testing.B) {
		rows := 0
		for i := range b.N {
			if err := f.db.Stored(b.Context(), f.feeds[i%benchFeeds], nil, func(mapdata.Stored) { rows++ }); err != nil {
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
	b.Run("count", func(b *testing.B) {
		rows := 0
		for i := range b.N {
			n, err := f.db.CountEntities(b.Context(), f.feeds[i%benchFeeds], benchTime)
			if err != nil {
				b.Fatal(err)
			}
			rows += n
		}
		rowsPerSecond(b, rows)
	})
	b.Run("backup", func(b *testing.B) {
		for i := range b.N {
			name := fmt.Sprintf("%s/%d.db", b.TempDir(), i)
			if err := f.db.Backup(b.Context(), name, nil); err != nil {
				b.Fatal(err)
			}
			if err := os.Remove(name); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkVotes measures voting, and the cost of votes for followers and comparisons, on a store where a tenth of a
// feed's entities have votes.
func BenchmarkVotes(b *testing.B) {
	f := openFull(b)
	at := time.Now().UTC() // confirms keep entities by the real clock
	account, _ := mapdata.NewAccountID()
	if err := f.db.CreateAccount(b.Context(), &mapdata.Account{ID: account, Email: "b@example.org", CreatedAt: at}); err != nil {
		b.Fatal(err)
	}
	all := f.batch(0, 0, f.each, 0)
	for i := range all {
		all[i].FirstSeenAt, all[i].SeenAt = at, at
	}
	f.apply(b, 0, all)
	vote := func(n int) {
		e := &all[n%(f.each/10)*10]
		_, err := f.db.CastVote(b.Context(), &mapdata.Ballot{
			Source: e.Feed.SourceID(), ExternalID: e.ExternalID, Account: account, Vote: mapdata.Confirm, At: at,
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	for n := range f.each / 10 {
		vote(n)
	}
	b.Run("cast", func(b *testing.B) {
		for n := range b.N {
			vote(n)
		}
	})
	b.Run("changes", func(b *testing.B) {
		state, err := f.db.State(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		rows := 0
		for range b.N {
			changes, err := f.db.Changes(b.Context(), state.Revision-int64(f.each/10), 20_000)
			if err != nil {
				b.Fatal(err)
			}
			rows += len(changes)
		}
		rowsPerSecond(b, rows)
	})
	b.Run("tallies", func(b *testing.B) {
		rows := 0
		for range b.N {
			if err := f.db.AllTallies(b.Context(), time.Time{}, func(*mapdata.Tally) { rows++ }); err != nil {
				b.Fatal(err)
			}
		}
		rowsPerSecond(b, rows)
	})
	for i, name := range []string{"stored all with votes", "stored all without"} {
		b.Run(name, func(b *testing.B) {
			rows := 0
			for range b.N {
				if err := f.db.Stored(b.Context(), f.feeds[i], nil, func(mapdata.Stored) { rows++ }); err != nil {
					b.Fatal(err)
				}
			}
			rowsPerSecond(b, rows)
		})
	}
}

package index_test

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/entities/index"
	"wayside/internal/ground/mapdata"
)

// disputedTally returns a tally that suppresses an entity.
func disputedTally(f *mapdata.Feed, id string) mapdata.Tally {
	return mapdata.Tally{Source: f.ID.SourceID(), ExternalID: id, Disputes: 9, LastDisputeAt: start, ChangedAt: start, LifeAt: start}
}

// stageLoad stages a load of feeds with their entities and votes.
func stageLoad(ix *index.Index, feeds []*mapdata.Feed, entities []mapdata.Entity, votes ...mapdata.Tally) *index.Staged {
	loader := ix.Load(feeds, 1)
	for i := range entities {
		loader.Part(0).Add(&entities[i])
	}
	return loader.Stage(votes)
}

// TestReloadWithOtherVotes checks a reload from a store with fewer or other votes, as after a restore: each entity has
// the votes of the store.
func TestReloadWithOtherVotes(t *testing.T) {
	f := feed(1, mapdata.Approved)
	entities := []mapdata.Entity{entity(1, "x", 52, 4), entity(1, "y", 52.01, 4)}
	for _, tt := range []struct {
		name  string
		votes []mapdata.Tally
		want  []string
	}{
		{"none", nil, []string{"x", "y"}},
		{"the same", []mapdata.Tally{disputedTally(f, "x")}, []string{"y"}},
		{"on the other one", []mapdata.Tally{disputedTally(f, "y")}, []string{"x"}},
		{"on both", []mapdata.Tally{disputedTally(f, "y"), disputedTally(f, "x")}, []string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ix := index.New(encode)
			ix.Apply([]mapdata.FeedChange{{Feed: f, FeedID: f.ID, Entities: entities, Tallies: []mapdata.Tally{disputedTally(f, "x")}}})
			stageLoad(ix, []*mapdata.Feed{f}, entities, tt.votes...).Publish()
			if diff := cmp.Diff(tt.want, ids(ix, around(52, 4, 5000))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestReloadWithoutAFeed checks a reload after a feed was deleted, so that another feed gets its number: votes on one
// feed's entity must not apply to the other feed's entity with the same external id.
func TestReloadWithoutAFeed(t *testing.T) {
	a, b := feed(1, mapdata.Approved), feed(2, mapdata.Approved)
	ofB := entity(2, "1", 52, 4)
	ix := index.New(encode)
	ix.Apply([]mapdata.FeedChange{
		{Feed: a, FeedID: a.ID, Entities: []mapdata.Entity{entity(1, "1", 52, 4)}, Tallies: []mapdata.Tally{disputedTally(a, "1")}},
		{Feed: b, FeedID: b.ID, Entities: []mapdata.Entity{ofB}},
		{FeedID: a.ID},
	})
	stageLoad(ix, []*mapdata.Feed{b}, []mapdata.Entity{ofB}).Publish()
	if diff := cmp.Diff([]string{"1"}, ids(ix, around(52, 4, 100))); diff != "" {
		t.Error(diff)
	}
	ix.Apply(votes(b, disputedTally(b, "1")))
	if got := ids(ix, around(52, 4, 100)); len(got) != 0 {
		t.Errorf("votes after the second load hide nothing: %v", got)
	}
}

// TestConcurrentReload checks that every search during a reload finds the state before or after it.
func TestConcurrentReload(t *testing.T) {
	const n = 40_000
	f := feed(1, mapdata.Approved)
	entities := make([]mapdata.Entity, n)
	for i := range entities {
		entities[i] = entity(1, fmt.Sprint(i), 40+float64(i%200)/10, float64(i/200)/10)
	}
	ix := index.New(encode)
	stageLoad(ix, []*mapdata.Feed{f}, entities, disputedTally(f, "0")).Publish()
	search := around(40, 0, 9000)
	before := ids(ix, search)
	if !slices.Equal(before, []string{"200"}) {
		t.Fatalf("found %v before", before)
	}
	after := []string{"0", "200"}
	searchDuring(ix, search, func() { stageLoad(ix, []*mapdata.Feed{f}, entities).Publish() }, func(found []string) {
		if !slices.Equal(found, before) && !slices.Equal(found, after) {
			t.Errorf("a search found %v, want %v or %v", found, before, after)
		}
	})
	if diff := cmp.Diff(after, ids(ix, search)); diff != "" {
		t.Error(diff)
	}
}

// searchDuring repeats a search during work, and passes its results to check. It returns the number of searches and their
// total duration.
func searchDuring(ix *index.Index, s *mapdata.Search, work func(), check func([]string)) (searches int, took time.Duration) {
	done := make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() {
		begin := time.Now()
		for {
			check(ids(ix, s))
			searches++
			select {
			case <-done:
				took = time.Since(begin)
				return
			default:
			}
		}
	})
	work()
	close(done)
	reader.Wait()
	return searches, took
}

// TestConcurrentCounts reads counts during changes, for the race detector.
func TestConcurrentCounts(t *testing.T) {
	ix := index.New(encode)
	f := feed(1, mapdata.Approved)
	ix.Apply(change(f, entity(1, "x", 52, 4)))
	done := make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() {
		for {
			if persistent, decaying := ix.Counts(f.ID); persistent < 0 || decaying != 0 || ix.Len() > 2 {
				t.Errorf("%d persistent and %d decaying entities of %d", persistent, decaying, ix.Len())
				return
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
	for i := range 200 {
		e := entity(1, "x", 52, 4)
		e.ChangedAt = start.Add(time.Duration(i) * time.Second)
		ix.Apply(change(f, e, entity(1, fmt.Sprint("y", i%2), 52, 4)))
		ix.Apply([]mapdata.FeedChange{{Feed: f, FeedID: f.ID, Gone: []string{"y0", "y1"}}})
	}
	close(done)
	reader.Wait()
	if persistent, decaying := ix.Counts(f.ID); persistent != 1 || decaying != 0 {
		t.Errorf("%d persistent and %d decaying entities at the end, want 1 and 0", persistent, decaying)
	}
}

// BenchmarkReload reloads a million entities with a concurrent reader. It reports the reader's speed relative to its speed
// without a load, and the peak of the live heap relative to that before.
func BenchmarkReload(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(5)) // frequent collections, so that the peak is measured
	ix, entities := loadedIndex(1_000_000)
	f := feed(1, mapdata.Approved)
	search := around(entities[1].Point.Lat, entities[1].Point.Lng, 2000)
	want := len(ids(ix, search))
	var heap []metrics.Sample
	heap = append(heap, metrics.Sample{Name: "/gc/heap/live:bytes"})
	inUse := func() uint64 {
		metrics.Read(heap)
		return heap[0].Value.Uint64()
	}
	runtime.GC()
	baseHeap := inUse()
	timer := time.NewTimer(time.Second)
	idleSearches, idleTime := searchDuring(ix, search, func() { <-timer.C }, func([]string) {})
	var peak uint64
	var searches int
	var took time.Duration
	for b.Loop() {
		n, d := searchDuring(ix, search, func() { stageLoad(ix, []*mapdata.Feed{f}, entities).Publish() }, func(found []string) {
			peak = max(peak, inUse())
			if len(found) != want {
				b.Errorf("a search found %d entities, want %d", len(found), want)
			}
		})
		searches, took = searches+n, took+d
	}
	b.ReportMetric(100*float64(searches)/took.Seconds()/(float64(idleSearches)/idleTime.Seconds()), "%reads")
	ofEntities := uint64(0) // memory of the test's own entities
	for i := range entities {
		ofEntities += uint64(unsafe.Sizeof(entities[i])) + uint64(len(entities[i].Properties)+len(entities[i].ExternalID))
	}
	b.ReportMetric(float64(baseHeap-ofEntities)/1e6, "bytes/entity")
	b.ReportMetric(float64(peak-ofEntities)/float64(baseHeap-ofEntities), "times-memory")
}

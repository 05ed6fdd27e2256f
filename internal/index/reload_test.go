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

	"wayside/internal/index"
	"wayside/internal/mapdata"
)

// hiding is a tally that hides an entity.
func hiding(f *mapdata.Feed, id string) mapdata.Tally {
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

// TestReloadWithOtherVotes loads a second time, from a store that lost votes or has others, as after a restore: each entity
// has the votes that the store has now.
func TestReloadWithOtherVotes(t *testing.T) {
	f := feed(1, mapdata.Approved)
	entities := []mapdata.Entity{entity(1, "x", 52, 4), entity(1, "y", 52.01, 4)}
	for _, tt := range []struct {
		name  string
		votes []mapdata.Tally
		want  []string
	}{
		{"none", nil, []string{"x", "y"}},
		{"the same", []mapdata.Tally{hiding(f, "x")}, []string{"y"}},
		{"on the other one", []mapdata.Tally{hiding(f, "y")}, []string{"x"}},
		{"on both", []mapdata.Tally{hiding(f, "y"), hiding(f, "x")}, []string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ix := index.New(encode)
			ix.Apply([]mapdata.FeedChange{{Feed: f, FeedID: f.ID, Entities: entities, Tallies: []mapdata.Tally{hiding(f, "x")}}})
			stageLoad(ix, []*mapdata.Feed{f}, entities, tt.votes...).Publish()
			if diff := cmp.Diff(tt.want, ids(ix, around(52, 4, 5000))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestReloadWithoutAFeed loads a second time after a feed was deleted, so that the feed behind it takes its place: the votes
// on one feed's entity must not become those on the other feed's with the same external id.
func TestReloadWithoutAFeed(t *testing.T) {
	a, b := feed(1, mapdata.Approved), feed(2, mapdata.Approved)
	ofB := entity(2, "1", 52, 4)
	ix := index.New(encode)
	ix.Apply([]mapdata.FeedChange{
		{Feed: a, FeedID: a.ID, Entities: []mapdata.Entity{entity(1, "1", 52, 4)}, Tallies: []mapdata.Tally{hiding(a, "1")}},
		{Feed: b, FeedID: b.ID, Entities: []mapdata.Entity{ofB}},
		{FeedID: a.ID},
	})
	stageLoad(ix, []*mapdata.Feed{b}, []mapdata.Entity{ofB}).Publish()
	if diff := cmp.Diff([]string{"1"}, ids(ix, around(52, 4, 100))); diff != "" {
		t.Error(diff)
	}
	ix.Apply(votes(b, hiding(b, "1")))
	if got := ids(ix, around(52, 4, 100)); len(got) != 0 {
		t.Errorf("votes after the second load hide nothing: %v", got)
	}
}

// TestSearchBesideReload searches without a pause while the index is loaded again: every search finds the state before or the
// state after, never anything else.
func TestSearchBesideReload(t *testing.T) {
	const n = 40_000
	f := feed(1, mapdata.Approved)
	entities := make([]mapdata.Entity, n)
	for i := range entities {
		entities[i] = entity(1, fmt.Sprint(i), 40+float64(i%200)/10, float64(i/200)/10)
	}
	ix := index.New(encode)
	stageLoad(ix, []*mapdata.Feed{f}, entities, hiding(f, "0")).Publish()
	search := around(40, 0, 9000)
	before := ids(ix, search)
	if !slices.Equal(before, []string{"200"}) {
		t.Fatalf("found %v before", before)
	}
	after := []string{"0", "200"}
	searchBeside(ix, search, func() { stageLoad(ix, []*mapdata.Feed{f}, entities).Publish() }, func(found []string) {
		if !slices.Equal(found, before) && !slices.Equal(found, after) {
			t.Errorf("a search found %v, want %v or %v", found, before, after)
		}
	})
	if diff := cmp.Diff(after, ids(ix, search)); diff != "" {
		t.Error(diff)
	}
}

// searchBeside repeats a search while work is done, and gives what it found to check. It tells how many searches were made
// and how long they took.
func searchBeside(ix *index.Index, s *mapdata.Search, work func(), check func([]string)) (searches int, took time.Duration) {
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

// TestCountsBesideWriter lets the race detector look at reads of counts beside changes.
func TestCountsBesideWriter(t *testing.T) {
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

// BenchmarkReload loads a million entities again, with a reader beside it. It reports the reader's speed beside that at rest
// and how many bytes are in use at the height of the load beside those at rest, as garbage collections found them.
func BenchmarkReload(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(5)) // many collections, so that one is at the height
	ix, entities := loaded(1_000_000)
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
	atRest := inUse()
	timer := time.NewTimer(time.Second)
	restSearches, restTime := searchBeside(ix, search, func() { <-timer.C }, func([]string) {})
	var peak uint64
	var searches int
	var took time.Duration
	for b.Loop() {
		n, d := searchBeside(ix, search, func() { stageLoad(ix, []*mapdata.Feed{f}, entities).Publish() }, func(found []string) {
			peak = max(peak, inUse())
			if len(found) != want {
				b.Errorf("a search found %d entities, want %d", len(found), want)
			}
		})
		searches, took = searches+n, took+d
	}
	b.ReportMetric(100*float64(searches)/took.Seconds()/(float64(restSearches)/restTime.Seconds()), "%reads")
	ofEntities := uint64(0) // what the test itself holds
	for i := range entities {
		ofEntities += uint64(unsafe.Sizeof(entities[i])) + uint64(len(entities[i].Properties)+len(entities[i].ExternalID))
	}
	b.ReportMetric(float64(atRest-ofEntities)/1e6, "bytes/entity")
	b.ReportMetric(float64(peak-ofEntities)/float64(atRest-ofEntities), "times-memory")
}

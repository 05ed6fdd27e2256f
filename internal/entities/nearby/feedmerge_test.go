package nearby_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/entities/catalog"
	"wayside/internal/entities/index"
	"wayside/internal/entities/nearby"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// namesOf lists the pins of an answer, with the entities merged into each.
func namesOf(a *nearby.Answer) []string {
	names := []string{}
	for i := range a.Hits {
		name := string(a.Hits[i].ExternalID)
		for _, m := range a.Hits[i].Merged {
			name += "+" + string(m.ExternalID)
		}
		names = append(names, name)
	}
	return names
}

// TestFeedsMergeWithoutUpstreams compares a service without upstreams with one whose upstreams have no pins: both merge
// the same alerts of two feeds (D10.1), whatever the limit, the time since, the circle and the order of sources.
func TestFeedsMergeWithoutUpstreams(t *testing.T) {
	with, _ := newCrowdedReader(t, 3000, 0)
	without, _ := newCrowdedReader(t, 3000, 0)
	without.Live = nil
	first, second := string(mapdata.FeedID{15: 1}.SourceID()), string(mapdata.FeedID{15: 2}.SourceID())
	rng := rand.New(rand.NewPCG(5, 6))
	merged := 0
	for i := range 300 {
		q := nearby.Query{
			Center: geo.Point{Lat: 52 + (rng.Float64()-0.5)*0.05, Lng: 5 + (rng.Float64()-0.5)*0.05},
			Radius: 100 + rng.Float64()*4000, Kinds: mapdata.AllKinds, Limit: 1 + rng.IntN(nearby.MaxLimit),
		}
		if i%3 == 0 {
			q.Limit = 1 + rng.IntN(30)
		}
		if i%5 == 0 {
			q.Since = start.Add(-time.Second)
		}
		var want, got, reversed nearby.Answer
		named := q
		named.Sources = []string{first, second, string(mapdata.Incidents)}
		if err := with.Near(t.Context(), &named, &want); err != nil {
			t.Fatal(err)
		}
		for answer, sources := range map[*nearby.Answer][]string{&got: nil, &reversed: {second, first}} {
			q.Sources = sources
			if err := without.Near(t.Context(), &q, answer); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(namesOf(&want), namesOf(answer)); diff != "" || answer.Truncated != want.Truncated {
				t.Fatalf("radius %.0f, limit %d, sources %v, truncated %v: %s", q.Radius, q.Limit, sources, answer.Truncated, diff)
			}
		}
		for i := range got.Hits {
			merged += len(got.Hits[i].Merged)
		}
	}
	if merged < 1000 {
		t.Errorf("only %d entities were merged: the test has no effect", merged)
	}
}

// TestMergingIsOverSelectedSources checks that entities that the read did not select hide nothing (D10.1).
func TestMergingIsOverSelectedSources(t *testing.T) {
	w := newFeedReader(t, 2)
	w.put(1, entityAt("a", "alert.accident", 0))
	w.put(2, entityAt("b", "alert.accident", 50))
	for _, tt := range []struct {
		sources []int
		want    []string
	}{
		{nil, []string{"a+b"}},
		{[]int{1}, []string{"a"}},
		{[]int{2}, []string{"b"}},
		{[]int{1, 2}, []string{"a+b"}},
		{[]int{2, 1}, []string{"a+b"}},
	} {
		var sources []string
		for _, n := range tt.sources {
			sources = append(sources, string(mapdata.FeedID{15: byte(n)}.SourceID()))
		}
		if got := w.names(t, func(q *nearby.Query) { q.Sources = sources }); !slices.Equal(got, tt.want) {
			t.Errorf("sources %v: %v, want %v", tt.sources, got, tt.want)
		}
	}
}

// TestMergingAtTheLimit checks a read of as many alerts of one feed as the limit, where another feed's entity just
// beyond is merged into the last one.
func TestMergingAtTheLimit(t *testing.T) {
	for _, tt := range []struct {
		name   string
		beyond float64 // metres from the last that is shown
		want   []string
	}{
		{"within the merge distance", 100, []string{"0", "1+other"}},
		{"too far away", 130, []string{"0", "1"}},
	} {
		w := newFeedReader(t, 2)
		w.put(1, entityAt("0", "alert.accident", 0), entityAt("1", "alert.accident", 1000), entityAt("2", "alert.accident", 3000))
		w.put(2, entityAt("other", "alert.accident", 1000+tt.beyond))
		if got := w.names(t, func(q *nearby.Query) { q.Limit = 2 }); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestSinceCoversMergedEntitiesOfFeeds checks that a pin has changed when an entity that is merged into it has (D4.3).
func TestSinceCoversMergedEntitiesOfFeeds(t *testing.T) {
	w := newFeedReader(t, 2)
	changed := entityAt("changed", "alert.accident", 50)
	changed.ChangedAt = start.Add(time.Minute)
	w.put(1, entityAt("a", "alert.accident", 0), entityAt("far", "alert.accident", 900))
	w.put(2, changed)
	if got := w.names(t, func(q *nearby.Query) { q.Since = start.Add(time.Second) }); !slices.Equal(got, []string{"a+changed"}) {
		t.Errorf("%v", got)
	}
}

// feedReader is a reader without upstreams over numbered feeds.
type feedReader struct {
	*nearby.Reader
	index *index.Index
	feeds map[byte]*mapdata.Feed
}

func newFeedReader(t testing.TB, feeds byte) *feedReader {
	t.Helper()
	w := &feedReader{index: index.New(func(dst []byte, _ *mapdata.Entity) []byte { return append(dst, 0) }), feeds: map[byte]*mapdata.Feed{}}
	catalogue := catalog.New(nil)
	for n := byte(1); n <= feeds; n++ {
		w.feeds[n] = &mapdata.Feed{
			ID: mapdata.FeedID{15: n}, Visibility: mapdata.Public, ReviewState: mapdata.Approved, Active: true, Direction: mapdata.Push,
			Layer: mapdata.Layer{Slug: fmt.Sprintf("layer-%d", n)},
		}
		catalogue.Apply([]mapdata.FeedChange{{Feed: w.feeds[n], FeedID: w.feeds[n].ID}}).Publish()
	}
	w.Reader = nearby.New(nearby.Config{Index: w.index, Catalog: catalogue, Primary: "tesla", Now: func() time.Time { return start }})
	return w
}

func (w *feedReader) put(n byte, entities ...mapdata.Entity) {
	for i := range entities {
		entities[i].Feed = w.feeds[n].ID
	}
	w.index.Apply([]mapdata.FeedChange{{Feed: w.feeds[n], FeedID: w.feeds[n].ID, Entities: entities}})
}

func (w *feedReader) names(t *testing.T, edit func(*nearby.Query)) []string {
	t.Helper()
	var a nearby.Answer
	q := &nearby.Query{Center: geo.Point{Lat: 52, Lng: 5}, Radius: 5000, Kinds: mapdata.AllKinds, Limit: 100}
	edit(q)
	if err := w.Near(t.Context(), q, &a); err != nil {
		t.Fatal(err)
	}
	return namesOf(&a)
}

// entityAt returns an entity some metres north of 52, 5.
func entityAt(id, kind string, metres float64) mapdata.Entity {
	k, ok := mapdata.ParseKind(kind)
	if !ok {
		panic(kind)
	}
	return mapdata.Entity{
		ExternalID: id, Kind: k, Point: geo.Point{Lat: 52 + metres/111_194.93, Lng: 5},
		FirstSeenAt: start, SeenAt: start, ChangedAt: start, Lifetime: time.Hour,
	}
}

// BenchmarkNearFeeds measures reads of a hundred entities without upstreams, by how many feeds have alerts.
func BenchmarkNearFeeds(b *testing.B) {
	kinds := []string{"camera.speed", "alert.construction", "camera.red_light", "alert.hazard.pothole", "camera.speed", "alert.road_closed", "camera.avg_speed", "camera.speed"}
	for _, tt := range []struct {
		name   string
		alerts byte // number of the eight feeds that have alerts
		near   bool // in pairs of two feeds, 50 m from each other
	}{{"no alerts", 0, false}, {"alerts of one feed", 1, false}, {"alerts of eight feeds", 8, false}, {"pairs", 8, true}} {
		b.Run(tt.name, func(b *testing.B) {
			w := newFeedReader(b, 8)
			rng := rand.New(rand.NewPCG(1, 2))
			for n := byte(1); n <= 8; n++ {
				var all []mapdata.Entity
				for i := range 400 {
					kind := "camera.speed"
					if n <= tt.alerts {
						kind = kinds[i%len(kinds)]
					}
					e := entityAt(fmt.Sprint(n, "-", i), kind, 0)
					e.Point.Lat += (rng.Float64() - 0.5) * 0.3
					e.Point.Lng += (rng.Float64() - 0.5) * 0.5
					if tt.near && n%2 == 0 {
						e.Point = geo.Point{Lat: 52 + float64(i%20-10)*0.015 + float64(n)*1e-4, Lng: 5 + float64(i/20-10)*0.025}
					}
					all = append(all, e)
				}
				w.put(n, all...)
			}
			var a nearby.Answer
			q := &nearby.Query{Center: geo.Point{Lat: 52, Lng: 5}, Radius: 3400, Kinds: mapdata.AllKinds, Limit: nearby.DefaultLimit}
			b.ReportAllocs()
			for b.Loop() {
				if err := w.Near(b.Context(), q, &a); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(a.Hits)), "pins")
		})
	}
}

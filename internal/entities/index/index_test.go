package index_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"wayside/internal/entities/index"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

var start = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

func encode(dst []byte, e *mapdata.Entity) []byte { return append(dst, e.Properties...) }

func feedID(n byte) mapdata.FeedID { return mapdata.FeedID{15: n} }

func feed(n byte, state mapdata.ReviewState) *mapdata.Feed {
	return &mapdata.Feed{
		ID: feedID(n), Visibility: mapdata.Public, ReviewState: state, Active: true,
		Layer: mapdata.Layer{Slug: fmt.Sprintf("layer-%d", n)}, SnapshotAt: start,
	}
}

func entity(f byte, id string, lat, lng float64) mapdata.Entity {
	kind, _ := mapdata.ParseKind("camera.speed")
	return mapdata.Entity{
		Feed: feedID(f), ExternalID: id, Kind: kind, Point: geo.Point{Lat: lat, Lng: lng},
		Properties: []byte(`{"name":"` + id + `"}`), FirstSeenAt: start, SeenAt: start, ChangedAt: start,
	}
}

func change(f *mapdata.Feed, entities ...mapdata.Entity) []mapdata.FeedChange {
	return []mapdata.FeedChange{{Feed: f, FeedID: f.ID, Entities: entities}}
}

func around(lat, lng, radius float64) *mapdata.Search {
	return &mapdata.Search{
		Center: geo.Point{Lat: lat, Lng: lng}, Radius: radius, Kinds: mapdata.AllKinds, Served: true,
		Now: start, Limit: 1000,
	}
}

func ids(ix *index.Index, s *mapdata.Search) []string {
	hits, _ := ix.Search(s, nil)
	out := []string{}
	for _, h := range hits {
		out = append(out, string(h.ExternalID))
	}
	return out
}

func TestSearchAcrossAntimeridianAndPoles(t *testing.T) {
	ix := index.New(encode)
	ix.Apply(change(feed(1, mapdata.Approved),
		entity(1, "fiji-west", -17, 179.999), entity(1, "fiji-east", -17, -179.999), entity(1, "fiji-seam", -17, 180),
		entity(1, "pole-here", 89.999, 10), entity(1, "pole-over", 89.999, -170), entity(1, "pole", 90, 0),
		entity(1, "south", -90, 77), entity(1, "south-near", -89.99, -100),
		entity(1, "zero", 0, 0), entity(1, "zero-west", 0, -0.001)))
	tests := []struct {
		name   string
		search *mapdata.Search
		want   []string
	}{
		{"antimeridian from the west", around(-17, 179.9995, 1000), []string{"fiji-seam", "fiji-west", "fiji-east"}},
		{"antimeridian from the east", around(-17, -179.9995, 1000), []string{"fiji-seam", "fiji-east", "fiji-west"}},
		{"at -180", around(-17, -180, 50), []string{"fiji-seam"}},
		{"over the pole", around(89.9995, 10, 200), []string{"pole", "pole-here", "pole-over"}},
		{"at the pole, any longitude", around(90, 123, 120), []string{"pole", "pole-here", "pole-over"}},
		{"south pole", around(-90, -5, 1200), []string{"south", "south-near"}},
		{"null island", around(0, 0.001, 500), []string{"zero", "zero-west"}},
		{"nothing", around(45, 45, 50_000), []string{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ids(ix, tt.search)
			slices.Sort(got)
			slices.Sort(tt.want)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSearchOrdersByDistanceThenID(t *testing.T) {
	ix := index.New(encode)
	ix.Apply(change(feed(1, mapdata.Approved),
		entity(1, "b", 52, 4), entity(1, "a", 52, 4), entity(1, "~", 52, 4), entity(1, "near", 52.0001, 4), entity(1, "far", 52.01, 4)))
	want := []string{"a", "b", "~", "near", "far"}
	slices.SortFunc(want[:3], func(a, b string) int {
		return compareStrings(mapdata.EntityID("feed:x", a), mapdata.EntityID("feed:x", b))
	})
	if diff := cmp.Diff(want, ids(ix, around(52, 4, 5000))); diff != "" {
		t.Error(diff)
	}
}

func compareStrings(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func TestSearchLimit(t *testing.T) {
	ix := index.New(encode)
	var all []mapdata.Entity
	for i := range 3000 {
		all = append(all, entity(1, fmt.Sprintf("e%04d", i), 52+float64((i*7919)%3000)*1e-5, 4))
	}
	ix.Apply(change(feed(1, mapdata.Approved), all...))
	for _, limit := range []int{1, 10, 200, 1000} {
		s := around(52, 4, 50_000)
		s.Limit = limit
		hits, more := ix.Search(s, nil)
		if len(hits) != limit || !more {
			t.Fatalf("limit %d: %d hits, more %v", limit, len(hits), more)
		}
		for i, h := range hits {
			want := geo.Distance(s.Center, geo.Point{Lat: 52 + float64(i)*1e-5, Lng: 4})
			if got := geo.MetresOf(h.Chord); math.Abs(got-want) > 0.01 {
				t.Fatalf("limit %d, hit %d: %.2f m away, want %.2f", limit, i, got, want)
			}
		}
	}
	s := around(52, 4, 50_000)
	s.Limit = 1000
	s.Radius = 500
	if hits, more := ix.Search(s, nil); more || len(hits) == 0 {
		t.Errorf("%d hits within 500 m, more %v; want some and no more", len(hits), more)
	}
}

func TestSearchFilters(t *testing.T) {
	ix := index.New(encode)
	hazard, _ := mapdata.ParseKind("alert.hazard.ice")
	charger, _ := mapdata.ParseKind("charger.supercharger")
	ice := entity(1, "ice", 52, 4)
	ice.Kind, ice.Lifetime = hazard, time.Hour
	own := entity(1, "own", 52, 4)
	own.Kind, own.Network = charger, "other"
	open := entity(1, "open", 52, 4)
	open.Kind = charger
	late := entity(1, "late", 52, 4)
	late.ChangedAt = start.Add(time.Minute)
	shared := entity(2, "shared", 52, 4)
	shared.Kind, shared.Lifetime, shared.SeenAt = hazard, time.Hour, time.Time{}
	ix.Apply(change(feed(1, mapdata.Approved), ice, own, open, late))
	ix.Apply(change(feed(2, mapdata.Pending), shared))

	tests := []struct {
		name string
		edit func(*mapdata.Search)
		want []string
	}{
		{"served only", func(*mapdata.Search) {}, []string{"ice", "late", "open"}},
		{"kinds", func(s *mapdata.Search) { s.Kinds = mapdata.SelectKinds("alert.hazard") }, []string{"ice"}},
		{"a network", func(s *mapdata.Search) { s.Networks = []string{"other"} }, []string{"ice", "late", "open", "own"}},
		{"every network", func(s *mapdata.Search) { s.AllNetworks = true }, []string{"ice", "late", "open", "own"}},
		{"own feed whatever the network", func(s *mapdata.Search) { s.Own = []mapdata.FeedID{feedID(1)} }, []string{"ice", "late", "open", "own"}},
		{"own pending feed", func(s *mapdata.Search) { s.Own = []mapdata.FeedID{feedID(2)} }, []string{"ice", "late", "open", "shared"}},
		{"one feed", func(s *mapdata.Search) { s.Served, s.Feeds = false, []mapdata.FeedID{feedID(2)} }, []string{"shared"}},
		{"no feed", func(s *mapdata.Search) { s.Served = false }, []string{}},
		{"a moment before expiry", func(s *mapdata.Search) { s.Now = start.Add(time.Hour - time.Millisecond) }, []string{"ice", "late", "open"}},
		{"at expiry", func(s *mapdata.Search) { s.Now = start.Add(time.Hour) }, []string{"late", "open"}},
		{"shared time at expiry", func(s *mapdata.Search) {
			s.Served, s.Feeds, s.Now = false, []mapdata.FeedID{feedID(2)}, start.Add(time.Hour)
		}, []string{}},
		{"since before", func(s *mapdata.Search) { s.Since = start.Add(-time.Millisecond) }, []string{"ice", "late", "open"}},
		{"since the change itself", func(s *mapdata.Search) { s.Since = start }, []string{"late"}},
		{"since after", func(s *mapdata.Search) { s.Since = start.Add(time.Minute) }, []string{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := around(52, 4, 100)
			tt.edit(s)
			got := ids(ix, s)
			slices.Sort(got)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFeedChanges(t *testing.T) {
	ix := index.New(encode)
	ix.Apply(change(feed(1, mapdata.Pending), entity(1, "a", 52, 4), entity(1, "b", 52, 4)))
	if got := ids(ix, around(52, 4, 10)); len(got) != 0 {
		t.Fatalf("a pending feed shows %v", got)
	}
	ix.Apply(change(feed(1, mapdata.Approved)))
	if got := ids(ix, around(52, 4, 10)); len(got) != 2 {
		t.Fatalf("after approval: %v", got)
	}
	later := feed(1, mapdata.Approved)
	later.SnapshotAt = start.Add(time.Hour)
	moved := entity(1, "a", 53, 5)
	moved.SeenAt = time.Time{}
	ix.Apply([]mapdata.FeedChange{{Feed: later, FeedID: later.ID, Entities: []mapdata.Entity{moved}, Gone: []string{"b", "never"}}})
	if got := ids(ix, around(52, 4, 10)); len(got) != 0 {
		t.Fatalf("moved and gone entities are still at their old place: %v", got)
	}
	hits, _ := ix.Search(around(53, 5, 10), nil)
	if len(hits) != 1 || hits[0].LastSeenAt != later.SnapshotAt.UnixMilli() {
		t.Fatalf("the moved entity: %+v", hits)
	}
	ix.Apply([]mapdata.FeedChange{{FeedID: feedID(1)}})
	if got := ids(ix, around(53, 5, 10)); len(got) != 0 || ix.Len() != 0 {
		t.Fatalf("after the feed is gone: %v, %d held", got, ix.Len())
	}
	ix.Apply(change(feed(1, mapdata.Approved), entity(1, "a", 52, 4)))
	if got := ids(ix, around(52, 4, 10)); len(got) != 1 {
		t.Fatalf("after the feed is back: %v", got)
	}
}

func TestSweepRemovesExpired(t *testing.T) {
	ix := index.New(encode)
	brief := entity(1, "brief", 52, 4)
	brief.Lifetime = time.Minute
	ix.Apply(change(feed(1, mapdata.Approved), brief, entity(1, "stays", 52, 4)))
	if got := ix.Sweep(start.Add(time.Minute - time.Millisecond)); len(got) != 0 {
		t.Fatalf("swept too early: %v", got)
	}
	want := []mapdata.Expired{{Feed: feedID(1), ExternalIDs: []string{"brief"}}}
	if diff := cmp.Diff(want, ix.Sweep(start.Add(time.Minute))); diff != "" {
		t.Error(diff)
	}
	if ix.Len() != 1 {
		t.Errorf("%d entities left, want 1", ix.Len())
	}
}

func TestAround(t *testing.T) {
	ix := index.New(encode)
	ix.Apply(change(feed(1, mapdata.Approved), entity(1, "a", 52.5, 4.5)))
	ix.Apply(change(feed(2, mapdata.Approved), entity(2, "a", -17, 179.99)))
	ix.Apply(change(feed(3, mapdata.Approved)))
	reload := func() {
		loader := ix.Load([]*mapdata.Feed{feed(1, mapdata.Approved), feed(2, mapdata.Approved), feed(3, mapdata.Approved)}, 1)
		for _, e := range []mapdata.Entity{entity(1, "a", 52.5, 4.5), entity(2, "a", -17, 179.99)} {
			loader.Part(0).Add(&e)
		}
		loader.Finish(nil)
	}
	for _, step := range []func(){func() {}, reload} {
		step()
		for _, tt := range []struct {
			lat, lng, radius float64
			want             []mapdata.FeedID
		}{
			{52.9, 4.1, 1000, []mapdata.FeedID{feedID(1), feedID(3)}},
			{53.01, 4.1, 2000, []mapdata.FeedID{feedID(1), feedID(3)}},
			{54.5, 4.5, 1000, []mapdata.FeedID{feedID(3)}},
			{-17, -179.999, 2000, []mapdata.FeedID{feedID(2), feedID(3)}},
			{90, 0, 10, []mapdata.FeedID{feedID(3)}},
			{-90, 180, 10, []mapdata.FeedID{feedID(3)}},
		} {
			if diff := cmp.Diff(tt.want, ix.Around(geo.Point{Lat: tt.lat, Lng: tt.lng}, tt.radius)); diff != "" {
				t.Errorf("around %v, %v: %s", tt.lat, tt.lng, diff)
			}
		}
	}
	// A feed remains listed around its former entities after all of them are gone.
	ix.Apply([]mapdata.FeedChange{{Feed: feed(1, mapdata.Approved), FeedID: feedID(1), Gone: []string{"a"}}})
	if got := ix.Around(geo.Point{Lat: 52.5, Lng: 4.5}, 10); len(got) != 2 {
		t.Errorf("after its entity is gone: %v", got)
	}
}

// TestAgainstModel applies random changes to the index and a map, and compares searches anywhere on the globe.
func TestAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ix := index.New(encode)
		model := make(map[string]mapdata.Entity)
		lat := rapid.SampledFrom([]float64{0, 52, 89.98, -89.99, -17})
		lng := rapid.SampledFrom([]float64{0, 4, 179.99, -179.99, 180})
		near := rapid.Float64Range(-0.05, 0.05)
		clampLat := func(v float64) float64 { return min(90, max(-90, v)) }
		clampLng := func(v float64) float64 { return min(180, max(-180, v)) }
		steps := rapid.IntRange(1, 30).Draw(t, "steps")
		for range steps {
			var c mapdata.FeedChange
			c.Feed, c.FeedID = feed(1, mapdata.Approved), feedID(1)
			named := make(map[string]bool)
			for range rapid.IntRange(0, 20).Draw(t, "rows") {
				id := fmt.Sprint(rapid.IntRange(0, 40).Draw(t, "id"))
				if named[id] {
					continue
				}
				named[id] = true
				if rapid.Bool().Draw(t, "gone") {
					c.Gone = append(c.Gone, id)
					delete(model, id)
					continue
				}
				e := entity(1, id, clampLat(lat.Draw(t, "lat")+near.Draw(t, "dlat")), clampLng(lng.Draw(t, "lng")+near.Draw(t, "dlng")))
				c.Entities = append(c.Entities, e)
				model[id] = e
			}
			if rapid.IntRange(0, 9).Draw(t, "reload") == 0 {
				loader := ix.Load([]*mapdata.Feed{c.Feed}, 2)
				n := 0
				for _, e := range model {
					loader.Part(n % 2).Add(&e)
					n++
				}
				loader.Finish(nil)
			} else {
				ix.Apply([]mapdata.FeedChange{c})
			}
			s := around(clampLat(lat.Draw(t, "lat")+near.Draw(t, "dlat")), clampLng(lng.Draw(t, "lng")+near.Draw(t, "dlng")),
				rapid.Float64Range(1, 20_000).Draw(t, "radius"))
			want := []string{}
			for id, e := range model {
				if geo.Distance(s.Center, e.Point) <= s.Radius {
					want = append(want, id)
				}
			}
			got := ids(ix, s)
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatal(diff)
			}
			if ix.Len() != len(model) {
				t.Fatalf("holds %d, want %d", ix.Len(), len(model))
			}
		}
	})
}

// TestReadersSeeWholeVersions moves a pair of entities together while readers search: each search sees both at one place.
func TestReadersSeeWholeVersions(t *testing.T) {
	ix := index.New(encode)
	f := feed(1, mapdata.Approved)
	put := func(at float64) { ix.Apply(change(f, entity(1, "a", at, 4), entity(1, "b", at, 4.001))) }
	put(0)
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				for _, at := range []float64{0, 10} {
					if got := ids(ix, around(at, 4, 1000)); len(got) == 1 {
						t.Errorf("a search saw half a change: %v", got)
						return
					}
				}
			}
		})
	}
	for i := range 6000 { // causes several compactions
		put(float64(i%2) * 10)
	}
	close(done)
	readers.Wait()
	if got := ids(ix, around(10, 4, 1000)); len(got) != 2 {
		t.Errorf("at the end: %v", got)
	}
}

// clusteredEntities returns n entities, 80 % of them in 300 cities, distributed as in a country.
func clusteredEntities(n int) []mapdata.Entity {
	rng := rand.New(rand.NewPCG(1, 2))
	type place struct{ lat, lng float64 }
	cities := make([]place, 300)
	for i := range cities {
		cities[i] = place{44 + rng.Float64()*10, -1 + rng.Float64()*16}
	}
	out := make([]mapdata.Entity, n)
	for i := range out {
		lat, lng := 44+rng.Float64()*10, -1+rng.Float64()*16
		if i%5 != 0 {
			p := cities[rng.IntN(len(cities))]
			lat, lng = p.lat+rng.NormFloat64()*0.067, p.lng+rng.NormFloat64()*0.1
		}
		out[i] = entity(1, fmt.Sprintf("bench:%08d", i), lat, lng)
		out[i].Properties = fmt.Appendf(nil, `{"name":"Entity number %d","street":"Some street %d","city":"Sometown","country":"NLD","power":%d,"note":"%s"}`,
			i, i%977, i%350, "some more text that makes a body of a common size, neither short nor long")
	}
	return out
}

func loadedIndex(n int) (*index.Index, []mapdata.Entity) {
	ix := index.New(encode)
	all := clusteredEntities(n)
	loader := ix.Load([]*mapdata.Feed{feed(1, mapdata.Approved)}, 1)
	for i := range all {
		loader.Part(0).Add(&all[i])
	}
	loader.Finish(nil)
	return ix, all
}

func BenchmarkSearch(b *testing.B) {
	ix, all := loadedIndex(1_000_000)
	for _, wanted := range []int{20, 100} {
		// Radii with about the wanted number of hits around existing entities.
		var searches []*mapdata.Search
		for i := 1; len(searches) < 512; i += 997 {
			p := all[i%len(all)].Point
			s := around(p.Lat, p.Lng, 100)
			for {
				hits, _ := ix.Search(s, nil)
				if len(hits) >= wanted || s.Radius > 20_000 {
					break
				}
				s.Radius *= 1.1
			}
			searches = append(searches, s)
		}
		b.Run(fmt.Sprintf("hits=%d", wanted), func(b *testing.B) {
			hits := make([]mapdata.Hit, 0, 1000)
			total := 0
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				hits, _ = ix.Search(searches[i%len(searches)], hits[:0])
				total += len(hits)
				i++
			}
			b.ReportMetric(float64(total)/float64(i), "hits/op")
		})
	}
}

func BenchmarkApply(b *testing.B) {
	ix, all := loadedIndex(1_000_000)
	f := feed(1, mapdata.Approved)
	i := 0
	for b.Loop() {
		rows := slices.Clone(all[(i*5000)%1_000_000 : (i*5000)%1_000_000+5000])
		for k := range rows {
			rows[k].ChangedAt = start.Add(time.Duration(i+1) * time.Second)
		}
		ix.Apply(change(f, rows...))
		i++
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(i*5000), "ns/row")
}

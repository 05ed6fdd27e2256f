package index_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"wayside/internal/entities/index"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

func everything() *mapdata.Search {
	return &mapdata.Search{Served: true, Kinds: mapdata.AllKinds, AllNetworks: true, Now: start, Limit: 1000, Radius: 1}
}

func TestExtent(t *testing.T) {
	for _, tt := range []struct {
		name   string
		places []geo.Point
		want   geo.Box
	}{
		{"one place", []geo.Point{{Lat: 52, Lng: 4}}, geo.Box{South: 52, West: 4, North: 52, East: 4}},
		{"a town", []geo.Point{{Lat: 52, Lng: 4}, {Lat: 52.05, Lng: 4.1}}, geo.Box{South: 52, West: 4, North: 52.05, East: 4.1}},
		{"over the antimeridian", []geo.Point{{Lat: -17, Lng: 179}, {Lat: -18, Lng: -179}}, geo.Box{South: -18, West: 179, North: -17, East: 181}},
		{"west of the antimeridian", []geo.Point{{Lat: -17, Lng: 178}, {Lat: -18, Lng: 179.5}}, geo.Box{South: -18, West: 178, North: -17, East: 179.5}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ix := index.New(encode)
			if box, found := ix.Extent(everything(), nil); found {
				t.Fatalf("an empty index has %+v", box)
			}
			var all []mapdata.Entity
			for i, p := range tt.places {
				all = append(all, entity(1, fmt.Sprint(i), p.Lat, p.Lng))
			}
			ix.Apply(change(feed(1, mapdata.Approved), all...))
			got, found := ix.Extent(everything(), nil)
			const tolerance = 1e-6
			if !found || !near(got.South, tt.want.South, tolerance) || !near(got.West, tt.want.West, tolerance) ||
				!near(got.North, tt.want.North, tolerance) || !near(got.East, tt.want.East, tolerance) {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
			if box, found := ix.Extent(&mapdata.Search{Feeds: []mapdata.FeedID{feedID(2)}, Kinds: mapdata.AllKinds, Now: start, Limit: 1, Radius: 1}, nil); found {
				t.Errorf("another feed has %+v", box)
			}
		})
	}
}

func near(a, b, tolerance float64) bool { return a-b < tolerance && b-a < tolerance }

// TestExtentContainsEverything checks that extents of any size contain all entities and are not much too large.
func TestExtentContainsEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ix := index.New(encode)
		var all []mapdata.Entity
		for i := range rapid.IntRange(1, 20).Draw(t, "entities") {
			p := drawPlace(t)
			all = append(all, entity(1, fmt.Sprint(i), max(-85, min(85, p.Lat)), p.Lng))
		}
		ix.Apply(change(feed(1, mapdata.Approved), all...))
		box, found := ix.Extent(everything(), nil)
		if !found || box.West < -180 || box.West > 180 || box.East < box.West || box.East > box.West+360 {
			t.Fatalf("%v %+v", found, box)
		}
		for i := range all {
			if !box.Grown(1).Contains(all[i].Point) {
				t.Fatalf("%+v lacks %v", box, all[i].Point)
			}
		}
	})
}

// TestReach compares the distance with that of the nearest entity.
func TestReach(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ix := index.New(encode)
		if reach := ix.Reach(everything(), nil); reach >= 0 {
			t.Fatalf("an empty index reaches %v", reach)
		}
		s := everything()
		s.Center = drawPlace(t)
		nearest := 1e9
		var all []mapdata.Entity
		for i := range rapid.IntRange(1, 20).Draw(t, "entities") {
			p := drawPlace(t)
			all = append(all, entity(1, fmt.Sprint(i), p.Lat, p.Lng))
			nearest = min(nearest, geo.Distance(s.Center, p))
		}
		ix.Apply(change(feed(1, mapdata.Approved), all...))
		const widestTile = 60_000 // metres: the diagonal of a tile of the finest summary at the equator
		reach := ix.Reach(s, nil)
		if reach < nearest-1 {
			t.Fatalf("reaches %v, but the nearest is %v away", reach, nearest)
		}
		if reach > nearest+widestTile && math.Abs(s.Center.Lat) < 80 && nearest < 100_000 {
			t.Fatalf("reaches %v, and the nearest is %v away", reach, nearest)
		}
	})
}

// BenchmarkOverview measures views of every size, of an index with a million entities of 20 feeds and 8 kinds.
func BenchmarkOverview(b *testing.B) {
	ix := index.New(encode)
	var feeds []*mapdata.Feed
	for n := range byte(20) {
		feeds = append(feeds, feed(n+1, mapdata.Approved))
	}
	loader := ix.Load(feeds, 1)
	for i, e := range clusteredEntities(1_000_000) {
		e.Feed, e.Kind = feedID(byte(i%20+1)), mapdata.Kind(i%8)
		loader.Part(0).Add(&e)
	}
	loader.Finish(nil)
	rng := rand.New(rand.NewPCG(5, 6))
	var o mapdata.Overview
	for _, zoom := range []int{0, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14} {
		b.Run(fmt.Sprintf("zoom=%d", zoom), func(b *testing.B) {
			s := everything()
			width := min(360, 1280.0/512*360/float64(int(1)<<zoom))
			b.ReportAllocs()
			clusters, n := 0, 0
			for b.Loop() {
				lat, lng := 46+6*rng.Float64(), 2+10*rng.Float64()
				box := geo.Box{South: max(-85, lat-width*0.2), North: min(85, lat+width*0.2), West: lng - width/2, East: lng + width/2}
				ix.Overview(s, box, zoom+3, nil, &o)
				clusters += len(o.Clusters)
				n++
			}
			b.ReportMetric(float64(clusters)/float64(n), "clusters/op")
		})
	}
}

// TestExtentOfWaiting checks that neither an extent nor a reach reveals the position of a report that waits for a
// second driver, whatever else is there, also after a load; and that both include the report once it no longer waits.
func TestExtentOfWaiting(t *testing.T) {
	f := feed(1, mapdata.Approved)
	tally := func(id string, confirms int) mapdata.Tally {
		one := mapdata.Tally{Source: f.ID.SourceID(), ExternalID: id, LifeAt: start, ChangedAt: start, Confirms: confirms}
		one.Report = mapdata.Report{Author: mapdata.AccountID{7}, AuthorTrusted: true, NeedsTwo: true}
		return one
	}
	waiting := []mapdata.Entity{entity(1, "w1", 51, 3), entity(1, "w2", 51.000001, 3)}
	shown := entity(1, "shown", 52, 4)
	here := everything()
	here.Center = waiting[0].Point

	alone := index.New(encode)
	alone.Apply(change(f, waiting...))
	alone.Apply(votes(f, tally("w1", 0), tally("w2", 0)))
	if box, found := alone.Extent(everything(), nil); found {
		t.Errorf("what waits alone has the extent %+v", box)
	}
	if reach := alone.Reach(here, nil); reach >= 0 {
		t.Errorf("what waits alone is within %v m", reach)
	}

	beside := index.New(encode)
	beside.Apply(change(f, append(waiting, shown)...))
	beside.Apply(votes(f, tally("w1", 0), tally("w2", 0)))
	loaded := index.New(encode)
	stageLoad(loaded, []*mapdata.Feed{f}, append(waiting, shown), tally("w1", 0), tally("w2", 0)).Publish()
	for name, ix := range map[string]*index.Index{"changed": beside, "loaded": loaded} {
		if box, found := ix.Extent(everything(), nil); !found || !near(box.South, 52, 1e-6) || !near(box.West, 4, 1e-6) {
			t.Errorf("%s: %v %+v", name, found, box)
		}
		if reach := ix.Reach(here, nil); reach < geo.Distance(here.Center, shown.Point) {
			t.Errorf("%s: something is within %v m", name, reach)
		}
		ix.Apply(votes(f, tally("w2", 1)))
		if box, found := ix.Extent(everything(), nil); !found || !near(box.South, 51.000001, 1e-7) {
			t.Errorf("%s, confirmed: %v %+v", name, found, box)
		}
		if reach := ix.Reach(here, nil); reach < 0 || reach > 60_000 {
			t.Errorf("%s, confirmed: %v m", name, reach)
		}
	}
}

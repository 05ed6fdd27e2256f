package index_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"wayside/internal/entities/index"
	"wayside/internal/entities/law"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// overviewLaw hides police, and shows cameras as zones, in two squares, of which one lies over the antimeridian.
const overviewLaw = `{"type":"FeatureCollection","features":[
	{"type":"Feature","properties":{"name":"X","hide":["alert.police"],"camera_zone":true},"geometry":{"type":"Polygon","coordinates":[[[3,50],[6,50],[6,53],[3,53],[3,50]]]}},
	{"type":"Feature","properties":{"name":"Y","camera_zone":true,"zone_m":20000},"geometry":{"type":"Polygon","coordinates":[[[179,-20],[-179,-20],[-179,-10],[179,-10],[179,-20]]]}}]}`

func readLaw(t testing.TB) *law.Law {
	t.Helper()
	l, err := law.Parse([]byte(overviewLaw))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// overviewModel is the content of an index as a list.
type overviewModel struct {
	law      *law.Law
	entities map[string]mapdata.Entity // by feed and external id
	tallies  map[string]mapdata.Tally
	served   map[mapdata.FeedID]bool
}

func modelKey(e *mapdata.Entity) string { return fmt.Sprint(e.Feed[15], "/", e.ExternalID) }

// count counts one by one the entities that a search selects in the tiles of a level.
func (m *overviewModel) count(s *mapdata.Search, tiles geo.Tiles) map[[2]uint32]int {
	counts := make(map[[2]uint32]int)
	for key, e := range m.entities {
		own := slices.Contains(s.Own, e.Feed)
		verdict := m.law.Judge(e.Point, e.Kind)
		tally, voted := m.tallies[key]
		withheld := voted && tally.WithheldUntil(e.Kind).After(s.Now)
		expired := e.Lifetime != 0 && !e.SeenAt.Add(e.Lifetime).After(s.Now)
		otherNetwork := e.Network != "" && !s.AllNetworks && !slices.Contains(s.Networks, e.Network)
		switch {
		case !own && !(s.Served && m.served[e.Feed]) && !slices.Contains(s.Feeds, e.Feed), !s.Kinds.Has(e.Kind), expired,
			(withheld || verdict.Hidden) && !s.Suppressed && !own, otherNetwork && !own:
			continue
		}
		at := e.Point
		if verdict.Zone > 0 {
			at = law.Middle(at, verdict.Zone)
		}
		x, y := at.Vector().Mercator().Tile(tiles.Level)
		if _, in := tiles.Position(x, y); in {
			counts[[2]uint32{x, y}]++
		}
	}
	return counts
}

var overviewKinds = []string{"camera.speed", "alert.police", "alert.accident", "charger.supercharger"}

// drawPlace draws a position in one of some regions that are hard to get right, or anywhere.
func drawPlace(t *rapid.T) geo.Point {
	middle := rapid.SampledFrom([]geo.Point{{Lat: 52, Lng: 4.5}, {Lat: -17, Lng: 180}, {Lat: 89.9, Lng: 10}, {Lat: -88, Lng: -100}, {}}).Draw(t, "region")
	spread := rapid.SampledFrom([]float64{0.01, 0.3, 5, 180}).Draw(t, "spread")
	lat := middle.Lat + spread*rapid.Float64Range(-1, 1).Draw(t, "dlat")
	lng := middle.Lng + spread*rapid.Float64Range(-1, 1).Draw(t, "dlng")
	return geo.Point{Lat: max(-90, min(90, lat)), Lng: math.Remainder(lng, 360)}
}

func drawEntity(t *rapid.T) mapdata.Entity {
	p := drawPlace(t)
	e := entity(byte(rapid.IntRange(1, 3).Draw(t, "feed")), fmt.Sprint(rapid.IntRange(0, 60).Draw(t, "id")), p.Lat, p.Lng)
	e.Kind, _ = mapdata.ParseKind(rapid.SampledFrom(overviewKinds).Draw(t, "kind"))
	if e.Kind.Charger() {
		e.Network = rapid.SampledFrom([]string{"", "tesla", "ionity"}).Draw(t, "network")
	}
	if rapid.IntRange(0, 2).Draw(t, "decays") == 0 {
		e.Lifetime = time.Hour
	}
	return e
}

// drawStep draws a change and applies it to the model.
func (m *overviewModel) drawStep(t *rapid.T) []mapdata.FeedChange {
	changes := make(map[mapdata.FeedID]*mapdata.FeedChange)
	for n := range byte(3) {
		f := feed(n+1, mapdata.Approved)
		if n == 2 {
			f.ReviewState = mapdata.Pending
		}
		m.served[f.ID] = f.Served()
		changes[f.ID] = &mapdata.FeedChange{Feed: f, FeedID: f.ID}
	}
	named := make(map[string]bool)
	for range rapid.IntRange(0, 30).Draw(t, "rows") {
		e := drawEntity(t)
		key, c := modelKey(&e), changes[e.Feed]
		if named[key] {
			continue
		}
		named[key] = true
		switch rapid.IntRange(0, 4).Draw(t, "what") {
		case 0:
			c.Gone = append(c.Gone, e.ExternalID)
			delete(m.entities, key)
		case 1:
			tally := mapdata.Tally{Source: e.Feed.SourceID(), ExternalID: e.ExternalID, LifeAt: start, ChangedAt: start}
			if rapid.Bool().Draw(t, "hidden") {
				tally.Hidden = &mapdata.Hiding{Until: start.Add(time.Hour)}
			}
			c.Tallies = append(c.Tallies, tally)
			m.tallies[key] = tally
		default:
			c.Entities = append(c.Entities, e)
			m.entities[key] = e
		}
	}
	var all []mapdata.FeedChange
	for n := range byte(3) {
		all = append(all, *changes[feedID(n+1)])
	}
	return all
}

// apply applies a change to the index, sometimes by a load of everything.
func (m *overviewModel) apply(t *rapid.T, ix *index.Index, changes []mapdata.FeedChange) {
	switch rapid.IntRange(0, 6).Draw(t, "how") {
	case 0:
		loader := ix.Load([]*mapdata.Feed{changes[0].Feed, changes[1].Feed, changes[2].Feed}, 1)
		for _, e := range m.entities {
			loader.Part(0).Add(&e)
		}
		var votes []mapdata.Tally
		for _, tally := range m.tallies {
			votes = append(votes, tally)
		}
		loader.Finish(votes)
	case 1:
		ix.Stage(changes) // replaced before it is published
		ix.Apply(changes)
	default:
		ix.Apply(changes)
	}
}

func drawSearch(t *rapid.T) *mapdata.Search {
	s := &mapdata.Search{Served: true, Kinds: mapdata.AllKinds, Networks: []string{"tesla"}, Now: start, Limit: 1000, Radius: 1}
	switch rapid.IntRange(0, 4).Draw(t, "reader") {
	case 0:
		s.Kinds = mapdata.SelectKinds(rapid.SampledFrom(overviewKinds).Draw(t, "kind"))
	case 1:
		s.Own = []mapdata.FeedID{feedID(3)}
	case 2:
		s.Suppressed, s.AllNetworks = true, true
	case 3:
		s.Served, s.Feeds = false, []mapdata.FeedID{feedID(1)}
	}
	return s
}

func drawBox(t *rapid.T) geo.Box {
	p := drawPlace(t)
	height := rapid.SampledFrom([]float64{0, 0.01, 0.5, 8, 100, 180}).Draw(t, "height")
	width := rapid.SampledFrom([]float64{0, 0.01, 0.5, 8, 100, 359, 360}).Draw(t, "width")
	return geo.Box{South: max(-90, p.Lat-height/2), North: min(90, p.Lat+height/2), West: p.Lng, East: p.Lng + width}
}

// TestOverviewAgainstModel compares counts with those of a scan of everything, for random boxes, after random changes.
func TestOverviewAgainstModel(t *testing.T) {
	l := readLaw(t)
	rapid.Check(t, func(t *rapid.T) {
		m := &overviewModel{law: l, entities: make(map[string]mapdata.Entity), tallies: make(map[string]mapdata.Tally), served: make(map[mapdata.FeedID]bool)}
		ix := index.New(encode)
		ix.SetLaw(l)
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			m.apply(t, ix, m.drawStep(t))
			s, box := drawSearch(t), drawBox(t)
			level := rapid.IntRange(0, 18).Draw(t, "level")
			for level > 0 && box.Tiles(level).Count() > 5000 {
				level--
			}
			var o mapdata.Overview
			ix.Overview(s, box, level, l, &o)
			want, total := m.count(s, box.Tiles(o.Level)), 0
			got := make(map[[2]uint32]int)
			for _, c := range o.Clusters {
				got[[2]uint32{c.X, c.Y}] = c.Count
				total += c.Count
				x, y := c.Point.Vector().Mercator().Tile(o.Level)
				if x != c.X || y != c.Y {
					t.Fatalf("the centroid %v is in tile %d, %d, not in %d, %d", c.Point, x, y, c.X, c.Y)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" || total != o.Count {
				t.Fatalf("level %d of %+v: %d in all\n%s", o.Level, box, o.Count, diff)
			}
		}
	})
}

// TestCountedEntitiesAreBounded checks that an overview counts up to 20 000 entities one by one in fine tiles, and more in coarser ones.
func TestCountedEntitiesAreBounded(t *testing.T) {
	f := feed(1, mapdata.Approved)
	for rows, fine := range map[int]bool{19_000: true, 21_000: false} {
		ix := index.New(encode)
		loader := ix.Load([]*mapdata.Feed{f}, 1)
		for i := range rows {
			e := entity(1, strconv.Itoa(i), 52+float64(i/150)*1e-5, 5+float64(i%150)*1e-5)
			loader.Part(0).Add(&e)
		}
		loader.Finish(nil)
		var o mapdata.Overview
		ix.Overview(around(52, 5, 1000), geo.Box{South: 52, West: 5, North: 52.001, East: 5.001}, 16, nil, &o)
		if got := o.Level == 16; got != fine {
			t.Errorf("%d entities are counted at level %d", rows, o.Level)
		}
	}
}

// TestBoxedSearchAgainstModel compares the results of a search within a box with a scan of everything.
func TestBoxedSearchAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &overviewModel{entities: make(map[string]mapdata.Entity), tallies: make(map[string]mapdata.Tally), served: make(map[mapdata.FeedID]bool)}
		ix := index.New(encode)
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			m.apply(t, ix, m.drawStep(t))
		}
		box := drawBox(t)
		s := &mapdata.Search{Served: true, Suppressed: true, AllNetworks: true, Kinds: mapdata.AllKinds, Now: start, Limit: 1000, Radius: 21e6, Within: &box}
		const rounding = 0.01 // metres; some hundreds near the poles, where a latitude is an arc sine near 1
		atPole := func(p geo.Point) bool { return math.Abs(p.Lat) > 89.9 }
		hits, _ := ix.Search(s, nil)
		found := make(map[geo.Point]bool)
		for i := range hits {
			if found[hits[i].Point] = true; !atPole(hits[i].Point) && !box.Grown(rounding).Contains(hits[i].Point) {
				t.Fatalf("%v is found, outside of %+v", hits[i].Point, box)
			}
		}
		for _, e := range m.entities {
			if m.served[e.Feed] && !atPole(e.Point) && box.Grown(-rounding).Contains(e.Point) && !found[e.Point] {
				t.Fatalf("%v is not found in %+v", e.Point, box)
			}
		}
	})
}

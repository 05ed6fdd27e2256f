package nearby_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"wayside/internal/entities/catalog"
	"wayside/internal/entities/index"
	"wayside/internal/entities/law"
	"wayside/internal/entities/nearby"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// lawOf creates a law of areas, each given as its properties and its west, south, east and north.
func lawOf(t testing.TB, areas ...string) *law.Law {
	t.Helper()
	var features []string
	for _, a := range areas {
		properties, box, _ := strings.Cut(a, " @ ")
		var w, s, e, n float64
		if _, err := fmt.Sscan(box, &w, &s, &e, &n); err != nil {
			t.Fatal(err)
		}
		features = append(features, fmt.Sprintf(
			`{"type":"Feature","properties":{"name":"X",%s},"geometry":{"type":"Polygon","coordinates":[[[%[2]v,%[3]v],[%[4]v,%[3]v],[%[4]v,%[5]v],[%[2]v,%[5]v],[%[2]v,%[3]v]]]}}`,
			properties, w, s, e, n))
	}
	l, err := law.Parse([]byte(`{"type":"FeatureCollection","features":[` + strings.Join(features, ",") + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

const (
	noPolice    = `"hide":["alert.police"] @ 3 51 5 53`
	cameraZones = `"camera_zone":true @ 3 51 5 53`
)

// lawPin is an entity of feed 1.
type lawPin struct {
	id, kind string
	at       geo.Point
	changed  time.Duration // after the start
}

// newLawReader creates a testReader with a law and one approved feed of owner.
func newLawReader(t testing.TB, l *law.Law, pins ...lawPin) *testReader {
	t.Helper()
	encode := func(dst []byte, e *mapdata.Entity) []byte {
		return fmt.Appendf(dst, "%v %s", e.Point, e.Properties)
	}
	w := &testReader{index: index.New(encode), catalogue: catalog.New(nil)}
	w.reader = nearby.New(nearby.Config{
		Index: w.index, Catalog: w.catalogue, Primary: "tesla", Now: func() time.Time { return start }, Encode: encode, Law: l,
	})
	w.index.SetLaw(l)
	f := &mapdata.Feed{
		ID: mapdata.FeedID{15: 1}, Owner: owner, Visibility: mapdata.Public, ReviewState: mapdata.Approved, Active: true,
		Direction: mapdata.Push, Layer: mapdata.Layer{Slug: "layer-1"},
	}
	c := mapdata.FeedChange{Feed: f, FeedID: f.ID}
	for _, p := range pins {
		kind, ok := mapdata.ParseKind(p.kind)
		if !ok {
			t.Fatalf("no kind %s", p.kind)
		}
		c.Entities = append(c.Entities, mapdata.Entity{
			Feed: f.ID, ExternalID: p.id, Kind: kind, Point: p.at, Properties: []byte(`{"street":"secret"}`),
			FirstSeenAt: start, SeenAt: start, ChangedAt: start.Add(p.changed),
		})
	}
	w.index.Apply([]mapdata.FeedChange{c})
	w.catalogue.Apply([]mapdata.FeedChange{{Feed: f, FeedID: f.ID}}).Publish()
	return w
}

var (
	inArea      = geo.Point{Lat: 52, Lng: 4}
	outsideArea = geo.Point{Lat: 52, Lng: 5.001}
)

// TestHiddenKinds checks that hidden kinds are shown only to the feed's owner and curators.
func TestHiddenKinds(t *testing.T) {
	w := newLawReader(t, lawOf(t, noPolice),
		lawPin{id: "police", kind: "alert.police", at: inArea}, lawPin{id: "jam", kind: "traffic.jam", at: inArea},
		lawPin{id: "police outside", kind: "alert.police", at: outsideArea})
	all := []string{"jam", "police", "police outside"}
	kind, _ := mapdata.ParseKind("alert.police")
	police := mapdata.KindSet(1) << kind
	for _, tt := range []struct {
		name string
		edit func(*nearby.Query)
		want []string
	}{
		{"guest", func(*nearby.Query) {}, []string{"jam", "police outside"}},
		{"another driver", func(q *nearby.Query) { q.Account = stranger }, []string{"jam", "police outside"}},
		{"owner", func(q *nearby.Query) { q.Account = owner }, all},
		{"curator", func(q *nearby.Query) { q.Account, q.Curator = stranger, true }, all},
		{"owner who drives", func(q *nearby.Query) { q.Account, q.Driving = owner, true }, []string{"jam", "police outside"}},
		{"curator who drives", func(q *nearby.Query) { q.Curator, q.Driving = true, true }, []string{"jam", "police outside"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ids, a := w.near(t, func(q *nearby.Query) { q.Radius = nearby.MaxRadius * 2; tt.edit(q) })
			if diff := cmp.Diff(tt.want, ids); diff != "" {
				t.Error(diff)
			}
			if a.Truncated || len(a.Sources) != 1 {
				t.Errorf("truncated %v, sources %v", a.Truncated, a.Sources)
			}
			if hidden := a.Hidden == police; hidden != (tt.name != "curator") || !hidden && a.Hidden != 0 {
				t.Errorf("hidden: %b", a.Hidden)
			}
		})
	}
}

// TestHiddenDoNotCountToLimit checks that hidden entities do not count towards the limit.
func TestHiddenDoNotCountToLimit(t *testing.T) {
	var pins []lawPin
	for i := range 300 {
		pins = append(pins, lawPin{id: fmt.Sprintf("p%03d", i), kind: "alert.police", at: inArea})
	}
	pins = append(pins, lawPin{id: "ice", kind: "alert.hazard.ice", at: geo.Point{Lat: 52.001, Lng: 4}}, lawPin{id: "jam", kind: "traffic.jam", at: geo.Point{Lat: 52.002, Lng: 4}})
	w := newLawReader(t, lawOf(t, noPolice), pins...)
	for limit, want := range map[int][]string{1: {"ice"}, 2: {"ice", "jam"}, 3: {"ice", "jam"}} {
		ids, a := w.near(t, func(q *nearby.Query) { q.Limit = limit })
		if diff := cmp.Diff(want, ids); diff != "" || a.Truncated != (limit == 1) {
			t.Errorf("limit %d: truncated %v %s", limit, a.Truncated, diff)
		}
	}
}

// TestZone checks that a camera is shown as its zone, without details that reveal its position.
func TestZone(t *testing.T) {
	middle := law.Middle(inArea, 4000)
	w := newLawReader(t, lawOf(t, cameraZones), lawPin{id: "camera", kind: "camera.speed", at: inArea}, lawPin{id: "ice", kind: "alert.hazard.ice", at: inArea})
	_, a := w.near(t, func(q *nearby.Query) { q.Radius = 5000 })
	if len(a.Hits) != 2 {
		t.Fatalf("%d hits", len(a.Hits))
	}
	ice, camera := a.Hits[0], a.Hits[1]
	if string(ice.ExternalID) != "ice" || ice.Point != inArea || ice.Zone != 0 {
		t.Errorf("%+v", ice)
	}
	if camera.Point != middle || camera.Zone != 4000 || string(camera.ExternalID) != "camera" {
		t.Errorf("%+v", camera)
	}
	if want := fmt.Sprintf(`%v {"wayside_zone_m":4000}`, middle); string(camera.Prepared) != want {
		t.Errorf("%s, want %s", camera.Prepared, want)
	}
	if d := geo.MetresOf(camera.Chord); d < geo.Distance(inArea, middle)-0.1 || d > geo.Distance(inArea, middle)+0.1 {
		t.Errorf("it is ordered by %v m", d)
	}
	_, a = w.near(t, func(q *nearby.Query) { q.Radius, q.Account = 5000, owner })
	if len(a.Hits) != 2 || a.Hits[0].Point != inArea || a.Hits[1].Point != inArea || !strings.Contains(string(a.Hits[0].Prepared), "secret") {
		t.Errorf("its owner sees %+v", a.Hits)
	}
}

// TestZoneRevealsNoPosition checks that the answer to any query is independent of the camera's position in its zone.
func TestZoneRevealsNoPosition(t *testing.T) {
	l := lawOf(t, cameraZones)
	middle := law.Middle(inArea, 4000)
	rapid.Check(t, func(rt *rapid.T) {
		place := func(name string) geo.Point {
			return geo.Point{
				Lat: middle.Lat + rapid.Float64Range(-0.0178, 0.0178).Draw(rt, name+" lat"),
				Lng: middle.Lng + rapid.Float64Range(-0.0288, 0.0288).Draw(rt, name+" lng"),
			}
		}
		var others []lawPin
		for i := range rapid.IntRange(0, 8).Draw(rt, "others") {
			others = append(others, lawPin{id: fmt.Sprint("other ", i), kind: "alert.hazard.ice", at: place("other")})
		}
		q := nearby.Query{
			Center: place("center"), Radius: rapid.Float64Range(1, 6000).Draw(rt, "radius"), Kinds: mapdata.AllKinds,
			Limit: rapid.IntRange(1, 10).Draw(rt, "limit"), Tier: mapdata.TierGuest,
		}
		var answers []string
		for range 2 {
			at := place("camera")
			if law.Middle(at, 4000) != middle {
				rt.Fatalf("%v is not in the zone", at)
			}
			w := newLawReader(t, l, append([]lawPin{{id: "camera", kind: "camera.speed", at: at}}, others...)...)
			var a nearby.Answer
			if err := w.reader.Near(t.Context(), &q, &a); err != nil {
				rt.Fatal(err)
			}
			answers = append(answers, fmt.Sprintf("%v %+v", a.Truncated, a.Hits))
		}
		if answers[0] != answers[1] {
			rt.Fatal(cmp.Diff(answers[0], answers[1]))
		}
	})
}

// TestZoneFromOutside checks that a zone is found by its middle, not by its camera.
func TestZoneFromOutside(t *testing.T) {
	middle := law.Middle(inArea, 4000)
	corner := geo.Point{Lat: middle.Lat + 0.0178, Lng: middle.Lng + 0.0288}
	w := newLawReader(t, lawOf(t, cameraZones), lawPin{id: "camera", kind: "camera.speed", at: corner})
	for _, tt := range []struct {
		center geo.Point
		want   int
	}{{middle, 1}, {corner, 0}} {
		if ids, _ := w.near(t, func(q *nearby.Query) { q.Center, q.Radius = tt.center, 10 }); len(ids) != tt.want {
			t.Errorf("%v: %v", tt.center, ids)
		}
	}
}

// TestZoneBehindOthers checks that a near zone is found even if many other entities are nearer than its camera.
func TestZoneBehindOthers(t *testing.T) {
	middle := law.Middle(inArea, 4000)
	pins := []lawPin{{id: "camera", kind: "camera.speed", at: geo.Point{Lat: middle.Lat + 0.0178, Lng: middle.Lng + 0.0288}}}
	for i := range 300 {
		pins = append(pins, lawPin{id: fmt.Sprint(i), kind: "traffic.jam", at: geo.Point{Lat: middle.Lat + 0.009, Lng: middle.Lng}})
	}
	w := newLawReader(t, lawOf(t, cameraZones), pins...)
	if ids, a := w.near(t, func(q *nearby.Query) { q.Center, q.Radius, q.Limit = middle, 6000, 1 }); !slices.Equal(ids, []string{"camera"}) || !a.Truncated {
		t.Errorf("%v, truncated %v", ids, a.Truncated)
	}
}

// TestZonesInOrder checks that zones are sorted by the distances of their middles, among each other and among the entities
// that are shown at their exact position.
func TestZonesInOrder(t *testing.T) {
	middle := law.Middle(inArea, 4000)
	north := func(degrees float64) geo.Point { return geo.Point{Lat: middle.Lat + degrees, Lng: middle.Lng} }
	// The camera in the north is the farther one, and the middle of its zone the nearer one.
	w := newLawReader(t, lawOf(t, cameraZones),
		lawPin{id: "north", kind: "camera.speed", at: north(0.036 + 0.016)}, lawPin{id: "south", kind: "camera.speed", at: north(-0.036 + 0.016)},
		lawPin{id: "here", kind: "camera.speed", at: middle}, lawPin{id: "near jam", kind: "traffic.jam", at: north(0.004)},
		lawPin{id: "jam", kind: "traffic.jam", at: north(0.037)}, lawPin{id: "far jam", kind: "traffic.jam", at: north(-0.05)})
	_, a := w.near(t, func(q *nearby.Query) { q.Center, q.Radius, q.Limit = north(0.003), 50_000, 100 })
	zones := 0
	for i := range a.Hits {
		if a.Hits[i].Zone > 0 {
			zones++
		}
		if i > 0 && a.Hits[i].Compare(&a.Hits[i-1]) < 0 {
			t.Errorf("%s, zone of %d m, after %s", a.Hits[i].ExternalID, a.Hits[i].Zone, a.Hits[i-1].ExternalID)
		}
	}
	if zones != 3 || len(a.Hits) != 6 {
		t.Errorf("%d zones among %d pins", zones, len(a.Hits))
	}
}

// TestZoneMergesCameras checks that the cameras of one kind in one cell are merged into one zone.
func TestZoneMergesCameras(t *testing.T) {
	middle := law.Middle(inArea, 4000)
	at := func(north float64) geo.Point { return geo.Point{Lat: middle.Lat + north, Lng: middle.Lng} }
	w := newLawReader(t, lawOf(t, cameraZones, `"camera_zone":true,"zone_m":300 @ 4.5 52.5 4.6 52.6`),
		lawPin{"c", "camera.speed", at(0.001), 0}, lawPin{"a", "camera.speed", at(0.010), 0}, lawPin{"b", "camera.speed", at(0.0001), time.Second},
		lawPin{"red", "camera.red_light", at(0.002), 0},
		lawPin{"next", "camera.speed", at(0.030), 0})
	merged := func(a *nearby.Answer) map[string][]string {
		all := make(map[string][]string)
		for _, h := range a.Hits {
			list := []string{}
			for _, m := range h.Merged {
				list = append(list, string(m.ExternalID))
			}
			all[string(h.ExternalID)] = list
		}
		return all
	}
	for limit := 1; limit <= 3; limit++ {
		_, a := w.near(t, func(q *nearby.Query) { q.Center, q.Radius, q.Limit = middle, 6000, limit })
		want := map[string][]string{"a": {"b", "c"}, "red": {}, "next": {}}
		if limit < 3 {
			delete(want, "next")
		}
		if limit < 2 {
			delete(want, "red")
		}
		if diff := cmp.Diff(want, merged(&a)); diff != "" || a.Truncated != (limit < 3) {
			t.Errorf("limit %d: truncated %v %s", limit, a.Truncated, diff)
		}
	}
	// A zone has changed when any of its cameras has.
	_, a := w.near(t, func(q *nearby.Query) { q.Center, q.Radius, q.Since = middle, 6000, start })
	if diff := cmp.Diff(map[string][]string{"a": {"b", "c"}}, merged(&a)); diff != "" {
		t.Errorf("since: %s", diff)
	}
}

// TestLawWithoutEffect checks that a query outside of all areas is answered as without a law, for any limit.
func TestLawWithoutEffect(t *testing.T) {
	far := lawOf(t, noPolice, cameraZones)
	rapid.Check(t, func(rt *rapid.T) {
		var pins []lawPin
		for i := range rapid.IntRange(0, 60).Draw(rt, "pins") {
			pins = append(pins, lawPin{
				id: fmt.Sprint(i), kind: rapid.SampledFrom([]string{"alert.police", "camera.speed", "traffic.jam"}).Draw(rt, "kind"),
				at: geo.Point{Lat: rapid.Float64Range(51.9, 52.1).Draw(rt, "lat"), Lng: rapid.Float64Range(4.9, 5.1).Draw(rt, "lng")},
			})
		}
		limit := rapid.IntRange(1, 20).Draw(rt, "limit")
		// An owner sees everything, by the code path with a law; the reader without a law uses the other path.
		edit := func(q *nearby.Query) {
			q.Center, q.Radius, q.Limit, q.Account = geo.Point{Lat: 52, Lng: 5}, 9000, limit, owner
		}
		var texts []string
		for _, l := range []*law.Law{nil, far} {
			_, a := newLawReader(t, l, pins...).near(t, edit)
			texts = append(texts, fmt.Sprintf("%v %+v", a.Truncated, a.Hits))
		}
		if texts[0] != texts[1] {
			rt.Fatal(cmp.Diff(texts[0], texts[1]))
		}
	})
}

// BenchmarkLaw compares reads without a law and with the example file, outside and inside of its areas.
func BenchmarkLaw(b *testing.B) {
	text, err := os.ReadFile("../../../deploy/law/example.geojson")
	if err != nil {
		b.Fatal(err)
	}
	example, err := law.Parse(text)
	if err != nil {
		b.Fatal(err)
	}
	kinds := mapdata.Kinds()
	random := rand.New(rand.NewPCG(1, 2))
	for _, place := range []struct {
		name   string
		center geo.Point
	}{{"Amsterdam", geo.Point{Lat: 52.37, Lng: 4.9}}, {"France", geo.Point{Lat: 46.5, Lng: 2.5}}, {"Germany", geo.Point{Lat: 50.5, Lng: 9.5}}} {
		var pins []lawPin
		for i := range 20_000 {
			pins = append(pins, lawPin{
				id: fmt.Sprint(i), kind: kinds[random.IntN(len(kinds))].ID,
				at: geo.Point{Lat: place.center.Lat + random.Float64() - 0.5, Lng: place.center.Lng + random.Float64() - 0.5},
			})
		}
		for _, l := range []*law.Law{nil, example} {
			w := newLawReader(b, l, pins...)
			b.Run(fmt.Sprintf("%s/law=%v", place.name, l != nil), func(b *testing.B) {
				q := nearby.Query{Center: place.center, Radius: 5000, Kinds: mapdata.AllKinds, Limit: nearby.DefaultLimit, Tier: mapdata.TierPremium}
				var a nearby.Answer
				b.ReportAllocs()
				for b.Loop() {
					if err := w.reader.Near(b.Context(), &q, &a); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(len(a.Hits)), "hits")
			})
		}
	}
}

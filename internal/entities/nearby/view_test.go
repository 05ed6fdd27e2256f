package nearby_test

import (
	"fmt"
	"testing"

	"wayside/internal/entities/law"
	"wayside/internal/entities/nearby"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// country is a view of a few degrees around inArea and outsideArea.
var country = geo.Box{South: 48, West: 0, North: 56, East: 10}

// view reads a view as a guest does.
func (w *testReader) view(t *testing.T, box geo.Box, zoom int, edit func(*nearby.Query)) *nearby.ViewAnswer {
	t.Helper()
	v := &nearby.View{Box: box, Zoom: zoom, Query: nearby.Query{Kinds: mapdata.AllKinds, Tier: mapdata.TierGuest}}
	if edit != nil {
		edit(&v.Query)
	}
	a := new(nearby.ViewAnswer)
	if err := w.reader.View(t.Context(), v, a); err != nil {
		t.Fatal(err)
	}
	return a
}

// jams returns n jams east of the area, some hundred metres apart from each other.
func jams(n int) []lawPin {
	var pins []lawPin
	for i := range n {
		pins = append(pins, lawPin{id: fmt.Sprintf("jam %d", i), kind: "traffic.jam", at: geo.Point{Lat: 52 + 0.01*float64(i/30), Lng: 7 + 0.01*float64(i%30)}})
	}
	return pins
}

// TestViewOfFewAndMany checks that few entities are shown one by one however large the view is, many as clusters, and
// that the closest view has pins however many there are.
func TestViewOfFewAndMany(t *testing.T) {
	const maxPins = 500 // docs/decisions/0014-map-views.md
	few := newLawReader(t, nil, jams(maxPins)...)
	a := few.view(t, country, 5, nil)
	if a.Clustered || len(a.Hits) != maxPins || a.Truncated {
		t.Errorf("few: clustered %v, %d pins, truncated %v", a.Clustered, len(a.Hits), a.Truncated)
	}
	if a := few.view(t, geo.Box{South: -80, West: -180, North: 80, East: 180}, 0, nil); a.Clustered || len(a.Hits) != maxPins {
		t.Errorf("few in the world: clustered %v, %d pins", a.Clustered, len(a.Hits))
	}
	if a := few.view(t, geo.Box{South: 51.995, West: 6.995, North: 52.015, East: 7.015}, 12, nil); len(a.Hits) != 4 {
		t.Errorf("a part: %d pins, want 4", len(a.Hits))
	}
	many := newLawReader(t, nil, jams(maxPins+1)...)
	a = many.view(t, country, 5, nil)
	if !a.Clustered || a.Overview.Count != maxPins+1 || len(a.Hits) != 0 || len(a.Sources) != 1 {
		t.Errorf("many: clustered %v, %d counted, %d pins, sources %v", a.Clustered, a.Overview.Count, len(a.Hits), a.Sources)
	}
	var crowd []lawPin
	for i := range 2 * maxPins {
		crowd = append(crowd, lawPin{id: fmt.Sprint(i), kind: "traffic.jam", at: outsideArea})
	}
	crowded := newLawReader(t, nil, crowd...)
	middle := geo.Box{South: outsideArea.Lat - 0.001, West: outsideArea.Lng - 0.001, North: outsideArea.Lat + 0.001, East: outsideArea.Lng + 0.001}
	if a := crowded.view(t, middle, 17, nil); a.Clustered || len(a.Hits) != maxPins || !a.Truncated {
		t.Errorf("close: clustered %v, %d pins, truncated %v", a.Clustered, len(a.Hits), a.Truncated)
	}
	if a := crowded.view(t, country, 17, nil); !a.Clustered || len(a.Overview.Clusters) != 1 {
		t.Errorf("a large view cannot claim to be close: clustered %v", a.Clustered)
	}
}

// TestTilesOfAViewAreBounded checks that a view is divided into at most 1024 tiles, however close its zoom is.
func TestTilesOfAViewAreBounded(t *testing.T) {
	many := newLawReader(t, nil, jams(501)...)
	for zoom, least := range map[int]int{12: 200, 22: 200, 2: 1} {
		a := many.view(t, country, zoom, nil)
		if tiles := country.Tiles(a.Overview.Level).Count(); tiles > 1024 || tiles < least {
			t.Errorf("zoom %d: %d tiles", zoom, tiles)
		}
	}
}

func clusterOf(a *nearby.ViewAnswer, kind string) (found mapdata.Cluster, ok bool) {
	for _, c := range a.Overview.Clusters {
		if c.Kind.ID() == kind {
			return c, true
		}
	}
	return mapdata.Cluster{}, false
}

// TestClustersFollowTheLaw checks that clusters count no entity that the law hides from the reader, and count the
// others where it shows them.
func TestClustersFollowTheLaw(t *testing.T) {
	l := lawOf(t, noPolice, cameraZones)
	pins := append(jams(600), lawPin{id: "police", kind: "alert.police", at: inArea}, lawPin{id: "camera", kind: "camera.speed", at: geo.Point{Lat: 52.01, Lng: 3.013}})
	w := newLawReader(t, l, pins...)
	for _, zoom := range []int{5, 8} {
		guest := w.view(t, country, zoom, nil)
		if _, counted := clusterOf(guest, "alert.police"); counted || guest.Overview.Count != 601 {
			t.Errorf("zoom %d: a guest's clusters count police: %d in all", zoom, guest.Overview.Count)
		}
		owned := w.view(t, country, zoom, func(q *nearby.Query) { q.Account = owner })
		if _, counted := clusterOf(owned, "alert.police"); !counted || owned.Overview.Count != 602 {
			t.Errorf("zoom %d: the owner's clusters lack police: %d in all", zoom, owned.Overview.Count)
		}
		middle := law.Middle(geo.Point{Lat: 52.01, Lng: 3.013}, law.DefaultZone)
		camera, counted := clusterOf(guest, "camera.speed")
		if tolerance := 40e6 / 256 / float64(int(1)<<guest.Overview.Level); !counted || geo.Distance(camera.Point, middle) > tolerance {
			t.Errorf("zoom %d: the camera's cluster %v is %v m from the middle of its zone", zoom, counted, geo.Distance(camera.Point, middle))
		}
	}
	if driving := w.view(t, country, 5, func(q *nearby.Query) { q.Account, q.Driving = owner, true }); driving.Overview.Count != 601 {
		t.Errorf("an owner who drives counts %d", driving.Overview.Count)
	}
}

// TestClustersUnderAnotherLaw checks that once the law is replaced, clusters leave out the kinds that it concerns until
// the index follows it.
func TestClustersUnderAnotherLaw(t *testing.T) {
	w := newLawReader(t, nil, append(jams(600), lawPin{id: "police", kind: "alert.police", at: inArea}, lawPin{id: "police outside", kind: "alert.police", at: outsideArea})...)
	if a := w.view(t, country, 5, nil); a.Overview.Count != 602 {
		t.Fatalf("without a law: %d", a.Overview.Count)
	}
	l := lawOf(t, noPolice)
	w.reader.Law = l
	w.index.SetLaw(l)
	if a := w.view(t, country, 5, nil); a.Overview.Count != 600 {
		t.Errorf("before the index follows: %d, want 600", a.Overview.Count)
	}
	w.index.Apply(nil)
	for _, zoom := range []int{5, 9} {
		if a := w.view(t, country, zoom, nil); a.Overview.Count != 601 {
			t.Errorf("zoom %d, once it follows: %d, want 601", zoom, a.Overview.Count)
		}
	}
}

// TestClustersOfNetworks checks that clusters count the chargers that the reader may read.
func TestClustersOfNetworks(t *testing.T) {
	w := newTestReader()
	for n := range byte(200) { // four chargers each, one of the primary network and one of none
		w.add(n+1, owner, mapdata.Approved, geo.Point{Lat: 50 + 0.01*float64(n), Lng: 4})
	}
	w.add(201, owner, mapdata.Pending, geo.Point{Lat: 53, Lng: 4})
	for _, tt := range []struct {
		name string
		edit func(*nearby.Query)
		want int
	}{
		{"guest", nil, 400},
		{"account", func(q *nearby.Query) {
			q.Account, q.Tier, q.Networks = stranger, mapdata.TierAccount, []string{"ionity"}
		}, 600},
		{"premium", func(q *nearby.Query) { q.Account, q.Tier = stranger, mapdata.TierPremium }, 800},
		{"owner", func(q *nearby.Query) { q.Account, q.Tier = owner, mapdata.TierAccount }, 804},
	} {
		a := w.view(t, country, 5, tt.edit)
		if got := max(a.Overview.Count, len(a.Hits)); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

// TestNearest checks the nearest entity, however far, under the law.
func TestNearest(t *testing.T) {
	w := newLawReader(t, lawOf(t, noPolice, cameraZones),
		lawPin{id: "police", kind: "alert.police", at: inArea}, lawPin{id: "camera", kind: "camera.speed", at: geo.Point{Lat: 52.9, Lng: 4}},
		lawPin{id: "far", kind: "traffic.jam", at: geo.Point{Lat: -17, Lng: 179}})
	for _, tt := range []struct {
		name string
		at   geo.Point
		edit func(*nearby.Query)
		want string
	}{
		{"hidden by law", geo.Point{Lat: 51, Lng: 4}, func(*nearby.Query) {}, "camera"},
		{"the owner's", geo.Point{Lat: 51, Lng: 4}, func(q *nearby.Query) { q.Account = owner }, "police"},
		{"on the other side of the antimeridian", geo.Point{Lat: -17, Lng: -170}, func(*nearby.Query) {}, "far"},
		{"from a pole", geo.Point{Lat: 90}, func(*nearby.Query) {}, "camera"},
		{"of another kind", geo.Point{Lat: 52, Lng: 4}, func(q *nearby.Query) { q.Kinds = mapdata.SelectKinds("traffic.jam") }, "far"},
		{"of a kind that is nowhere", geo.Point{Lat: 52, Lng: 4}, func(q *nearby.Query) { q.Kinds = mapdata.SelectKinds("alert.accident") }, ""},
	} {
		q := &nearby.Query{Center: tt.at, Kinds: mapdata.AllKinds, Tier: mapdata.TierGuest}
		tt.edit(q)
		var a nearby.Answer
		if err := w.reader.Nearest(t.Context(), q, &a); err != nil {
			t.Fatal(err)
		}
		got := ""
		if len(a.Hits) > 0 {
			got = string(a.Hits[0].ExternalID)
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if tt.want == "camera" && (a.Hits[0].Zone == 0 || a.Hits[0].Point == geo.Point{Lat: 52.9, Lng: 4}) {
			t.Errorf("%s: the camera is where it is: %+v", tt.name, a.Hits[0])
		}
	}
}

// TestExtent checks that the extent is that of the entities that guests may read.
func TestExtent(t *testing.T) {
	w := newTestReader()
	if _, found := w.reader.Extent(); found {
		t.Error("there is an extent of nothing")
	}
	w = newTestReader()
	w.add(1, owner, mapdata.Approved, geo.Point{Lat: 52, Lng: 4})
	w.add(2, owner, mapdata.Approved, geo.Point{Lat: 52.1, Lng: 4.1})
	w.add(3, owner, mapdata.Pending, geo.Point{Lat: 10, Lng: 100})
	box, found := w.reader.Extent()
	if want := (geo.Box{South: 52, West: 4, North: 52.1, East: 4.1}); !found || !box.Grown(1).Contains(geo.Point{Lat: 52, Lng: 4}) || geo.Distance(geo.Point{Lat: box.North, Lng: box.East}, geo.Point{Lat: want.North, Lng: want.East}) > 1 {
		t.Errorf("%v %+v, want %+v", found, box, want)
	}
}

// TestLiveIncidentsOfAView checks that small views have the same live incidents as a query, and large ones have none.
func TestLiveIncidentsOfAView(t *testing.T) {
	reader, _ := newCrowdedReader(t, 40, 10)
	for _, tt := range []struct {
		half float64
		live bool
	}{{0.2, true}, {3, false}} {
		v := &nearby.View{
			Box: geo.Box{South: 52 - tt.half, West: 5 - tt.half, North: 52 + tt.half, East: 5 + tt.half}, Zoom: 9,
			Query: nearby.Query{Kinds: mapdata.AllKinds, Driver: "somebody"},
		}
		var a nearby.ViewAnswer
		if err := reader.View(t.Context(), v, &a); err != nil || a.Clustered || a.Live != tt.live {
			t.Errorf("half %v: live %v, clustered %v, %v", tt.half, a.Live, a.Clustered, err)
		}
	}
}

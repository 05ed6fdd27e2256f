//go:build !race || nightly

package demo

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"testing"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/basemap"
	"wayside/internal/roads/basemap/mvt"
	"wayside/internal/roads/basemap/tilemaker"
	"wayside/internal/roads/osmpbf"
)

// spotOf converts degrees to a spot.
func spotOf(lat, lng float64) spot {
	perLng := metresPerLat * math.Cos(center.Lat*math.Pi/180)
	return spot{(lng-center.Lng)*perLng + townMetres/2, (lat-center.Lat)*metresPerLat + townMetres/2}
}

// offStreet returns the distance of a row from the middle of its street, in metres.
func offStreet(p *plan, r row) float64 {
	least := math.Inf(1)
	for i := range p.roads {
		if p.roads[i].name != r.Properties["street"] {
			continue
		}
		only := plan{roads: p.roads[i : i+1]}
		on, along := only.nearest(spotOf(r.Lat, r.Lng))
		least = min(least, on.at(along).distance(spotOf(r.Lat, r.Lng)))
	}
	return least
}

// TestEventsLieOnStreets checks the positions of events during a simulated hour.
func TestEventsLieOnStreets(t *testing.T) {
	town, now := NewTown(), time.Unix(1_800_000_000, 0)
	check := func(rows []row) {
		for _, r := range rows {
			if off := offStreet(town.plan, r); !(off < 1.5) {
				t.Errorf("%s %s is %.1f m off %v", r.ExternalID, r.Kind, off, r.Properties["street"])
			}
		}
	}
	check(town.Snapshot())
	for range 180 {
		now = now.Add(20 * time.Second)
		check(town.Step(now, 20*time.Second))
		check(town.Live())
	}
}

// TestReportsOfOneEventAreMergeable checks that two reports of one event are within the merge distance.
func TestReportsOfOneEventAreMergeable(t *testing.T) {
	town, now, seen := NewTown(), time.Unix(1_800_000_000, 0), 0
	for range 30 {
		now = now.Add(time.Minute)
		town.Step(now, time.Minute)
		for _, told := range town.Live() {
			for _, e := range town.events {
				if "live:"+e.ExternalID != told.ExternalID {
					continue
				}
				seen++
				if d := spotOf(e.Lat, e.Lng).distance(spotOf(told.Lat, told.Lng)); d > policeOffset+2 {
					t.Errorf("%s: %.0f m apart", e.ExternalID, d)
				}
			}
		}
	}
	if seen == 0 {
		t.Error("no event was reported by both providers")
	}
}

// readDrive decodes the drive as a page does.
func readDrive(t *testing.T) (d struct {
	Coordinates [][2]float64
	Speeds      []float64
},
) {
	t.Helper()
	body, err := DriveJSON(true)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(body, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestDrive checks that the drive is a loop of about ten minutes along roads, at car speeds and without jumps.
func TestDrive(t *testing.T) {
	d, p := readDrive(t), newPlan()
	if len(d.Coordinates) != len(d.Speeds) || d.Coordinates[0] != d.Coordinates[len(d.Coordinates)-1] {
		t.Fatalf("%d places, %d speeds; a round ends where it begins", len(d.Coordinates), len(d.Speeds))
	}
	seconds, metres, fastest := 0.0, 0.0, 0.0
	for i, c := range d.Coordinates {
		if d.Speeds[i] < cornerSpeed || d.Speeds[i] > ringSpeed {
			t.Errorf("place %d: %.1f m/s", i, d.Speeds[i])
		}
		fastest = max(fastest, d.Speeds[i])
		here := spotOf(c[1], c[0])
		if r, along := p.nearest(here); r.at(along).distance(here) > 6 {
			t.Errorf("place %d is %.1f m off the road", i, r.at(along).distance(here))
		}
		if i == 0 {
			continue
		}
		before := d.Coordinates[i-1]
		step := geo.Distance(geo.Point{Lat: before[1], Lng: before[0]}, geo.Point{Lat: c[1], Lng: c[0]})
		took := step / ((d.Speeds[i] + d.Speeds[i-1]) / 2)
		if step > 20 || math.Abs(d.Speeds[i]-d.Speeds[i-1])/took > 2 {
			t.Errorf("place %d: %.1f m on, from %.1f to %.1f m/s", i, step, d.Speeds[i-1], d.Speeds[i])
		}
		seconds, metres = seconds+took, metres+step
	}
	t.Logf("%.0f m in %.0f s, %d places", metres, seconds, len(d.Speeds))
	if seconds < 9*60 || seconds > 11*60 || fastest < 19 {
		t.Errorf("%.0f s, at most %.1f m/s", seconds, fastest)
	}
}

// TestDrivePassesEntities checks that the drive passes cameras and road works, and soon an event.
func TestDrivePassesEntities(t *testing.T) {
	d := readDrive(t)
	passes := func(r row) bool {
		for _, c := range d.Coordinates {
			if geo.Distance(geo.Point{Lat: c[1], Lng: c[0]}, geo.Point{Lat: r.Lat, Lng: r.Lng}) < 20 {
				return true
			}
		}
		return false
	}
	town := NewTown()
	seen := map[string]int{}
	for _, r := range town.Snapshot() {
		if passes(r) {
			seen[r.Kind]++
		}
	}
	if seen["camera.speed"] < 2 || seen["camera.red_light"] < 2 || seen["alert.construction"] < 2 || seen["alert.road_closed"] > 0 {
		t.Errorf("the drive passes %v", seen)
	}
	now, happened := time.Unix(1_800_000_000, 0), 0
	for range 10 {
		now = now.Add(time.Minute)
		town.Step(now, time.Minute)
		for _, e := range town.events {
			if passes(e.row) {
				happened++
			}
		}
	}
	if happened < 20 {
		t.Errorf("%d things happened on the drive in ten minutes", happened)
	}
}

// TestStreetsStopAtWater checks that only main roads cross the river, and that no small street crosses a park.
func TestStreetsStopAtWater(t *testing.T) {
	p := newPlan()
	bridges := map[string]bool{}
	for i := range p.roads {
		r := &p.roads[i]
		for along := 0.0; along < r.length(); along += 5 {
			s := r.at(along)
			wet := inside(p.water[0].outline, s) || inside(p.water[1].outline, s) && !inside(p.water[1].island, s)
			switch {
			case wet && r.class == small:
				t.Fatalf("%s leads into the water", r.name)
			case wet:
				bridges[r.name] = true
			case r.class == small && r.name != islandLane && slices.ContainsFunc(p.ground, func(a area) bool { return a.kind == "park" && inside(a.outline, s) }):
				t.Fatalf("%s leads through the park", r.name)
			}
		}
	}
	if len(bridges) < 6 {
		t.Errorf("bridges: %v", bridges)
	}
}

// TestMapOfTheTown draws the map of the extract, as an import does.
func TestMapOfTheTown(t *testing.T) {
	var out bytes.Buffer
	if err := WriteExtract(&out); err != nil {
		t.Fatal(err)
	}
	f, err := osmpbf.Open(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	archive, counts, err := tilemaker.Make(t.Context(), []*osmpbf.File{f}, tilemaker.Options{})
	if err != nil || len(counts.LeftOut) > 0 {
		t.Fatalf("%v, left out: %v", err, counts)
	}
	a, err := basemap.OpenBytes(archive)
	if err != nil {
		t.Fatal(err)
	}
	const lowestZoom, highestZoom = 12, 14
	for z := lowestZoom; z <= highestZoom; z++ {
		x, y := mvt.Mercator(z, center.Lat, center.Lng)
		tile, ok, err := a.Tile(uint8(z), uint32(x), uint32(y))
		if err != nil || !ok {
			t.Fatalf("zoom %d: %v %v", z, ok, err)
		}
		b, err := tile.Plain()
		if err != nil || !bytes.Contains(b, []byte("roads")) {
			t.Errorf("zoom %d: no roads in the middle of the town: %v", z, err)
		}
		for _, name := range []string{"Demo Town", "Bridge Road", "B5", "River Linde", "park"} {
			if !bytes.Contains(b, []byte(name)) {
				t.Errorf("zoom %d: %q is not in the middle of the town", z, name)
			}
		}
		if z == highestZoom && !bytes.Contains(b, []byte("addr_housenumber")) {
			t.Error("there are no house numbers in the middle of the town")
		}
		if len(b) > 200_000 {
			t.Errorf("zoom %d: a tile of %d bytes", z, len(b))
		}
	}
	t.Logf("%d bytes", len(archive))
}

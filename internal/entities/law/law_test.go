package law_test

import (
	"math"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"wayside/internal/entities/law"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

func kind(t testing.TB, id string) mapdata.Kind {
	t.Helper()
	k, ok := mapdata.ParseKind(id)
	if !ok {
		t.Fatalf("no kind %s", id)
	}
	return k
}

func parse(t testing.TB, features ...string) *law.Law {
	t.Helper()
	l, err := law.Parse([]byte(`{"type":"FeatureCollection","features":[` + strings.Join(features, ",") + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// feature formats a feature of properties and rings; each ring is the content of its JSON array.
func feature(properties string, rings ...string) string {
	return `{"type":"Feature","properties":{"name":"X",` + properties + `},"geometry":{"type":"Polygon","coordinates":[[` +
		strings.Join(rings, "],[") + `]]}}`
}

const (
	square = `[4,50],[8,50],[8,54],[4,54],[4,50]`
	hole   = `[5,51],[6,51],[6,52],[5,52],[5,51]`
	police = `"hide":["alert.police"]`
)

func TestJudge(t *testing.T) {
	l := parse(t,
		feature(police, square, hole),
		feature(`"camera_zone":true`, square),
		feature(`"camera_zone":true,"zone_m":300`, `[7,53],[7.5,53],[7.5,53.5],[7,53.5],[7,53]`),
		feature(`"hide":["camera.red_light","alert.hazard"]`, `[7.5,50.5],[9,50.5],[9,51],[7.5,51],[7.5,50.5]`),
		feature(police, `[179,-20],[-179,-20],[-179,-18],[179,-18],[179,-20]`),
		feature(police, `[170,70],[-170,70],[-170,90],[170,90],[170,70]`, `[-178,75],[-176,75],[-176,76],[-178,76],[-178,75]`),
		feature(police, `[-180,-60],[180,-60],[180,-50],[-180,-50],[-180,-60]`),
	)
	hidden, shown := law.Verdict{Hidden: true}, law.Verdict{}
	for _, tt := range []struct {
		name     string
		lat, lng float64
		kind     string
		want     law.Verdict
	}{
		{"inside", 53, 5, "alert.police", hidden},
		{"inside, another kind", 53, 5, "alert.accident", shown},
		{"in the hole", 51.5, 5.5, "alert.police", shown},
		{"beside the hole", 51.5, 6.5, "alert.police", hidden},
		{"west of it", 53, 3.999, "alert.police", shown},
		{"east of it", 53, 8.001, "alert.police", shown},
		{"north of it", 54.001, 5, "alert.police", shown},
		{"south of it", 49.999, 5, "alert.police", shown},
		{"a camera outside cities", 53, 5, "camera.speed", law.Verdict{Zone: 4000}},
		{"a red-light camera is a camera", 53, 5, "camera.red_light", law.Verdict{Zone: 4000}},
		{"a camera in a city: the narrower zone", 53.2, 7.2, "camera.avg_speed", law.Verdict{Zone: 300}},
		{"a camera outside the area", 53, 9, "camera.speed", shown},
		{"hidden here and a zone there: hidden", 50.7, 7.7, "camera.red_light", hidden},
		{"the other camera is a zone", 50.7, 7.7, "camera.speed", law.Verdict{Zone: 4000}},
		{"a subtype is hidden with its kind", 50.7, 7.7, "alert.hazard.ice", hidden},
		{"over the antimeridian, west", -19, 179.5, "alert.police", hidden},
		{"over the antimeridian, east", -19, -179.5, "alert.police", hidden},
		{"on the antimeridian", -19, 180, "alert.police", hidden},
		{"on the antimeridian, the other spelling", -19, -180, "alert.police", hidden},
		{"the long way round is not meant", -19, 0, "alert.police", shown},
		{"at the pole", 89.999, 175, "alert.police", hidden},
		{"a hole beyond the antimeridian", 75.5, -177, "alert.police", shown},
		{"round the globe", -55, 12, "alert.police", hidden},
		{"round the globe, at its seam", -55, 180, "alert.police", hidden},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := l.Judge(geo.Point{Lat: tt.lat, Lng: tt.lng}, kind(t, tt.kind)); got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}

// TestNear checks that a view only has the rules of its circle, including cameras outside that are shown inside.
func TestNear(t *testing.T) {
	l := parse(t, feature(`"camera_zone":true`, square), feature(police, square))
	var v law.View
	cameras, both := mapdata.CameraKinds(), mapdata.CameraKinds().With(kind(t, "alert.police"))
	for _, tt := range []struct {
		name   string
		lng    float64
		radius float64
		kinds  mapdata.KindSet
	}{
		{"inside", 6, 1, both},
		{"far away", 9, 1000, 0},
		{"a kilometre away, cameras of a circle of a metre", 8 + 1000/metresOfLng, 1, both},
		{"four kilometres away", 8 + 4000/metresOfLng, 1, 0},
		{"four kilometres away, a circle of four", 8 + 4000/metresOfLng, 4100, both},
	} {
		l.Near(geo.Point{Lat: 52, Lng: tt.lng}, tt.radius, &v)
		if v.Kinds() != tt.kinds || (v.Drift() > 0) != (v.Kinds()&cameras != 0) {
			t.Errorf("%s: kinds %b, maxDrift %v", tt.name, v.Kinds(), v.Drift())
		}
	}
	var none *law.Law
	none.Near(geo.Point{}, 1, &v)
	if v.Kinds() != 0 || none.Widest() != 0 || none.Drift() != 0 || none.Areas() != 0 {
		t.Error("no law concerns something")
	}
}

const metresOfLng = 111_195 * 0.6157 // a degree at 52 north

// TestZone checks that a cell has one middle, no cell is smaller than requested, and no point is farther from its middle
// than Drift.
func TestZone(t *testing.T) {
	l := parse(t, feature(`"camera_zone":true,"zone_m":1000`, square))
	maxDrift := l.Drift() / 1000
	rapid.Check(t, func(t *rapid.T) {
		width := float64(rapid.IntRange(law.MinZone, law.MaxZone).Draw(t, "width"))
		p := geo.Point{Lat: rapid.Float64Range(-85, 85).Draw(t, "lat"), Lng: rapid.Float64Range(-180, 180).Draw(t, "lng")}
		middle := law.Middle(p, width)
		if !middle.Valid() {
			t.Fatalf("middle %v", middle)
		}
		if d := geo.Distance(p, middle); d > maxDrift*width {
			t.Fatalf("%v m away from the middle of %v m", d, width)
		}
		if again := law.Middle(middle, width); again != middle {
			t.Fatalf("the middle %v lies in the cell of %v", middle, again)
		}
		// The cell extends half a width to all four sides, except for rounding.
		const rounding = 1.2
		north := (width/2 - rounding) / 111_195.08
		east := north / math.Cos((math.Abs(middle.Lat)+north)*math.Pi/180)
		for _, q := range []geo.Point{
			{Lat: middle.Lat + north, Lng: middle.Lng},
			{Lat: middle.Lat - north, Lng: middle.Lng},
			{Lat: middle.Lat, Lng: wrap(middle.Lng + east*math.Cos((math.Abs(middle.Lat)+north)*math.Pi/180)/math.Cos(middle.Lat*math.Pi/180))},
			{Lat: middle.Lat, Lng: wrap(middle.Lng - east*math.Cos((math.Abs(middle.Lat)+north)*math.Pi/180)/math.Cos(middle.Lat*math.Pi/180))},
		} {
			if law.Middle(q, width) != middle {
				t.Fatalf("%v is not in the cell of %v, %v m wide", q, middle, width)
			}
		}
	})
	for _, pair := range [][2]geo.Point{{{Lat: 10, Lng: 180}, {Lat: 10, Lng: -180}}, {{Lat: 90, Lng: 3}, {Lat: 90, Lng: 3}}} {
		if a, b := law.Middle(pair[0], 4000), law.Middle(pair[1], 4000); a != b || !a.Valid() {
			t.Errorf("%v and %v", a, b)
		}
	}
}

func wrap(lng float64) float64 {
	switch {
	case lng > 180:
		return lng - 360
	case lng < -180:
		return lng + 360
	}
	return lng
}

// TestManyEdges compares the slabs with a count of every edge.
func TestManyEdges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// A star-shaped polygon, also across the antimeridian.
		center := geo.Point{Lat: 10, Lng: rapid.SampledFrom([]float64{0, 179, -179.5}).Draw(t, "lng")}
		points := rapid.IntRange(3, 400).Draw(t, "points")
		var ring []geo.Point
		var text []string
		for i := range points {
			reach := rapid.Float64Range(0.1, 3).Draw(t, "reach")
			angle := 2 * math.Pi * float64(i) / float64(points)
			p := geo.Point{Lat: center.Lat + reach*math.Sin(angle), Lng: center.Lng + reach*math.Cos(angle)}
			ring = append(ring, p)
			text = append(text, position(geo.Point{Lat: p.Lat, Lng: wrap(p.Lng)}))
		}
		ring, text = append(ring, ring[0]), append(text, text[0])
		l, err := law.Parse([]byte(`{"type":"FeatureCollection","features":[` + feature(police, strings.Join(text, ",")) + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		k, _ := mapdata.ParseKind("alert.police")
		for range 20 {
			p := geo.Point{
				Lat: center.Lat + rapid.Float64Range(-3.5, 3.5).Draw(t, "dlat"),
				Lng: center.Lng + rapid.Float64Range(-3.5, 3.5).Draw(t, "dlng"),
			}
			odd, onEdge := false, false
			for i := 1; i < len(ring); i++ {
				a, b := ring[i-1], ring[i]
				if (a.Lat > p.Lat) == (b.Lat > p.Lat) {
					continue
				}
				crossing := a.Lng + (p.Lat-a.Lat)/(b.Lat-a.Lat)*(b.Lng-a.Lng)
				onEdge = onEdge || math.Abs(crossing-p.Lng) < 1e-9
				odd = odd != (p.Lng < crossing)
			}
			if onEdge {
				continue // within 0.1 mm of the boundary, where rounding decides
			}
			if got := l.Judge(geo.Point{Lat: p.Lat, Lng: wrap(p.Lng)}, k).Hidden; got != odd {
				t.Fatalf("%v: %v, counted %v", p, got, odd)
			}
		}
	})
}

// TestManyAreas checks that the grid does not affect the result.
func TestManyAreas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type box struct{ west, south, width, height float64 }
		var boxes []box
		var features []string
		for range rapid.IntRange(1, 20).Draw(t, "areas") {
			b := box{
				rapid.Float64Range(-180, 180).Draw(t, "west"), rapid.Float64Range(-90, 80).Draw(t, "south"),
				rapid.Float64Range(0.001, 170).Draw(t, "width"), rapid.Float64Range(0.001, 10).Draw(t, "height"),
			}
			boxes = append(boxes, b)
			east, north := wrap(b.west+b.width), b.south+b.height
			features = append(features, feature(police, strings.Join([]string{
				position(geo.Point{Lat: b.south, Lng: b.west}), position(geo.Point{Lat: b.south, Lng: east}),
				position(geo.Point{Lat: north, Lng: east}), position(geo.Point{Lat: north, Lng: b.west}),
				position(geo.Point{Lat: b.south, Lng: b.west}),
			}, ",")))
		}
		l, err := law.Parse([]byte(`{"type":"FeatureCollection","features":[` + strings.Join(features, ",") + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		k, _ := mapdata.ParseKind("alert.police")
		for range 20 {
			p := geo.Point{Lat: rapid.Float64Range(-90, 90).Draw(t, "lat"), Lng: rapid.Float64Range(-180, 180).Draw(t, "lng")}
			want, onEdge := false, false
			for _, b := range boxes {
				for _, lng := range []float64{p.Lng - 360, p.Lng, p.Lng + 360} {
					onEdge = onEdge || p.Lat == b.south || p.Lat == b.south+b.height || math.Abs(lng-b.west) < 1e-9 || math.Abs(lng-b.west-b.width) < 1e-9
				}
				in := func(lng float64) bool { return lng > b.west && lng < b.west+b.width }
				want = want || p.Lat > b.south && p.Lat < b.south+b.height && (in(p.Lng-360) || in(p.Lng) || in(p.Lng+360))
			}
			if got := l.Judge(p, k).Hidden; got != want && !onEdge {
				t.Fatalf("%v: %v, want %v", p, got, want)
			}
		}
	})
}

// TestExample checks the shipped example file.
func TestExample(t *testing.T) {
	text, err := os.ReadFile("../../../deploy/law/example.geojson")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "no legal advice") {
		t.Error("it does not say that it is no legal advice")
	}
	l, err := law.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		place    string
		lat, lng float64
		want     law.Verdict
	}{
		{"Paris", 48.8566, 2.3522, law.Verdict{Zone: 300}},
		{"Limoges", 45.83, 1.26, law.Verdict{Zone: 4000}},
		{"Frankfurt", 50.11, 8.68, law.Verdict{Hidden: true}},
		{"Bern", 46.95, 7.44, law.Verdict{Hidden: true}},
		{"Amsterdam", 52.37, 4.90, law.Verdict{}},
		{"Rome", 41.9, 12.5, law.Verdict{}},
		{"Madrid", 40.4, -3.7, law.Verdict{}},
	} {
		if got := l.Judge(geo.Point{Lat: tt.lat, Lng: tt.lng}, kind(t, "camera.speed")); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.place, got, tt.want)
		}
	}
}

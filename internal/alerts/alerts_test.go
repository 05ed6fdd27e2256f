package alerts_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"pgregory.net/rapid"

	"wayside/internal/alerts"
	"wayside/internal/geo"
	"wayside/internal/mapdata"
)

// testdata/cases.json is the golden table of this package and of the page's TypeScript version. It is a list of cases:
//
//	name    of the case, unique
//	car     lat, lng in degrees; heading in degrees clockwise from north, null if it is not known; speed in m/s
//	lead_m  the distance of an announcement at that speed, in metres
//	seen    keys of what the client has announced: an id, or an id and ~near for the second stage of a camera
//	pins    candidates, in input order: id, lat, lng, kind; and optionally
//	        zone_m    width in metres of the zone whose centre is lat and lng
//	        merged    other ids that are merged into the pin
//	        voted     the driver has voted on it
//	expect  exactly the alerts listed, in this order: id; distance_m, to half a metre; seconds, to a tenth, null without
//	        a time; bearing, to half a degree; stage, ahead or near; announce, true for one at most
//
// Distances and bearings were computed with textbook formulas, not with this package.
type goldenCase struct {
	Name string
	Car  struct {
		Lat, Lng, Speed float64
		Heading         *float64
	}
	LeadM  float64 `json:"lead_m"`
	Seen   []string
	Pins   []goldenPin
	Expect []goldenAlert
}

type goldenPin struct {
	ID       string
	Lat, Lng float64
	Kind     string
	ZoneM    float64 `json:"zone_m"`
	Merged   []string
	Voted    bool
}

type goldenAlert struct {
	ID        string
	DistanceM float64 `json:"distance_m"`
	Seconds   *float64
	Bearing   float64
	Stage     alerts.Stage
	Announce  bool
}

func TestGolden(t *testing.T) {
	text, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []goldenCase
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 60 {
		t.Errorf("only %d cases", len(cases))
	}
	names := make(map[string]bool)
	for _, c := range cases {
		if names[c.Name] {
			t.Errorf("two cases are named %q", c.Name)
		}
		names[c.Name] = true
		t.Run(c.Name, c.run)
	}
}

func (c *goldenCase) run(t *testing.T) {
	car := alerts.Car{At: geo.Point{Lat: c.Car.Lat, Lng: c.Car.Lng}, Speed: c.Car.Speed}
	if c.Car.Heading != nil {
		car.Heading, car.Directed = *c.Car.Heading, true
	}
	if got := alerts.Lead(car.Speed); math.Abs(got-c.LeadM) > 1e-6 {
		t.Errorf("lead %v m, want %v", got, c.LeadM)
	}
	seen := alerts.ParseAnnouncements(c.Seen)
	var pins []alerts.Pin
	for _, p := range c.Pins {
		kind, ok := mapdata.ParseKind(p.Kind)
		if !ok {
			t.Fatalf("no kind %s", p.Kind)
		}
		pins = append(pins, alerts.Pin{
			At: geo.Point{Lat: p.Lat, Lng: p.Lng}, Kind: kind, Zone: p.ZoneM, Announced: seen.Of(append(p.Merged, p.ID)...),
		})
	}
	list := car.List(pins)
	first := alerts.First(list, func(i int) bool { return c.Pins[list[i].Pin].Voted })
	for i := range max(len(list), len(c.Expect)) {
		switch {
		case i >= len(list):
			t.Errorf("%s is not listed", c.Expect[i].ID)
		case i >= len(c.Expect):
			t.Errorf("%s is listed: %+v", c.Pins[list[i].Pin].ID, list[i])
		default:
			c.Expect[i].check(t, c, &list[i], i == first)
		}
	}
}

func (w *goldenAlert) check(t *testing.T, c *goldenCase, s *alerts.Alert, announce bool) {
	t.Helper()
	if id := c.Pins[s.Pin].ID; id != w.ID || s.Stage != w.Stage || announce != w.Announce {
		t.Errorf("%s %s %v, want %s %s %v", id, s.Stage, announce, w.ID, w.Stage, w.Announce)
	}
	if math.Abs(s.Distance-w.DistanceM) > 0.5 || geo.AngleBetween(s.Bearing, w.Bearing) > 0.5 {
		t.Errorf("%s: %.2f m at %.2f°, want %v m at %v°", w.ID, s.Distance, s.Bearing, w.DistanceM, w.Bearing)
	}
	seconds, announced := alerts.Seconds(s.Distance, c.Car.Speed)
	if announced != (w.Seconds != nil) || announced && math.Abs(seconds-*w.Seconds) > 0.1 {
		t.Errorf("%s: %v s (%v), want %v", w.ID, seconds, announced, w.Seconds)
	}
}

// TestNothingBehind checks for any distance, position, heading and speed that no pin behind the car is listed.
func TestNothingBehind(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		car := alerts.Car{
			At:      geo.Point{Lat: rapid.Float64Range(-89, 89).Draw(t, "lat"), Lng: rapid.Float64Range(-180, 180).Draw(t, "lng")},
			Heading: rapid.Float64Range(0, 360).Draw(t, "heading"), Directed: true, Speed: rapid.Float64Range(0, 100).Draw(t, "speed"),
		}
		reach := rapid.SampledFrom([]float64{1e-4, 1e-3, 1e-2, 1}).Draw(t, "reach")
		pin := alerts.Pin{At: geo.Point{
			Lat: math.Max(-90, math.Min(90, car.At.Lat+reach*rapid.Float64Range(-1, 1).Draw(t, "dlat"))),
			Lng: car.At.Lng + reach*rapid.Float64Range(-1, 1).Draw(t, "dlng"),
		}, Kind: mapdata.Kind(rapid.IntRange(0, mapdata.KindCount-1).Draw(t, "kind"))}
		bearing := geo.Bearing(car.At, pin.At)
		if bearing < 0 || bearing >= 360 {
			t.Fatalf("a bearing of %v°", bearing)
		}
		for _, s := range car.List([]alerts.Pin{pin}) {
			if turn := geo.AngleBetween(car.Heading, bearing); turn > 75 || s.Distance > alerts.Range {
				t.Fatalf("%v m away, %v° aside, is listed", s.Distance, turn)
			}
			if s.Due && (s.Distance > alerts.Lead(car.Speed) || car.Speed < alerts.MinSpeed) {
				t.Fatalf("%v m away at %v m/s is announced", s.Distance, car.Speed)
			}
		}
	})
}

// TestDrive checks that on a straight road past a pin, at any speed and interval of fixes, an alert is announced once and a
// camera twice, never behind, if the client reports what it has announced.
func TestDrive(t *testing.T) {
	alert, _ := mapdata.ParseKind("alert.hazard")
	camera, _ := mapdata.ParseKind("camera.speed")
	rapid.Check(t, func(t *rapid.T) {
		speed := rapid.Float64Range(alerts.MinSpeed, 60).Draw(t, "speed")
		fixInterval := rapid.Float64Range(0.2, 1.5).Draw(t, "seconds between fixes")
		kind, want := alert, 1
		if rapid.Bool().Draw(t, "camera") {
			kind, want = camera, 2
		}
		pin := geo.Point{Lat: 52.01, Lng: 5}
		var keys []string
		for north := -1500.0; north < 500; north += speed * fixInterval {
			car := alerts.Car{At: geo.Point{Lat: pin.Lat + north/111_195, Lng: pin.Lng}, Directed: true, Speed: speed}
			announced := alerts.ParseAnnouncements(keys).Of("x")
			list := car.List([]alerts.Pin{{At: pin, Kind: kind, Announced: announced}})
			if first := alerts.First(list, func(int) bool { return false }); first >= 0 {
				if north > 0 {
					t.Fatal("announced behind")
				}
				keys = append(keys, alerts.Key("x", list[first].Stage))
			}
		}
		if len(keys) != want {
			t.Fatalf("announced %v", keys)
		}
	})
}

// TestBearing checks known bearings.
func TestBearing(t *testing.T) {
	for _, tt := range []struct {
		name string
		a, b geo.Point
		want float64
	}{
		{"north", geo.Point{}, geo.Point{Lat: 1}, 0},
		{"east", geo.Point{}, geo.Point{Lng: 1}, 90},
		{"south", geo.Point{Lat: 1}, geo.Point{}, 180},
		{"west", geo.Point{}, geo.Point{Lng: -1}, 270},
		{"the same place", geo.Point{Lat: 3, Lng: 4}, geo.Point{Lat: 3, Lng: 4}, 0},
		{"Baghdad to Osaka", geo.Point{Lat: 35, Lng: 45}, geo.Point{Lat: 35, Lng: 135}, 60.16},
		{"over the antimeridian", geo.Point{Lng: 179}, geo.Point{Lng: -179}, 90},
	} {
		if got := geo.Bearing(tt.a, tt.b); math.Abs(got-tt.want) > 0.01 {
			t.Errorf("%s: %v°, want %v°", tt.name, got, tt.want)
		}
	}
}

package alerts_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"pgregory.net/rapid"

	"wayside/internal/drive/alerts"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// testdata/cases.json is the golden table of this package and of the page's TypeScript version. It is a list of cases:
//
//	name    of the case, unique
//	car     lat, lng in degrees; heading in degrees clockwise from north, null if it is not known; speed in m/s
//	seen    keys of what the client has announced: an id, which ~, metres, ~ and seconds since then may follow; or an id and
//	        ~near for the second stage
//	pins    candidates, in input order: id, lat, lng, kind; and optionally
//	        line          its line: positions, longitude first
//	        zone_m        width in metres of the zone whose centre is lat and lng
//	        bearing       of the traffic that it concerns, degrees clockwise from north
//	        maxspeed_kmh  the limit that a camera enforces
//	        merged        other ids that are merged into the pin
//	        voted         the driver has voted on it
//	expect  exactly the alerts listed, in this order: id; distance_m, to half a metre; seconds, to a tenth, null without
//	        a time; bearing, to half a degree; lead_m, the distance of its announcement at that speed in metres; stage, ahead
//	        or near; announce, true for one at most
//
// Distances and bearings were computed with textbook formulas, not with this package.
type goldenCase struct {
	Name string
	Car  struct {
		Lat, Lng, Speed float64
		Heading         *float64
	}
	Seen   []string
	Pins   []goldenPin
	Expect []goldenAlert
}

type goldenPin struct {
	ID       string
	Lat, Lng float64
	Kind     string
	Line     [][2]float64
	ZoneM    float64 `json:"zone_m"`
	Bearing  *float64
	MaxSpeed float64 `json:"maxspeed_kmh"`
	Merged   []string
	Voted    bool
}

type goldenAlert struct {
	ID        string
	DistanceM float64 `json:"distance_m"`
	Seconds   *float64
	Bearing   float64
	LeadM     float64 `json:"lead_m"`
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
	seen := alerts.ParseAnnouncements(c.Seen)
	var pins []alerts.Pin
	for _, p := range c.Pins {
		kind, ok := mapdata.ParseKind(p.Kind)
		if !ok {
			t.Fatalf("no kind %s", p.Kind)
		}
		pin := alerts.Pin{At: geo.Point{Lat: p.Lat, Lng: p.Lng}, Kind: kind, Zone: p.ZoneM, Announced: seen.Of(append(p.Merged, p.ID)...)}
		for _, position := range p.Line {
			pin.Line = append(pin.Line, geo.Point{Lat: position[1], Lng: position[0]})
		}
		pins = append(pins, pin)
	}
	list := car.List(pins, func(i int) alerts.Details { return c.Pins[i].details() })
	first := alerts.First(list, func(i int) bool { return c.Pins[list[i].Pin].Voted })
	for i := range max(len(list), len(c.Expect)) {
		switch {
		case i >= len(list):
			t.Errorf("%s is not listed", c.Expect[i].ID)
		case i >= len(c.Expect):
			t.Errorf("%s is listed: %+v", c.Pins[list[i].Pin].ID, list[i])
		default:
			c.Expect[i].check(t, c, &list[i], i == first)
			if got := alerts.Lead(pins[list[i].Pin].Kind, car.Speed); math.Abs(got-c.Expect[i].LeadM) > 1e-6 {
				t.Errorf("%s: lead %v m, want %v", c.Expect[i].ID, got, c.Expect[i].LeadM)
			}
		}
	}
}

func (p *goldenPin) details() alerts.Details {
	d := alerts.Details{MaxSpeed: p.MaxSpeed}
	if p.Bearing != nil {
		d.Bearing, d.Directed = *p.Bearing, true
	}
	return d
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

// TestNothingBehind checks that no pin behind the car is listed, for any distance, position, heading and speed.
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
		for _, s := range car.List([]alerts.Pin{pin}, plain) {
			if turn := geo.AngleBetween(car.Heading, bearing); turn > 75 || s.Distance > alerts.DetourRange {
				t.Fatalf("%v m away, %v° aside, is listed", s.Distance, turn)
			}
			if s.Due && (s.Distance > alerts.Lead(pin.Kind, car.Speed) || car.Speed < alerts.MinSpeed) {
				t.Fatalf("%v m away at %v m/s is announced", s.Distance, car.Speed)
			}
		}
	})
}

// plain returns the details of pins without properties.
func plain(int) alerts.Details { return alerts.Details{} }

// TestDrive checks drives on a straight road past a pin of any kind, with or without a line, at any speed, speed limit
// and interval of fixes: if the client reports its announcements, each stage is announced at most once, the first one
// always, and none behind the pin.
func TestDrive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		speed := rapid.Float64Range(alerts.MinSpeed, 60).Draw(t, "speed")
		fixInterval := rapid.Float64Range(0.2, 1.5).Draw(t, "seconds between fixes")
		kind := mapdata.Kind(rapid.IntRange(0, mapdata.KindCount-1).Draw(t, "kind"))
		details := alerts.Details{MaxSpeed: rapid.SampledFrom([]float64{0, 30, 120}).Draw(t, "limit")}
		reports := rapid.Bool().Draw(t, "the client reports figures")
		tail := geo.Point{Lat: 52.04, Lng: 5}
		pin := alerts.Pin{At: tail, Kind: kind}
		if rapid.Bool().Draw(t, "line") {
			pin.At = geo.Point{Lat: 52.05, Lng: 5}
			pin.Line = []geo.Point{tail, {Lat: 52.06, Lng: 5}}
		}
		var firstDistance, now, firstAt float64
		var stages []alerts.Stage
		for north := -3600.0; north < 3000; north += speed * fixInterval {
			car := alerts.Car{At: geo.Point{Lat: tail.Lat + north/111_195, Lng: tail.Lng}, Directed: true, Speed: speed}
			var keys []string
			for _, stage := range stages {
				switch {
				case stage == alerts.Near:
					keys = append(keys, "x~near")
				case reports:
					keys = append(keys, fmt.Sprintf("x~%.0f~%.1f", firstDistance, now-firstAt))
				default:
					keys = append(keys, "x")
				}
			}
			pin.Announced = alerts.ParseAnnouncements(keys).Of("x")
			list := car.List([]alerts.Pin{pin}, func(int) alerts.Details { return details })
			if first := alerts.First(list, func(int) bool { return false }); first >= 0 {
				if north > 0 {
					t.Fatal("announced behind")
				}
				if len(stages) == 0 {
					firstDistance, firstAt = list[first].Distance, now
				}
				stages = append(stages, list[first].Stage)
			}
			now += fixInterval
		}
		checkStages(t, kind, speed, &details, stages)
	})
}

// checkStages checks the announcements of a whole drive past a pin.
func checkStages(t *rapid.T, kind mapdata.Kind, speed float64, details *alerts.Details, stages []alerts.Stage) {
	if kind.Charger() {
		if len(stages) > 0 {
			t.Fatalf("a charger is announced: %v", stages)
		}
		return
	}
	if len(stages) == 0 || len(stages) > 2 || len(stages) == 2 && (stages[0] != alerts.Early || stages[1] != alerts.Near) {
		t.Fatalf("announced %v", stages)
	}
	second, detour := len(stages) == 2, kind.Detour()
	switch tooFast := details.MaxSpeed > 0 && speed*3.6 > details.MaxSpeed; {
	case kind.Camera() && second != tooFast:
		t.Fatalf("a camera with a limit of %v km/h at %v m/s: %v", details.MaxSpeed, speed, stages)
	case detour && alerts.Lead(kind, speed) > 340 && !second:
		t.Fatalf("a detour at %v m/s: %v", speed, stages)
	case !kind.Camera() && !detour && second:
		t.Fatalf("an alert is announced twice")
	}
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

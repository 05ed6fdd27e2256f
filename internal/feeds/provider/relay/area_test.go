package relay

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"wayside/internal/ground/geo"
)

// TestAreaIsRoundedAndCovers checks that neighbours within a box have one area, and that it covers the requested circle
// (D8.2).
func TestAreaIsRoundedAndCovers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		center := geo.Point{Lat: rapid.Float64Range(-90, 90).Draw(t, "lat"), Lng: rapid.Float64Range(-180, 180).Draw(t, "lng")}
		radius := rapid.Float64Range(1, 50_000).Draw(t, "radius")
		p := areaOf(center, radius)
		off := geo.Distance(center, p.center)
		if !p.center.Valid() || off > 0.75*roundTo {
			t.Fatalf("%v became %v, %.0f m off", center, p.center, off)
		}
		if p.radius < minRadius || p.radius > maxRadius || math.Mod(p.radius, roundTo) != 0 {
			t.Fatalf("radius %v", p.radius)
		}
		if p.radius < maxRadius && p.radius < radius+off || p.radius > radius+2*roundTo {
			t.Fatalf("radius %v became %v, %.0f m off", radius, p.radius, off)
		}
		if again := areaOf(p.center, radius); again.center != p.center {
			t.Fatalf("%v is rounded to %v", p.center, again.center)
		}
	})
}

func TestAreaKeys(t *testing.T) {
	at := geo.Point{Lat: 52.00031, Lng: 5.0003}
	p := areaOf(at, 1000)
	if q := areaOf(geo.Point{Lat: at.Lat + 1e-5, Lng: at.Lng - 1e-5}, 1000); q.key != p.key || q.center != p.center {
		t.Errorf("a metre away is another place: %v, %v", p, q)
	}
	for name, q := range map[string]requestArea{
		"farther north": areaOf(geo.Point{Lat: at.Lat + 0.001, Lng: at.Lng}, 1000),
		"farther east":  areaOf(geo.Point{Lat: at.Lat, Lng: at.Lng + 0.002}, 1000),
		"wider":         areaOf(at, 1200),
	} {
		if q.key == p.key {
			t.Errorf("%s is the same place", name)
		}
	}
	if a, b := areaOf(geo.Point{Lat: 10, Lng: 180}, 1000), areaOf(geo.Point{Lat: 10, Lng: -180}, 1000); a.key != b.key {
		t.Errorf("180 is not -180: %v, %v", a, b)
	}
	for _, tt := range []struct{ asked, sent float64 }{{1, 100}, {100, 200}, {49_990, 50_000}, {50_000, 50_000}} {
		if got := areaOf(geo.Point{Lat: 52.0003, Lng: 5.0003}, tt.asked); got.radius != tt.sent {
			t.Errorf("radius %v is asked as %v, want %v", tt.asked, got.radius, tt.sent)
		}
	}
}

func TestAreas(t *testing.T) {
	holland := &Area{West: 3, South: 50, East: 7, North: 54}
	fiji := &Area{West: 176, South: -20, East: -178, North: -15}
	everywhere := &Area{West: -180, South: -90, East: 180, North: 90}
	for _, tt := range []struct {
		name     string
		area     *Area
		lat, lng float64
		radius   float64
		want     bool
	}{
		{"inside", holland, 52, 5, 1000, true},
		{"without an area", nil, 0, 0, 1000, true},
		{"far east", holland, 52, 8, 1000, false},
		{"far west", holland, 52, 2, 1000, false},
		{"far north", holland, 55, 5, 1000, false},
		{"just east", holland, 52, 7.3, 25_000, true},
		{"just west", holland, 52, 2.7, 25_000, true},
		{"just south", holland, 49.8, 5, 30_000, true},
		{"on the other side of the world", holland, 52, -175, 50_000, false},
		{"over the antimeridian, west", fiji, -17, 178, 1000, true},
		{"over the antimeridian, east", fiji, -17, -179, 1000, true},
		{"outside of it", fiji, -17, 0, 1000, false},
		{"at the pole", &Area{West: 0, South: 80, East: 10, North: 90}, 89.99, -170, 5000, true},
		{"everywhere", everywhere, -33, 151, 100, true},
	} {
		p := areaOf(geo.Point{Lat: tt.lat, Lng: tt.lng}, tt.radius)
		if got := tt.area.touches(&p); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

package geo_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"wayside/internal/ground/geo"
)

func TestNearestOnSegment(t *testing.T) {
	for _, tt := range []struct {
		name          string
		p, a, b, want geo.Point
	}{
		{"beside the middle", geo.Point{}, geo.Point{Lat: 0.01, Lng: -0.01}, geo.Point{Lat: 0.01, Lng: 0.01}, geo.Point{Lat: 0.01}},
		{"before the start", geo.Point{}, geo.Point{Lat: 0.01}, geo.Point{Lat: 0.02}, geo.Point{Lat: 0.01}},
		{"behind the end", geo.Point{Lat: 0.03}, geo.Point{Lat: 0.01}, geo.Point{Lat: 0.02}, geo.Point{Lat: 0.02}},
		{"a segment of one place", geo.Point{}, geo.Point{Lat: 0.01}, geo.Point{Lat: 0.01}, geo.Point{Lat: 0.01}},
		{"across the antimeridian", geo.Point{Lng: 180}, geo.Point{Lat: 0.01, Lng: 179.99}, geo.Point{Lat: 0.01, Lng: -179.99}, geo.Point{Lat: 0.01, Lng: 180}},
	} {
		if got := geo.NearestOnSegment(tt.p, tt.a, tt.b); geo.Distance(got, tt.want) > 0.01 || !got.Valid() {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestNearestOnSegmentIsNearest checks that no point of a short segment is nearer by a metre.
func TestNearestOnSegmentIsNearest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := geo.Point{Lat: rapid.Float64Range(-80, 80).Draw(t, "lat"), Lng: rapid.Float64Range(-180, 180).Draw(t, "lng")}
		beside := func(name string) geo.Point {
			scale := math.Cos(p.Lat * math.Pi / 180)
			lng := p.Lng + rapid.Float64Range(-0.03, 0.03).Draw(t, name+" east")/scale
			return geo.Point{Lat: p.Lat + rapid.Float64Range(-0.03, 0.03).Draw(t, name+" north"), Lng: math.Remainder(lng, 360)}
		}
		a, b := beside("a"), beside("b")
		found := geo.Distance(p, geo.NearestOnSegment(p, a, b))
		for share := 0.0; share <= 1; share += 1.0 / 64 {
			q := geo.Point{Lat: a.Lat + share*(b.Lat-a.Lat), Lng: a.Lng + share*math.Remainder(b.Lng-a.Lng, 360)}
			if d := geo.Distance(p, q); d < found-1 {
				t.Fatalf("%v is %v m away, the nearest %v m", q, d, found)
			}
		}
	})
}

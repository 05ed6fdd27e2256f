package nav_test

import (
	"testing"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/roadtest"
)

// TestStreetAt checks that a report gets the name of the road that its car can be on: the one in its direction of travel, otherwise
// the nearest, by its number if it has no name.
func TestStreetAt(t *testing.T) {
	w := draw(t, `
		   c
		a--x--b
		   d
		e-----f
	`, roadtest.Way("axb", "highway=primary, name=High Street, ref=A1"), roadtest.Way("cxd", "highway=residential, name=Mill Lane"), roadtest.Way("ef", "highway=motorway, ref=A2"))
	east, north := 90.0, 0.0
	at := func(node string, metresNorth float64) geo.Point {
		p := w.drawn.Places(t, node)[0]
		p.Lat += metresNorth / 111_195
		return p
	}
	for _, tt := range []struct {
		name    string
		at      geo.Point
		heading *float64
		want    string
	}{
		{"eastwards at a crossing", at("x", 4), &east, "High Street"},
		{"northwards at a crossing", at("x", 0), &north, "Mill Lane"},
		{"without a heading", at("a", 10), nil, "High Street"},
		{"no name", at("e", 10), &east, "A2"},
		{"against the only road", at("e", 10), &north, ""},
		{"far from all roads", at("a", 90), nil, ""},
	} {
		if got := w.StreetAt(t.Context(), tt.at, tt.heading); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

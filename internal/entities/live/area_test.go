package live

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"wayside/internal/ground/geo"
)

// TestTilesCoverEveryCircle checks that a point within a circle lies in a tile that the circle touches, and that no tile
// comes twice.
func TestTilesCoverEveryCircle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		center := geo.Point{Lat: rapid.Float64Range(-90, 90).Draw(t, "lat"), Lng: rapid.Float64Range(-180, 180).Draw(t, "lng")}
		if rapid.Bool().Draw(t, "edge") {
			center.Lat = rapid.SampledFrom([]float64{-90, -89.99, -0.1, 0, 0.05, 60, 89.9, 90}).Draw(t, "lat")
			center.Lng = rapid.SampledFrom([]float64{-180, -179.999, 0, 179.999, 180}).Draw(t, "lng")
		}
		radius := rapid.SampledFrom([]float64{1, 100, 5_000, 50_000, MaxRadius}).Draw(t, "radius")
		area, err := newArea(center, radius)
		if err != nil {
			t.Fatal(err)
		}
		touched := make(map[geo.Cell]bool)
		for id := range area.tiles() {
			if touched[id] {
				t.Fatalf("tile %v twice", id)
			}
			touched[id] = true
			if id.Band < 0 || id.Band >= 1800 || id.Column < 0 || id.Column >= tileGrid.Columns(id.Band) {
				t.Fatalf("there is no tile %v", id)
			}
		}
		degrees := radius / geo.EarthRadius * 57.3
		for range 20 {
			p := geo.Point{Lat: center.Lat + rapid.Float64Range(-degrees, degrees).Draw(t, "dlat"), Lng: center.Lng}
			if over := max(p.Lat-90, -90-p.Lat); over > 0 { // past the pole
				p = geo.Point{Lat: max(-90, min(90, p.Lat-2*over*math.Copysign(1, p.Lat))), Lng: p.Lng + 180}
			}
			p.Lng = math.Remainder(p.Lng+rapid.Float64Range(-1, 1).Draw(t, "dlng")*min(180, degrees/max(1e-9, math.Cos(p.Lat*math.Pi/180))), 360)
			if area.contains(p.Vector()) && !touched[tileGrid.Cell(p)] {
				t.Fatalf("%v lies within %v m of %v, but not in a tile that is touched", p, radius, center)
			}
		}
	})
}

// TestTilesPerCircle checks how many values a reader requests.
func TestTilesPerCircle(t *testing.T) {
	for _, tt := range []struct {
		lat, radius float64
		maxTiles    int
	}{{52.35, 5_000, 4}, {52.35, 50_000, 121}, {0, 50_000, 121}, {70, 50_000, 130}, {89.9, 50_000, 110}} {
		area, err := newArea(geo.Point{Lat: tt.lat, Lng: 4.9}, tt.radius)
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		for range area.tiles() {
			count++
		}
		if count > tt.maxTiles {
			t.Errorf("%v m at %v°: %d tiles, more than %d", tt.radius, tt.lat, count, tt.maxTiles)
		}
	}
}

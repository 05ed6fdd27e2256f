package geo_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"wayside/internal/ground/geo"
)

// heights draws every height that the service uses, and one that leaves a single column at the poles.
var heights = rapid.SampledFrom([]float64{0.02, 0.1, 1, 10})

func drawPoint(t *rapid.T, name string) geo.Point {
	return geo.Point{
		Lat: rapid.OneOf(rapid.Float64Range(-90, 90), rapid.SampledFrom([]float64{-90, -89.99, -0.1, 0, 0.05, 60, 89.9, 90})).Draw(t, name+" lat"),
		Lng: rapid.OneOf(rapid.Float64Range(-180, 180), rapid.SampledFrom([]float64{-180, -179.999, 0, 179.999, 180})).Draw(t, name+" lng"),
	}
}

func checkCell(t *rapid.T, g geo.Grid, c geo.Cell) {
	if c.Band < 0 || c.Band >= g.Bands() || c.Column < 0 || c.Column >= g.Columns(c.Band) {
		t.Fatalf("the grid has no cell %v", c)
	}
}

// TestCellHoldsItsPoints checks that a point lies in the box of its cell and in the circle around that box.
func TestCellHoldsItsPoints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := geo.Grid{Height: heights.Draw(t, "height")}
		p := drawPoint(t, "point")
		c := g.Cell(p)
		checkCell(t, g, c)
		const epsilon = 1e-9
		b, lng := g.Box(c), p.Lng
		if lng == 180 {
			lng = -180
		}
		if p.Lat < b.South-epsilon || p.Lat > b.North+epsilon || lng < b.West-epsilon || lng > b.East+epsilon {
			t.Errorf("%v lies outside of its cell %v, which is %v", p, c, b)
		}
		if b.East-b.West > 180 {
			return // no circle contains so wide a box
		}
		if circle := b.Circle(); geo.Distance(circle.Center, p) > circle.Radius+0.01 {
			t.Errorf("%v lies outside of the circle %v around its cell %v", p, circle, c)
		}
	})
}

// TestCellsAreAboutSquare checks that cells are about as wide as high, except next to the poles.
func TestCellsAreAboutSquare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := geo.Grid{Height: heights.Draw(t, "height")}
		band := rapid.Int32Range(0, g.Bands()-1).Draw(t, "band")
		b := g.Box(geo.Cell{Band: band})
		middle := (b.South + b.North) / 2
		width := (b.East - b.West) * math.Cos(middle*math.Pi/180)
		if math.Abs(middle) < 80 && (width < 0.99*g.Height || width > 2*g.Height) {
			t.Errorf("a cell of band %d is %v degrees wide and %v high", band, width, g.Height)
		}
	})
}

// TestCellsOfCircle checks that a point within a circle lies in a cell of the circle's box, that each cell comes once,
// and that it exists.
func TestCellsOfCircle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := geo.Grid{Height: heights.Draw(t, "height")}
		circle := geo.Circle{Center: drawPoint(t, "center")}
		circle.Radius = g.Height * 111_195 * rapid.SampledFrom([]float64{0, 0.001, 0.3, 1, 5}).Draw(t, "radius in cells")
		cells := make(map[geo.Cell]bool)
		for c := range g.Cells(circle.Box()) {
			checkCell(t, g, c)
			if cells[c] {
				t.Fatalf("cell %v comes twice", c)
			}
			cells[c] = true
		}
		for range 20 {
			p := drawWithin(t, circle)
			if geo.Distance(circle.Center, p) <= circle.Radius && !cells[g.Cell(p)] {
				t.Fatalf("%v lies within %v, but its cell %v is missing", p, circle, g.Cell(p))
			}
			box := geo.Box{South: p.Lat, West: p.Lng, North: p.Lat, East: p.Lng}
			if geo.Distance(circle.Center, p) <= circle.Radius && (!circle.Box().Meets(box) || !box.Meets(circle.Box())) {
				t.Fatalf("%v lies within %v, but not within its box %v", p, circle, circle.Box())
			}
		}
	})
}

// drawWithin draws points that mostly lie within the circle, also on its edge and beyond a pole.
func drawWithin(t *rapid.T, c geo.Circle) geo.Point {
	bearing := rapid.Float64Range(0, 2*math.Pi).Draw(t, "bearing")
	angle := c.Radius / geo.EarthRadius * rapid.SampledFrom([]float64{0, 0.5, 0.9999, 1, 1.1}).Draw(t, "share")
	sinLat, cosLat := math.Sincos(c.Center.Lat * math.Pi / 180)
	sinAngle, cosAngle := math.Sincos(angle)
	lat := math.Asin(max(-1, min(1, sinLat*cosAngle+cosLat*sinAngle*math.Cos(bearing))))
	east := math.Atan2(math.Sin(bearing)*sinAngle*cosLat, cosAngle-sinLat*math.Sin(lat))
	return geo.Point{Lat: max(-90, min(90, lat*180/math.Pi)), Lng: math.Remainder(c.Center.Lng+east*180/math.Pi, 360)}
}

// TestBoxesMeetJustBeforeTheAntimeridian checks a difference of longitudes that rounds to a whole turn.
func TestBoxesMeetJustBeforeTheAntimeridian(t *testing.T) {
	whole := geo.Box{South: 89, West: -180, North: 90, East: 180}
	lng := math.Nextafter(180, 0)
	place := geo.Box{South: 89.5, West: lng, North: 89.5, East: lng}
	if !whole.Meets(place) || !place.Meets(whole) {
		t.Errorf("%v and %v do not meet", whole, place)
	}
}

// TestBoxesMeetAcrossTheAntimeridian checks that boxes meet whichever turn of longitude they are given in.
func TestBoxesMeetAcrossTheAntimeridian(t *testing.T) {
	fiji := geo.Box{South: -20, West: 177, North: -12, East: 182}
	for _, tt := range []struct {
		name string
		box  geo.Box
		want bool
	}{
		{"west of it", geo.Box{South: -18, West: 170, North: -17, East: 176}, false},
		{"on its western edge", geo.Box{South: -18, West: 170, North: -17, East: 177}, true},
		{"beyond the antimeridian", geo.Box{South: -18, West: -179, North: -17, East: -178.5}, true},
		{"east of it", geo.Box{South: -18, West: -177, North: -17, East: -170}, false},
		{"from a turn before", geo.Box{South: -18, West: -182, North: -17, East: -180}, true},
		{"every longitude", geo.Box{South: -18, West: -180, North: -17, East: 180}, true},
		{"north of it", geo.Box{South: -11, West: 177, North: -10, East: 180}, false},
	} {
		if got := fiji.Meets(tt.box); got != tt.want {
			t.Errorf("%s: meets is %v, want %v", tt.name, got, tt.want)
		}
		if got := tt.box.Meets(fiji); got != tt.want {
			t.Errorf("%s, the other way: meets is %v, want %v", tt.name, got, tt.want)
		}
	}
}

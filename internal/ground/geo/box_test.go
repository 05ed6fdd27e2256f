package geo

import (
	"math"
	"testing"
)

// oneDegree is the length in metres of a degree of a meridian.
const oneDegree = 111_195.080

// wantBox compares edges with a tolerance of a millionth of a degree.
func wantBox(t *testing.T, got, want Box) {
	t.Helper()
	for _, edge := range []struct {
		name      string
		got, want float64
	}{{"south", got.South, want.South}, {"west", got.West, want.West}, {"north", got.North, want.North}, {"east", got.East, want.East}} {
		if math.Abs(edge.got-edge.want) > 1e-6 {
			t.Errorf("%s %.7f, want %.7f", edge.name, edge.got, edge.want)
		}
	}
}

func TestBoxOfCircle(t *testing.T) {
	tests := []struct {
		name   string
		center Point
		radius float64
		want   Box
	}{
		{"at the equator", Point{}, oneDegree, Box{South: -1, West: -1, North: 1, East: 1}},
		{"at 60 degrees", Point{Lat: 60, Lng: 10}, oneDegree, Box{South: 59, West: 7.9996952, North: 61, East: 12.0003048}},
		{"in the south", Point{Lat: -60, Lng: -10}, oneDegree, Box{South: -61, West: -12.0003048, North: -59, East: -7.9996952}},
		{"beside the pole", Point{Lat: 88.9}, oneDegree, Box{South: 87.9, West: -65.3813558, North: 89.9, East: 65.3813558}},
		{"over the north pole", Point{Lat: 89.5, Lng: 40}, oneDegree, Box{South: 88.5, West: -180, North: 90, East: 180}},
		{"over the south pole", Point{Lat: -89.5, Lng: 40}, oneDegree, Box{South: -90, West: -180, North: -88.5, East: 180}},
		{"over the antimeridian", Point{Lng: 179.5}, oneDegree, Box{South: -1, West: 178.5, North: 1, East: 180.5}},
		{"the whole globe", Point{Lat: 10, Lng: 10}, 30_000_000, Box{South: -90, West: -180, North: 90, East: 180}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { wantBox(t, Circle{Center: tt.center, Radius: tt.radius}.Box(), tt.want) })
	}
}

// TestBoxMargin checks that the margin of a circle's box exists, for rounding, and is at most about two centimetres.
func TestBoxMargin(t *testing.T) {
	b := Circle{Center: Point{Lat: 10, Lng: 20}}.Box()
	for name, margin := range map[string]float64{"south": 10 - b.South, "west": 20 - b.West, "north": b.North - 10, "east": b.East - 20} {
		if margin <= 0 || margin > 2e-7 {
			t.Errorf("%s: a margin of %v degrees", name, margin)
		}
	}
}

func TestCircleOfBox(t *testing.T) {
	tests := []struct {
		name   string
		box    Box
		center Point
		radius float64 // to the farthest corner
	}{
		{"north of the equator", Box{South: 0, West: 0, North: 2, East: 4}, Point{Lat: 1, Lng: 2}, 248_629.658},
		{"south of the equator", Box{South: -2, West: 0, North: 0, East: 4}, Point{Lat: -1, Lng: 2}, 248_629.658},
		{"at 51 degrees", Box{South: 50, West: 0, North: 52, East: 4}, Point{Lat: 51, Lng: 2}, 179_918.372},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.box.Circle()
			if got.Center != tt.center || math.Abs(got.Radius-tt.radius) > 0.01 {
				t.Errorf("%+v, want %v and %v", got, tt.center, tt.radius)
			}
		})
	}
}

func TestBearing(t *testing.T) {
	for _, tt := range []struct {
		name string
		a, b Point
		want float64
	}{
		{"north", Point{}, Point{Lat: 1}, 0},
		{"east", Point{}, Point{Lng: 1}, 90},
		{"south", Point{Lat: 1}, Point{}, 180},
		{"west", Point{}, Point{Lng: -1}, 270},
		{"north-east", Point{Lat: 52, Lng: 5}, Point{Lat: 53, Lng: 6}, 30.93571619},
		{"south-west", Point{Lat: 52, Lng: 5}, Point{Lat: 51, Lng: 4}, 212.29516986},
		{"over the antimeridian", Point{Lat: -33, Lng: 170}, Point{Lat: -34, Lng: -175}, 98.70100620},
	} {
		if got := Bearing(tt.a, tt.b); math.Abs(got-tt.want) > 1e-6 {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestAngleBetween(t *testing.T) {
	for _, tt := range []struct{ a, b, want float64 }{
		{350, 10, 20}, {10, 350, 20}, {0, 180, 180}, {0, 190, 170}, {720, 0, 0}, {90, 90, 0}, {0, 359, 1},
	} {
		if got := AngleBetween(tt.a, tt.b); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("between %v and %v lie %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
}

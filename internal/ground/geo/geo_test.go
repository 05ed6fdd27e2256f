package geo_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"wayside/internal/ground/geo"
)

func TestDistance(t *testing.T) {
	quarter := geo.EarthRadius * math.Pi / 2
	tests := []struct {
		name string
		a, b geo.Point
		want float64 // metres
	}{
		{"same place", geo.Point{Lat: 52, Lng: 4}, geo.Point{Lat: 52, Lng: 4}, 0},
		{"one degree of latitude", geo.Point{Lat: 0}, geo.Point{Lat: 1}, geo.EarthRadius * math.Pi / 180},
		{"equator to pole", geo.Point{}, geo.Point{Lat: 90, Lng: 77}, quarter},
		{"antipodes", geo.Point{Lat: 10, Lng: 20}, geo.Point{Lat: -10, Lng: -160}, 2 * quarter},
		{"over the antimeridian", geo.Point{Lng: 179.5}, geo.Point{Lng: -179.5}, geo.EarthRadius * math.Pi / 180},
		{"180 is -180", geo.Point{Lat: 5, Lng: 180}, geo.Point{Lat: 5, Lng: -180}, 0},
		{"over the pole", geo.Point{Lat: 89, Lng: 0}, geo.Point{Lat: 89, Lng: 180}, geo.EarthRadius * math.Pi / 90},
		{"Amsterdam to Rotterdam", geo.Point{Lat: 52.3676, Lng: 4.9041}, geo.Point{Lat: 51.9244, Lng: 4.4777}, 57_229},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := geo.Distance(tt.a, tt.b); math.Abs(got-tt.want) > math.Max(1, tt.want*1e-4) {
				t.Errorf("%.2f m, want %.2f", got, tt.want)
			}
		})
	}
}

// TestDistanceAgreesWithHaversine checks Distance against the haversine formula, down to distances of a metre and less.
func TestDistanceAgreesWithHaversine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := geo.Point{Lat: rapid.Float64Range(-90, 90).Draw(t, "lat"), Lng: rapid.Float64Range(-180, 180).Draw(t, "lng")}
		scale := rapid.SampledFrom([]float64{1e-6, 1e-3, 1, 90}).Draw(t, "scale")
		b := geo.Point{
			Lat: math.Max(-90, math.Min(90, a.Lat+scale*rapid.Float64Range(-1, 1).Draw(t, "dlat"))),
			Lng: math.Max(-180, math.Min(180, a.Lng+scale*rapid.Float64Range(-1, 1).Draw(t, "dlng"))),
		}
		rad := math.Pi / 180
		h := math.Pow(math.Sin((b.Lat-a.Lat)*rad/2), 2) +
			math.Cos(a.Lat*rad)*math.Cos(b.Lat*rad)*math.Pow(math.Sin((b.Lng-a.Lng)*rad/2), 2)
		want := 2 * geo.EarthRadius * math.Asin(math.Min(1, math.Sqrt(h)))
		if got := geo.Distance(a, b); math.Abs(got-want) > 1e-6*want+1e-6 {
			t.Errorf("%v to %v: %v m, want %v", a, b, got, want)
		}
		if got := geo.MetresOf(geo.ChordSquaredOf(want)); math.Abs(got-want) > 1e-6*want+1e-6 {
			t.Errorf("%v m became %v", want, got)
		}
	})
}

func TestValid(t *testing.T) {
	for _, p := range []geo.Point{{}, {Lat: 90, Lng: 180}, {Lat: -90, Lng: -180}} {
		if !p.Valid() {
			t.Errorf("%v is refused", p)
		}
	}
	for _, p := range []geo.Point{{Lat: 90.0001}, {Lat: -90.0001}, {Lng: -180.0001}, {Lng: 180.0001}, {Lat: math.NaN()}, {Lng: math.Inf(1)}} {
		if p.Valid() {
			t.Errorf("%v is accepted", p)
		}
	}
}

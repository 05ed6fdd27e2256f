package osrm_test

import (
	"math"
	"testing"

	"wayside/internal/drive/nav/osrm"
	"wayside/internal/roads/graph"
)

func at(lng, lat float64) graph.Position {
	return graph.Position{Lng: int32(math.Round(lng * 1e7)), Lat: int32(math.Round(lat * 1e7))}
}

func TestPolylines(t *testing.T) {
	for _, c := range []struct {
		line      []graph.Position
		precision osrm.Precision
		want      string
	}{
		{nil, osrm.Precision5, ""},
		{[]graph.Position{at(-120.2, 38.5), at(-120.95, 40.7), at(-126.453, 43.252)}, osrm.Precision5, "_p~iF~ps|U_ulLnnqC_mqNvxq`@"}, // Google's example
		{[]graph.Position{at(-120.2, 38.5), at(-120.95, 40.7), at(-126.453, 43.252)}, osrm.Precision6, "_izlhA~rlgdF_{geC~ywl@_kwzCn`{nI"},
		{[]graph.Position{at(0, 0), at(0, 0)}, osrm.Precision5, "????"},
	} {
		if got := string(osrm.AppendPolyline(nil, c.line, c.precision)); got != c.want {
			t.Errorf("%v: %q, want %q", c.line, got, c.want)
		}
	}
	for _, text := range []string{"_", "~ps|U_", "\x80", "________________", "_p~iF", "!"} {
		if points, err := osrm.ParsePolyline(text, osrm.Precision5); err == nil {
			t.Errorf("%q is %v", text, points)
		}
	}
}

// FuzzPolyline checks that no text makes decoding panic, and that a decoded polyline survives encoding and decoding.
func FuzzPolyline(f *testing.F) {
	f.Add("_p~iF~ps|U_ulLnnqC_mqNvxq`@")
	f.Add("????")
	f.Add("_____________")
	f.Fuzz(func(t *testing.T, text string) {
		for _, precision := range []osrm.Precision{osrm.Precision5, osrm.Precision6} {
			points, err := osrm.ParsePolyline(text, precision)
			if err != nil {
				continue
			}
			var line []graph.Position
			for _, p := range points {
				if !p.Valid() {
					return
				}
				line = append(line, at(p.Lng, p.Lat))
			}
			again, err := osrm.ParsePolyline(string(osrm.AppendPolyline(nil, line, precision)), precision)
			if err != nil || len(again) != len(points) {
				t.Fatalf("%q: %v, %v", text, again, err)
			}
			for i := range again {
				if again[i] != points[i] {
					t.Fatalf("%q: %v became %v", text, points[i], again[i])
				}
			}
		}
	})
}

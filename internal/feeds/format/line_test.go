package format_test

import (
	"math"
	"slices"
	"testing"

	"wayside/internal/feeds/format"
	"wayside/internal/ground/geo"
)

func at(lat, lng float64) geo.Point { return geo.Point{Lat: lat, Lng: lng} }

func TestLine(t *testing.T) {
	metre := 1 / 111_195.0
	for name, tt := range map[string]struct{ parts, want [][]geo.Point }{
		"one part":      {[][]geo.Point{{at(1, 1), at(1, 2)}}, [][]geo.Point{{at(1, 1), at(1, 2)}}},
		"repeats":       {[][]geo.Point{{at(1, 1), at(1, 1), at(1, 2), at(1, 2), at(1, 1)}}, [][]geo.Point{{at(1, 1), at(1, 2), at(1, 1)}}},
		"joined":        {[][]geo.Point{{at(1, 1), at(1, 2)}, {at(1, 2), at(1, 3)}}, [][]geo.Point{{at(1, 1), at(1, 2), at(1, 3)}}},
		"within 1 m":    {[][]geo.Point{{at(0, 1), at(0, 2)}, {at(0.9*metre, 2), at(0, 3)}}, [][]geo.Point{{at(0, 1), at(0, 2), at(0.9*metre, 2), at(0, 3)}}},
		"beyond 1 m":    {[][]geo.Point{{at(0, 1), at(0, 2)}, {at(1.1*metre, 2), at(0, 2.5)}}, [][]geo.Point{{at(0, 1), at(0, 2)}}},
		"longest piece": {[][]geo.Point{{at(0, 1), at(0, 2)}, {at(5, 2), at(5, 4)}, {at(7, 1), at(7, 2)}}, [][]geo.Point{{at(5, 2), at(5, 4)}}},
		"one position":  {[][]geo.Point{{at(1, 1)}, {at(1, 1)}}, nil},
		"none":          {nil, nil},
		"out of range":  {[][]geo.Point{{at(1, 1), at(91, 1), at(1, 2)}}, nil},
		"not a number":  {[][]geo.Point{{at(1, 1), at(math.NaN(), 1), at(1, 2)}}, nil},
	} {
		var want []geo.Point
		if tt.want != nil {
			want = tt.want[0]
		}
		before := slices.Clone(tt.parts)
		if got := format.Line(tt.parts...); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		for i := range before {
			if !slices.EqualFunc(before[i], tt.parts[i], func(a, b geo.Point) bool { return a == b || math.IsNaN(a.Lat) }) {
				t.Errorf("%s changed its input", name)
			}
		}
	}
	long := make([]geo.Point, 10_000)
	for i := range long {
		long[i] = at(0, float64(i)/1000)
	}
	got := format.Line(long)
	if len(got) != 500 || // D17.4
		got[0] != long[0] || got[len(got)-1] != long[len(long)-1] {
		t.Errorf("%d positions, %v to %v", len(got), got[0], got[len(got)-1])
	}
	for i := 2; i < len(got); i++ {
		if a, b := got[i].Lng-got[i-1].Lng, got[1].Lng-got[0].Lng; math.Abs(a-b) > 0.002 {
			t.Fatalf("gaps of %v and %v", a, b)
		}
	}
}

// TestLineKeepsParts checks that Line leaves parts unchanged that lie side by side in one array.
func TestLineKeepsParts(t *testing.T) {
	all := []geo.Point{{Lat: 1, Lng: 1}, {Lat: 1, Lng: 2}, {Lat: 9, Lng: 9}, {Lat: 9, Lng: 8}}
	before := slices.Clone(all)
	format.Line(all[:2], []geo.Point{{Lat: 1, Lng: 2}, {Lat: 1, Lng: 3}, {Lat: 1, Lng: 4}}, all[2:])
	if !slices.Equal(all, before) {
		t.Errorf("%v became %v", before, all)
	}
}

func TestPointOf(t *testing.T) {
	line := []geo.Point{at(0, 0), at(0, 1), at(0, 3)}
	if got := format.PointOf(line, false); got != line[0] {
		t.Error(got)
	}
	if got := format.PointOf(line, true); got != at(0, 1.5) {
		t.Error(got)
	}
	if got := format.PointOf([]geo.Point{at(0, 179.5), at(0, -179)}, true); math.Abs(got.Lng+179.75) > 1e-6 {
		t.Error("across the antimeridian:", got)
	}
	if got := format.PointOf([]geo.Point{at(0, 0), at(0, 0.1/3)}, true); got.Lng != 0.0166667 {
		t.Error("more than 7 digits:", got.Lng)
	}
	steps := []geo.Point{at(0, 0)} // short steps, and a long one
	for i := range 100 {
		steps = append(steps, at(0, float64(i+1)*0.04))
	}
	if got := format.PointOf(append(steps, at(0, 100)), true); got != at(0, 50) {
		t.Error("short and long steps:", got)
	}
	if got := format.PointOf([]geo.Point{at(4, 4)}, true); got != at(4, 4) {
		t.Error(got)
	}
}

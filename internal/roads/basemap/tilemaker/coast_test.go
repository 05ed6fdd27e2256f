package tilemaker

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// square returns a closed coastline with its land or, if sea is set, the sea inside.
func square(west, north, side int32, sea bool) []spot {
	line := box{west, north, west + side, north + side}.ring()
	line = append(line, line[0])
	if sea {
		slices.Reverse(line)
	}
	return line
}

func areaOf(areas [][][]spot) float64 {
	sum := 0.0
	for _, rings := range areas {
		for i, r := range rings {
			if a := math.Abs(area(r)); i == 0 {
				sum += a
			} else {
				sum -= a
			}
		}
	}
	return sum
}

// TestCoasts checks the areas of land and sea from coastlines in a square of 1 000 by 1 000.
func TestCoasts(t *testing.T) {
	bounds := box{0, 0, 1000, 1000}
	for _, tt := range []struct {
		name  string
		lines [][]spot
		land  float64
		gaps  int
	}{
		{"no coast", nil, 1e6, 0},
		{"an island", [][]spot{square(400, 400, 200, false)}, 4e4, 0},
		{"an island with a lake of the sea", [][]spot{square(400, 400, 200, false), square(450, 450, 100, true)}, 3e4, 0},
		{"a bay without a way out", [][]spot{square(400, 400, 200, true)}, 1e6 - 4e4, 0},
		{"land in the south", [][]spot{{{1200, 300}, {-200, 300}}}, 0.7e6, 0}, // to the west: the left is the south
		{"land in the north", [][]spot{{{-200, 300}, {1200, 300}}}, 0.3e6, 0},
		{"land in a corner, and an island", [][]spot{{{500, -10}, {500, 500}, {-10, 500}}, square(100, 100, 100, false)}, 0.75e6 + 1e4, 0},
		{"a strait", [][]spot{{{1100, 700}, {-100, 700}}, {{-100, 300}, {1100, 300}}}, 0.6e6, 0},
		{"a gap in the middle", [][]spot{{{-200, 300}, {400, 300}}, {{500, 300}, {1200, 300}}}, 0.3e6, 1},
		{"an end before the edge", [][]spot{{{-200, 300}, {990, 300}}}, 0.3e6, 1},
		{"both ends before the edge", [][]spot{{{10, 300}, {990, 300}}}, 0.3e6, 2},
		{"an island with a gap", [][]spot{{{400, 400}, {400, 600}, {600, 600}, {600, 400}, {420, 400}}}, 4e4, 1},
		{"a line turned round among right ones", [][]spot{{{1100, 700}, {-100, 700}}, {{-100, 300}, {1100, 300}}, {{-100, 100}, {60, 100}, {60, -100}}}, 0.6e6 - 6e3, 0},
		{"a coast that begins on the edge", [][]spot{{{0, 300}, {1000, 300}}}, 0.3e6, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			land, sea, gaps, ok := landAndSea(tt.lines, bounds)
			if !ok || gaps != tt.gaps {
				t.Errorf("%d gaps, want %d; %v", gaps, tt.gaps, ok)
			}
			if got := areaOf(land); math.Abs(got-tt.land) > 1 {
				t.Errorf("land of %.0f, want %.0f: %v", got, tt.land, land)
			}
			if got := areaOf(land) + areaOf(sea); math.Abs(got-1e6) > 1 {
				t.Errorf("land and sea have %.0f of 1e6", got)
			}
		})
	}
}

// TestCoastsFillTheirBounds checks that for random coastlines, with gaps and ends anywhere, land and sea never overlap
// and together fill the bounds, unless two lines cross.
func TestCoastsFillTheirBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bounds := box{0, 0, 10_000, 10_000}
		var lines [][]spot
		for i := range int32(rapid.IntRange(0, 6).Draw(t, "lines")) { // each in a band of its own
			from, to := i*1500+100, i*1500+1400
			var line []spot
			x := rapid.Int32Range(-3000, 3000).Draw(t, "west")
			for range rapid.IntRange(2, 12).Draw(t, "spots") {
				line = append(line, spot{x, rapid.Int32Range(from, to).Draw(t, "y")})
				x += rapid.Int32Range(1, 4000).Draw(t, "step")
			}
			if rapid.Bool().Draw(t, "turned") {
				slices.Reverse(line)
			}
			lines = append(lines, line)
		}
		if dangling(slices.Concat(clippedLines(lines, bounds)), bounds) > 0 {
			t.Skip("gaps may cross other lines")
		}
		land, sea, _, _ := landAndSea(lines, bounds)
		if got := areaOf(land) + areaOf(sea); math.Abs(got-1e8) > 100 {
			t.Fatalf("land has %.0f and sea %.0f of 1e8", areaOf(land), areaOf(sea))
		}
	})
}

func clippedLines(lines [][]spot, bounds box) (all [][]spot) {
	for _, l := range lines {
		all = append(all, within(l, bounds)...)
	}
	return all
}

// TestTooManyCoastEnds checks that ten thousand ends are handled in time.
func TestTooManyCoastEnds(t *testing.T) {
	var lines [][]spot
	for i := range int32(10_000) {
		lines = append(lines, []spot{{i % 100 * 10, i / 100 * 10}, {i%100*10 + 3, i/100*10 + 4}})
	}
	if _, _, _, ok := landAndSea(lines, box{-100, -100, 2000, 2000}); ok {
		t.Error("they were joined")
	}
}

// TestLowestZoom checks that towns of several sizes are not drawn below the zoom at which they are a sixth of a tile
// wide.
func TestLowestZoom(t *testing.T) {
	for degrees, want := range map[float64]uint8{0.05: 9, 0.3: 8, 0.6: 7, 8: 3} {
		x := new(extract)
		var road []float64
		for k := range 41 {
			road = append(road, 45.1, 9+degrees*float64(k)/40)
		}
		x.way(x.line(road...), "highway", "motorway", "name", "A 1")
		x.node(45.1, 9+degrees/2, "place", "city", "name", "Milano", "population", "1300000")
		x.node(45.1, 9+degrees/3, "place", "country", "name", "Italia")
		archive, _ := x.make(t)
		lowest := uint8(highestZoom)
		for at := range allTiles(t, archive) {
			lowest = min(lowest, at.z)
		}
		if lowest != want {
			t.Errorf("%g degrees: the lowest zoom is %d, want %d", degrees, lowest, want)
		}
	}
}

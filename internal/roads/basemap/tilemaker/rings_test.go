package tilemaker

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestJoin checks the joining of ways to rings.
func TestJoin(t *testing.T) {
	for _, tt := range []struct {
		name     string
		lines    [][]int64
		rings    [][]int64
		unclosed int
	}{
		{"closed already", [][]int64{{1, 2, 3, 1}}, [][]int64{{1, 2, 3, 1}}, 0},
		{"of two, one turned round", [][]int64{{1, 2, 3}, {1, 4, 3}}, [][]int64{{2, 3, 4, 1, 2}}, 0},
		{"of three", [][]int64{{1, 2}, {2, 3}, {3, 1}}, [][]int64{{2, 3, 1, 2}}, 0},
		{"two that touch", [][]int64{{1, 2, 3}, {3, 4, 1}, {3, 5, 6}, {6, 7, 3}}, [][]int64{{2, 3, 4, 1, 2}, {5, 6, 7, 3, 5}}, 0},
		{"open", [][]int64{{1, 2, 3}, {3, 4}}, nil, 2},
		{"a ring with a tail", [][]int64{{9, 1}, {1, 2}, {2, 3}, {3, 1}}, [][]int64{{2, 3, 1, 2}}, 1},
		{"the same way twice", [][]int64{{1, 2, 3}, {1, 2, 3}}, [][]int64{{2, 3, 2, 1, 2}}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rings, unclosed := join(tt.lines)
			if unclosed != tt.unclosed || !slices.EqualFunc(rings, tt.rings, slices.Equal) {
				t.Errorf("%v and %d, want %v and %d", rings, unclosed, tt.rings, tt.unclosed)
			}
		})
	}
}

// TestSimple checks the splitting of rings that cross themselves.
func TestSimple(t *testing.T) {
	for _, tt := range []struct {
		name  string
		ring  []spot
		areas []float64
	}{
		{"a square", []spot{{0, 0}, {0, 10}, {10, 10}, {10, 0}}, []float64{100}},
		{"an eight", []spot{{0, 0}, {20, 20}, {20, 0}, {0, 20}}, []float64{100, 100}},
		{"a loop at a corner", []spot{{0, 0}, {0, 100}, {100, 100}, {100, 10}, {110, 10}, {110, 20}, {90, 20}, {90, 0}}, []float64{9800, 100}},
	} {
		rings, _, ok := new(effort).enough().simple(tt.ring)
		var areas []float64
		for _, r := range rings {
			areas = append(areas, math.Abs(area(r)))
		}
		slices.Sort(areas)
		slices.Sort(tt.areas)
		if !ok || !slices.Equal(areas, tt.areas) {
			t.Errorf("%s: areas of %v, want %v", tt.name, areas, tt.areas)
		}
	}
}

// TestSplitsAreBounded checks that a ring that crosses itself thirty times is split, and that one that does so more often is left out.
func TestSplitsAreBounded(t *testing.T) {
	for crossings, want := range map[int32]bool{1: true, 30: true, 40: false, 300: false} {
		var out, back []spot
		for i := range crossings + 1 {
			out = append(out, spot{10 * i, 10 * (i % 2)})
			back = append(back, spot{10 * i, 10 * ((i + 1) % 2)})
		}
		slices.Reverse(back)
		rings, _, ok := new(effort).enough().simple(append(out, back...))
		if ok != want || ok && len(rings) != int(crossings)+1 {
			t.Errorf("%d crossings: %d rings, %t", crossings, len(rings), ok)
		}
	}
}

// TestLargeAreasAreNamed checks that an area is named from the zoom at which it has 2500 square pixels.
func TestLargeAreasAreNamed(t *testing.T) {
	pixel := int32(1) << (worldBits - 12) / 512
	for side, want := range map[int32]uint8{50: 12, 49: 13, 25: 13, 24: 14, 100: 11} {
		if got := labelled(drawn{}, [][]spot{square(0, 0, side*pixel, false)}).lowest; got != want {
			t.Errorf("a side of %d pixels at zoom 12 is named from zoom %d, want %d", side, got, want)
		}
	}
}

// TestNest checks the nesting of rings.
func TestNest(t *testing.T) {
	ring := func(west, north, side int32) []spot { return box{west, north, west + side, north + side}.ring() }
	areas, ok := new(effort).enough().nest([][]spot{ring(45, 45, 10), ring(0, 0, 100), ring(40, 40, 20), ring(70, 70, 10), ring(200, 0, 50)})
	if !ok || len(areas) != 3 {
		t.Fatalf("%v", areas)
	}
	if want := 1e4 - 400 - 100 + 100 + 2500; areaOf(areas) != want || len(areas[0]) != 3 {
		t.Errorf("%v", areas)
	}
}

// enough sets an effort that suffices for a test.
func (e *effort) enough() *effort {
	*e = 10_000_000
	return e
}

// star draws a polygon around a spot that does not cross itself.
func star(t *rapid.T, at spot, least, most int32) []spot {
	n := rapid.IntRange(3, 40).Draw(t, "corners")
	ring := make([]spot, 0, n)
	for i := range n {
		sin, cos := math.Sincos(-2 * math.Pi * float64(i) / float64(n))
		r := float64(rapid.Int32Range(least, most).Draw(t, "radius"))
		ring = append(ring, spot{at.X + int32(r*cos), at.Y + int32(r*sin)})
	}
	return ring
}

// TestClippedAreasAddUp checks that the areas of random multipolygons, clipped into the parts of tiles, add up to the
// whole.
func TestClippedAreasAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		center := spot{world/2 + rapid.Int32Range(-1<<20, 1<<20).Draw(t, "x"), world/2 + rapid.Int32Range(-1<<20, 1<<20).Draw(t, "y")}
		rings := [][]spot{star(t, center, 1<<18, 1<<21)}
		if rapid.Bool().Draw(t, "hole") {
			rings = append(rings, star(t, center, 1<<10, 1<<17))
		}
		areas, ok := new(effort).enough().nest(rings)
		if !ok || len(areas) != 1 {
			t.Fatalf("%d areas", len(areas))
		}
		f := filled(drawn{geometry: fill}, areas[0])
		want, sum, around := sizeOf(f), 0.0, 0.0
		for _, ring := range f.parts {
			for i, v := range ring {
				around += distance(v.spot, ring[(i+1)%len(ring)].spot)
			}
		}
		var take func(t tile, f *feature)
		take = func(at tile, f *feature) {
			if at.z == 10 {
				sum += sizeOf(f)
				return
			}
			for _, part := range at.parts() {
				if clipped := f.clip(part.bounds(false)); clipped != nil {
					if !part.bounds(false).holds(clipped.box) {
						t.Fatalf("%v is not in tile %v", clipped.box, part)
					}
					take(part, clipped)
				}
			}
		}
		take(tile{}, f)
		if math.Abs(sum-want) > around*4+100 { // each cut rounds
			t.Fatalf("the parts have %.0f, the whole %.0f", sum, want)
		}
	})
}

func sizeOf(f *feature) float64 {
	sum := 0.0
	for i, part := range f.parts {
		var ring []spot
		for _, v := range part {
			ring = append(ring, v.spot)
		}
		if a := math.Abs(area(ring)); i == 0 {
			sum += a
		} else {
			sum -= a
		}
	}
	return sum
}

// TestThin checks that no dropped vertex is farther from the line than its zoom tolerates.
func TestThin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var line []spot
		at := spot{world / 2, world / 2}
		for range rapid.IntRange(2, 1500).Draw(t, "vertices") {
			line = append(line, at)
			at.X, at.Y = at.X+rapid.Int32Range(-200, 400).Draw(t, "x"), at.Y+rapid.Int32Range(-300, 300).Draw(t, "y")
		}
		thinned := thinLine(line)
		if thinned[0].spot != line[0] || thinned[len(thinned)-1].spot != line[len(line)-1] {
			t.Fatal("an end moved")
		}
		for _, zoom := range []uint8{8, 12, highestZoom} {
			var kept []spot
			for _, v := range thinned {
				if v.from <= zoom {
					kept = append(kept, v.spot)
				}
			}
			for _, s := range line {
				nearest := math.Inf(1)
				for i := 1; i < len(kept); i++ {
					nearest = min(nearest, fromSegment(s, kept[i-1], kept[i]))
				}
				if math.Sqrt(nearest) > tolerance(zoom) {
					t.Fatalf("zoom %d: a vertex is %.0f away, and %.0f are allowed", zoom, math.Sqrt(nearest), tolerance(zoom))
				}
			}
		}
	})
}

// FuzzAreas checks that areas of any ways neither crash, take long, nor contain invalid rings.
func FuzzAreas(f *testing.F) {
	f.Add([]byte{1, 2, 3, 1, 255, 4, 5, 6, 7, 4, 255, 6, 9, 4})
	f.Add([]byte{0, 17, 34, 51, 0, 255, 0, 3, 48, 51, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		var lines [][]int64
		var line []int64
		for _, c := range append(b, 255) {
			if c != 255 {
				line = append(line, int64(c))
				continue
			}
			if len(line) > 1 {
				lines = append(lines, line)
			}
			line = nil
		}
		joined, _ := join(lines)
		var rings [][]spot
		for _, ids := range joined {
			if ids[0] != ids[len(ids)-1] {
				t.Fatalf("%v is not closed", ids)
			}
			var ring []spot
			for _, id := range ids {
				ring = append(ring, spot{int32(id % 16 * 1000), int32(id / 16 * 1000)})
			}
			if ring = tidy(ring); ring == nil {
				continue
			}
			parts, _, _ := new(effort).enough().simple(ring)
			for _, p := range parts {
				if i, j, sure := new(effort).enough().crossing(p); sure && i >= 0 {
					t.Fatalf("%v crosses itself at %d and %d", p, i, j)
				}
			}
			rings = append(rings, parts...)
		}
		areas, ok := new(effort).enough().nest(rings)
		if !ok {
			t.Skip()
		}
		for _, a := range areas {
			d := filled(drawn{geometry: fill}, a)
			if d == nil {
				continue
			}
			if c := d.clip(box{500, 500, 9000, 9000}); c != nil && len(c.parts[0]) < 3 {
				t.Fatalf("%v", c.parts)
			}
		}
	})
}

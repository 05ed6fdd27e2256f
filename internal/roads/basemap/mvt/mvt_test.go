package mvt

import (
	"slices"
	"testing"
)

// TestClipping checks lines and rings that leave the tile and come back.
func TestClipping(t *testing.T) {
	const buffer = 128
	parts := clipLine([]Pixel{{-1000, 100}, {2000, 100}, {9000, 100}, {9000, 200}, {2000, 200}, {2000, 300}}, buffer)
	if len(parts) != 2 || len(parts[0]) != 3 || len(parts[1]) != 3 || parts[0][0] != (Pixel{-buffer, 100}) {
		t.Errorf("%v", parts)
	}
	if got := clipLine([]Pixel{{-1000, 100}, {-900, 3000}}, buffer); got != nil {
		t.Errorf("a line outside: %v", got)
	}
	ring := oriented(clipRing([]Pixel{{-9999, -9999}, {-9999, 9999}, {9999, 9999}, {9999, -9999}}, buffer), false)
	sum := 0.0
	for i, a := range ring {
		b := ring[(i+1)%len(ring)]
		sum += a.X*b.Y - b.X*a.Y
		if min(a.X, a.Y) < -buffer || max(a.X, a.Y) > Extent+buffer {
			t.Errorf("%v is outside", a)
		}
	}
	if side := float64(Extent + 2*buffer); sum/2 != side*side {
		t.Errorf("%v covers %v", ring, sum/2)
	}
}

// TestGeometryEncoding compares encodings with the examples in the specification (4.3.5).
func TestGeometryEncoding(t *testing.T) {
	line, ring := pen{coarse: 1}, pen{coarse: 1}
	line.draw([]Pixel{{2, 2}, {2, 10}, {10, 10}}, false)
	ring.draw([]Pixel{{3, 6}, {8, 12}, {20, 34}, {3, 6}}, true)
	if want := []uint32{9, 4, 4, 18, 0, 16, 16, 0}; !slices.Equal(line.commands, want) {
		t.Errorf("line %v, want %v", line.commands, want)
	}
	if want := []uint32{9, 6, 12, 18, 10, 12, 24, 44, 15}; !slices.Equal(ring.commands, want) {
		t.Errorf("ring %v, want %v", ring.commands, want)
	}
}

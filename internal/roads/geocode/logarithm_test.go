package geocode

import (
	"math"
	"testing"
)

// TestLogarithm compares logarithm with the exact function, for all distances on the globe.
func TestLogarithm(t *testing.T) {
	for v := 1.0; v < 2e5; v *= 1.001 {
		if got, want := float64(logarithm(float32(v))), math.Log2(v); math.Abs(got-want) > 0.005 {
			t.Fatalf("of %g: %g instead of %g", v, got, want)
		}
	}
	if want := math.Log2(1 + farMetres/float64(nearMetres)); math.Abs(want-farLogarithm) > 0.001 {
		t.Errorf("farLogarithm is %g", want)
	}
}

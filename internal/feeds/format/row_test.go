package format

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestNumbers compares numbers as coordinates are written, which have an encoder of their own, and other numbers with
// strconv.
func TestNumbers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	numbers := []float64{0, math.Copysign(0, -1), 1, -1, 0.1, 50, 1e-7, 1.5e-7, 1e-8, 123456789.0000001, 99999999.9999999, 1e15, 1e22, -1e300, 5e-324}
	for range 50_000 {
		v := (random.Float64() - 0.5) * math.Pow10(random.IntN(12))
		short := math.Round(v*1e7) / 1e7
		numbers = append(numbers, v, short, math.Nextafter(short, 1e9), math.Round(v*100)/100)
	}
	for _, v := range numbers {
		if got, want := string(appendNumber(nil, v)), strconv.FormatFloat(v, 'f', -1, 64); got != want {
			t.Fatalf("%v: %s, want %s", v, got, want)
		}
	}
}

package index

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"wayside/internal/ground/geo"
)

// TestFirstNorthOf compares the result with that of a linear scan, for even and clustered distributions.
func TestFirstNorthOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		height := rapid.OneOf(
			rapid.Float64Range(0.7, 0.7003),
			rapid.Float64Range(0.7001, 0.70010001),
			rapid.SampledFrom([]float64{0.7, 0.7001, 0.7003}),
		)
		heights := rapid.SliceOfN(height, 0, 300).Draw(t, "heights")
		slices.Sort(heights)
		entries := make([]entry, len(heights))
		for i, z := range heights {
			entries[i].at = geo.Vector{Z: z}
		}
		z := rapid.OneOf(height, rapid.Float64Range(-1, 1)).Draw(t, "z")
		want := slices.IndexFunc(entries, func(e entry) bool { return e.at.Z > z })
		if want < 0 {
			want = len(entries)
		}
		if got := firstNorthOf(entries, z); got != want {
			t.Fatalf("firstNorthOf(%v, %v) = %d, want %d", heights, z, got, want)
		}
	})
}

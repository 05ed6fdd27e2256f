package geo_test

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"wayside/internal/ground/geo"
)

// byPlace puts the higher reference first, against the input order.
type byPlace struct{}

func (byPlace) CompareTies(a, b uint64) int { return cmp.Compare(b, a) }

// TestSort checks that Sort returns the same as a comparison sort for any items, even when a Ranking is reused.
func TestSort(t *testing.T) {
	var order geo.Ranking
	rapid.Check(t, func(t *rapid.T) {
		chord := rapid.OneOf(
			rapid.Float64Range(0, 4),
			rapid.Float64Range(0, 1e-7),
			rapid.Float64Range(0, 1e-29),
			rapid.SampledFrom([]float64{0, math.SmallestNonzeroFloat64, 1e-30, 1e-12, 4}),
		)
		var items []geo.Ranked
		for i, c := range rapid.SliceOfN(chord, 0, 60).Draw(t, "chords") {
			items = append(items, geo.Ranked{Chord: c, Ref: uint64(i)})
		}
		want := slices.SortedFunc(slices.Values(items), func(a, b geo.Ranked) int {
			return cmp.Or(cmp.Compare(a.Chord, b.Chord), cmp.Compare(b.Ref, a.Ref))
		})
		if got := order.Sort(items, byPlace{}); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

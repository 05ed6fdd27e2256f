package nav_test

import (
	"testing"

	"wayside/internal/nav"
)

// TestBoundsOfRequests holds the figures of D15.18 and D15.23, by which clients divide what they ask.
func TestBoundsOfRequests(t *testing.T) {
	for what, bound := range map[string][2]int{
		"coordinates of a route": {nav.MaxCoordinates, 100},
		"alternatives":           {nav.MaxAlternatives, 3},
		"pairs of a table":       {nav.MaxPairs, 10_000},
		"coordinates of a trace": {nav.MaxTrace, 500},
	} {
		if bound[0] != bound[1] {
			t.Errorf("%s: %d, want %d", what, bound[0], bound[1])
		}
	}
}

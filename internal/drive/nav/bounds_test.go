package nav_test

import (
	"strings"
	"testing"

	"wayside/internal/drive/nav"
	"wayside/internal/roads/roadtest"
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

// TestHowFarPlacesSnap holds the distances of D15.10: 10 km to the nearest road, and 1 000 m to one from which a way leads on.
func TestHowFarPlacesSnap(t *testing.T) {
	const metre = 1 / 111_195.0 // degrees
	w := draw(t, "a----b", roadtest.Way("ab", street))
	for metres, refused := range map[float64]bool{9_990: false, 10_010: true} {
		p := w.places("ab")
		p.Coordinates[0].Lat += metres * metre
		if refused {
			w.refused(nav.RouteRequest{Places: p}, nav.NoSegment)
		} else {
			w.want(nav.RouteRequest{Places: p}, "ab")
		}
	}
	for rows, refused := range map[int]bool{9: false, 11: true} { // of 100 m
		w := draw(t, "a-1--b----c-2-d"+strings.Repeat("\n", rows)+"x-3--y", roadtest.Ways("abcd xy", street))
		if q := (nav.RouteRequest{Places: w.places("32")}); refused {
			w.refused(q, nav.NoRoute)
		} else if _, r, err := w.route(q); err != nil || r.Distance < 900 {
			t.Errorf("from an island %d00 m away: %v", rows, err)
		}
	}
}

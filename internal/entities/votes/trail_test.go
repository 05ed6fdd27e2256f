package votes

import (
	"testing"
	"time"

	"wayside/internal/ground/geo"
)

// TestTrailIsBounded checks that 26 positions of an account are remembered besides the last one, the newest.
func TestTrailIsBounded(t *testing.T) {
	var seen trail
	for i := range 500 {
		seen.add(sighting{place: geo.Point{Lat: float64(i) * 0.03}, at: time.Unix(int64(i), 0)})
	}
	if len(seen.before) != 26 || seen.before[25].at.Unix() < 495 {
		t.Errorf("%d positions are remembered: %+v", len(seen.before), seen.before)
	}
}

package nearby_test

import (
	"testing"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// TestMatchingReaches checks for each merged kind that a report finds an entity of its kind up to the distance at which
// the two would be merged (D10.2), and none beyond.
func TestMatchingReaches(t *testing.T) {
	const metre = 360 / 40_030_228.88 // degrees of latitude
	center := geo.Point{Lat: 52, Lng: 5}
	tried := 0
	for kind := range mapdata.Kind(mapdata.KindCount) {
		distance := kind.Info().MergeDistance
		if distance == 0 {
			continue
		}
		tried++
		reader, source := newCrowdedReader(t, 0, 0)
		for _, near := range []bool{true, false} {
			metres := distance + 1
			if near {
				metres = distance - 1
			}
			source.pins = []mapdata.Hit{pin("a", kind, geo.Point{Lat: center.Lat + metres*metre, Lng: center.Lng})}
			if hits := reader.Matching(t.Context(), center, kind); (len(hits) == 1) != near {
				t.Errorf("%s at %v m of %v: %d found", kind.ID(), metres, distance, len(hits))
			}
		}
	}
	if tried < 5 {
		t.Errorf("only %d kinds are merged", tried)
	}
}

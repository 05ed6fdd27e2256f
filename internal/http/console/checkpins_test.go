package console

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// TestCheckedLinesAreThinned checks that each line has few positions, its ends among them, because the page holds a thousand pins.
func TestCheckedLinesAreThinned(t *testing.T) {
	at := geo.Point{Lat: 52, Lng: 4}
	want := map[string]any{"type": "Point", "coordinates": [2]float64{4, 52}}
	if diff := cmp.Diff(want, geometryOf(&mapdata.Entity{Point: at})); diff != "" {
		t.Errorf("without a line (-want +got):\n%s", diff)
	}
	line := make([]geo.Point, mapdata.MaxLine)
	for i := range line {
		line[i] = geo.Point{Lat: float64(i), Lng: 4}
	}
	for _, length := range []int{2, 3, maxDrawn, maxDrawn + 1, mapdata.MaxLine} {
		got := geometryOf(&mapdata.Entity{Point: at, Line: line[:length]})
		drawn, _ := got["coordinates"].([][2]float64)
		if got["type"] != "LineString" || len(drawn) != min(length, maxDrawn) || drawn[0] != [2]float64{4, 0} || drawn[len(drawn)-1] != [2]float64{4, float64(length - 1)} {
			t.Errorf("of %d positions: %v", length, got)
		}
	}
}

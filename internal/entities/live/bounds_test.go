package live

import (
	"errors"
	"testing"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// TestBoundsOfTheCache checks that a circle has at most 200 km, and that a generation of parsed tiles takes 64 MiB.
func TestBoundsOfTheCache(t *testing.T) {
	for radius, want := range map[float64]bool{200_000: true, 200_001: false, 1_900_000: false} {
		if _, err := newArea(geo.Point{Lat: 52, Lng: 5}, radius); (err == nil) != want || err != nil && !errors.Is(err, mapdata.ErrMalformed) {
			t.Errorf("%v m: %v", radius, err)
		}
	}
	if c := New(nil, nil, time.Now); c.tiles.limit != 64<<20 {
		t.Errorf("a generation of parsed tiles takes %d bytes", c.tiles.limit)
	}
}

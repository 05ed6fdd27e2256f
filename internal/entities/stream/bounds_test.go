package stream

import (
	"testing"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/ratelimit"
)

// TestReturnsAreBounded checks that 16 384 ends of suppressions are remembered, those that end first.
func TestReturnsAreBounded(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	h := New(Config{Now: func() time.Time { return now }})
	for i := range 3 {
		returns := make([]mapdata.Return, 7000)
		for k := range returns {
			returns[k] = mapdata.Return{At: now.Add(time.Duration(1+k*3+i) * time.Second)}
		}
		h.Touched(mapdata.Touched{Returns: returns})
	}
	if len(h.returns) != 16_384 || !h.returns[16_383].At.Equal(now.Add(16_384*time.Second)) {
		t.Errorf("%d returns are remembered, the last one at %v", len(h.returns), h.returns[len(h.returns)-1].At.Sub(now))
	}
}

// TestAreasOfACubeAreBounded checks that 64 areas are compared with a stream, and that more wake it although it meets none of them.
func TestAreasOfACubeAreBounded(t *testing.T) {
	h := New(Config{Now: time.Now})
	s, err := h.Open(ratelimit.Key{}, geo.Circle{Center: geo.Point{Lat: 50, Lng: 5}, Radius: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	near := geo.Circle{Center: geo.Point{Lat: 50.02, Lng: 5}, Radius: 10} // 2 km away, in the same cube
	for count, want := range map[int]bool{1: false, 64: false, 65: true, 600: true} {
		areas := make([]geo.Circle, count)
		for i := range areas {
			areas[i] = near
		}
		TakeWakeup(s)
		h.wakeStreams(areas)
		if got := TakeWakeup(s); got != want {
			t.Errorf("%d areas wake the stream: %t", count, got)
		}
	}
}

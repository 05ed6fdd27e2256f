package cluster

import (
	"testing"

	"wayside/internal/ground/geo"
)

// TestMessagesAreBounded holds that a message tells of 1 024 places at most, and of none wider than 200 km.
func TestMessagesAreBounded(t *testing.T) {
	for _, tt := range []struct {
		places int
		radius float64
		want   bool
	}{{1024, 200_000, true}, {1025, 1, false}, {1, 200_001, false}} {
		m := message{moved: make([]geo.Circle, tt.places)}
		m.moved[0].Radius = tt.radius
		if _, err := decode(m.encode()); (err == nil) != tt.want {
			t.Errorf("%d places, %v m: %v", tt.places, tt.radius, err)
		}
	}
}

package cluster

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/signal"
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

// TestWaitingPlacesAreBounded checks that 16 384 places wait to be told, and that with more everything is said to have moved.
func TestWaitingPlacesAreBounded(t *testing.T) {
	p := &Peers{Config: Config{MovedLive: signal.NewMoved()}}
	for _, step := range []struct {
		places, waiting int
		everywhere      bool
	}{{16_000, 16_000, false}, {384, 16_384, false}, {1, 0, true}} {
		p.MovedLive.NotifyAreas(make([]geo.Circle, step.places))
		p.collect()
		if len(p.moved) != step.waiting || p.everywhere != step.everywhere {
			t.Errorf("%d places wait after %d more, everywhere: %t", len(p.moved), step.places, p.everywhere)
		}
	}
}

// TestNodesAreBounded checks that 1024 other nodes are remembered, and that a version has at most 64 bytes.
func TestNodesAreBounded(t *testing.T) {
	v := NewVersions(VersionsConfig{Now: time.Now})
	told := func(node int, text string) {
		message := append([]byte{version}, make([]byte, nodeSize)...)
		binary.BigEndian.PutUint32(message[1:], uint32(node)) //nolint:gosec // a few thousand
		v.handle(append(message, text...))
	}
	told(0, strings.Repeat("a", 65))
	if len(v.heard) != 0 {
		t.Error("a version of 65 bytes is remembered")
	}
	for node := range 3000 {
		told(node, strings.Repeat("a", 64))
	}
	if len(v.heard) != 1024 {
		t.Errorf("%d nodes are remembered, want 1024", len(v.heard))
	}
}

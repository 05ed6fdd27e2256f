package ahead_test

import (
	"encoding/base64"
	"encoding/binary"
	"testing"

	"wayside/internal/drive/alerts/ahead"
	"wayside/internal/ground/geo"
)

// tokenOf makes the token of a state by hand, with so many arcs and sections.
func tokenOf(arcs, sections int) string {
	raw := []byte{1, 0, 0, 0, 1}
	raw = binary.BigEndian.AppendUint64(raw, uint64(began.UnixMilli()))
	raw = append(raw, byte(arcs))
	for range arcs {
		raw = append(raw, 0, 0, 0, 1, 0, 0, 9)
	}
	raw = append(raw, byte(sections))
	raw = append(raw, make([]byte, sections*18)...)
	return base64.RawURLEncoding.EncodeToString(raw)
}

// TestStateIsBounded holds that a token names eight arcs and three sections at most.
func TestStateIsBounded(t *testing.T) {
	for _, tt := range []struct {
		arcs, sections int
		want           bool
	}{{1, 0, true}, {8, 3, true}, {9, 3, false}, {30, 0, false}, {8, 4, false}, {1, 12, false}} {
		if _, ok := ahead.ParseState(tokenOf(tt.arcs, tt.sections)); ok != tt.want {
			t.Errorf("%d arcs and %d sections: %t, want %t", tt.arcs, tt.sections, ok, tt.want)
		}
	}
	s, ok := ahead.ParseState(tokenOf(1, 0))
	if !ok {
		t.Fatal("a token is none")
	}
	for i := range 12 {
		s.Comes(geo.Point{Lat: float64(i)}, 80, 100)
	}
	if got := len(s.Sections()); got != 3 {
		t.Errorf("a state keeps %d sections, want 3", got)
	}
}

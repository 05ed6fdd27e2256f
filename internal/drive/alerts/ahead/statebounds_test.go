package ahead_test

import (
	"encoding/base64"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"wayside/internal/drive/alerts/ahead"
	"wayside/internal/ground/geo"
	"wayside/internal/roads/roadtest"
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

// TestLongTokensAreNotDecoded checks that a token of more than 512 bytes is refused before any memory is taken for it.
func TestLongTokensAreNotDecoded(t *testing.T) {
	for length, decoded := range map[int]bool{512: true, 514: false, 5000: false} {
		text := strings.Repeat("A", length)
		if allocated := testing.AllocsPerRun(10, func() { ahead.ParseState(text) }); (allocated > 0) != decoded {
			t.Errorf("%d bytes: %v allocations", length, allocated)
		}
	}
}

// TestLearnedIsForgotten checks that what was learned of a car's road counts for 45 seconds.
func TestLearnedIsForgotten(t *testing.T) {
	d := draw(t, 10, `
		a---1----------2----------b
		c---3----------4----------d
	`, roadtest.Way("ab", "highway=primary"), roadtest.Way("cd", "highway=primary"))
	var w ahead.Walk
	before, _ := w.Probable(d.Roads, d.fixAt("1", 6, 90, 2.5, 0), nil, 3000)
	for seconds, want := range map[int]bool{45: true, 46: false, 400: false} {
		after, ok := w.Probable(d.Roads, d.fixAt("2", -5.5, 90, 2.5, seconds), &before, 3000) // a little nearer to the other road
		if known := after.Arc() == before.Arc(); !ok || known != want {
			t.Errorf("after %d s the road is known: %t", seconds, known)
		}
	}
}

// TestSectionsAreForgotten checks that a car is in an average-speed section for four hours at most.
func TestSectionsAreForgotten(t *testing.T) {
	d := draw(t, 20, "a--1--b", roadtest.Way("ab", "highway=motorway"))
	var w ahead.Walk
	for age, want := range map[time.Duration]int{3*time.Hour + 59*time.Minute: 1, 4*time.Hour + time.Minute: 0, 39 * time.Hour: 0} {
		raw, err := base64.RawURLEncoding.DecodeString(tokenOf(1, 1))
		if err != nil {
			t.Fatal(err)
		}
		copy(raw[14:], make([]byte, 7))
		raw[20] = 255                                       // on the first arc
		binary.BigEndian.PutUint32(raw[22:], 10_000_000*10) // the section ends far away
		binary.BigEndian.PutUint32(raw[len(raw)-8:], uint32(age.Milliseconds()))
		state, ok := ahead.ParseState(base64.RawURLEncoding.EncodeToString(raw))
		if !ok {
			t.Fatal("the token is refused")
		}
		state.At = began
		after, ok := w.Probable(d.Roads, d.fixAt("1", 0, 90, 10, 0), state, 3000)
		if got := len(after.Sections()); !ok || got != want {
			t.Errorf("after %v: in %d sections, want %d", age, got, want)
		}
	}
}

// TestRoadsAroundAreBounded checks that the 24 nearest roads are looked at, and none beyond.
func TestRoadsAroundAreBounded(t *testing.T) {
	for count, want := range map[int]string{23: "0:30", 24: "no road", 60: "no road"} {
		d := draw(t, 10, `
			a
			|
			1
			|
			b
			d--2--e
		`, roadtest.Ways("de"+strings.Repeat(" ab", count), "highway=residential"))
		if got := d.find(d.fixAt("b", 1, 90, 10, 0), d.pinAt("2", 0)); got != want {
			t.Errorf("behind %d roads that lead across: %q, want %q", count, got, want)
		}
	}
}

// TestWalksAreBounded checks that a walk along a route looks at 2048 arcs, however long the route is.
func TestWalksAreBounded(t *testing.T) {
	d := draw(t, 10, "a--b", roadtest.Ways(strings.Repeat("ab ", 1100), "highway=residential"))
	looked := 0
	route := func(yield func(uint32, float64, float64) bool) {
		for arc := range d.Roads.Graph.Arcs {
			if !yield(uint32(arc), 0, 1) {
				return
			}
			looked++
		}
	}
	var w ahead.Walk
	w.Along(d.Roads, d.fixAt("a", 0, 90, 10, 0), route, nil, 1e9)
	if looked != 2048 {
		t.Errorf("%d arcs were looked at, want 2048", looked)
	}
}

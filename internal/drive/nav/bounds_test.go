package nav_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"wayside/internal/drive/nav"
	"wayside/internal/roads/cch"
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
		w := draw(t, "a-1--b----c-2-"+town21+strings.Repeat("\n", rows)+"x-3--y", roadtest.Ways(town21Roads+" xy", street))
		if q := (nav.RouteRequest{Places: w.places("32")}); refused {
			w.refused(q, nav.NoRoute)
		} else if _, r, err := w.route(q); err != nil || r.Distance < 900 {
			t.Errorf("from an island %d00 m away: %v", rows, err)
		}
	}
}

// TestRoadsOfABearing checks that the 4096 nearest roads are looked at for one in the direction of a bearing. The nearer ones here lead
// across, one way each, so that none of them turns into another.
func TestRoadsOfABearing(t *testing.T) {
	for across, want := range map[int]bool{100: true, 4000: true, 5000: false} {
		w := build(t, roadtest.Map(t, 10, `
			a
			1
			b
			d--e
		`, roadtest.Way("de", street), roadtest.Ways(strings.Repeat("ab ", across), street+", oneway=yes")))
		q := nav.NearestRequest{Places: w.places("1"), Number: 1}
		q.Bearings = []nav.Bearing{{Given: true, Value: 90, Range: 20}}
		var a nav.NearestAnswer
		if err := w.Nearest(t.Context(), &q, &a); (err == nil) != want {
			t.Errorf("behind %d roads that lead across: %v", across, err)
		}
	}
}

// TestIslandsAreBounded checks that two places are moved to one of the 16 largest islands around both, although a smaller one is nearer.
func TestIslandsAreBounded(t *testing.T) {
	var drawing strings.Builder
	ways, letter := "", rune(0x4e00) // the alphabet is too short
	for i := range 17 {
		// Each has more than ten times the two junctions of the roads at the places.
		for k := range 42 - i {
			drawing.WriteRune(letter)
			if k > 0 {
				ways += string([]rune{letter - 1, letter}) + " "
			}
			letter++
		}
		drawing.WriteByte('\n')
	}
	w := build(t, roadtest.Map(t, 10, drawing.String()+"t1u"+strings.Repeat(" ", 10)+"v2w", roadtest.Ways(ways+"tu vw", street)))
	var a nav.RouteAnswer
	if err := w.Route(t.Context(), &nav.RouteRequest{Places: w.places("12")}, &a); err != nil {
		t.Fatal(err)
	}
	for _, s := range a.Spots {
		if got := s.Places[0].Distance; got < 19 || got > 21 {
			t.Errorf("moved by %.0f m, want 20 m to the sixteenth island", got)
		}
	}
}

// TestCandidatesOfATrace checks that a coordinate of a trace has twelve roads at most.
func TestCandidatesOfATrace(t *testing.T) {
	for roads, want := range map[int]int{5: 4, 12: 11, 30: 11} {
		w := build(t, roadtest.Map(t, 100, "a1-2b", roadtest.Ways(strings.Repeat("ab ", roads), street+", oneway=yes")))
		a, err := w.match(nav.TraceRequest{Places: w.places("12")})
		if err != nil || a.Tracepoints[0].Alternatives != want {
			t.Errorf("%d roads: %+v, %v; want %d alternatives", roads, a.Tracepoints, err, want)
		}
	}
}

// TestDetoursOfTraces checks that a trace without times is divided where the way is more than 500 m longer than the straight line.
func TestDetoursOfTraces(t *testing.T) {
	for blocks, want := range map[int]int{0: 1, 1: 1, 2: 2, 10: 2} { // of 100 m, there and back
		side := strings.Repeat("-", blocks)
		w := draw(t, "a--1"+side+"b\n"+strings.Repeat(" ", 4+blocks)+"|\nd--2"+side+"c", roadtest.Way("abcd", street))
		a, err := w.match(nav.TraceRequest{Places: w.places("12")})
		matchings := len(a.Matchings)
		if err != nil {
			matchings = 2 // neither half is a matching by itself
		}
		if matchings != want {
			t.Errorf("%d m longer: %d matchings (%v), want %d", 200*blocks+200, matchings, err, want)
		}
	}
}

// TestClosedRoadsAreBounded checks that the warnings of a route name five closed roads.
func TestClosedRoadsAreBounded(t *testing.T) {
	var d nav.Driven
	for i := range 20 {
		d.Closures = append(d.Closures, nav.Closure{Street: fmt.Sprint("Street ", i)})
	}
	if texts := d.Warnings(); len(texts) != 5 {
		t.Errorf("%d warnings: %q", len(texts), texts)
	}
}

// TestRoadsOfAnIncident checks that an incident names ten roads.
func TestRoadsOfAnIncident(t *testing.T) {
	const nodes = "abcdefghijklmnopq"
	drawing, objects := "", []roadtest.Object{}
	for i := range len(nodes) - 1 {
		drawing += nodes[i:i+1] + "-"
		objects = append(objects, roadtest.Way(nodes[i:i+2], street+", name=Street "+nodes[i:i+1]))
	}
	w := draw(t, drawing+"q", objects...)
	for i := range len(nodes) - 1 {
		w.slow(nodes[i:i+1], nodes[i+1:i+2], 0.5, "jam")
	}
	_, r, err := w.route(nav.RouteRequest{Places: w.places("aq")})
	if err != nil {
		t.Fatal(err)
	}
	if all := r.Legs[0].Incidents; len(all) != 1 || len(all[0].Roads) != 10 {
		t.Errorf("incidents %+v, want one on ten roads", all)
	}
}

// TestKeptConditions checks that the conditions of the last four versions are kept, for readers of a metric that was replaced meanwhile.
func TestKeptConditions(t *testing.T) {
	live, _ := liveNetwork(t, roadtest.Map(t, 100, "a--b", roadtest.Ways("ab", street)))
	for i := range 10 {
		live.Update([]cch.ArcWeight{{Weight: uint32(1000 + i)}}, closures{version: uint64(i)})
	}
	if got := live.Kept(); !slices.Equal(got, []uint64{8, 9, 10, 11}) {
		t.Errorf("conditions of the versions %d are kept", got)
	}
}

package nav_test

import (
	"errors"
	"strings"
	"testing"

	"wayside/internal/drive/nav"
	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/roadtest"
)

func (w *town) match(q nav.TraceRequest) (*nav.TraceAnswer, error) {
	a := new(nav.TraceAnswer)
	return a, w.Match(w.t.Context(), &q, a)
}

// traced returns places a few metres beside letters and digits.
func (w *town) traced(names string) nav.Places {
	p := w.places(names)
	for i := range p.Coordinates {
		p.Coordinates[i].Lat += float64(i%3-1) * 3e-5
	}
	return p
}

func avenue(t *testing.T) *town {
	return draw(t, `
		a1-2-3-b4-5-6-c7-8-9-d
		|      |      |      |
		e------f------g------h
		0
		
		x-------------y
	`, roadtest.Ways("abcd efgh ae bf cg dh", street), roadtest.Way("xy", street))
}

func TestMatch(t *testing.T) {
	w := avenue(t)
	a, err := w.match(nav.TraceRequest{Places: w.traced("12345678")})
	if err != nil || len(a.Matchings) != 1 {
		t.Fatalf("%d matchings, %v", len(a.Matchings), err)
	}
	m := &a.Matchings[0]
	if m.Confidence < 0.9 || m.Distance < 1550 || m.Distance > 1650 || len(m.Legs) != 7 {
		t.Errorf("confidence %.3f, %.0f m, %d legs", m.Confidence, m.Distance, len(m.Legs))
	}
	if got := strings.ReplaceAll(w.letters(&m.Route), "|", ""); got != "bc" {
		t.Errorf("over %q", got)
	}
	for i, p := range a.Tracepoints {
		if !p.Matched || p.Matching != 0 || p.Waypoint != i {
			t.Errorf("tracepoint %d: %+v", i, p)
		}
	}
}

func TestMatchOptions(t *testing.T) {
	w := avenue(t)
	refused := func(q nav.TraceRequest, code string) {
		t.Helper()
		var e *nav.Error
		if _, err := w.match(q); !errors.As(err, &e) || e.Code != code {
			t.Errorf("%v, want %s", err, code)
		}
	}
	trace := w.traced("1234")
	a, err := w.match(nav.TraceRequest{Places: trace, Waypoints: []int{0, 3}})
	if err != nil || len(a.Matchings[0].Legs) != 1 || a.Tracepoints[1].Waypoint != -1 || a.Tracepoints[3].Waypoint != 1 {
		t.Errorf("waypoints: %v, %+v", err, a)
	}
	a, err = w.match(nav.TraceRequest{Places: trace, Timestamps: []int64{0, 10, 500, 510}})
	if err != nil || len(a.Matchings) != 2 || a.Tracepoints[2].Matching != 1 {
		t.Errorf("a gap parts the trace: %v, %d", err, len(a.Matchings))
	}
	a, err = w.match(nav.TraceRequest{Places: trace, Timestamps: []int64{0, 10, 500, 510}, IgnoreGaps: true})
	if err != nil || len(a.Matchings) != 1 {
		t.Errorf("a gap that is ignored: %v, %d", err, len(a.Matchings))
	}
	refused(nav.TraceRequest{Places: trace, Timestamps: []int64{0, 10, 5, 20}}, nav.InvalidValue)
	refused(nav.TraceRequest{Places: w.traced("1x")}, nav.NoMatch)
	far := nav.Places{Coordinates: []geo.Point{{Lat: 1}, {Lat: 1.1}}}
	refused(nav.TraceRequest{Places: far}, nav.NoSegment)
	long := nav.Places{Coordinates: make([]geo.Point, 501)}
	refused(nav.TraceRequest{Places: long}, nav.TooBig)

	outlier := w.traced("1234")
	outlier.Coordinates[1].Lat += 0.001 // 111 m
	a, err = w.match(nav.TraceRequest{Places: outlier})
	if err != nil || a.Tracepoints[1].Matched || !a.Tracepoints[2].Matched || len(a.Matchings) != 1 {
		t.Errorf("an outlier: %v, %+v", err, a.Tracepoints)
	}
	dense := w.traced("1234")
	near := dense.Coordinates[1]
	near.Lng += 1e-5
	dense.Coordinates = append(dense.Coordinates[:2:2], append([]geo.Point{near}, dense.Coordinates[2:]...)...)
	a, err = w.match(nav.TraceRequest{Places: dense, Tidy: true})
	if err != nil || a.Tracepoints[2].Matched || !a.Tracepoints[1].Matched || len(a.Matchings) != 1 {
		t.Errorf("tidied: %v, %+v", err, a.Tracepoints)
	}
}

// TestMatchTooFast checks that a matching does not drive around the end of a dual carriageway within a second.
func TestMatchTooFast(t *testing.T) {
	w := draw(t, `
		a-1-2-b
		      |
		d-4-3-c
	`, roadtest.Way("abcd", street))
	for _, c := range []struct {
		seconds   int64
		matchings int
	}{{1, 2}, {20, 1}} {
		q := nav.TraceRequest{Places: w.places("1234")}
		for i := range q.Coordinates {
			q.Timestamps = append(q.Timestamps, int64(i)*c.seconds)
		}
		if a, err := w.match(q); err != nil || len(a.Matchings) != c.matchings {
			t.Errorf("%d s: %d matchings, %v; want %d", c.seconds, len(a.Matchings), err, c.matchings)
		}
	}
	if a, err := w.match(nav.TraceRequest{Places: w.places("1234")}); err != nil || len(a.Matchings) != 1 {
		t.Errorf("without times: %d matchings, %v", len(a.Matchings), err)
	}
}

// TestPlacesBetweenWaypoints checks that a place that is not a waypoint leaves no trace in a leg.
func TestPlacesBetweenWaypoints(t *testing.T) {
	w := avenue(t)
	a, err := w.match(nav.TraceRequest{Places: w.traced("1235"), Waypoints: []int{0, 3}})
	if err != nil || len(a.Matchings) != 1 {
		t.Fatal(err)
	}
	want, _, err := w.route(nav.RouteRequest{Places: w.places("15")})
	if err != nil {
		t.Fatal(err)
	}
	leg := &a.Matchings[0].Legs[0]
	if got := w.letters(&a.Matchings[0].Route); got != want || len(leg.Locations) != 3 || len(leg.Parts) != 2 {
		t.Errorf("over %q by %d positions and %d parts, want %q by 3 and 2", got, len(leg.Locations), len(leg.Parts), want)
	}
	var e *nav.Error
	for _, waypoints := range [...][]int{{1, 3}, {0, 2}} {
		if _, err := w.match(nav.TraceRequest{Places: w.traced("1235"), Waypoints: waypoints}); !errors.As(err, &e) || e.Code != nav.InvalidValue {
			t.Errorf("waypoints %v: %v", waypoints, err)
		}
	}
}

func TestMatchExclude(t *testing.T) {
	w := draw(t, `
		a-1-b-c-2-d
		    | |
		    e-f
	`, roadtest.Ways("ab cd be ef fc", street), roadtest.Way("bc", "highway=motorway, oneway=no"))
	for exclude, want := range map[graph.Flags]string{0: "bc", graph.Toll: "bc", graph.Motorway: "befc"} {
		q := nav.TraceRequest{Places: w.places("12")}
		q.Exclude = exclude
		a, err := w.match(q)
		if err != nil || len(a.Matchings) != 1 {
			t.Fatal(err)
		}
		if got := w.letters(&a.Matchings[0].Route); got != want {
			t.Errorf("without %d: over %q, want %q", exclude, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	w := avenue(t)
	var a nav.NearestAnswer
	if err := w.Nearest(t.Context(), &nav.NearestRequest{Places: w.places("2"), Number: 3}, &a); err != nil || len(a.Places) != 3 {
		t.Fatalf("%v, %+v", err, a.Places)
	}
	for i := range a.Places[1:] {
		if a.Places[i].Distance > a.Places[i+1].Distance {
			t.Errorf("%.1f m before %.1f m", a.Places[i].Distance, a.Places[i+1].Distance)
		}
	}
	p := w.places("2")
	p.Bearings = []nav.Bearing{{Given: true, Value: 0, Range: 5}} // north: ae and bf
	if err := w.Nearest(t.Context(), &nav.NearestRequest{Places: p, Number: 1}, &a); err != nil || len(a.Places) != 1 || a.Places[0].Distance < 150 {
		t.Errorf("north: %v, %+v", err, a.Places)
	}
}

func TestTable(t *testing.T) {
	w := avenue(t)
	q := nav.TableRequest{Places: w.places("16x"), Sources: []int{0, 2}, Destinations: []int{1}, FallbackSpeed: 10, Scale: 2}
	var a nav.TableAnswer
	if err := w.Table(t.Context(), &q, &a); err != nil || len(a.Entries) != 2 {
		t.Fatalf("%v, %+v", err, a.Entries)
	}
	if e := a.Entries[0]; !e.Found || e.Estimated || e.Distance < 1000 || e.Distance > 1200 {
		t.Errorf("%+v", e)
	}
	var tooBig *nav.Error
	q = nav.TableRequest{Places: nav.Places{Coordinates: make([]geo.Point, 101)}, Scale: 1}
	if err := w.Table(t.Context(), &q, &a); !errors.As(err, &tooBig) || tooBig.Code != nav.TooBig {
		t.Errorf("101 times 101: %v", err)
	}
}

func TestSteps(t *testing.T) {
	w := draw(t, `
		a-1--b----c
		     |
		     d--2-e
	`, roadtest.Way("ab", street+", name=First Street"), roadtest.Way("bc", street+", name=Second Street"),
		roadtest.Way("bd", street+", name=Church Lane"), roadtest.Way("de", street+", name=Church Lane"))
	_, r, err := w.route(nav.RouteRequest{Places: w.places("12"), Steps: true})
	if err != nil {
		t.Fatal(err)
	}
	type told struct{ kind, modifier, name string }
	var got []told
	for i := range r.Legs[0].Steps {
		s := &r.Legs[0].Steps[i]
		got = append(got, told{s.Kind.String(), s.Direction.String(), w.Graph.Text(w.Graph.Ways[w.Graph.Pieces[w.Graph.Arcs[s.Arc].Piece].Way].Name)})
	}
	want := []told{{"depart", "", "First Street"}, {"turn", "right", "Church Lane"}, {"arrive", "", "Church Lane"}}
	if len(got) != len(want) {
		t.Fatalf("%v, want %v", got, want)
	}
	var metres float64
	var ms uint64
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("step %d: %v, want %v", i, got[i], want[i])
		}
		metres += r.Legs[0].Steps[i].Distance
		ms += r.Legs[0].Steps[i].Duration
	}
	if metres-r.Distance > 0.1 || r.Distance-metres > 0.1 || ms != r.Duration {
		t.Errorf("the steps are %.1f m and %d ms, the route %.1f and %d", metres, ms, r.Distance, r.Duration)
	}
	turn := r.Legs[0].Steps[1]
	if turn.Before != 90 || turn.After != 180 || len(turn.Intersections) != 1 {
		t.Fatalf("%+v", turn)
	}
	at := turn.Intersections[0]
	if at.Roads[at.In].Bearing != 270 || at.Roads[at.Out].Bearing != 180 || len(at.Roads) != 3 || at.Roads[at.In].Entry || !at.Roads[at.Out].Entry {
		t.Errorf("%+v", at)
	}
	if r.Legs[0].Summary != "First Street, Church Lane" {
		t.Errorf("summary %q", r.Legs[0].Summary)
	}
}

package nav_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"wayside/internal/drive/nav"
	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/roadtest"
)

// line returns the line of a route as another engine would answer it, through the given letters.
func (w *town) line(names string) (line []graph.Position) {
	for _, name := range strings.Split(names, "") {
		line = append(line, nav.PositionOf(w.drawn.Place(w.t, name)))
	}
	return line
}

// driven returns which roads of a line are closed, and whether it ends on one.
func (w *town) driven(legs ...string) (closed []string, ends bool) {
	w.t.Helper()
	var lines [][]graph.Position
	for _, leg := range legs {
		lines = append(lines, w.line(leg))
	}
	d, err := w.Network.Driven(w.t.Context(), lines)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, c := range d.Closures {
		closed = append(closed, c.Street)
	}
	return closed, d.EndsOnClosed
}

// TestDriven checks that another engine's line drives a closed road only if it covers the road from one end to the other
// (D15.16): not beside it, not across it, and not in the open direction.
func TestDriven(t *testing.T) {
	w := draw(t, `
		      k
		      |
		a-1---b-2---c--3-d
		      |          |
		      e----------f
		      |
		      l
	`, roadtest.Ways("ab", street+", name=West"), roadtest.Ways("bc", street+", name=Main"), roadtest.Ways("cd", street+", name=East"), roadtest.Ways("kb be ef fd el", street+", name=Side"))
	w.close("works", "b", "c")
	for _, tt := range []struct {
		legs []string
		want string
		ends bool
	}{
		{[]string{"1b2c3"}, "Main", false},
		{[]string{"3c2b1"}, "Main", false}, // closed in both directions
		{[]string{"1befd3"}, "", false},
		{[]string{"kbel"}, "", false},
		{[]string{"1b2"}, "", true},
		{[]string{"2c3"}, "", true},
		{[]string{"1b2", "2c3"}, "", true}, // with a waypoint on it
		{[]string{"1b2c3", "3c2b1"}, "Main Main", false},
	} {
		closed, ends := w.driven(tt.legs...)
		if got := strings.Join(closed, " "); got != tt.want || ends != tt.ends {
			t.Errorf("%v: %q, ends %t; want %q, %t", tt.legs, got, ends, tt.want, tt.ends)
		}
	}
	for _, arc := range w.arcs("c", "b") {
		delete(w.on, arc)
	}
	w.version++
	if closed, _ := w.driven("3c2b1"); len(closed) > 0 {
		t.Errorf("against the closed direction: %v", closed)
	}
}

// TestDrivenSlowed checks that a slowed road counts as a condition on the way, with its delay.
func TestDrivenSlowed(t *testing.T) {
	w := draw(t, `
		a-1---b-----c--3-d
	`, roadtest.Ways("ab bc cd", street+", name=Main"))
	w.slow("b", "c", 0.5, "jam")
	d, err := w.Network.Driven(t.Context(), [][]graph.Position{w.line("1bc3")})
	if err != nil || !slices.Equal(d.Conditions, []string{"jam"}) {
		t.Fatalf("%+v, %v", d, err)
	}
	usual := uint64(w.Graph.Arcs[w.arcs("b", "c")[0]].Duration)
	if d.Delay != usual {
		t.Errorf("a delay of %d ms, want %d", d.Delay, usual)
	}
}

// TestClosedRoadIsNamed checks that a route over a closed road has a warning that names the road and the time of the
// closure, for every engine.
func TestClosedRoadIsNamed(t *testing.T) {
	w := draw(t, `
		a-1---b-----c--3-d
		      |     |
		      e-----f
	`, roadtest.Ways("ab bc cd be ef fc", street+", name=Main"))
	w.close("works", "b", "c")
	for arc := range w.events {
		w.events[arc][0].Created = time.Date(2026, 5, 1, 12, 30, 0, 0, time.UTC)
	}
	blind := *w.Network
	blind.Search = nav.NewPlain(w.Graph, nil, nil)
	var a nav.RouteAnswer
	service := nav.New(func() *nav.Network { return &blind })
	if err := service.Route(t.Context(), &nav.RouteRequest{Places: w.places("13")}, &a); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(a.Routes[0].Warnings, "|"), "The route drives a road that is closed: Main, since 2026-05-01 12:30 UTC."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestDetour checks that the places of a detour around a closed road lie on the detour and have its direction.
func TestDetour(t *testing.T) {
	w := draw(t, `
		a-1---b-----c--3-d
		      |     |
		      e-----f
	`, roadtest.Ways("ab bc cd be ef fc", street+", name=Main"))
	w.close("works", "b", "c")
	line := w.line("1bc3")
	d, err := w.Network.Driven(t.Context(), [][]graph.Position{line})
	if err != nil || len(d.Closures) != 1 {
		t.Fatalf("%+v, %v", d, err)
	}
	c := &d.Closures[0]
	vias, err := w.Network.Detour(t.Context(), line, nav.Stretch{Begin: c.Begin - 500, End: c.End + 500}, 1)
	if err != nil || len(vias) != 1 {
		t.Fatalf("%v, %v", vias, err)
	}
	e, f := w.drawn.Place(t, "e"), w.drawn.Place(t, "f")
	if beside := geo.Distance(vias[0].At, geo.NearestOnSegment(vias[0].At, e, f)); beside > 1 || geo.AngleBetween(vias[0].Bearing, 90) > 2 {
		t.Errorf("%+v is %.0f m beside the way around", vias[0], beside)
	}
}

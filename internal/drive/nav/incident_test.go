package nav_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"wayside/internal/drive/nav"
	"wayside/internal/roads/roadtest"
)

// slow slows the road between two nodes in one direction, with several entities.
func (w *town) slow(a, b string, factor float64, ids ...string) {
	if w.on == nil {
		w.conditions = conditions{version: 1, on: map[uint32]nav.Condition{}, events: map[uint32][]nav.Event{}}
	}
	for _, arc := range w.arcs(a, b) {
		now := &w.Graph.Arcs[arc]
		w.on[arc] = nav.Condition{Weight: uint32(float64(now.Weight) / factor), Duration: uint32(float64(now.Duration) / factor)}
		for _, id := range ids {
			w.events[arc] = append(w.events[arc], nav.Event{EntityID: id, Factor: factor})
		}
	}
	weights := w.Graph.Weights()
	for arc, c := range w.on {
		weights[arc] = c.Weight
	}
	w.Network = &nav.Network{Roads: w.Roads, Search: nav.NewPlain(w.Graph, weights, nil), Conditions: &w.conditions}
}

// incidents describes the incidents of a leg: the entity, the letters of the positions, the roads.
func (w *town) incidents(l *nav.Leg) string {
	var all []string
	for _, i := range l.Incidents {
		part := &nav.Route{Legs: []nav.Leg{{Locations: l.Locations[i.First : i.Last+1], Nodes: l.Nodes[i.First : i.Last+1]}}}
		all = append(all, fmt.Sprintf("%s %d-%d %s %.0f m at %.2f on %s", i.EntityID, i.First, i.Last, w.letters(part), i.Length, i.Factor, strings.Join(i.Roads, "+")))
	}
	return strings.Join(all, "; ")
}

// TestIncidents checks that the entities on the way are listed for each leg, by stretches of its line (D15.18).
func TestIncidents(t *testing.T) {
	w := draw(t, `
		a-1--b----c-2--d----e--3-f
	`, roadtest.Ways("ab bc", street+", name=First"), roadtest.Ways("cd de ef", street+", name=Second"))
	w.slow("b", "c", 0.9, "works", "jam")
	w.slow("c", "d", 0.5, "jam")
	w.slow("e", "f", 0.5, "jam")
	q := nav.RouteRequest{Places: w.places("13")}
	if got, want := w.incidents(&w.want(q, "bcde").Legs[0]), "works 1-2 bc 500 m at 0.90 on First; jam 1-3 bcd 1000 m at 0.50 on First+Second; jam 4-5 e 300 m at 0.50 on Second"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	q = nav.RouteRequest{Places: w.places("123")}
	r := w.want(q, "bc|de")
	for i, want := range []string{"works 1-2 bc 500 m at 0.90 on First; jam 1-3 bc 700 m at 0.50 on First+Second", "jam 0-1 d 300 m at 0.50 on Second; jam 2-3 e 300 m at 0.50 on Second"} {
		if got := w.incidents(&r.Legs[i]); got != want {
			t.Errorf("leg %d: got  %s\nwant %s", i, got, want)
		}
	}
	if !slices.Equal(r.Conditions, []string{"works", "jam"}) {
		t.Errorf("conditions %v", r.Conditions)
	}
	if got := w.incidents(&w.want(nav.RouteRequest{Places: w.places("31")}, "edcb").Legs[0]); got != "" {
		t.Errorf("the other way: %s", got)
	}
}

// TestManyIncidents checks that all of many entities on one road are named, and the first hundred are listed as
// incidents.
func TestManyIncidents(t *testing.T) {
	w := draw(t, `
		a-1--b----c-2--d
	`, roadtest.Ways("ab bc cd", street))
	var ids []string
	for i := range 3000 {
		ids = append(ids, fmt.Sprint("jam ", i))
	}
	w.slow("b", "c", 0.5, ids...)
	w.slow("c", "d", 0.5, ids...)
	r := w.want(nav.RouteRequest{Places: w.places("12")}, "bc")
	if !slices.Equal(r.Conditions, ids) {
		t.Errorf("%d conditions", len(r.Conditions))
	}
	if l := r.Legs[0]; len(l.Incidents) != 100 || l.Incidents[99].EntityID != "jam 99" || math.Round(l.Incidents[99].Length) != 700 {
		t.Errorf("%d incidents, the last %+v", len(l.Incidents), l.Incidents[len(l.Incidents)-1])
	}
}

// unavoided is conditions that claim to be none, so that routes do not search the way without conditions.
type unavoided struct{ *conditions }

func (unavoided) None() bool { return true }

// TestNoIncidentNoMemory checks that looking for conditions on the way allocates no memory.
func TestNoIncidentNoMemory(t *testing.T) {
	w := draw(t, `
		a-1--b----c-2--d
		|              |
		e--------------f
	`, roadtest.Ways("ab bc cd ae ef df", street))
	plain := nav.NewPlain(w.Graph, nil, nil)
	measure := func(c nav.Conditions) float64 {
		n := &nav.Network{Roads: w.Roads, Search: plain, Conditions: c}
		service := nav.New(func() *nav.Network { return n })
		var a nav.RouteAnswer
		q := nav.RouteRequest{Places: w.places("12")}
		least := math.Inf(1)
		for range 100 { // the least of many, because pools drop their contents at times, and with the race detector at random
			least = min(least, testing.AllocsPerRun(1, func() {
				if err := service.Route(t.Context(), &q, &a); err != nil {
					t.Fatal(err)
				}
			}))
		}
		return least
	}
	without := measure(nil)
	w.slow("e", "f", 0.5, "jam")
	if with := measure(unavoided{&w.conditions}); with > without {
		t.Errorf("%.0f allocations beside a condition elsewhere, %.0f without", with, without)
	}
	w.slow("b", "c", 0.5, "jam")
	if with := measure(unavoided{&w.conditions}); with <= without {
		t.Error("the test does not see the conditions")
	}
}

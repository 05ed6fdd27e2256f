package nav_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"wayside/internal/drive/nav"
	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/roadtest"
)

// around returns a square around the middle between two places, extending some metres to each side.
func (w *town) around(a, b string, metres float64) []geo.Point {
	from, to := w.drawn.Place(w.t, a), w.drawn.Place(w.t, b)
	lat, lng, reach := (from.Lat+to.Lat)/2, (from.Lng+to.Lng)/2, metres/111_195
	return []geo.Point{{Lat: lat - reach, Lng: lng - reach}, {Lat: lat - reach, Lng: lng + reach}, {Lat: lat + reach, Lng: lng + reach}, {Lat: lat + reach, Lng: lng - reach}}
}

// TestAvoid checks that routes avoid roads at a place, inside a ring, and crossing a ring (D15.19).
func TestAvoid(t *testing.T) {
	w := draw(t, `
		a-1--b-3--c-2-d
		|    |    |   |
		e----f----g---h
	`, roadtest.Ways("abcd efgh ae bf cg dh", street))
	places := w.places("12")
	w.want(nav.RouteRequest{Places: places}, "bc")
	for name, avoid := range map[string]nav.Avoid{
		"a place":                {Places: []geo.Point{w.drawn.Place(t, "3")}},
		"a ring that it crosses": {Rings: [][]geo.Point{w.around("b", "c", 50)}},
		"a ring across the road": {Rings: [][]geo.Point{w.around("3", "3", 1)}},
	} {
		r := w.want(nav.RouteRequest{Places: places, Avoid: avoid}, "bfgc")
		if r == nil || len(r.Warnings) != 0 {
			t.Errorf("%s: %v", name, r)
		}
	}
	both := nav.Avoid{Places: []geo.Point{w.drawn.Place(t, "3")}, Rings: [][]geo.Point{w.around("f", "g", 100)}}
	w.refused(nav.RouteRequest{Places: places, Avoid: both}, nav.NoRoute)
	inside := nav.Avoid{Rings: [][]geo.Point{w.around("b", "g", 2000)}} // all roads lie inside, and none crosses it
	w.refused(nav.RouteRequest{Places: places, Avoid: inside}, nav.NoRoute)

	r := w.want(nav.RouteRequest{Places: w.places("32"), Avoid: nav.Avoid{Places: []geo.Point{w.drawn.Place(t, "3")}}}, "c")
	if r == nil || len(r.Warnings) != 1 {
		t.Errorf("a route that begins on the road: %+v", r)
	}
	w.close("feed:x:y", "f", "g") // a closure for everybody applies here too
	w.refused(nav.RouteRequest{Places: places, Avoid: nav.Avoid{Places: []geo.Point{w.drawn.Place(t, "3")}}}, nav.NoRoute)
	w.want(nav.RouteRequest{Places: places}, "bc") // roads that one request avoided are open to the next
}

// TestAvoidIsBounded checks each bound of what a request may avoid.
func TestAvoidIsBounded(t *testing.T) {
	w := block(t)
	square := w.around("a", "f", 100)
	long := make([]geo.Point, 1001)
	for name, c := range map[string]struct {
		avoid nav.Avoid
		code  string
	}{
		"places":       {nav.Avoid{Places: make([]geo.Point, 51)}, nav.TooBig},
		"rings":        {nav.Avoid{Rings: slices.Repeat([][]geo.Point{square}, 51)}, nav.TooBig},
		"positions":    {nav.Avoid{Rings: [][]geo.Point{long}}, nav.TooBig},
		"metres":       {nav.Avoid{Rings: [][]geo.Point{w.around("a", "f", 12_600)}}, nav.TooBig},
		"two corners":  {nav.Avoid{Rings: [][]geo.Point{square[:2]}}, nav.InvalidValue},
		"no position":  {nav.Avoid{Rings: [][]geo.Point{{square[0], square[1], {Lat: 91}}}}, nav.InvalidValue},
		"no place":     {nav.Avoid{Places: []geo.Point{{Lng: 181}}}, nav.InvalidValue},
		"an empty one": {nav.Avoid{Rings: [][]geo.Point{{}}}, nav.InvalidValue},
	} {
		var a nav.RouteAnswer
		err := w.Route(t.Context(), &nav.RouteRequest{Places: w.places("12"), Avoid: c.avoid}, &a)
		if refused := new(nav.Error); !errors.As(err, &refused) || refused.Code != c.code {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
}

// TestAvoidIsExact compares routes with the best combination over the roads that are not avoided. It finds the roads
// inside a ring by checking every position of a fine grid along them.
func TestAvoidIsExact(t *testing.T) {
	found := 0
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 2))
		w := grid(t, random)
		for range 10 {
			south, west := -random.Float64()*0.0072, random.Float64()*0.0135
			north, east := south+random.Float64()*0.003, west+random.Float64()*0.003
			ring := []geo.Point{{Lat: south, Lng: west}, {Lat: north, Lng: west}, {Lat: north, Lng: east}, {Lat: south, Lng: east}}
			weights := w.Graph.Weights()
			for arc := range w.Graph.Arcs {
				line := w.Graph.PieceLine(w.Graph.Arcs[arc].Piece)
				for i := range line[1:] {
					for k := range 2001 {
						at := geo.Between(line[i].Point(), line[i+1].Point(), float64(k)/2000)
						if at.Lat >= south && at.Lat <= north && at.Lng >= west && at.Lng <= east {
							weights[arc] = graph.Closed
						}
					}
				}
			}
			q := nav.RouteRequest{Straight: nav.TurnsAllowed, Avoid: nav.Avoid{Rings: [][]geo.Point{ring}}}
			for range 3 {
				q.Coordinates = append(q.Coordinates, geo.Point{Lat: -random.Float64() * 0.0072, Lng: random.Float64() * 0.0135})
			}
			var a nav.RouteAnswer
			if err := w.Route(t.Context(), &q, &a); err != nil {
				continue
			}
			found++
			if want := w.enumerate(weights, a.Spots, false); a.Routes[0].Weight != want {
				t.Fatalf("seed %d, %+v: %d ms, want %d", seed, q, a.Routes[0].Weight, want)
			}
			w.replay(t, &a.Routes[0], weights)
		}
	}
	if found < 50 {
		t.Errorf("only %d routes were found", found)
	}
}

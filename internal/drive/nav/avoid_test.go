package nav_test

import (
	"errors"
	"slices"
	"testing"

	"wayside/internal/drive/nav"
	"wayside/internal/ground/geo"
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

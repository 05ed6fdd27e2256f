package nav_test

import (
	"context"
	"errors"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"wayside/internal/drive/nav"
	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
	"wayside/internal/roads/roadtest"
)

// town is the network of a drawn map on which tests close and slow arcs.
type town struct {
	*nav.Network
	*nav.Service
	t     *testing.T
	drawn *roadtest.Network
	conditions
}

// conditions are the conditions that a test puts on arcs.
type conditions struct {
	version uint64
	on      map[uint32]nav.Condition
	events  map[uint32][]nav.Event
}

func (c *conditions) Version() uint64 { return c.version }

func (c *conditions) None() bool { return len(c.on) == 0 }

func (c *conditions) On(arc uint32) (nav.Condition, bool) { one, ok := c.on[arc]; return one, ok }

func (c *conditions) Events(arc uint32, each func(nav.Event)) {
	for _, e := range c.events[arc] {
		each(e)
	}
}

func (c *conditions) Arcs() iter.Seq[uint32] { return maps.Keys(c.on) }

func build(t *testing.T, drawn *roadtest.Network) *town {
	t.Helper()
	g := drawn.Graph(t)
	w := &town{t: t, drawn: drawn}
	w.Network = &nav.Network{Roads: nav.NewRoads(g, match.NewIndex(g), "test"), Search: nav.NewPlain(g, nil, nil)}
	w.Service = nav.New(func() *nav.Network { return w.Network })
	return w
}

// draw builds a map of 100 metres for each character.
func draw(t *testing.T, drawing string, objects ...roadtest.Object) *town {
	t.Helper()
	return build(t, roadtest.Map(t, 100, drawing, objects...))
}

// places returns the positions of letters and digits.
func (w *town) places(names string) nav.Places {
	return nav.Places{Coordinates: w.drawn.Places(w.t, names)}
}

// arcs returns the arcs from one node to another, including copies.
func (w *town) arcs(from, to string) (arcs []uint32) {
	for i := range w.Graph.Arcs {
		a := &w.Graph.Arcs[i]
		if w.Graph.Nodes[a.From].OSM == w.drawn.NodeID(w.t, from) && w.Graph.Nodes[a.To].OSM == w.drawn.NodeID(w.t, to) {
			arcs = append(arcs, uint32(i))
		}
	}
	return arcs
}

// close closes the road between two nodes in both directions.
func (w *town) close(id, a, b string) {
	weights := w.Graph.Weights()
	w.conditions = conditions{version: 1, on: map[uint32]nav.Condition{}, events: map[uint32][]nav.Event{}}
	for _, arc := range append(w.arcs(a, b), w.arcs(b, a)...) {
		weights[arc] = graph.Closed
		w.on[arc] = nav.Condition{Weight: w.Graph.Arcs[arc].Weight, Duration: w.Graph.Arcs[arc].Duration, Closed: true}
		w.events[arc] = []nav.Event{{EntityID: id, Closed: true, Factor: 1}}
	}
	w.Network = &nav.Network{Roads: w.Roads, Search: nav.NewPlain(w.Graph, weights, nil), Conditions: &w.conditions}
}

// route requests a route, and returns the letters of the nodes on it.
func (w *town) route(q nav.RouteRequest) (string, *nav.Route, error) {
	w.t.Helper()
	var a nav.RouteAnswer
	if err := w.Route(w.t.Context(), &q, &a); err != nil {
		return "", nil, err
	}
	return w.letters(&a.Routes[0]), &a.Routes[0], nil
}

// letters returns the nodes that a route passes, with | between legs.
func (w *town) letters(r *nav.Route) string {
	var legs []string
	for i := range r.Legs {
		var leg strings.Builder
		l := &r.Legs[i]
		for k, at := range l.Locations {
			for node := range w.Graph.Nodes {
				if w.Graph.Nodes[node].OSM == l.Nodes[k] && w.Graph.Nodes[node].Position == at {
					leg.WriteRune(rune(l.Nodes[k]))
					break
				}
			}
		}
		legs = append(legs, leg.String())
	}
	return strings.Join(legs, "|")
}

func (w *town) want(q nav.RouteRequest, want string) *nav.Route {
	w.t.Helper()
	got, r, err := w.route(q)
	if err != nil || got != want {
		w.t.Errorf("got %q (%v), want %q", got, err, want)
	}
	return r
}

// refused checks that a request is refused with a code.
func (w *town) refused(q nav.RouteRequest, code string) {
	w.t.Helper()
	got, _, err := w.route(q)
	var refused *nav.Error
	if !errors.As(err, &refused) || refused.Code != code {
		w.t.Errorf("got %q, %v; want %s", got, err, code)
	}
}

const street = "highway=residential"

// block returns two adjacent blocks of houses.
func block(t *testing.T) *town {
	return draw(t, `
		a-1--b-2--c
		|    |    |
		|    |    |
		d----e----f
	`, roadtest.Ways("ab bc de ef ad be cf", street))
}

func TestRoute(t *testing.T) {
	w := block(t)
	r := w.want(nav.RouteRequest{Places: w.places("12")}, "b")
	if len(r.Legs) != 1 || r.Distance < 495 || r.Distance > 505 {
		t.Errorf("%.1f m over %d legs", r.Distance, len(r.Legs))
	}
	sum := uint64(0)
	for _, p := range r.Legs[0].Parts {
		sum += uint64(p.Weight) + uint64(p.TurnWeight)
	}
	if sum != r.Weight {
		t.Errorf("the parts weigh %d, the route %d", sum, r.Weight)
	}
	w.want(nav.RouteRequest{Places: w.places("1e2")}, "ade|eb") // over b the route would have to turn back at e, or go on to f
}

func TestRouteOnOneArc(t *testing.T) {
	w := draw(t, `
		a-1-2-b
		|     |
		c-----d
	`, roadtest.Way("ab", street+", oneway=yes"), roadtest.Ways("bd dc ca", street))
	ahead := w.want(nav.RouteRequest{Places: w.places("12")}, "")
	if ahead.Distance < 199 || ahead.Distance > 201 {
		t.Errorf("ahead: %.1f m", ahead.Distance)
	}
	w.want(nav.RouteRequest{Places: w.places("21")}, "bdca")
	here := w.want(nav.RouteRequest{Places: w.places("11")}, "")
	if here.Distance != 0 || here.Weight != 0 || len(here.Legs[0].Locations) != 2 {
		t.Errorf("from a place to itself: %.1f m, %d ms, %d positions", here.Distance, here.Weight, len(here.Legs[0].Locations))
	}
}

func TestClosedRoads(t *testing.T) {
	w := draw(t, `
		a-1--b-3--c-2-d
		|    |    |   |
		e----f----g---h
	`, roadtest.Ways("abcd efgh ae bf cg dh", street))
	w.want(nav.RouteRequest{Places: w.places("12")}, "bc")
	w.close("feed:x:y", "b", "c")
	r := w.want(nav.RouteRequest{Places: w.places("12")}, "bfgc")
	if !slices.Equal(r.Avoided, []string{"feed:x:y"}) || len(r.Conditions) != 0 || len(r.Warnings) != 0 {
		t.Errorf("avoided %v, conditions %v, warnings %v", r.Avoided, r.Conditions, r.Warnings)
	}
	r = w.want(nav.RouteRequest{Places: w.places("32")}, "c") // a route that begins on it may leave it
	if !slices.Equal(r.Conditions, []string{"feed:x:y"}) || len(r.Warnings) != 1 {
		t.Errorf("conditions %v, warnings %v", r.Conditions, r.Warnings)
	}
	w.want(nav.RouteRequest{Places: w.places("13")}, "b")
}

func TestContinueStraight(t *testing.T) {
	w := draw(t, `
		a-1--b----c-2-d
		     |    |
		     3    |
		     e----f
	`, roadtest.Ways("ab bcd be ef fc", street))
	w.want(nav.RouteRequest{Places: w.places("132")}, "b|efc")
	w.want(nav.RouteRequest{Places: w.places("132"), Straight: nav.AlwaysStraight}, "b|efc")
	w.want(nav.RouteRequest{Places: w.places("132"), Straight: nav.TurnsAllowed}, "b|bc")
}

func TestWaypoints(t *testing.T) {
	w := block(t)
	r := w.want(nav.RouteRequest{Places: w.places("1f2"), Waypoints: []int{0, 2}}, w.merged("1f2"))
	if len(r.Legs) != 1 {
		t.Errorf("%d legs", len(r.Legs))
	}
	w.refused(nav.RouteRequest{Places: w.places("1f2"), Waypoints: []int{1, 2}}, nav.InvalidValue)
}

// merged returns the way over some places as one leg.
func (w *town) merged(names string) string {
	w.t.Helper()
	got, _, err := w.route(nav.RouteRequest{Places: w.places(names)})
	if err != nil {
		w.t.Fatal(err)
	}
	first, second, _ := strings.Cut(got, "|")
	return first + strings.TrimPrefix(second, first[len(first)-1:])
}

func TestBearings(t *testing.T) {
	w := block(t)
	east, west := nav.Bearing{Given: true, Value: 90, Range: 20}, nav.Bearing{Given: true, Value: 270, Range: 20}
	for _, c := range []struct {
		begin, end nav.Bearing
		want       string
	}{
		{east, east, "b"},
		{west, nav.Bearing{}, "adeb"},
		{east, west, "befc"},
		{nav.Bearing{}, nav.Bearing{}, "b"},
	} {
		p := w.places("12")
		p.Bearings = []nav.Bearing{c.begin, c.end}
		w.want(nav.RouteRequest{Places: p}, c.want)
	}
	p := w.places("12")
	p.Bearings = []nav.Bearing{{Given: true, Value: 0, Range: 10}, {}}
	r := w.want(nav.RouteRequest{Places: p}, "b")
	if got := geo.Distance(r.Legs[0].Locations[0].Point(), w.drawn.Place(t, "a")); got > 1 { // the nearest road that leads north ends at a
		t.Errorf("north: %.0f m from a", got)
	}
}

// TestBearingAtTheEdgeOfItsRange checks that bearings are whole degrees, so that a road due east on the map is within 10
// degrees of 80 and of 100.
func TestBearingAtTheEdgeOfItsRange(t *testing.T) {
	w := build(t, roadtest.MapAt(t, geo.Point{Lat: 50}, 100, "a-1-b-2-c", roadtest.Ways("ab bc", street)))
	for _, value := range [...]float64{80, 100} {
		p := w.places("12")
		p.Bearings = []nav.Bearing{{Given: true, Value: value, Range: 10}, {}}
		w.want(nav.RouteRequest{Places: p}, "b")
	}
}

func TestApproaches(t *testing.T) {
	w := draw(t, `
		  1      2
		a----b----c
		|    |    |
		d----e----f
	`, roadtest.Ways("ab bc de ef ad be cf", street))
	for _, c := range []struct {
		begin, end nav.Approach
		want       string
	}{
		{nav.Unrestricted, nav.Unrestricted, "b"},
		{nav.Unrestricted, nav.Opposite, "b"},
		{nav.Opposite, nav.Opposite, "b"},
		{nav.Curb, nav.Unrestricted, "adeb"}, // the place is on the left for a driver going east
		{nav.Unrestricted, nav.Curb, "befc"},
	} {
		p := w.places("12")
		p.Approaches = []nav.Approach{c.begin, c.end}
		w.want(nav.RouteRequest{Places: p}, c.want)
	}
}

func TestApproachesWhereOneDrivesOnTheLeft(t *testing.T) {
	london := geo.Point{Lat: 51.5, Lng: -0.1}
	w := build(t, roadtest.MapAt(t, london, 100, `
		  1      2
		a----b----c
		|    |    |
		d----e----f
	`, roadtest.Ways("ab bc de ef ad be cf", street)))
	p := w.places("12")
	p.Approaches = []nav.Approach{nav.Curb, nav.Curb}
	w.want(nav.RouteRequest{Places: p}, "b")
}

func TestRadiuses(t *testing.T) {
	w := draw(t, `
		1
		a----b
	`, roadtest.Way("ab", street))
	p := w.places("1b")
	p.Radiuses = []float64{nav.Unlimited, 10}
	w.want(nav.RouteRequest{Places: p}, "ab")
	p.Radiuses = []float64{99, 10}
	w.refused(nav.RouteRequest{Places: p}, nav.NoSegment)
	p.Coordinates[0].Lat += 0.2 // 22 km
	p.Radiuses = nil
	w.refused(nav.RouteRequest{Places: p}, nav.NoSegment)
}

func TestExclude(t *testing.T) {
	w := draw(t, `
		a-1--b----c-2-d
		     |    |
		     e----f
	`, roadtest.Ways("ab cd be ef fc", street), roadtest.Way("bc", "highway=motorway, oneway=no, toll=yes"))
	w.want(nav.RouteRequest{Places: w.places("12")}, "bc")
	for _, exclude := range []graph.Flags{graph.Motorway, graph.Toll, graph.Toll | graph.Motorway | graph.Ferry} {
		p := w.places("12")
		p.Exclude = exclude
		w.want(nav.RouteRequest{Places: p}, "befc")
	}
}

// town21 continues a drawn road from d by so many junctions that a part of the network with two junctions has less than
// a tenth of them, and town21Roads are the ways of the road.
const (
	town21      = "d-e-f-g-h-i-j-k-l-m-n-o-p-q-r-A-B-C-D-E-F"
	town21Roads = "ab bc cd de ef fg gh hi ij jk kl lm mn no op pq qr rA AB BC CD DE EF"
)

func TestIslands(t *testing.T) {
	// x is an island 200 m beside the road, y one 2 km away.
	w := draw(t, `
		a-1--b----c-2-`+town21+`

		x-3--y                                                                       u-4--v
	`, roadtest.Ways(town21Roads+" xy uv", street))
	w.want(nav.RouteRequest{Places: w.places("12")}, "bc")
	got, r, err := w.route(nav.RouteRequest{Places: w.places("32")})
	if err != nil || r.Distance < 900 {
		t.Errorf("from the island: %q, %v", got, err)
	}
	w.want(nav.RouteRequest{Places: w.places("3y")}, "y")
	w.refused(nav.RouteRequest{Places: w.places("14")}, nav.NoRoute)
}

// TestMovedFromATenth checks that a place is moved only to a part of the network with more than ten times the junctions
// of its own (D15.10).
func TestMovedFromATenth(t *testing.T) {
	for roads, refused := range map[string]bool{"xy": false, "xy yz": true} {
		w := draw(t, `
			a-1--b----c-2-`+town21+`

			x-3--y--z
		`, roadtest.Ways(town21Roads+" "+roads, street))
		if q := (nav.RouteRequest{Places: w.places("32")}); refused {
			w.refused(q, nav.NoRoute)
		} else if _, _, err := w.route(q); err != nil {
			t.Errorf("%s: %v", roads, err)
		}
	}
}

// TestBarrierBetweenEqualParts checks that the destination stays in place if neither side of a barrier is the main
// network.
func TestBarrierBetweenEqualParts(t *testing.T) {
	w := draw(t, "a-1--b--2-c", roadtest.Way("abc", street), roadtest.Node("b", "barrier=bollard"))
	w.refused(nav.RouteRequest{Places: w.places("12")}, nav.NoRoute)
}

// TestOneWayOntoTheNetwork checks a side street that is an island of its own, because no road leads back to it, but
// leads onto the network.
func TestOneWayOntoTheNetwork(t *testing.T) {
	w := draw(t, `
		a----b----c-2-d----e
		     |
		     1
		     |
		     x
	`, roadtest.Ways("ab bcde", street), roadtest.Way("xb", street+", oneway=yes"))
	_, r, err := w.route(nav.RouteRequest{Places: w.places("12")})
	if err != nil || math.Abs(r.Distance-900) > 1 {
		t.Errorf("along the side street: %v, %+v", err, r)
	}
	var table nav.TableAnswer
	if err := w.Table(t.Context(), &nav.TableRequest{Places: w.places("12"), Scale: 1}, &table); err != nil || math.Abs(table.Entries[1].Distance-900) > 1 {
		t.Errorf("a table: %v, %+v", err, table.Entries)
	}
}

// TestEndsBesideCorners checks that at the corners of a block, where only two roads meet, no part of the road around the
// corner is driven.
func TestEndsBesideCorners(t *testing.T) {
	for _, order := range [...]string{"ab bc cd da", "da cd bc ab", "cd ab da bc"} {
		w := draw(t, `
			a-----b
			|     |
			d-----c
		`, roadtest.Ways(order, street+", oneway=yes"))
		live, _ := liveNetwork(t, w.drawn)
		w.Service = nav.New(live.Network)
		for _, one := range [...]struct{ places, roads string }{{"ba", "bc cd da"}, {"ac", "ab bc"}, {"ca", "cd da"}, {"bd", "bc cd"}, {"db", "da ab"}} {
			var a nav.RouteAnswer
			if err := w.Route(t.Context(), &nav.RouteRequest{Places: w.places(one.places)}, &a); err != nil {
				t.Fatal(err)
			}
			var roads []string
			parts := a.Routes[0].Legs[0].Parts
			for _, p := range parts {
				arc := &w.Graph.Arcs[p.Arc]
				roads = append(roads, string([]rune{rune(w.Graph.Nodes[arc.From].OSM), rune(w.Graph.Nodes[arc.To].OSM)}))
			}
			if got := strings.Join(roads, " "); got != one.roads {
				t.Errorf("%s, %s: got %s, want %s", order, one.places, got, one.roads)
			}
			if a.Used[0].Arc != parts[0].Arc || a.Used[1].Arc != parts[len(parts)-1].Arc {
				t.Errorf("%s, %s: the waypoints are on other roads than the route", order, one.places)
			}
		}
	}
}

// TestMovedToARing checks that a route takes the shorter direction of a ring on which cars cannot turn back, so that
// each direction is an island.
func TestMovedToARing(t *testing.T) {
	w := draw(t, `
		g-h-i-j-k-l-m-n-o-a----b  u--x
		|                      |
		f-e-A-B-C-D-E-F-G-d----c  v--y
	`, roadtest.Ways("ab bc cd dG GF FE ED DC CB BA Ae ef fg gh hi ij jk kl lm mn no oa ux vy", street))
	for _, places := range [...]string{"xy", "yx"} {
		if _, r, err := w.route(nav.RouteRequest{Places: w.places(places)}); err != nil || math.Abs(r.Distance-200) > 1 {
			t.Errorf("%s: %v, %+v", places, err, r)
		}
	}
}

// TestOnlyWhatMustIsMoved checks that only the destination on an island is moved, and not the start in a yard from which
// a way leads onto the network.
func TestOnlyWhatMustIsMoved(t *testing.T) {
	w := draw(t, `
		a----b----c----`+town21+`
		     |
		     1      x2y
		     |
		     z
	`, roadtest.Ways(town21Roads+" xy", street), roadtest.Way("zb", street+", oneway=yes"))
	_, r, err := w.route(nav.RouteRequest{Places: w.places("12")})
	if err != nil || math.Abs(r.Distance-1000) > 1 {
		t.Errorf("%v, %+v", err, r)
	}
}

func TestBounds(t *testing.T) {
	w := block(t)
	p := w.places("12")
	for len(p.Coordinates) <= 100 {
		p.Coordinates = append(p.Coordinates, p.Coordinates[0])
	}
	w.refused(nav.RouteRequest{Places: p}, nav.TooBig)
	p.Coordinates = p.Coordinates[:100]
	if _, _, err := w.route(nav.RouteRequest{Places: p}); err != nil {
		t.Errorf("100 coordinates: %v", err)
	}
	w.refused(nav.RouteRequest{Places: w.places("12"), Alternatives: 4}, nav.TooBig)
	near := nav.NearestRequest{Places: w.places("1"), Number: 101}
	if err, tooBig := near.Check(), new(nav.Error); !errors.As(err, &tooBig) || tooBig.Code != nav.TooBig {
		t.Errorf("101 nearest roads: %v", err)
	}
	p.Coordinates = []geo.Point{{Lat: 91}, {}}
	w.refused(nav.RouteRequest{Places: p}, nav.InvalidValue)
	none := nav.New(func() *nav.Network { return nil })
	var refused *nav.Error
	q := nav.RouteRequest{Places: w.places("12")}
	if err := none.Route(t.Context(), &q, new(nav.RouteAnswer)); !errors.As(err, &refused) || refused.Code != nav.NoRegion {
		t.Errorf("without a region: %v", err)
	}
}

func TestCancelledRoute(t *testing.T) {
	w := block(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := w.places("12")
	search := nav.NewPlain(w.Graph, nil, nil)
	w.Network = &nav.Network{Roads: w.Roads, Search: search}
	// All slots are taken: a waiting request leaves when its context ends.
	err := w.Route(ctx, &nav.RouteRequest{Places: p}, new(nav.RouteAnswer))
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("a request that is gone: %v", err)
	}
}

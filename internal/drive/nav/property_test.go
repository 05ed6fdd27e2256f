package nav_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"wayside/internal/drive/nav"
	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/roadtest"
)

// grid draws 6 by 5 junctions with streets between most of them, some of them one-way.
func grid(t *testing.T, random *rand.Rand) *town {
	const drawing = `
		a--b--c--d--e--f
		|  |  |  |  |  |
		g--h--i--j--k--l
		|  |  |  |  |  |
		m--n--o--p--q--r
		|  |  |  |  |  |
		s--t--u--v--w--x
		|  |  |  |  |  |
		A--B--C--D--E--F
	`
	const letters = "abcdefghijklmnopqrstuvwxABCDEF"
	var objects []roadtest.Object
	add := func(from, to byte) {
		if random.IntN(8) == 0 {
			return
		}
		tags := []string{"highway=residential", "highway=residential", "highway=primary", "highway=residential, oneway=yes", "highway=tertiary, oneway=-1"}[random.IntN(5)]
		objects = append(objects, roadtest.Way(string([]byte{from, to}), tags))
	}
	for i := range letters {
		if i%6 < 5 {
			add(letters[i], letters[i+1])
		}
		if i < 24 {
			add(letters[i], letters[i+6])
		}
	}
	return draw(t, drawing, objects...)
}

// enumerate returns the weight of the best route, by trying every combination of candidates with plain Dijkstra.
func (w *town) enumerate(weights []uint32, spots []nav.Spot, straight bool) uint64 {
	search := graph.NewDijkstra(w.Graph)
	best := uint64(math.MaxUint64)
	part := func(share float64, arc uint32) uint32 {
		return uint32(math.Round(share * float64(w.Graph.Arcs[arc].Weight)))
	}
	leg := func(from, to *nav.Candidate) uint64 {
		lightest := uint64(math.MaxUint64)
		if from.Arc == to.Arc && to.Share >= from.Share {
			lightest = uint64(part(to.Share-from.Share, to.Arc))
		}
		var ends []graph.End
		for i := range w.Graph.Arcs {
			if w.Graph.Arcs[i].CopyOf == to.Arc {
				ends = append(ends, graph.End{Arc: uint32(i), Cost: part(to.Share, to.Arc)})
			}
		}
		path, ok := search.Route(weights, []graph.End{{Arc: from.Arc, Cost: part(1-from.Share, from.Arc)}}, ends)
		if ok {
			lightest = min(lightest, path.Weight)
		}
		return lightest
	}
	var try func(i int, from *nav.Candidate, sum uint64)
	try = func(i int, from *nav.Candidate, sum uint64) {
		if i == len(spots) {
			best = min(best, sum)
			return
		}
		for c := range spots[i].Candidates {
			to := &spots[i].Candidates[c]
			weight := leg(from, to)
			if weight == math.MaxUint64 {
				continue
			}
			if straight || i+1 == len(spots) {
				try(i+1, to, sum+weight)
				continue
			}
			for d := range spots[i].Candidates {
				try(i+1, &spots[i].Candidates[d], sum+weight)
			}
		}
	}
	for c := range spots[0].Candidates {
		try(1, &spots[0].Candidates[c], 0)
	}
	return best
}

// TestRoutesAreExact compares routes with the best of all combinations: with waypoints, bearings, approaches and closures.
func TestRoutesAreExact(t *testing.T) {
	found := 0
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		w := grid(t, random)
		weights := w.Graph.Weights()
		if seed%2 == 1 {
			w.conditions = conditions{version: 1, on: map[uint32]nav.Condition{}}
			for range 6 {
				arc := w.Graph.Arcs[random.IntN(len(w.Graph.Arcs))].CopyOf
				weights[arc] = graph.Closed
				w.on[arc] = nav.Condition{Weight: w.Graph.Arcs[arc].Weight, Duration: w.Graph.Arcs[arc].Duration, Closed: true}
			}
			w.Network = &nav.Network{Roads: w.Roads, Search: nav.NewPlain(w.Graph, weights, nil), Conditions: &w.conditions}
		}
		for range 25 {
			q := nav.RouteRequest{Straight: nav.Straight(random.IntN(3))}
			for range 2 + random.IntN(3) {
				q.Coordinates = append(q.Coordinates, geo.Point{Lat: -random.Float64() * 0.0072, Lng: random.Float64() * 0.0135})
				q.Bearings = append(q.Bearings, nav.Bearing{Given: random.IntN(5) == 0, Value: float64(90 * random.IntN(4)), Range: 30})
				q.Approaches = append(q.Approaches, nav.Approach(random.IntN(3)))
			}
			var a nav.RouteAnswer
			err := w.Route(t.Context(), &q, &a)
			var refused *nav.Error
			if err != nil && (!errors.As(err, &refused) || refused.Code == nav.InvalidValue) {
				t.Fatal(err)
			}
			name := fmt.Sprintf("seed %d, %+v", seed, q)
			if refused != nil && refused.Code != nav.NoRoute {
				continue
			}
			want := w.enumerate(weights, a.Spots, q.Straight != nav.TurnsAllowed)
			if refused != nil {
				if want != math.MaxUint64 {
					t.Fatalf("%s: no route, one of %d ms is there", name, want)
				}
				continue
			}
			found++
			if a.Routes[0].Weight != want {
				t.Fatalf("%s: %d ms, want %d", name, a.Routes[0].Weight, want)
			}
			w.replay(t, &a.Routes[0], weights)
		}
	}
	if found < 100 {
		t.Errorf("only %d routes were found", found)
	}
}

// replay drives a route part by part. It checks that each turn is allowed, that no closed arc is driven completely
// except at the ends, and that the weights add up to that of the route, except for rounding at waypoints.
func (w *town) replay(t *testing.T, r *nav.Route, weights []uint32) {
	t.Helper()
	var sum uint64
	for i := range r.Legs {
		parts := r.Legs[i].Parts
		for k := range parts {
			p := &parts[k]
			sum += uint64(p.Weight) + uint64(p.TurnWeight)
			inner := k > 0 && k < len(parts)-1
			if inner && weights[w.Graph.Arcs[p.Arc].CopyOf] == graph.Closed {
				t.Errorf("arc %d is closed", p.Arc)
			}
			if k == len(parts)-1 {
				continue
			}
			allowed := false
			for _, turn := range w.Graph.TurnsFrom(p.Arc) {
				allowed = allowed || turn.To == parts[k+1].Arc && turn.Weight == p.TurnWeight
			}
			if !allowed {
				t.Errorf("no turn from arc %d to %d", p.Arc, parts[k+1].Arc)
			}
		}
	}
	if sum != r.Weight {
		t.Errorf("the parts weigh %d, the route %d", sum, r.Weight)
	}
}

// TestTablesAreExact compares each entry of tables with the route.
func TestTablesAreExact(t *testing.T) {
	for seed := range uint64(10) {
		random := rand.New(rand.NewPCG(seed, 2))
		w := grid(t, random)
		q := nav.TableRequest{Scale: 1}
		for range 8 {
			q.Coordinates = append(q.Coordinates, geo.Point{Lat: -random.Float64() * 0.0072, Lng: random.Float64() * 0.0135})
		}
		var table nav.TableAnswer
		if err := w.Table(t.Context(), &q, &table); err != nil {
			t.Fatal(err)
		}
		for i, from := range table.Spots {
			for j, to := range table.Spots {
				e := table.Entries[i*len(table.Spots)+j]
				var a nav.RouteAnswer
				err := w.Route(t.Context(), &nav.RouteRequest{Places: nav.Places{Coordinates: []geo.Point{from.Input, to.Input}}}, &a)
				if (err == nil) != e.Found {
					continue // a single pair may snap to another island than all together
				}
				if err != nil || a.Spots[0].Places[0].Point != from.Places[0].Point || a.Spots[1].Places[0].Point != to.Places[0].Point {
					continue
				}
				if r := &a.Routes[0]; math.Abs(float64(r.Duration)-e.Duration) > 0.5 || math.Abs(r.Distance-e.Distance) > 0.01 {
					t.Errorf("seed %d, %d to %d: %d ms, %.2f m; the table has %.1f, %.2f", seed, i, j, r.Duration, r.Distance, e.Duration, e.Distance)
				}
			}
		}
	}
}

package graph_test

import (
	"slices"
	"testing"

	"wayside/internal/roads/graph"
)

// network makes a graph of arcs with these weights and of turns, each {from, to, weight}.
func network(weights []uint32, turns ...[3]uint32) *graph.Graph {
	g := &graph.Graph{FirstTurn: []uint32{0}}
	for arc, weight := range weights {
		g.Arcs = append(g.Arcs, graph.Arc{Weight: weight, Duration: weight, CopyOf: uint32(arc)})
		for _, turn := range turns {
			if turn[0] == uint32(arc) {
				g.Turns = append(g.Turns, graph.Turn{To: turn[1], Weight: turn[2], Duration: turn[2]})
			}
		}
		g.FirstTurn = append(g.FirstTurn, uint32(len(g.Turns)))
	}
	return g
}

// diamond returns a graph with a short way 0-1-4 and a long way 0-2-3-4.
func diamond() *graph.Graph {
	return network([]uint32{100, 10, 20, 20, 100}, [3]uint32{0, 1, 1}, [3]uint32{0, 2, 1}, [3]uint32{1, 4, 1}, [3]uint32{2, 3, 1}, [3]uint32{3, 4, 1})
}

func TestDijkstra(t *testing.T) {
	g := diamond()
	d := graph.NewDijkstra(g)
	closed := func(arcs ...uint32) []uint32 {
		w := g.Weights()
		for _, a := range arcs {
			w[a] = graph.Closed
		}
		return w
	}
	for name, c := range map[string]struct {
		weights  []uint32
		from, to []graph.End
		weight   uint64
		arcs     []uint32 // empty: no route
	}{
		"the lightest":                 {g.Weights(), []graph.End{{Arc: 0, Cost: 40}}, []graph.End{{Arc: 4, Cost: 30}}, 40 + 1 + 10 + 1 + 30, []uint32{0, 1, 4}},
		"around what is closed":        {closed(1), []graph.End{{Arc: 0, Cost: 40}}, []graph.End{{Arc: 4, Cost: 30}}, 40 + 1 + 20 + 1 + 20 + 1 + 30, []uint32{0, 2, 3, 4}},
		"off and onto what is closed":  {closed(0, 4), []graph.End{{Arc: 0, Cost: 40}}, []graph.End{{Arc: 4, Cost: 30}}, 40 + 1 + 10 + 1 + 30, []uint32{0, 1, 4}},
		"no way":                       {closed(1, 2), []graph.End{{Arc: 0, Cost: 40}}, []graph.End{{Arc: 4, Cost: 30}}, 0, nil},
		"the better of two starts":     {g.Weights(), []graph.End{{Arc: 0, Cost: 40}, {Arc: 3, Cost: 5}}, []graph.End{{Arc: 4, Cost: 30}}, 36, []uint32{3, 4}},
		"the better of two ends":       {g.Weights(), []graph.End{{Arc: 0, Cost: 0}}, []graph.End{{Arc: 4, Cost: 9}, {Arc: 3, Cost: 0}}, 21, []uint32{0, 1, 4}},
		"an arc does not reach itself": {g.Weights(), []graph.End{{Arc: 0, Cost: 0}}, []graph.End{{Arc: 0, Cost: 0}}, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			path, ok := d.Route(c.weights, c.from, c.to)
			if ok != (c.arcs != nil) || path.Weight != c.weight || !slices.Equal(path.Arcs, c.arcs) {
				t.Errorf("got %+v, %v; want %d over %v", path, ok, c.weight, c.arcs)
			}
		})
	}
}

// TestDijkstraDrivesAroundTheBlock checks that a route back to its own arc leads around a block of houses.
func TestDijkstraDrivesAroundTheBlock(t *testing.T) {
	g := network([]uint32{10, 20, 30}, [3]uint32{0, 1, 1}, [3]uint32{1, 2, 1}, [3]uint32{2, 0, 1})
	path, ok := graph.NewDijkstra(g).Route(g.Weights(), []graph.End{{Arc: 0, Cost: 2}}, []graph.End{{Arc: 0, Cost: 5}})
	if !ok || path.Weight != 2+1+20+1+30+1+5 || !slices.Equal(path.Arcs, []uint32{0, 1, 2, 0}) {
		t.Errorf("got %+v, %v", path, ok)
	}
}

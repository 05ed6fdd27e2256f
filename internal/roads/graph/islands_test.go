package graph_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"wayside/internal/roads/graph"
	"wayside/internal/roads/roadtest"
)

// kosaraju returns the strongly connected component of every arc, with another algorithm than the graph's.
func kosaraju(g *graph.Graph) []int {
	back := make([][]uint32, len(g.Arcs))
	for arc := range g.Arcs {
		for _, turn := range g.TurnsFrom(uint32(arc)) {
			back[turn.To] = append(back[turn.To], uint32(arc))
		}
	}
	seen := make([]bool, len(g.Arcs))
	var order []uint32
	var visit func(arc uint32)
	visit = func(arc uint32) {
		seen[arc] = true
		for _, turn := range g.TurnsFrom(arc) {
			if !seen[turn.To] {
				visit(turn.To)
			}
		}
		order = append(order, arc)
	}
	for arc := range g.Arcs {
		if !seen[arc] {
			visit(uint32(arc))
		}
	}
	part := slices.Repeat([]int{-1}, len(g.Arcs))
	parts := 0
	var collect func(arc uint32)
	collect = func(arc uint32) {
		part[arc] = parts
		for _, from := range back[arc] {
			if part[from] < 0 {
				collect(from)
			}
		}
	}
	for _, arc := range slices.Backward(order) {
		if part[arc] < 0 {
			collect(arc)
			parts++
		}
	}
	return part
}

// holdIslands compares islands with the result of Kosaraju's algorithm, and checks that larger ones come first.
func holdIslands(t rapid.TB, g *graph.Graph, counts graph.Counts) {
	t.Helper()
	part := kosaraju(g)
	of, sizes := map[int]uint32{}, make([]int, counts.Islands)
	for arc := range g.Arcs {
		island := g.Arcs[arc].Island
		if known, ok := of[part[arc]]; ok && known != island {
			t.Fatalf("arc %d is in island %d, and others of its part are in %d", arc, island, known)
		}
		of[part[arc]] = island
		sizes[island]++
	}
	if len(of) != counts.Islands {
		t.Fatalf("%d islands, want %d", counts.Islands, len(of))
	}
	if !slices.IsSortedFunc(sizes, func(a, b int) int { return b - a }) {
		t.Fatalf("sizes %v", sizes)
	}
}

func TestIslands(t *testing.T) {
	for name, row := range map[string]struct {
		ways    []roadtest.Object
		islands int
	}{
		"one road":                        {[]roadtest.Object{roadtest.Way("ab", road)}, 1},
		"two apart":                       {[]roadtest.Object{roadtest.Ways("ab cd", road)}, 2},
		"a one-way road between":          {[]roadtest.Object{roadtest.Ways("ab cd", road), roadtest.Way("bc", road+", oneway=yes")}, 3},
		"a barrier between":               {[]roadtest.Object{roadtest.Way("abcd", road), roadtest.Node("c", "barrier=bollard")}, 2},
		"a gate between":                  {[]roadtest.Object{roadtest.Way("abcd", road), roadtest.Node("c", "barrier=gate")}, 1},
		"one-way roads in a ring":         {[]roadtest.Object{roadtest.Ways("ab bc cd da", road+", oneway=yes")}, 1},
		"no turn onto another":            {[]roadtest.Object{roadtest.Ways("ab bc", road), roadtest.Restriction("no_straight_on", "ab b bc")}, 3},
		"one within, one behind a ramp":   {[]roadtest.Object{roadtest.Ways("ab bc cd", road), roadtest.Way("ef", road)}, 2},
		"nothing but footways, so no one": {[]roadtest.Object{roadtest.Way("ab", "highway=footway, access=no")}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			d := draw(t, 100, "a-b-c-d\ne-f", row.ways...)
			if d.counts.Islands != row.islands {
				t.Errorf("%d islands, want %d", d.counts.Islands, row.islands)
			}
			holdIslands(t, d.Graph, d.counts)
		})
	}
}

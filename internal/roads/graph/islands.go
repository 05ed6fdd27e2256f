package graph

import (
	"cmp"
	"slices"
)

// number finds the strongly connected components over arcs and turns with Tarjan's algorithm, without recursion. It
// numbers them, the largest first; of equal sizes, the one with the first arc comes first. It returns their number.
func (g *Graph) number() int {
	t := tarjan{graph: g, order: make([]uint32, len(g.Arcs)), low: make([]uint32, len(g.Arcs))}
	for arc := range g.Arcs {
		g.Arcs[arc].Island = None
	}
	for arc := range g.Arcs {
		if t.order[arc] == 0 {
			t.visit(uint32(arc))
		}
	}
	type island struct{ number, size, first uint32 }
	islands := make([]island, t.islands)
	for i := len(g.Arcs) - 1; i >= 0; i-- {
		n := g.Arcs[i].Island
		islands[n] = island{n, islands[n].size + 1, uint32(i)}
	}
	slices.SortFunc(islands, func(a, b island) int { return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.first, b.first)) })
	rank := make([]uint32, len(islands))
	for i, one := range islands {
		rank[one.number] = uint32(i)
	}
	for arc := range g.Arcs {
		g.Arcs[arc].Island = rank[g.Arcs[arc].Island]
	}
	return len(islands)
}

type tarjan struct {
	graph   *Graph
	order   []uint32 // the order in which arcs were visited, from 1
	low     []uint32
	met     uint32
	islands uint32
	open    []uint32 // arcs whose island is not known yet
	path    []step
}

// step is an arc on the current path, with the next of its turns.
type step struct{ arc, turn uint32 }

func (t *tarjan) visit(arc uint32) {
	t.enter(arc)
	for len(t.path) > 0 {
		s := &t.path[len(t.path)-1]
		if s.turn == t.graph.FirstTurn[s.arc+1] {
			t.leave(s.arc)
			continue
		}
		to := t.graph.Turns[s.turn].To
		s.turn++
		switch {
		case t.order[to] == 0:
			t.enter(to)
		case t.graph.Arcs[to].Island == None:
			t.low[s.arc] = min(t.low[s.arc], t.order[to])
		}
	}
}

func (t *tarjan) enter(arc uint32) {
	t.met++
	t.order[arc], t.low[arc] = t.met, t.met
	t.open = append(t.open, arc)
	t.path = append(t.path, step{arc, t.graph.FirstTurn[arc]})
}

func (t *tarjan) leave(arc uint32) {
	t.path = t.path[:len(t.path)-1]
	if len(t.path) > 0 {
		before := t.path[len(t.path)-1].arc
		t.low[before] = min(t.low[before], t.low[arc])
	}
	if t.low[arc] != t.order[arc] {
		return
	}
	for {
		member := t.open[len(t.open)-1]
		t.open = t.open[:len(t.open)-1]
		t.graph.Arcs[member].Island = t.islands
		if member == arc {
			break
		}
	}
	t.islands++
}

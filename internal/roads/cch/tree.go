package cch

import (
	"slices"

	"wayside/internal/roads/graph"
)

// turnsInto lists the arcs from which a turn leads onto each arc: from[first[a]:first[a+1]], each once, in ascending
// order.
type turnsInto struct{ first, from []uint32 }

func newTurnsInto(g *graph.Graph) turnsInto {
	into := turnsInto{first: make([]uint32, len(g.Arcs)+1)}
	each := func(use func(from, to uint32)) {
		for a := range g.Arcs {
			last := uint32(graph.None)
			for _, turn := range g.TurnsFrom(uint32(a)) {
				if turn.To != last {
					use(uint32(a), turn.To)
				}
				last = turn.To
			}
		}
	}
	each(func(_, to uint32) { into.first[to+1]++ })
	for a := range g.Arcs {
		into.first[a+1] += into.first[a]
	}
	into.from = make([]uint32, into.first[len(g.Arcs)])
	next := slices.Clone(into.first)
	each(func(from, to uint32) {
		into.from[next[to]] = from
		next[to]++
	})
	return into
}

func (t *turnsInto) of(arc uint32) []uint32 { return t.from[t.first[arc]:t.first[arc+1]] }

// eliminationTree returns for each position in an order its parent in the elimination tree of arcs and turns (in both
// directions), with Liu's algorithm: the next of its neighbours when all before it were contracted. A root has no
// parent.
func eliminationTree(g *graph.Graph, into *turnsInto, order []uint32) []uint32 {
	position := inverse(order)
	parent, ancestor := make([]uint32, len(order)), make([]uint32, len(order))
	join := func(low, high uint32) {
		for low < high {
			next := ancestor[low]
			ancestor[low] = high
			if next == graph.None {
				parent[low] = high
				return
			}
			low = next
		}
	}
	for i, arc := range order {
		parent[i], ancestor[i] = graph.None, graph.None
		for _, turn := range g.TurnsFrom(arc) {
			join(position[turn.To], uint32(i))
		}
		for _, from := range into.of(arc) {
			join(position[from], uint32(i))
		}
	}
	return parent
}

func inverse(order []uint32) []uint32 {
	position := make([]uint32, len(order))
	for i, arc := range order {
		position[arc] = uint32(i)
	}
	return position
}

// postorder renumbers the arcs so that those below each arc in the tree lie immediately before it. It returns the new
// order and its tree.
func postorder(order, parent []uint32) (arcs, parents []uint32) {
	child, sibling := make([]uint32, len(order)), make([]uint32, len(order))
	root := uint32(graph.None)
	for i := range order {
		child[i] = graph.None
	}
	for i := len(order) - 1; i >= 0; i-- { // backwards, so that the first child is the first in the order
		first := &root
		if parent[i] != graph.None {
			first = &child[parent[i]]
		}
		sibling[i], *first = *first, uint32(i)
	}
	arcs, renumbered := make([]uint32, 0, len(order)), make([]uint32, len(order))
	for at := root; at != graph.None; {
		for child[at] != graph.None {
			at = child[at]
		}
		for {
			renumbered[at] = uint32(len(arcs))
			arcs = append(arcs, order[at])
			if sibling[at] != graph.None {
				at = sibling[at]
				break
			}
			if at = parent[at]; at == graph.None {
				break
			}
		}
	}
	parents = make([]uint32, len(order))
	for i, p := range parent {
		if p != graph.None {
			p = renumbered[p]
		}
		parents[renumbered[i]] = p
	}
	return arcs, parents
}

package cch

import (
	"context"
	"errors"
	"math"
	"runtime"

	"wayside/internal/roads/graph"
)

// Topology is the part of the preparation that does not depend on the costs of arcs: the order of the arcs and all
// shortcuts. It is immutable and contains only arrays of plain values, so that it can lie in a mapped file.
//
// The vertices of the hierarchy are the arcs, numbered in the order in which they are contracted; an edge is a turn or a
// shortcut. The order is a postorder of the elimination tree, and all edges of a vertex to higher ones lead to its
// ancestors in the tree. So the depth in the tree, which takes 16 bits, identifies the other end of an edge.
type Topology struct {
	graph *graph.Graph

	arcOf    []uint32 // the arc of a vertex
	vertexOf []uint32 // the vertex of an arc
	parent   []uint32 // in the elimination tree; None for a root. Parents have larger numbers.
	depth    []uint16 // number of ancestors of a vertex

	out, in edges // to and from higher vertices
	into    turnsInto

	// Derived from the above and not stored.
	schedule schedule
	flags    graph.Flags
}

// edges are the edges from vertices to their ancestors, or from ancestors to them. The edges of v are first[v] to
// first[v+1]. Each is identified by the depth of the ancestor, the deepest first.
type edges struct {
	first []uint32
	depth []uint16
	// below lists the vertices that have an edge with v: below[firstBelow[v]:firstBelow[v+1]], in ascending order.
	firstBelow []uint32
	below      []uint32
	// middle is the lower vertex over which each edge leads without conditions, None for turns. It is mostly the same
	// with conditions, so that unpacking a path rarely needs to search through below.
	middle []uint32
}

// PrepareOptions bound the resources of Prepare.
type PrepareOptions struct {
	Workers int // number of goroutines; 0: one for each core
}

// maxHeight is the maximum number of ancestors of a vertex. Roads of a continent have some thousands.
const maxHeight = math.MaxUint16

// ErrTangled is returned for a graph that is too densely connected for any order. No road network is.
var ErrTangled = errors.New("the road network is too densely connected to be prepared for routing")

// Prepare computes an order of the arcs of a graph and all shortcuts. The same graph gives the same topology.
func Prepare(ctx context.Context, g *graph.Graph, o PrepareOptions) (*Topology, error) {
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	order, err := orderArcs(ctx, g, o.Workers)
	if err != nil {
		return nil, err
	}
	t := &Topology{graph: g, into: newTurnsInto(g)}
	t.arcOf, t.parent = postorder(order, eliminationTree(g, &t.into, order))
	t.vertexOf = inverse(t.arcOf)
	if t.depth, err = depths(t.parent); err != nil {
		return nil, err
	}
	if err := t.contract(ctx); err != nil {
		return nil, err
	}
	t.schedule, t.flags = t.newSchedule(), flagsOf(g)
	return t, t.findMiddles(ctx)
}

// findMiddles computes the middles of all edges without conditions.
func (t *Topology) findMiddles(ctx context.Context) error {
	c := t.newCosts()
	copy(c.arcs, t.graph.Weights())
	t.customize(ctx, c)
	outMiddle, inMiddle := make([]uint32, len(t.out.depth)), make([]uint32, len(t.in.depth))
	ancestors := new(byDepth)
	middle := func(from, to, index, weight uint32) uint32 {
		if weight >= infinite || t.turnWeight(c.arcs, t.arcOf[from], t.arcOf[to]) == weight {
			return graph.None
		}
		first, _, ok := t.middle(c, pair{from, to, weight, index})
		if !ok {
			return graph.None
		}
		return first.to
	}
	for v := range uint32(len(t.arcOf)) {
		if v%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		for a := t.parent[v]; a != graph.None; a = t.parent[a] {
			ancestors[t.depth[a]] = a
		}
		for i := t.out.first[v]; i < t.out.first[v+1]; i++ {
			outMiddle[i] = middle(v, ancestors[t.out.depth[i]], i, c.out[i])
		}
		for i := t.in.first[v]; i < t.in.first[v+1]; i++ {
			inMiddle[i] = middle(ancestors[t.in.depth[i]], v, i, c.in[i])
		}
	}
	t.out.middle, t.in.middle = outMiddle, inMiddle
	return nil
}

func depths(parent []uint32) ([]uint16, error) {
	depth := make([]uint16, len(parent))
	for v := len(parent) - 1; v >= 0; v-- {
		if parent[v] == graph.None {
			continue
		}
		above := depth[parent[v]]
		if above == maxHeight-1 {
			return nil, ErrTangled
		}
		depth[v] = above + 1
	}
	return depth, nil
}

// firstDescendants returns for each vertex the first one of its subtree, whose last one is the vertex itself, or None if
// the order is not a postorder.
func (t *Topology) firstDescendants() []uint32 {
	first, size := make([]uint32, len(t.parent)), make([]uint32, len(t.parent))
	for v := range first {
		first[v], size[v] = uint32(v), 1
	}
	for v, p := range t.parent {
		if uint32(v)-first[v]+1 != size[v] {
			first[v] = graph.None
			continue
		}
		if p != graph.None {
			first[p] = min(first[p], first[v])
			size[p] += size[v]
		}
	}
	return first
}

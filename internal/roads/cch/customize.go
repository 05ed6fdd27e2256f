package cch

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"wayside/internal/roads/graph"
)

// infinite is the weight of an edge that cannot be driven. The sum of two such weights fits into 32 bits. A path of 2^31
// ms (24 days) or more counts as no path.
const infinite = 1<<31 - 1

// costs are the weights of arcs and edges of the hierarchy in one version of the conditions.
type costs struct {
	arcs    []uint32 // like graph.Arc.Weight, graph.Closed where closed
	out, in []uint32 // of the edges of Topology.out and .in; infinite where there is no path
	version uint64
	readers atomic.Int64
}

func (t *Topology) newCosts() *costs {
	return &costs{arcs: make([]uint32, len(t.arcOf)), out: make([]uint32, len(t.out.depth)), in: make([]uint32, len(t.in.depth))}
}

// plus adds weights of arcs and turns, up to infinite.
func plus(a, b uint32) uint32 { return uint32(min(uint64(a)+uint64(b), infinite)) }

// find returns the index of v's edge at the given depth, and whether it exists.
func (e *edges) find(v uint32, depth uint16) (uint32, bool) {
	low, end := e.first[v], e.first[v+1]
	for high := end; low < high; {
		middle := (low + high) / 2
		if e.depth[middle] > depth {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, low < end && e.depth[low] == depth
}

// weight returns the weight of v's edge at the given depth, or infinite if there is none.
func (e *edges) weight(weights []uint32, v uint32, depth uint16) uint32 {
	if i, ok := e.find(v, depth); ok {
		return weights[i]
	}
	return infinite
}

func (e *edges) belowOf(v uint32) []uint32 { return e.below[e.firstBelow[v]:e.firstBelow[v+1]] }

// byDepth has a weight for each depth in the tree. It has an entry for each uint16, so that indexing needs no bounds
// check.
type byDepth [1 << 16]uint32

// turn returns the turn of the least weight from an arc to another, and whether one exists.
func (t *Topology) turn(from, to uint32) (least graph.Turn, ok bool) {
	for _, turn := range t.graph.TurnsFrom(from) {
		if turn.To == to && (!ok || turn.Weight < least.Weight) {
			least, ok = turn, true
		}
	}
	return least, ok
}

// turnWeight returns the weight of the turn from an arc to another plus that of the other arc, or infinite if there is
// no turn.
func (t *Topology) turnWeight(arcs []uint32, from, to uint32) uint32 {
	if turn, ok := t.turn(from, to); ok {
		return plus(turn.Weight, arcs[to])
	}
	return infinite
}

// pullOut computes the weights of the edges from v to higher vertices, from its turns and all pairs of edges over a
// lower vertex. It leaves them in weights, by depth.
func (t *Topology) pullOut(c *costs, v uint32, weights *byDepth) {
	own := t.out.depth[t.out.first[v]:t.out.first[v+1]]
	for _, d := range own {
		weights[d] = infinite
	}
	for _, turn := range t.graph.TurnsFrom(t.arcOf[v]) {
		if w := t.vertexOf[turn.To]; w > v {
			d := t.depth[w]
			weights[d] = min(weights[d], plus(turn.Weight, c.arcs[turn.To]))
		}
	}
	for _, u := range t.in.belowOf(v) {
		relax(&t.out, c.out, u, t.depth[v], t.in.weight(c.in, u, t.depth[v]), weights)
	}
}

// pullIn computes the weights of the edges from higher vertices to v, as pullOut does for the other direction.
func (t *Topology) pullIn(c *costs, v uint32, weights *byDepth) {
	own := t.in.depth[t.in.first[v]:t.in.first[v+1]]
	for _, d := range own {
		weights[d] = infinite
	}
	arc := t.arcOf[v]
	for _, from := range t.into.of(arc) {
		if w := t.vertexOf[from]; w > v {
			d := t.depth[w]
			weights[d] = min(weights[d], t.turnWeight(c.arcs, from, arc))
		}
	}
	for _, u := range t.out.belowOf(v) {
		relax(&t.in, c.in, u, t.depth[v], t.out.weight(c.out, u, t.depth[v]), weights)
	}
}

// relax lowers the weights by depth to those of the paths that reach the lower vertex u with the given weight and go on
// over u's edges to vertices above the given depth.
func relax(e *edges, of []uint32, u uint32, above uint16, weight uint32, weights *byDepth) {
	if weight >= infinite {
		return
	}
	first, end := e.first[u], e.first[u+1]
	depths := e.depth[first:end]
	over := of[first:end]
	over = over[:len(depths)]
	for i := len(depths) - 1; i >= 0; i-- {
		d := depths[i]
		if d >= above {
			return
		}
		weights[d] = min(weights[d], weight+over[i])
	}
}

// store copies the weights by depth to the edges of v.
func (e *edges) store(v uint32, of []uint32, weights *byDepth) {
	for i := e.first[v]; i < e.first[v+1]; i++ {
		of[i] = weights[e.depth[i]]
	}
}

// schedule divides the customisation of all vertices among goroutines: subtrees one by one, then the vertices above
// them.
type schedule struct {
	subtrees []span
	above    map[uint32]int // the number of each vertex above the subtrees
	children []int32        // number of children of each of these
}

// span is the range of vertices of a subtree.
type span struct{ first, root uint32 }

// subtreesPerCore is the number of subtrees for each core. It is large so that all cores stay busy until the end.
const subtreesPerCore = 16

func (t *Topology) newSchedule() schedule {
	s := schedule{above: make(map[uint32]int)}
	work := func(first, root uint32) int {
		return int(t.out.first[root+1]-t.out.first[first]) + int(t.in.first[root+1]-t.in.first[first]) + int(root-first)
	}
	share := (len(t.out.depth) + len(t.in.depth) + len(t.arcOf)) / (subtreesPerCore * runtime.GOMAXPROCS(0))
	first := t.firstDescendants()
	for v := uint32(len(t.parent)); v > 0; {
		v--
		if work(first[v], v) > share && first[v] < v {
			s.above[v] = len(s.children)
			s.children = append(s.children, 0)
		} else {
			s.subtrees = append(s.subtrees, span{first[v], v})
		}
		if p := t.parent[v]; p != graph.None {
			s.children[s.above[p]]++
		}
		if _, above := s.above[v]; !above {
			v = first[v]
		}
	}
	slices.Reverse(s.subtrees)
	return s
}

// customize computes the weights of all edges from those of the arcs. The goroutine that finishes the last child of a
// vertex above the subtrees continues with that vertex. customize returns early if ctx is done.
func (t *Topology) customize(ctx context.Context, c *costs) {
	children := make([]atomic.Int32, len(t.schedule.children))
	for i, count := range t.schedule.children {
		children[i].Store(count)
	}
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(t.schedule.subtrees)) {
		group.Go(func() {
			weights := new(byDepth)
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(t.schedule.subtrees) {
					return
				}
				subtree := t.schedule.subtrees[i]
				for v := subtree.first; v <= subtree.root; v++ {
					t.customizeVertex(c, v, weights)
				}
				for v := t.parent[subtree.root]; v != graph.None && children[t.schedule.above[v]].Add(-1) == 0; v = t.parent[v] {
					t.customizeVertex(c, v, weights)
				}
			}
		})
	}
	group.Wait()
}

func (t *Topology) customizeVertex(c *costs, v uint32, weights *byDepth) {
	t.pullOut(c, v, weights)
	t.out.store(v, c.out, weights)
	t.pullIn(c, v, weights)
	t.in.store(v, c.in, weights)
}

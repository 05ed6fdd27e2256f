package cch

import (
	"cmp"
	"slices"

	"wayside/internal/roads/graph"
)

// Query finds routes. It holds the memory for searches, so that they do not allocate. It is not safe for concurrent use.
type Query struct {
	topology          *Topology
	forward, backward search
	best              meeting
	arcs              []uint32 // of the path
	stack             []pair   // edges still to be unpacked
	probe             *Query   // used by alternatives to look for detours while this query keeps its searches
}

// meeting is a path over a vertex that both searches reached.
type meeting struct {
	weight            uint32
	forward, backward uint32 // steps
}

// NewQuery returns a query for a topology.
func NewQuery(t *Topology) *Query {
	return &Query{topology: t, forward: newSearch(), backward: newSearch()}
}

// Route returns the path of the least weight that takes at least one turn, the same as graph.Dijkstra.Route, and false
// if there is no path. The path's arcs are valid until the next use of the query.
func (q *Query) Route(view View, from, to []graph.End) (graph.Path, bool) {
	q.search(view.costs, from, to)
	if q.best.weight >= infinite {
		return graph.Path{}, false
	}
	q.arcs = q.arcs[:0]
	last, ok := q.unpack(view.costs, q.best)
	if !ok {
		return graph.Path{}, false
	}
	q.arcs = append(q.arcs, to[last].Arc)
	return graph.Path{Weight: uint64(q.best.weight), Arcs: q.arcs}, true
}

// search finds the meeting with the least weight.
func (q *Query) search(c *costs, from, to []graph.End) {
	t := q.topology
	q.forward.startFrom(t, from)
	q.backward.startTo(t, to)
	q.best = meeting{weight: infinite}
	f, b := &q.forward, &q.backward
	// Meetings lie above starts of both searches, so the rest of one search alone is not needed.
	for f.at != graph.None && b.at != graph.None {
		switch {
		case f.at < b.at:
			f.visit(t, &t.out, c.out, q.best.weight)
		case b.at < f.at:
			b.visit(t, &t.in, c.in, q.best.weight)
		default:
			reachedF := f.visit(t, &t.out, c.out, q.best.weight)
			reachedB := b.visit(t, &t.in, c.in, q.best.weight)
			if !reachedF || !reachedB {
				continue
			}
			lastF, lastB := uint32(len(f.steps)-1), uint32(len(b.steps)-1)
			if sum := f.steps[lastF].dist + b.steps[lastB].dist; sum < q.best.weight {
				q.best = meeting{sum, lastF, lastB}
			}
		}
	}
	f.finish()
	b.finish()
}

// search walks up the elimination tree from some vertices, in ascending order. From a vertex it reaches only ancestors;
// and because the order is a postorder, the search is done with a branch of the tree when it begins another one. So one
// distance for each depth suffices.
type search struct {
	starts  []start
	started int    // number of starts already passed
	at      uint32 // the vertex to visit next, or graph.None
	deepest uint16 // depth of the deepest start
	dist    *byDepth
	from    *byDepth // the step before, or isStart and the index of a start
	steps   []step   // in ascending order of vertices
}

// start is a vertex at which a search begins, with the cost to get there. end is the index of the end that it belongs
// to.
type start struct{ vertex, dist, end uint32 }

// step is a vertex that was reached, and the step before, or isStart and the index of a start.
type step struct{ vertex, dist, from uint32 }

const isStart = 1 << 31

func newSearch() search {
	s := search{dist: new(byDepth), from: new(byDepth)}
	for d := range s.dist {
		s.dist[d] = infinite
	}
	return s
}

// startFrom begins a search from the ends of arcs.
func (s *search) startFrom(t *Topology, from []graph.End) {
	s.starts = s.starts[:0]
	for i, end := range from {
		s.starts = append(s.starts, start{t.vertexOf[end.Arc], min(end.Cost, infinite), uint32(i)})
	}
	s.begin(t)
}

// startTo begins a backward search from the arcs that have a turn onto an arc at which a route ends. The latter arc
// costs as much as its end.
func (s *search) startTo(t *Topology, to []graph.End) {
	s.starts = s.starts[:0]
	for i, end := range to {
		for _, before := range t.into.of(end.Arc) {
			for _, turn := range t.graph.TurnsFrom(before) {
				if turn.To == end.Arc {
					s.starts = append(s.starts, start{t.vertexOf[before], plus(turn.Weight, end.Cost), uint32(i)})
				}
			}
		}
	}
	s.begin(t)
}

func (s *search) begin(t *Topology) {
	slices.SortFunc(s.starts, func(a, b start) int {
		return cmp.Or(cmp.Compare(a.vertex, b.vertex), cmp.Compare(a.dist, b.dist))
	})
	s.steps, s.started, s.at, s.deepest = s.steps[:0], 0, graph.None, 0
	for _, start := range s.starts {
		s.deepest = max(s.deepest, t.depth[start.vertex])
	}
	if len(s.starts) > 0 {
		s.at = s.starts[0].vertex
	}
}

// finish resets all distances.
func (s *search) finish() { s.forget(0) }

// forget resets the distances at a depth and below.
func (s *search) forget(depth uint16) {
	known := s.dist[:int(s.deepest)+1]
	for d := int(depth); d < len(known); d++ {
		known[d] = infinite
	}
}

// visit makes a step of the next vertex if its distance is less than bound, and moves on. It reports whether it made a
// step.
func (s *search) visit(t *Topology, e *edges, weights []uint32, bound uint32) bool {
	v := s.at
	depth := t.depth[v]
	for ; s.started < len(s.starts) && s.starts[s.started].vertex == v; s.started++ {
		if start := &s.starts[s.started]; start.dist < s.dist[depth] {
			s.dist[depth], s.from[depth] = start.dist, isStart|uint32(s.started)
		}
	}
	dist := s.dist[depth]
	reached := dist < bound
	if reached {
		this := uint32(len(s.steps))
		s.steps = append(s.steps, step{v, dist, s.from[depth]})
		first, end := e.first[v], e.first[v+1]
		depths := e.depth[first:end]
		weights := weights[first:end]
		weights = weights[:len(depths)]
		for i, d := range depths {
			if sum := dist + weights[i]; sum < s.dist[d] {
				s.dist[d], s.from[d] = sum, this
			}
		}
	}
	s.at = t.parent[v]
	if s.started < len(s.starts) && s.starts[s.started].vertex < s.at {
		// Another branch comes first: of this one, only the vertices above both are still needed.
		if s.at == graph.None {
			s.forget(0)
		} else {
			s.forget(t.depth[s.at] + 1)
		}
		s.at = s.starts[s.started].vertex
	}
	return reached
}

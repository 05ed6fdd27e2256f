package cch

import (
	"cmp"
	"slices"

	"wayside/internal/roads/graph"
)

// Conditions for an alternative route that drivers accept (D15.18): it is not much longer than the best route, shares
// little with the other routes, and has no detour: any part of it as long as 1/optimalShare of the best route is a
// shortest path between its ends.
const (
	longerShare  = 4 // at most a quarter longer than the best route
	sharedShare  = 5 // at least a fifth is shared with no other route
	optimalShare = 4
)

// maxVias bounds the vertices over which alternatives are tried, and maxPaths the number of paths.
const (
	maxVias  = 150
	maxPaths = 8
)

// via is a path over a vertex that both searches reached.
type via struct {
	vertex uint32
	meeting
}

// Alternatives returns up to count paths, but at most maxPaths, the best one first, as Route finds it. The caller may
// keep them.
func (q *Query) Alternatives(view View, from, to []graph.End, count int) []graph.Path {
	best, ok := q.Route(view, from, to)
	if !ok {
		return nil
	}
	a := alternatives{query: q, costs: view.costs, from: from, to: to, best: q.best.weight}
	a.accept(best)
	if count == 1 {
		return a.paths
	}
	if q.probe == nil {
		q.probe = NewQuery(q.topology)
	}
	for _, v := range a.vias() {
		if len(a.paths) >= min(count, maxPaths) {
			break
		}
		if a.on[a.road(q.topology.arcOf[v.vertex])] != 0 {
			continue
		}
		a.try(v)
	}
	return a.paths
}

// alternatives is the state of one call of Alternatives.
type alternatives struct {
	query    *Query
	costs    *costs
	from, to []graph.End
	best     uint32
	paths    []graph.Path
	on       map[uint32]uint32 // by base arc, a bit for each path that contains it
}

// road returns the arc that an arc is a copy of.
func (a *alternatives) road(arc uint32) uint32 { return a.query.topology.graph.Arcs[arc].CopyOf }

func (a *alternatives) accept(path graph.Path) {
	if a.on == nil {
		a.on = make(map[uint32]uint32)
	}
	for _, arc := range path.Arcs {
		a.on[a.road(arc)] |= 1 << len(a.paths)
	}
	a.paths = append(a.paths, graph.Path{Weight: path.Weight, Arcs: slices.Clone(path.Arcs)})
}

// vias returns the vertices over which a path leads that is not too long, sorted by the weight of that path.
func (a *alternatives) vias() []via {
	q, t := a.query, a.query.topology
	longest := a.best + a.best/longerShare
	q.forward.startFrom(t, a.from)
	q.backward.startTo(t, a.to)
	for q.forward.at != graph.None {
		q.forward.visit(t, &t.out, a.costs.out, min(longest+1, infinite))
	}
	for q.backward.at != graph.None {
		q.backward.visit(t, &t.in, a.costs.in, min(longest+1, infinite))
	}
	q.forward.finish()
	q.backward.finish()
	var vias []via
	other := 0
	for i, f := range q.forward.steps {
		for other < len(q.backward.steps) && q.backward.steps[other].vertex < f.vertex {
			other++
		}
		if other == len(q.backward.steps) {
			break
		}
		b := q.backward.steps[other]
		if sum := f.dist + b.dist; b.vertex == f.vertex && sum <= longest && f.from&isStart == 0 {
			vias = append(vias, via{f.vertex, meeting{sum, uint32(i), uint32(other)}})
		}
	}
	slices.SortFunc(vias, func(a, b via) int {
		return cmp.Or(cmp.Compare(a.weight, b.weight), cmp.Compare(b.vertex, a.vertex))
	})
	return vias[:min(len(vias), maxVias)]
}

// try accepts the path over a vertex if it meets the conditions for an alternative.
func (a *alternatives) try(v via) {
	q := a.query
	q.arcs = q.arcs[:0]
	last, ok := q.unpack(a.costs, v.meeting)
	if !ok {
		return
	}
	arcs := append(q.arcs, a.to[last].Arc)
	q.arcs = arcs
	if a.repeats(arcs) || a.shares(arcs, v.weight) {
		return
	}
	// Both halves must be shortest paths, which upward searches alone do not guarantee.
	there, on := q.forward.steps[v.forward].dist, q.backward.steps[v.backward].dist
	arc := q.topology.arcOf[v.vertex]
	if a.shortest(a.from, []graph.End{{Arc: arc, Cost: a.costs.arcs[arc]}}) != there || a.shortest([]graph.End{{Arc: arc}}, a.to) != on {
		return
	}
	if a.optimalAround(arcs, slices.Index(arcs, arc), a.to[last].Cost) {
		a.accept(graph.Path{Weight: uint64(v.weight), Arcs: arcs})
	}
}

// repeats reports whether a path visits a node twice.
func (a *alternatives) repeats(arcs []uint32) bool {
	nodes := make(map[uint32]bool, len(arcs))
	for _, arc := range arcs[:len(arcs)-1] {
		node := a.query.topology.graph.Arcs[arc].To
		if nodes[node] {
			return true
		}
		nodes[node] = true
	}
	return false
}

// shares reports whether a path shares too much with an accepted one.
func (a *alternatives) shares(arcs []uint32, weight uint32) bool {
	shared := make([]uint64, len(a.paths))
	for i, arc := range arcs {
		cost := uint64(a.query.topology.graph.Arcs[arc].Weight)
		if i > 0 && i < len(arcs)-1 {
			cost = uint64(a.costs.arcs[arc])
		}
		for path := range a.paths {
			if a.on[a.road(arc)]>>path&1 != 0 {
				shared[path] += cost
			}
		}
	}
	most := uint64(weight - weight/sharedShare)
	return slices.Max(shared) > most
}

func (a *alternatives) shortest(from, to []graph.End) uint32 {
	a.query.probe.search(a.costs, from, to)
	return a.query.probe.best.weight
}

// optimalAround reports whether the part of a path around an arc is a shortest path.
func (a *alternatives) optimalAround(arcs []uint32, at int, endCost uint32) bool {
	t := a.query.topology
	cost := func(i int) uint32 { // of the turn onto an arc plus the arc
		if i == len(arcs)-1 {
			turn, _ := t.turn(arcs[i-1], arcs[i])
			return plus(turn.Weight, endCost)
		}
		return t.turnWeight(a.costs.arcs, arcs[i-1], arcs[i])
	}
	reach := a.best / optimalShare
	first, before := at, uint32(0)
	for first > 0 && before < reach {
		before += cost(first)
		first--
	}
	last, after := at, uint32(0)
	for last < len(arcs)-1 && after < reach {
		last++
		after += cost(last)
	}
	if last == first {
		return true
	}
	end := graph.End{Arc: arcs[last], Cost: a.costs.arcs[arcs[last]]}
	if last == len(arcs)-1 {
		end.Cost = endCost
	}
	return a.shortest([]graph.End{{Arc: arcs[first]}}, []graph.End{end}) == before+after
}

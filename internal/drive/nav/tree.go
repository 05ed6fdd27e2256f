package nav

import (
	"context"

	"wayside/internal/roads/graph"
)

// tree is a Dijkstra search from some ends to many sets of others. It is not safe for concurrent use.
type tree struct {
	graph    *graph.Graph
	frontier *graph.Frontier
	first    []uint32 // 1 + the first target on the arc; 0: none
	targets  []target
	found    []arrival
	single   []graph.End
	left     int // number of arcs that may still be settled; negative: unlimited
}

// target is one end of a set, in a list of those on the same arc.
type target struct {
	end      graph.End
	set, nth uint32
	next     uint32 // 1 + the next one on the arc; 0: none
}

// arrival is the best way to a set of ends.
type arrival struct {
	weight   uint64
	arc, nth uint32 // where it ends
	previous uint32 // the previous arc
}

const unreached = graph.Unreached

func newTree(g *graph.Graph) *tree {
	return &tree{graph: g, left: -1, frontier: graph.NewFrontier(g), first: make([]uint32, len(g.Arcs))}
}

// aim sets the sets of ends to find.
func (t *tree) aim(sets ...[]graph.End) {
	t.clearAim()
	for _, ends := range sets {
		t.addAim(ends)
	}
}

// clearAim removes the sets of ends.
func (t *tree) clearAim() {
	for i := range t.targets {
		t.first[t.targets[i].end.Arc] = 0
	}
	t.targets, t.found = t.targets[:0], t.found[:0]
}

// addAim adds one set of ends.
func (t *tree) addAim(ends []graph.End) {
	for nth, end := range ends {
		t.targets = append(t.targets, target{end, uint32(len(t.found)), uint32(nth), t.first[end.Arc]})
		t.first[end.Arc] = uint32(len(t.targets))
	}
	t.found = append(t.found, arrival{weight: unreached})
}

// one returns a list of one end, in the tree's own memory.
func (t *tree) one(end graph.End) []graph.End {
	t.single = append(t.single[:0], end)
	return t.single
}

// polled is the number of arcs after which a search checks its context.
const polled = 1024

// errTooFar returns the error for a trace whose places are so far apart that matching them takes seconds.
func errTooFar() *Error {
	return &Error{TooBig, "The places of the trace lie too far from each other: give more of them, or fewer at a time."}
}

// grow searches from the ends, over arcs with these weights, until all sets are found or everything left weighs at least
// limit. The results are in found, and valid until the next search.
func (t *tree) grow(ctx context.Context, weights []uint32, from []graph.End, limit uint64) error {
	t.frontier.Reset()
	for i := range t.found {
		t.found[i] = arrival{weight: unreached}
	}
	missing := len(t.found)
	bound := limit
	for _, f := range from {
		t.frontier.Reach(f.Arc, uint64(f.Cost), graph.None)
	}
	for settled := 0; ; settled++ {
		if settled%polled == polled-1 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if t.left == 0 {
			return errTooFar()
		}
		t.left--
		arc, distance, ok := t.frontier.Settle()
		if !ok || distance >= bound {
			return nil
		}
		for _, turn := range t.graph.TurnsFrom(arc) {
			at := distance + uint64(turn.Weight)
			for i := t.first[turn.To]; i != 0; i = t.targets[i-1].next {
				target := &t.targets[i-1]
				found := &t.found[target.set]
				if weight := at + uint64(target.end.Cost); weight < found.weight {
					if found.weight == unreached {
						missing--
					}
					*found = arrival{weight, turn.To, target.nth, arc}
					if missing == 0 {
						bound = min(limit, t.farthest())
					}
				}
			}
			if weight := weights[turn.To]; weight != graph.Closed {
				t.frontier.Reach(turn.To, at+uint64(weight), arc)
			}
		}
	}
}

// farthest returns the weight of the heaviest arrival.
func (t *tree) farthest() uint64 {
	var weight uint64
	for i := range t.found {
		weight = max(weight, t.found[i].weight)
	}
	return weight
}

// path returns the path to a set that was found.
func (t *tree) path(set int) graph.Path {
	found := &t.found[set]
	return graph.Path{Weight: found.weight, Arcs: t.frontier.Trail(found.previous, found.arc)}
}

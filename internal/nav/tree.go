package nav

import (
	"context"
	"slices"

	"wayside/internal/roads/graph"
)

// tree is a search of Dijkstra's from some ends to many sets of others. One goroutine at a time may use it.
type tree struct {
	graph    *graph.Graph
	distance []uint64 // to the end of the arc; unreached
	previous []uint32
	first    []uint32 // 1 + the first target on the arc; 0: none
	touched  []uint32
	targets  []target
	found    []arrival
	queue    queue
	single   []graph.End
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
	previous uint32 // the arc before
}

const unreached = ^uint64(0)

func newTree(g *graph.Graph) *tree {
	t := &tree{graph: g, distance: make([]uint64, len(g.Arcs)), previous: make([]uint32, len(g.Arcs)), first: make([]uint32, len(g.Arcs))}
	for i := range t.distance {
		t.distance[i] = unreached
	}
	return t
}

// aim takes the sets of ends to be found.
func (t *tree) aim(sets ...[]graph.End) {
	t.clearAim()
	for _, ends := range sets {
		t.addAim(ends)
	}
}

// clearAim forgets the sets of ends.
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

// one is a list of one end, in the tree's own memory.
func (t *tree) one(end graph.End) []graph.End {
	t.single = append(t.single[:0], end)
	return t.single
}

// polled is after how many arcs a search looks whether it is still wanted.
const polled = 1024

// grow searches from the ends, over arcs of these weights, until all sets are found or what is left weighs limit or more. What it
// found is in found, and holds until the next search.
func (t *tree) grow(ctx context.Context, weights []uint32, from []graph.End, limit uint64) error {
	t.reset()
	for i := range t.found {
		t.found[i] = arrival{weight: unreached}
	}
	missing := len(t.found)
	bound := limit
	for _, f := range from {
		t.reach(f.Arc, uint64(f.Cost), graph.None)
	}
	for settled := 0; len(t.queue) > 0; settled++ {
		if settled%polled == polled-1 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		next := t.queue.pop()
		if next.distance > t.distance[next.arc] {
			continue
		}
		if next.distance >= bound {
			break
		}
		for _, turn := range t.graph.TurnsFrom(next.arc) {
			at := next.distance + uint64(turn.Weight)
			for i := t.first[turn.To]; i != 0; i = t.targets[i-1].next {
				target := &t.targets[i-1]
				found := &t.found[target.set]
				if weight := at + uint64(target.end.Cost); weight < found.weight {
					if found.weight == unreached {
						missing--
					}
					*found = arrival{weight, turn.To, target.nth, next.arc}
					if missing == 0 {
						bound = min(limit, t.farthest())
					}
				}
			}
			if weight := weights[turn.To]; weight != graph.Closed {
				t.reach(turn.To, at+uint64(weight), next.arc)
			}
		}
	}
	return nil
}

// farthest is the weight of the heaviest arrival.
func (t *tree) farthest() uint64 {
	var weight uint64
	for i := range t.found {
		weight = max(weight, t.found[i].weight)
	}
	return weight
}

// path is the way to a set that was found.
func (t *tree) path(set int) graph.Path {
	found := &t.found[set]
	path := graph.Path{Weight: found.weight, Arcs: []uint32{found.arc}}
	for arc := found.previous; arc != graph.None; arc = t.previous[arc] {
		path.Arcs = append(path.Arcs, arc)
	}
	slices.Reverse(path.Arcs)
	return path
}

func (t *tree) reach(arc uint32, distance uint64, previous uint32) {
	if distance >= t.distance[arc] {
		return
	}
	if t.distance[arc] == unreached {
		t.touched = append(t.touched, arc)
	}
	t.distance[arc], t.previous[arc] = distance, previous
	t.queue.push(queued{distance, arc})
}

func (t *tree) reset() {
	for _, arc := range t.touched {
		t.distance[arc] = unreached
	}
	t.touched, t.queue = t.touched[:0], t.queue[:0]
}

type queued struct {
	distance uint64
	arc      uint32
}

// queue is a binary heap with the nearest arc first. container/heap would box each entry.
type queue []queued

func (q *queue) push(entry queued) {
	*q = append(*q, entry)
	heap := *q
	at := len(heap) - 1
	for at > 0 && entry.distance < heap[(at-1)/2].distance {
		heap[at] = heap[(at-1)/2]
		at = (at - 1) / 2
	}
	heap[at] = entry
}

func (q *queue) pop() queued {
	heap := *q
	first, last := heap[0], len(heap)-1
	entry := heap[last]
	heap = heap[:last]
	*q = heap
	at := 0
	for child := 1; child < last; child = 2*at + 1 {
		if child+1 < last && heap[child+1].distance < heap[child].distance {
			child++
		}
		if entry.distance <= heap[child].distance {
			break
		}
		heap[at] = heap[child]
		at = child
	}
	if last > 0 {
		heap[at] = entry
	}
	return first
}

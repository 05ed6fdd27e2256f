package graph

import (
	"slices"

	"wayside/internal/roads/minheap"
)

// Unreached is the distance of an arc that a search has not reached.
const Unreached = ^uint64(0)

// Frontier is the state of a Dijkstra search: the distance of each arc, the arc before it, and the queue. It is not safe
// for concurrent use.
type Frontier struct {
	distance []uint64 // to the end of the arc
	previous []uint32
	touched  []uint32
	queue    minheap.Heap[uint64, uint32]
}

// NewFrontier returns a frontier for searches on a graph.
func NewFrontier(g *Graph) *Frontier {
	f := &Frontier{distance: make([]uint64, len(g.Arcs)), previous: make([]uint32, len(g.Arcs))}
	for i := range f.distance {
		f.distance[i] = Unreached
	}
	return f
}

// Reset prepares for another search. It takes time proportional to the arcs that the last search reached.
func (f *Frontier) Reset() {
	for _, arc := range f.touched {
		f.distance[arc] = Unreached
	}
	f.touched = f.touched[:0]
	f.queue.Clear()
}

// Reach records a path to the end of an arc, unless a path at most as long is known.
func (f *Frontier) Reach(arc uint32, distance uint64, previous uint32) {
	if distance >= f.distance[arc] {
		return
	}
	if f.distance[arc] == Unreached {
		f.touched = append(f.touched, arc)
	}
	f.distance[arc], f.previous[arc] = distance, previous
	f.queue.Push(distance, arc)
}

// Settle returns the nearest arc that is not settled yet, and false if there is none.
func (f *Frontier) Settle() (arc uint32, distance uint64, ok bool) {
	for f.queue.Len() > 0 {
		if distance, arc = f.queue.Pop(); distance == f.distance[arc] {
			return arc, distance, true
		}
	}
	return None, Unreached, false
}

// Previous returns the arc before an arc on its path, or None if the search began there.
func (f *Frontier) Previous(arc uint32) uint32 { return f.previous[arc] }

// Trail returns the arcs from the beginning of the search over the reached arc over to another arc.
func (f *Frontier) Trail(over, to uint32) []uint32 {
	arcs := []uint32{to}
	for arc := over; arc != None; arc = f.previous[arc] {
		arcs = append(arcs, arc)
	}
	slices.Reverse(arcs)
	return arcs
}

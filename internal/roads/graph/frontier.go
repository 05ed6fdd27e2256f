package graph

import (
	"slices"

	"wayside/internal/roads/minheap"
)

// Unreached is the distance of an arc that a search has not reached.
const Unreached = ^uint64(0)

// Frontier is what a search of Dijkstra's keeps: how far each arc is, by which arc it was reached, and which ones are next. One
// goroutine at a time may use it.
type Frontier struct {
	distance []uint64 // to the end of the arc
	previous []uint32
	touched  []uint32
	queue    minheap.Heap[uint64, uint32]
}

// NewFrontier makes one for searches on a graph.
func NewFrontier(g *Graph) *Frontier {
	f := &Frontier{distance: make([]uint64, len(g.Arcs)), previous: make([]uint32, len(g.Arcs))}
	for i := range f.distance {
		f.distance[i] = Unreached
	}
	return f
}

// Reset begins another search. It takes as long as the last one reached arcs.
func (f *Frontier) Reset() {
	for _, arc := range f.touched {
		f.distance[arc] = Unreached
	}
	f.touched = f.touched[:0]
	f.queue.Clear()
}

// Reach notes a way to the end of an arc, unless there is one that is as short.
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

// Settle is the nearest arc that was not settled yet; false: there is none.
func (f *Frontier) Settle() (arc uint32, distance uint64, ok bool) {
	for f.queue.Len() > 0 {
		if distance, arc = f.queue.Pop(); distance == f.distance[arc] {
			return arc, distance, true
		}
	}
	return None, Unreached, false
}

// Previous is the arc by which an arc was reached; None: the search began there.
func (f *Frontier) Previous(arc uint32) uint32 { return f.previous[arc] }

// Trail is the arcs from where the search began over an arc that it reached to another one.
func (f *Frontier) Trail(over, to uint32) []uint32 {
	arcs := []uint32{to}
	for arc := over; arc != None; arc = f.previous[arc] {
		arcs = append(arcs, arc)
	}
	slices.Reverse(arcs)
	return arcs
}

package graph

import "slices"

// End is where a route begins or ends on an arc. Where it begins, Cost is the weight from there to the end of the arc; where it
// ends, the weight from the beginning of the arc to there. Both are parts of the arc's weight without closures: who begins or
// ends on a closed arc may leave and reach it (D15.16).
type End struct{ Arc, Cost uint32 }

// Path is a way through the network: it leaves its first arc at its end and enters the last one at its beginning.
type Path struct {
	Weight uint64 // with the costs of both ends
	Arcs   []uint32
}

// Dijkstra is the search that needs no preparation: the reference that every other one is held to. It goes over arcs and
// turns. One goroutine at a time may use it.
type Dijkstra struct {
	graph    *Graph
	distance []uint64 // to the end of the arc
	previous []uint32
	touched  []uint32
	queue    queue
}

const unreached = ^uint64(0)

// NewDijkstra makes a search on a graph.
func NewDijkstra(g *Graph) *Dijkstra {
	d := &Dijkstra{graph: g, distance: make([]uint64, len(g.Arcs)), previous: make([]uint32, len(g.Arcs))}
	for i := range d.distance {
		d.distance[i] = unreached
	}
	return d
}

// Route is the path of the least weight that takes at least one turn; a route that stays on one arc is for the caller to
// compare. weights has the weight of every arc now. It is false if there is no path.
func (d *Dijkstra) Route(weights []uint32, from, to []End) (Path, bool) {
	defer d.reset()
	for _, f := range from {
		d.reach(f.Arc, uint64(f.Cost), None)
	}
	best, bestEnd, bestPrevious := unreached, uint32(None), uint32(None)
	for len(d.queue) > 0 {
		next := d.queue.pop()
		if next.distance > d.distance[next.arc] {
			continue
		}
		if next.distance >= best {
			break
		}
		for _, turn := range d.graph.TurnsFrom(next.arc) {
			at := next.distance + uint64(turn.Weight)
			for _, end := range to {
				if end.Arc == turn.To && at+uint64(end.Cost) < best {
					best, bestEnd, bestPrevious = at+uint64(end.Cost), turn.To, next.arc
				}
			}
			if weight := weights[turn.To]; weight != Closed {
				d.reach(turn.To, at+uint64(weight), next.arc)
			}
		}
	}
	if best == unreached {
		return Path{}, false
	}
	path := Path{Weight: best, Arcs: []uint32{bestEnd}}
	for arc := bestPrevious; arc != None; arc = d.previous[arc] {
		path.Arcs = append(path.Arcs, arc)
	}
	slices.Reverse(path.Arcs)
	return path, true
}

func (d *Dijkstra) reach(arc uint32, distance uint64, previous uint32) {
	if distance >= d.distance[arc] {
		return
	}
	if d.distance[arc] == unreached {
		d.touched = append(d.touched, arc)
	}
	d.distance[arc], d.previous[arc] = distance, previous
	d.queue.push(queued{distance, arc})
}

func (d *Dijkstra) reset() {
	for _, arc := range d.touched {
		d.distance[arc] = unreached
	}
	d.touched, d.queue = d.touched[:0], d.queue[:0]
}

type queued struct {
	distance uint64
	arc      uint32
}

// queue is a binary heap with the nearest arc first. container/heap would box each entry.
type queue []queued

func (q *queue) push(entry queued) {
	*q = append(*q, entry)
	at := len(*q) - 1
	for at > 0 && entry.distance < (*q)[(at-1)/2].distance {
		(*q)[at] = (*q)[(at-1)/2]
		at = (at - 1) / 2
	}
	(*q)[at] = entry
}

func (q *queue) pop() queued {
	first, last := (*q)[0], len(*q)-1
	entry := (*q)[last]
	*q = (*q)[:last]
	at := 0
	for child := 1; child < last; child = 2*at + 1 {
		if child+1 < last && (*q)[child+1].distance < (*q)[child].distance {
			child++
		}
		if entry.distance <= (*q)[child].distance {
			break
		}
		(*q)[at] = (*q)[child]
		at = child
	}
	if last > 0 {
		(*q)[at] = entry
	}
	return first
}

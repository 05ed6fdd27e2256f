package graph

// End is a place on an arc where a route begins or ends. At the beginning of a route, Cost is the weight from the place
// to the end of the arc; at its end, the weight from the beginning of the arc to the place. Both are parts of the arc's
// weight without closures, so that a route that begins or ends on a closed arc may leave or reach it (D15.16).
type End struct{ Arc, Cost uint32 }

// Path is a path through the network: it leaves its first arc at its end and enters the last one at its beginning.
type Path struct {
	Weight uint64 // including the costs of both ends
	Arcs   []uint32
}

// Dijkstra is a search without preparation over arcs and turns: the reference for every other search. It is not safe for
// concurrent use.
type Dijkstra struct {
	graph    *Graph
	frontier *Frontier
}

// NewDijkstra returns a search on a graph.
func NewDijkstra(g *Graph) *Dijkstra { return &Dijkstra{graph: g, frontier: NewFrontier(g)} }

// Route returns the path of the least weight that takes at least one turn, and false if there is none. The caller must
// compare it with a route that stays on one arc. weights has the current weight of every arc.
func (d *Dijkstra) Route(weights []uint32, from, to []End) (Path, bool) {
	f := d.frontier
	f.Reset()
	for _, end := range from {
		f.Reach(end.Arc, uint64(end.Cost), None)
	}
	best, bestEnd, bestPrevious := Unreached, uint32(None), uint32(None)
	for {
		arc, distance, ok := f.Settle()
		if !ok || distance >= best {
			break
		}
		for _, turn := range d.graph.TurnsFrom(arc) {
			at := distance + uint64(turn.Weight)
			for _, end := range to {
				if end.Arc == turn.To && at+uint64(end.Cost) < best {
					best, bestEnd, bestPrevious = at+uint64(end.Cost), turn.To, arc
				}
			}
			if weight := weights[turn.To]; weight != Closed {
				f.Reach(turn.To, at+uint64(weight), arc)
			}
		}
	}
	if best == Unreached {
		return Path{}, false
	}
	return Path{Weight: best, Arcs: f.Trail(bestPrevious, bestEnd)}, true
}

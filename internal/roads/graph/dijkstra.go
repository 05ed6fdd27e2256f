package graph

// End is where a route begins or ends on an arc. Where it begins, Cost is the weight from there to the end of the arc; where it
// ends, the weight from the beginning of the arc to there. Both are parts of the arc's weight without closures: a route that begins or
// ends on a closed arc may leave or reach it (D15.16).
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
	frontier *Frontier
}

// NewDijkstra makes a search on a graph.
func NewDijkstra(g *Graph) *Dijkstra { return &Dijkstra{graph: g, frontier: NewFrontier(g)} }

// Route is the path of the least weight that takes at least one turn; a route that stays on one arc is for the caller to
// compare. weights has the weight of every arc now. It is false if there is no path.
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

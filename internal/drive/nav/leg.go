package nav

import (
	"math"
	"slices"

	"wayside/internal/drive/nav/guide"
	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
)

// Leg is the way from one waypoint to the next. Its slices are reused when the answer is filled again.
type Leg struct {
	Distance               float64 // metres
	Weight, Duration, Free uint64  // ms; Free is the duration without conditions
	Locations              []graph.Position
	Nodes                  []int64 // ids of OpenStreetMap, one for each location; at the ends, those of the ends of the road
	Parts                  []Part
	Steps                  []Step
	Incidents              []Incident
	Summary                string

	guide guide.Guide
}

// Length returns the length of a part in metres.
func (r *Roads) Length(p *Part) float64 {
	return (p.To - p.From) * float64(r.Graph.Pieces[r.Graph.Arcs[p.Arc].Piece].Length) / 1000
}

// PositionOf converts a point to the network's positions.
func PositionOf(p geo.Point) graph.Position {
	return graph.Position{Lng: int32(math.Round(p.Lng * 1e7)), Lat: int32(math.Round(p.Lat * 1e7))}
}

func (l *Leg) reset() {
	*l = Leg{Locations: l.Locations[:0], Nodes: l.Nodes[:0], Parts: l.Parts[:0], Incidents: l.Incidents[:0], guide: l.guide}
}

// build makes a leg from one or several ways between spots.
func (n *Network) build(l *Leg, ways []way, spots []Spot) {
	l.reset()
	for i := 0; i < len(ways); {
		w, end := ways[i], i+1
		for ; end < len(ways) && w.goesOn(&ways[end]); end++ {
			w = w.joined(&ways[end])
		}
		n.appendWay(l, &w, &spots[i], &spots[end])
		i = end
	}
	for i := range l.Parts {
		p := &l.Parts[i]
		l.Distance += n.Length(p)
		l.Duration += uint64(p.Duration) + uint64(p.TurnTime)
		l.Free += uint64(p.Free) + uint64(p.TurnTime)
	}
}

// goesOn reports whether the next way continues at the same place on the same arc, in which case the place in between is
// not a waypoint.
func (w *way) goesOn(next *way) bool {
	return w.to == next.from && w.arcs[len(w.arcs)-1] == next.arcs[0]
}

// joined returns both ways as one.
func (w *way) joined(next *way) way {
	return way{weight: w.weight + next.weight, from: w.from, to: next.to, arcs: slices.Concat(w.arcs, next.arcs[1:])}
}

// appendWay appends the driven parts of a way.
func (n *Network) appendWay(l *Leg, w *way, from, to *Spot) {
	begin, end := &from.Candidates[w.from], &to.Candidates[w.to]
	start, stop := &from.Places[begin.Place], &to.Places[end.Place]
	l.Weight += w.weight
	if len(l.Locations) == 0 {
		l.Locations = append(l.Locations, PositionOf(start.Point))
		l.Nodes = append(l.Nodes, n.nodeBefore(begin.Arc, start))
	}
	for i, arc := range w.arcs {
		p := Part{Arc: arc, To: 1, First: len(l.Locations) - 1}
		var at, until *match.Place
		if i == 0 {
			p.From, at = begin.Share, start
		}
		if i == len(w.arcs)-1 {
			p.To, until = end.Share, stop
		} else {
			turn := n.turn(arc, w.arcs[i+1])
			p.TurnWeight, p.TurnTime, p.Turned = turn.Weight, turn.Duration, true
		}
		n.appendLine(l, arc, at, until)
		p.Last = len(l.Locations) - 1
		now, _ := n.condition(arc)
		p.Weight, p.Duration = part(p.To-p.From, now.Weight), part(p.To-p.From, now.Duration)
		p.Free = part(p.To-p.From, n.Graph.Arcs[arc].Duration)
		l.Parts = append(l.Parts, p)
	}
}

// appendLine appends the positions of an arc after at, up to until. A nil place means the beginning or the end of the
// arc.
func (n *Network) appendLine(l *Leg, arc uint32, at, until *match.Place) {
	piece := &n.Graph.Pieces[n.Graph.Arcs[arc].Piece]
	line := n.Graph.Line[piece.FirstLine : piece.FirstLine+piece.Positions]
	nodes := n.Graph.LineNodes[piece.FirstLine : piece.FirstLine+piece.Positions]
	if n.Graph.Arcs[arc].Flags&graph.Backward == 0 {
		first, last := 1, len(line)-1
		if at != nil {
			first = int(at.Segment) + 1
		}
		if until != nil {
			last = int(until.Segment)
		}
		for k := first; k <= last; k++ {
			l.add(line[k], nodes[k])
		}
	} else {
		first, last := len(line)-2, 0
		if at != nil {
			first = int(at.Segment)
		}
		if until != nil {
			last = int(until.Segment) + 1
		}
		for k := first; k >= last; k-- {
			l.add(line[k], nodes[k])
		}
	}
	if until == nil {
		return
	}
	if end := PositionOf(until.Point); len(l.Locations) == 1 || l.Locations[len(l.Locations)-1] != end {
		l.Locations = append(l.Locations, end)
		l.Nodes = append(l.Nodes, n.nodeAfter(arc, until))
	}
}

// add adds a position unless it equals the previous one.
func (l *Leg) add(p graph.Position, node int64) {
	if l.Locations[len(l.Locations)-1] != p {
		l.Locations = append(l.Locations, p)
		l.Nodes = append(l.Nodes, node)
	}
}

// nodeBefore returns OpenStreetMap's node before a place, in the direction of an arc.
func (n *Network) nodeBefore(arc uint32, at *match.Place) int64 {
	return n.nodeBeside(arc, at, n.Graph.Arcs[arc].Flags&graph.Backward != 0)
}

// nodeAfter returns OpenStreetMap's node after a place, in the direction of an arc.
func (n *Network) nodeAfter(arc uint32, at *match.Place) int64 {
	return n.nodeBeside(arc, at, n.Graph.Arcs[arc].Flags&graph.Backward == 0)
}

func (n *Network) nodeBeside(arc uint32, at *match.Place, next bool) int64 {
	node := n.Graph.Pieces[n.Graph.Arcs[arc].Piece].FirstLine + at.Segment
	if next {
		node++
	}
	return n.Graph.LineNodes[node]
}

package graph

import (
	"fmt"

	"wayside/internal/roads/car"
)

// check verifies that no index points outside of its array, and everything else that searches and answers rely on.
func (g *Graph) check() error {
	if len(g.LineNodes) != len(g.Line) {
		return fmt.Errorf("%w: %d positions and %d nodes on lines", ErrBadSections, len(g.Line), len(g.LineNodes))
	}
	if len(g.FirstTurn) != len(g.Arcs)+1 || g.FirstTurn[0] != 0 || uint64(g.FirstTurn[len(g.Arcs)]) != uint64(len(g.Turns)) {
		return fmt.Errorf("%w: turns and arcs do not fit together", ErrBadSections)
	}
	for _, array := range []struct {
		name string
		size int
		good func(i int) bool
	}{
		{"position", len(g.Line), func(i int) bool { return onGlobe(g.Line[i]) }},
		{"node", len(g.Nodes), func(i int) bool { return onGlobe(g.Nodes[i].Position) }},
		{"way", len(g.Ways), g.goodWay},
		{"sign", len(g.Signs), g.goodSigns},
		{"lane", len(g.Lanes), func(i int) bool { return g.Lanes[i]&^car.AllLaneMarks == 0 }},
		{"exit", len(g.Exits), g.goodExit},
		{"maneuver", len(g.Maneuvers), g.goodManeuver},
		{"way of a maneuver", len(g.ManeuverWays), func(i int) bool { return uint64(g.ManeuverWays[i]) < uint64(len(g.Ways)) }},
		{"piece", len(g.Pieces), g.goodPiece},
		{"arc", len(g.Arcs), g.goodArc},
	} {
		for i := range array.size {
			if !array.good(i) {
				return fmt.Errorf("%w: %s %d", ErrBadSections, array.name, i)
			}
		}
	}
	for arc := range g.Arcs {
		if !g.goodTurns(arc) {
			return fmt.Errorf("%w: the turns from arc %d", ErrBadSections, arc)
		}
	}
	return nil
}

func onGlobe(p Position) bool {
	return p.Lat >= -900_000_000 && p.Lat <= 900_000_000 && p.Lng >= -1_800_000_000 && p.Lng <= 1_800_000_000
}

func (g *Graph) goodWay(i int) bool {
	w := &g.Ways[i]
	return g.goodTexts(w.Name, w.Ref) && uint64(w.Signs) <= uint64(len(g.Signs)) && w.Class <= ClassOther && w.Use <= MinorUse
}

func (g *Graph) goodTexts(ranges ...TextRange) bool {
	for _, r := range ranges {
		if uint64(r.Start)+uint64(r.Length) > uint64(len(g.Texts)) {
			return false
		}
	}
	return true
}

func (g *Graph) goodSigns(i int) bool {
	s := &g.Signs[i]
	for _, r := range s.Lanes {
		if uint64(r.First)+uint64(r.Count) > uint64(len(g.Lanes)) {
			return false
		}
	}
	return g.goodTexts(s.Destination, s.Exit, s.Pronunc)
}

func (g *Graph) goodExit(i int) bool {
	e := &g.Exits[i]
	return uint64(e.Node) < uint64(len(g.Nodes)) && (i == 0 || g.Exits[i-1].Node < e.Node) && g.goodTexts(e.Ref, e.Name)
}

func (g *Graph) goodPiece(i int) bool {
	p := &g.Pieces[i]
	return uint64(p.Way) < uint64(len(g.Ways)) &&
		p.Positions >= 2 && uint64(p.FirstLine)+uint64(p.Positions) <= uint64(len(g.Line)) &&
		g.goodPieceArc(i, p.Forward, 0) && g.goodPieceArc(i, p.Backward, Backward)
}

// goodPieceArc reports whether an arc of a piece refers back to the piece, and is not a copy, so that routes may begin
// and end on it.
func (g *Graph) goodPieceArc(piece int, arc uint32, direction Flags) bool {
	if arc == None {
		return true
	}
	if uint64(arc) >= uint64(len(g.Arcs)) {
		return false
	}
	a := &g.Arcs[arc]
	return a.Piece == uint32(piece) && a.CopyOf == arc && a.Flags&Backward == direction
}

func (g *Graph) goodArc(i int) bool {
	a := &g.Arcs[i]
	if uint64(a.From) >= uint64(len(g.Nodes)) || uint64(a.To) >= uint64(len(g.Nodes)) || uint64(a.Piece) >= uint64(len(g.Pieces)) ||
		uint64(a.CopyOf) >= uint64(len(g.Arcs)) || uint64(a.Island) >= uint64(len(g.Arcs)) || a.Weight == 0 || a.Weight == Closed {
		return false
	}
	original := &g.Arcs[a.CopyOf]
	return original.CopyOf == a.CopyOf && original.Piece == a.Piece && original.From == a.From && original.To == a.To
}

func (g *Graph) goodTurns(arc int) bool {
	first, after := g.FirstTurn[arc], g.FirstTurn[arc+1]
	if first > after || uint64(after) > uint64(len(g.Turns)) {
		return false
	}
	node := g.Arcs[arc].To
	for i := first; i < after; i++ {
		to := g.Turns[i].To
		if uint64(to) >= uint64(len(g.Arcs)) || g.Arcs[to].From != node || i > first && g.Turns[i-1].To >= to {
			return false
		}
	}
	return true
}

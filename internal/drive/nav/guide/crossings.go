package guide

import (
	"math"

	"wayside/internal/roads/graph"
)

// Where two roads cross and at least one of them has two carriageways, there are several junctions near each other, but
// a driver sees one crossing. A piece is within the crossing if it leads from one carriageway of a road to the other.

// The limits of pieces within crossings.
const (
	crossingMetres = 34.0
	crossingAcross = 40.0  // minimum degrees between the carriageways and the piece
	crossingBack   = 130.0 // minimum degrees between the driving directions of the carriageways
	turnBackFrom   = 150.0 // minimum degrees of a turn back over a crossing
)

// isWithinCrossing reports whether a piece leads from one carriageway of a road to the other.
func (n *Network) isWithinCrossing(piece uint32) bool {
	if n.metres(piece) > crossingMetres || isCircle(n.flags(piece)) || isLink(n.wayOfPiece(piece)) {
		return false
	}
	from, to := end(piece<<1), end(piece<<1|1)
	if len(n.endsAt(n.node(from))) > maxRoads || len(n.endsAt(n.node(to))) > maxRoads {
		return false
	}
	along := n.bearingFrom(from, crossingMetres)
	for _, a := range n.endsAt(n.node(from)) {
		if !n.crosses(a, piece, along) {
			continue
		}
		for _, b := range n.endsAt(n.node(to)) {
			if n.crosses(b, piece, along) && n.isOtherCarriageway(a, b) {
				return true
			}
		}
	}
	return false
}

// crosses reports whether a road is one-way and leads off a piece to the side.
func (n *Network) crosses(e end, piece uint32, along float64) bool {
	if e.piece() == piece || !n.isOneway(e.piece()) || isCircle(n.flags(e.piece())) {
		return false
	}
	off := apart(n.bearingFrom(e, shownAhead), along)
	return off >= crossingAcross && off <= 180-crossingAcross
}

// isOtherCarriageway reports whether two one-way roads that begin or end at different junctions are one road in its two
// directions.
func (n *Network) isOtherCarriageway(a, b end) bool {
	v, w := n.wayOfPiece(a.piece()), n.wayOfPiece(b.piece())
	if v.Class != w.Class || !n.sameRoad(v, w) && (v.Name.Length > 0 || w.Name.Length > 0) {
		return false
	}
	if isLink(v) && v.Name.Length == 0 {
		return false // links to and from a road are opposite each other too
	}
	return apart(n.driven(a), n.driven(b)) >= crossingBack
}

// driven returns the bearing in which a one-way road is driven at one of its ends.
func (n *Network) driven(e end) float64 {
	b := n.bearingFrom(e, shownAhead)
	if n.leaving(e) == graph.None {
		b = math.Mod(b+180, 360)
	}
	return b
}

// joinCrossings joins the maneuvers within one crossing to one, at its first junction.
func (g *Guide) joinCrossings() {
	for first := 1; first < len(g.turns)-1; first++ {
		last := first
		for last+1 < len(g.turns)-1 && g.isOneCrossing(last) {
			last++
		}
		if last > first {
			g.joinCrossing(first, last)
		}
		first = last
	}
}

// isOneCrossing reports whether a junction and the next one are parts of one crossing.
func (g *Guide) isOneCrossing(i int) bool {
	a, b := &g.turns[i], &g.turns[i+1]
	if b.part != a.part+1 || a.fixed || b.fixed || !a.isJunction || !b.isJunction || a.kind.isCircle() || b.kind.isCircle() || a.kind == Notification || b.kind == Notification {
		return false
	}
	return g.net.isWithinCrossing(g.net.graph.Arcs[g.way.Parts[b.part].Arc].Piece)
}

func (g *Guide) joinCrossing(first, last int) {
	told, turns, special, ends := 0, 0, Silent, false
	for i := first; i <= last; i++ {
		if k := g.turns[i].kind; k != Silent {
			told++
			ends = k == EndOfRoad
			if k != NewName {
				turns++
			}
			if k == OnRamp || k == OffRamp || k == Fork || k == Merge {
				special = k
			}
		}
	}
	t, end := &g.turns[first], &g.turns[last]
	angle := normal(end.out - t.in)
	before, after := g.net.wayOf(g.way.Parts[t.part].Arc), g.net.wayOf(end.named)
	renamed := g.net.renamed(before, after)
	dir := directionOf(angle)
	if dir == Straight && end.spot.At-t.spot.At > offsetMetres && g.turnsAside(first, last) {
		return // the route goes back parallel to itself, for example on the next aisle of a car park
	}
	for i := first + 1; i <= last; i++ {
		g.turns[i].kind = Silent
	}
	if turns == 0 && isRightAngle(angle) {
		v := &g.other
		v.look(g.net, g.way.Parts[end.part].Arc)
		ends = v.isEndOfRoad()
	}
	switch {
	case told == 0:
		return
	case ends && dir != Straight && math.Abs(angle) < turnBackFrom:
		t.kind = EndOfRoad
	case special != Silent:
		t.kind = special
	case math.Abs(angle) >= turnBackFrom && g.net.sameRoad(before, after):
		t.kind, dir = Continue, UTurn
	case (dir == Straight || turns == 0) && !renamed:
		t.kind = Silent
	case dir == Straight, turns == 0 && math.Abs(angle) <= turnFrom:
		t.kind = NewName
	case g.net.sameName(before, after):
		t.kind = Continue
	default:
		t.kind = Turn
	}
	t.dir, t.angle, t.named, t.until = dir, angle, end.named, end
	aim(t.spot.Lanes, angle)
}

// turnsAside reports whether one of the turns is announced as a turn at a right angle.
func (g *Guide) turnsAside(first, last int) bool {
	for i := first; i <= last; i++ {
		if t := &g.turns[i]; isPlain(t.kind) && isRightAngle(t.angle) {
			return true
		}
	}
	return false
}

// aim marks the lanes whose arrows are nearest to an angle.
func aim(lanes []Lane, angle float64) {
	least := arrowWithin
	for i := range lanes {
		_, off := nearestArrow(&lanes[i], angle)
		least = min(least, off)
	}
	for i := range lanes {
		mark, off := nearestArrow(&lanes[i], angle)
		lanes[i].Valid, lanes[i].Taken = off <= least, 0
		if lanes[i].Valid {
			lanes[i].Taken = mark
		}
	}
}

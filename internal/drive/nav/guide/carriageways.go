package guide

import (
	"cmp"
	"math"
	"slices"

	"wayside/internal/roads/graph"
)

// The limits within which two one-way roads are the carriageways of one road.
const (
	splitWithin   = 70.0 // degrees between them where they split
	parallelAhead = 35.0 // metres after the junction from which they run side by side
	parallelApart = 35.0 // metres between them there
	parallelAngle = 35.0 // degrees between their directions there
)

// joinCarriageways makes one branch of the two carriageways of a road that split at the junction, because a driver sees
// one road there. If one of them is the road that the driver comes from, the other one is the way back.
func (v *view) joinCarriageways() {
	joined := false
	for i := 0; i < len(v.branches); i++ {
		partner := v.partner(i)
		if partner == none {
			continue
		}
		b := v.branches[i]
		if partner == behind {
			v.in.bearing, v.in.shown = middle(v.in.bearing, b.bearing), middle(v.in.shown, b.shown)
			v.back = b.end
		} else {
			p := &v.branches[partner]
			if b.entry || v.net.leaving(b.end) != graph.None {
				p.end, p.seen, p.entry, p.way, p.flags = b.end, b.seen, b.entry, b.way, b.flags
			}
			p.bearing, p.shown, p.merged = middle(p.bearing, b.bearing), middle(p.shown, b.shown), true
		}
		v.branches = slices.Delete(v.branches, i, i+1)
		joined = true
		i = -1
	}
	if !joined {
		return
	}
	for i := range v.branches {
		v.branches[i].angle = turned(v.in.bearing, v.branches[i].bearing)
	}
	slices.SortFunc(v.branches, func(a, b branch) int { return cmp.Or(cmp.Compare(a.angle, b.angle), cmp.Compare(a.end, b.end)) })
	v.all = append(append(v.all[:0], v.in), v.branches...)
	slices.SortFunc(v.all, func(a, b branch) int {
		return cmp.Or(cmp.Compare(fromNorth(a.shown), fromNorth(b.shown)), cmp.Compare(a.end, b.end))
	})
}

// joinsAhead returns the bearing of a road whose carriageways meet shortly ahead of an end of one of them, because a
// driver sees where the road leads, and not how the carriageway swings into its middle.
func (n *Network) joinsAhead(e end) (bearing float64, ok bool) {
	if !n.isOneway(e.piece()) || n.metres(e.piece()) > seenAhead || isCircle(n.flags(e.piece())) {
		return 0, false
	}
	ends := n.endsAt(n.node(e ^ 1))
	if len(ends) < 3 || len(ends) > maxRoads {
		return 0, false
	}
	way := n.wayOfPiece(e.piece())
	var road, other end
	roads, others := 0, 0
	for _, o := range ends {
		switch {
		case o == e^1 || !n.sameRoad(way, n.wayOfPiece(o.piece())):
		case n.isOneway(o.piece()):
			other = o
			others++
		default:
			road = o
			roads++
		}
	}
	if roads != 1 || others != 1 || (n.leaving(e^1) == graph.None) == (n.leaving(other) == graph.None) {
		return 0, false
	}
	if !n.runBeside(e^1, other) {
		return 0, false
	}
	return n.bearingFrom(road, seenAhead), true
}

// onlySplits reports whether nothing happens at a junction but that a road parts into its carriageways, or that they
// meet. Where a carriageway soon has another name, as on a bridge, the junction counts.
func (v *view) onlySplits() bool {
	if len(v.all) != 2 || v.ends != 3 {
		return false
	}
	for _, e := range v.net.endsAt(v.node) {
		if _, goesOn := v.net.across(e ^ 1); goesOn && v.net.isOneway(e.piece()) {
			return false
		}
	}
	return true
}

// Indexes of no branch.
const (
	none   = -1
	behind = -2 // the road that the driver comes from
)

// partner returns the other carriageway of a branch, or none if there is not exactly one.
func (v *view) partner(i int) int {
	found := none
	if v.areCarriageways(&v.branches[i], &v.in) {
		found = behind
	}
	for j := range v.branches {
		if j == i || !v.areCarriageways(&v.branches[i], &v.branches[j]) {
			continue
		}
		if found != none {
			return none
		}
		found = j
	}
	if found >= 0 && !v.hasOnePartner(found) {
		return none
	}
	return found
}

func (v *view) hasOnePartner(i int) bool {
	count := 0
	if v.areCarriageways(&v.branches[i], &v.in) {
		count++
	}
	for j := range v.branches {
		if j != i && v.areCarriageways(&v.branches[i], &v.branches[j]) {
			count++
		}
	}
	return count == 1
}

// areCarriageways reports whether two branches are the two directions of one road.
func (v *view) areCarriageways(a, b *branch) bool {
	if a.merged || b.merged || apart(a.bearing, b.bearing) > splitWithin || isCircle(a.flags) || isCircle(b.flags) {
		return false
	}
	net := v.net
	leaves, other := net.leaving(a.end) != graph.None, net.leaving(b.end) != graph.None
	if !net.isOneway(a.end.piece()) || !net.isOneway(b.end.piece()) || leaves == other {
		return false
	}
	if !net.sameRoad(a.way, b.way) || a.way.Class != b.way.Class {
		return false
	}
	return net.runBeside(a.end, b.end)
}

// runBeside reports whether two roads from one node run side by side after some distance.
func (n *Network) runBeside(a, b end) bool {
	p := planeAt(n.graph.Nodes[n.node(a)].Position)
	x, y, one := n.ahead(p, a, parallelAhead)
	z, w, other := n.ahead(p, b, parallelAhead)
	dx, dy := z-x, w-y
	if math.Abs(dx)+math.Abs(dy) < 1 {
		return true // they join again, beyond an island
	}
	return dx*dx+dy*dy < parallelApart*parallelApart && apart(one, other) < parallelAngle
}

// ahead returns the place on a road at the given distance from an end, or where the road ends or meets others before,
// and its direction there.
func (n *Network) ahead(p plane, e end, metres float64) (east, north, bearing float64) {
	east, north = p.offset(n.graph.Nodes[n.node(e)].Position)
	for range maxFollowed {
		line := n.graph.PieceLine(e.piece())
		for i := 1; i < len(line); i++ {
			at := i
			if e.isTo() {
				at = len(line) - 1 - i
			}
			x, y := p.offset(line[at])
			dx, dy := x-east, y-north
			step := length(dx, dy)
			if step > 0 {
				bearing = bearingOf(dx, dy)
			}
			if step >= metres && step > 0 {
				return east + dx*metres/step, north + dy*metres/step, bearing
			}
			metres -= step
			east, north = x, y
		}
		next, ok := n.across(e ^ 1)
		if !ok {
			break
		}
		e = next
	}
	return east, north, bearing
}

// middle returns the bearing half-way between two bearings.
func middle(a, b float64) float64 {
	m := a + normal(b-a)/2
	if m < 0 {
		m += 360
	}
	if m >= 360 {
		m -= 360
	}
	return m
}

package guide

import (
	"math"

	"wayside/internal/roads/graph"
)

// A sliproad leaves a road before a junction and reaches the crossing road after it: a car that takes the sliproad turns
// at that junction.

// The limits of sliproads, in metres and degrees.
const (
	sliproadMetres = 160.0 // of the sliproad, and of each way over the junction
	sliproadAngle  = 25.0  // minimum angle of the whole turn
)

// joinSliproads announces a sliproad as the turn that it replaces at the junction, and nothing else.
func (g *Guide) joinSliproads() {
	for i := 1; i < len(g.turns)-1; i++ {
		t := &g.turns[i]
		if !isPlain(t.kind) && t.kind != OffRamp && t.kind != OnRamp && t.kind != Fork || !t.isJunction || t.fixed {
			continue
		}
		k := i + 1
		for k < len(g.turns)-1 && !g.turns[k].isJunction && g.turns[k].kind == Silent {
			k++
		}
		u := &g.turns[k]
		if k == len(g.turns)-1 || !u.isJunction || u.fixed || u.kind.isCircle() || u.kind == Notification || u.spot.At-t.spot.At > sliproadMetres {
			continue
		}
		both := normal(u.out - t.in)
		if math.Abs(both) < sliproadAngle || both*t.angle < 0 && math.Abs(t.angle) > 5 || !g.isSliproad(t, u) {
			continue
		}
		before, after := g.net.wayOf(g.way.Parts[t.part].Arc), g.net.wayOf(u.named)
		t.kind = Turn
		if g.net.sameName(before, after) {
			t.kind = Continue
		}
		t.dir, t.angle, t.named, t.until, u.kind = directionOf(both), both, u.named, u, Silent
		if math.Abs(both) >= turnBackFrom && g.net.sameRoad(before, after) {
			t.kind, t.dir = Continue, UTurn
		}
		for n := i + 1; n < k; n++ {
			g.turns[n].kind = Silent
		}
		g.joinSliproadLanes(t, u)
	}
}

// isSliproad reports whether the road between two turns is a sliproad: whether the road ahead at the first turn leads to
// a junction from which the road reached by the sliproad leads to the sliproad's end.
func (g *Guide) isSliproad(t, u *turn) bool {
	taken := g.way.Parts[t.part+1].Arc
	if !g.net.isOneway(g.net.graph.Arcs[taken].Piece) || isService(g.net.wayOf(taken)) && isService(g.net.wayOf(g.way.Parts[t.part].Arc)) {
		return false // between service roads, such as the aisles of a car park, there are no sliproads
	}
	v := &g.other
	v.look(g.net, g.way.Parts[t.part].Arc)
	tail := g.net.tailOf(taken)
	reached := g.net.wayOf(g.way.Parts[u.part+1].Arc)
	goal := g.net.graph.Arcs[g.way.Parts[u.part].Arc].To
	if g.net.goesOn(g.way.Parts[u.part].Arc) {
		return false
	}
	for i := range v.branches {
		if b := &v.branches[i]; b.end != tail && b.entry && math.Abs(b.angle) <= 60 && g.net.meetsBefore(b.end, goal, reached) {
			return true
		}
	}
	return false
}

// sliproadBeside returns the end of the sliproad that leaves the route at the end of a part, if there is one: a one-way
// road to the junction's other side.
func (g *Guide) sliproadBeside(part int) (slip end, ok bool) {
	v := &g.other
	v.look(g.net, g.way.Parts[part].Arc)
	tail := g.net.tailOf(g.way.Parts[part+1].Arc)
	for i := range v.branches {
		b := &v.branches[i]
		if b.end == tail || !b.entry || math.Abs(b.angle) > 90 || !g.net.isOneway(b.end.piece()) {
			continue
		}
		far, _ := g.net.nextJunction(b.end, sliproadMetres)
		if far == b.end {
			continue
		}
		goal := g.net.node(far)
		for _, o := range g.net.endsAt(goal) {
			if o != far && g.net.meetsBefore(tail, goal, g.net.wayOfPiece(o.piece())) {
				return b.end, true
			}
		}
	}
	return 0, false
}

func isService(w *graph.Way) bool { return w.Class == graph.ClassService }

// goesOn reports whether a way continues after the junction at the end of an arc.
func (n *Network) goesOn(arc uint32) bool {
	way, head := n.wayOf(arc), n.headOf(arc)
	for _, o := range n.endsAt(n.node(head)) {
		other := n.wayOfPiece(o.piece())
		if o != head && (other == way || n.leaving(o) != graph.None && n.sameName(other, way) && apart(n.bearingFrom(o, seenAhead), n.bearingFrom(head, seenAhead)) > 150) {
			return true
		}
	}
	return false
}

// junctionsAhead is the maximum number of junctions up to the one that a sliproad avoids.
const junctionsAhead = 3

// meetsBefore reports whether a road leads to a junction from which another road leads to a node.
func (n *Network) meetsBefore(e end, goal uint32, road *graph.Way) bool {
	left := sliproadMetres
	for range junctionsAhead {
		far, metres := n.nextJunction(e, left)
		if far == e || n.node(far) == goal { // too long, or the roads only split and meet again
			return false
		}
		left -= metres
		ahead := far
		for _, o := range n.endsAt(n.node(far)) {
			if o == far {
				continue
			}
			if n.leads(o, goal, road) {
				return true
			}
			if apart(n.bearingFrom(o, seenAhead), n.bearingFrom(far, seenAhead)) > 140 {
				ahead = o
			}
		}
		if ahead == far {
			return false
		}
		e = ahead
	}
	return false
}

// leads reports whether a road leads from one of its ends to a node, and is the given road.
func (n *Network) leads(e end, goal uint32, road *graph.Way) bool {
	way := n.wayOfPiece(e.piece())
	if !n.sameRoad(way, road) && way.Name.Length+road.Name.Length > 0 {
		return false
	}
	for range crossroadsWithin + 1 {
		far, _ := n.nextJunction(e, sliproadMetres)
		if far == e || n.node(far) == goal {
			return far != e
		}
		ahead := far
		for _, o := range n.endsAt(n.node(far)) {
			if o != far && n.leaving(o) != graph.None && n.wayOfPiece(o.piece()) == way {
				ahead = o
			}
		}
		if ahead == far {
			return false
		}
		e = ahead
	}
	return false
}

// crossroadsWithin is the maximum number of junctions between the one that a sliproad avoids and the sliproad's end.
const crossroadsWithin = 1

// nextJunction follows a road from one of its ends to the end where it meets others. It returns that end and the
// distance, or e itself if the distance exceeds allowed.
func (n *Network) nextJunction(e end, allowed float64) (far end, metres float64) {
	at := e
	for range maxFollowed {
		metres += n.metres(at.piece())
		if metres > allowed {
			return e, 0
		}
		next, ok := n.across(at ^ 1)
		if !ok {
			return at ^ 1, metres
		}
		at = next
	}
	return e, 0
}

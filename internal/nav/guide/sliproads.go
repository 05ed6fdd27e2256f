package guide

import "math"

// A sliproad leaves a road before a junction and reaches the crossing road behind it: who takes it turns at that junction.

// The limits of sliproads, in metres and degrees.
const (
	sliproadMetres = 160.0 // of the sliproad, and of each way around by the junction
	sliproadAngle  = 25.0  // of the turn as a whole, at least
)

// joinSliproads tells who takes a sliproad of the turn at the junction, and of nothing else.
func (g *Guide) joinSliproads() {
	for i := 1; i < len(g.turns)-1; i++ {
		t := &g.turns[i]
		if !isPlain(t.kind) && t.kind != OffRamp && t.kind != OnRamp && t.kind != Fork || !t.isJunction {
			continue
		}
		k := i + 1
		for k < len(g.turns)-1 && !g.turns[k].isJunction && g.turns[k].kind == Silent {
			k++
		}
		u := &g.turns[k]
		if k == len(g.turns)-1 || !u.isJunction || u.kind.isCircle() || u.kind == Notification || u.spot.At-t.spot.At > sliproadMetres {
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
	}
}

// isSliproad says whether the road that one would have followed leads to a junction from where the road that is reached by the sliproad
// leads back to its end.
func (g *Guide) isSliproad(t, u *turn) bool {
	taken := g.way.Parts[t.part+1].Arc
	if !g.net.isOneway(g.net.graph.Arcs[taken].Piece) {
		return false
	}
	v := &g.other
	v.look(g.net, g.way.Parts[t.part].Arc)
	tail := g.net.tailOf(taken)
	reached := g.net.wayOf(g.way.Parts[u.part+1].Arc)
	goal := g.net.graph.Arcs[g.way.Parts[u.part].Arc].To
	for i := range v.branches {
		b := &v.branches[i]
		if b.end == tail || !b.entry || math.Abs(b.angle) > 60 {
			continue
		}
		// the junction, or another one soon behind it
		e, left := b.end, sliproadMetres
		for range 3 {
			far, length := g.net.nextJunction(e, left)
			if far == e {
				break
			}
			left -= length
			node := g.net.node(far)
			if node == goal {
				break // the roads only part and meet again
			}
			ahead := e
			for _, o := range g.net.endsAt(node) {
				if o == far {
					continue
				}
				if other, _ := g.net.nextJunction(o, sliproadMetres); other != o && g.net.node(other) == goal &&
					(g.net.sameRoad(g.net.wayOfPiece(o.piece()), reached) || g.net.wayOfPiece(o.piece()).Name.Length+reached.Name.Length == 0) {
					return true
				}
				if apart(g.net.bearingFrom(o, seenAhead), g.net.bearingFrom(far, seenAhead)) > 140 {
					ahead = o
				}
			}
			if ahead == e {
				break
			}
			e = ahead
		}
	}
	return false
}

// nextJunction follows a road from one of its ends to the end where it meets others, and says how long it is; the same end if it is
// longer than allowed.
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

package guide

import "math"

// collapse joins maneuvers that a driver does as one.
func (g *Guide) collapse() {
	g.joinSliproads()
	g.joinCrossings()
	g.joinStaggered()
	g.dropShortNames()
}

// staggerMetres is how far two turns may be apart that a driver does as one.
const staggerMetres = 31.0

// turnBackMetres is how long a road without a name may be by which one turns back.
const turnBackMetres = 100.0

// joinStaggered joins two turns that follow each other: first to one side and then to the other, where a road goes on a little beside
// where it came, and twice to the same side, where one turns back.
func (g *Guide) joinStaggered() {
	for i := 1; i < len(g.turns)-1; i++ {
		t := &g.turns[i]
		if !isPlain(t.kind) || t.until != nil {
			continue
		}
		k := g.nextTold(i)
		u := &g.turns[k]
		if !isPlain(u.kind) || u.until != nil || u.spot.At-t.spot.At > turnBackMetres || g.passesJunction(i, k) {
			continue
		}
		near := u.spot.At-t.spot.At <= staggerMetres
		between := g.net.wayOf(g.way.Parts[t.part+1].Arc)
		before, after := g.net.wayOf(g.way.Parts[t.part].Arc), g.net.wayOf(u.named)
		both := normal(u.out - t.in)
		switch {
		case (near || between.Name.Length == 0 && between.Ref.Length == 0) && t.angle*u.angle > 0 && math.Abs(both) >= turnBackFrom && g.net.sameRoad(before, after):
			t.kind, t.dir = Continue, UTurn
		case near && t.angle*u.angle < 0 && math.Abs(both) < slightFrom && isRightAngle(t.angle) && isRightAngle(u.angle):
			t.kind, t.dir = Silent, Straight
			if g.net.renamed(before, after) {
				t.kind = NewName
			}
		default:
			continue
		}
		t.angle, t.named, t.until, u.kind = both, u.named, u, Silent
	}
}

func isRightAngle(angle float64) bool { return math.Abs(angle) > 60 && math.Abs(angle) < 120 }

// isPlain says whether a maneuver is a turn without a name of its own.
func isPlain(k Kind) bool { return k == Turn || k == Continue || k == EndOfRoad }

// shortName is how far a road must go on under another name for a driver to be told, in metres.
const shortName = 105.0

// dropShortNames drops names that a road has for a short stretch only, such as bridges, and what it is called again behind it.
func (g *Guide) dropShortNames() {
	before := 0 // the turn that was told before
	for i := 1; i < len(g.turns); i++ {
		t, last := &g.turns[i], &g.turns[before]
		switch t.kind {
		case Silent:
			continue
		case NewName:
			next := &g.turns[g.nextTold(i)]
			a, b := g.net.wayOf(last.named), g.net.wayOf(t.named)
			sinceTurn, untilNext := t.spot.At-last.spot.At, next.spot.At-t.spot.At
			switch {
			case len(t.spot.Lanes) > 0:
			case !g.net.renamed(a, b):
				t.kind = Silent
			case before > 0 && (sinceTurn < staggerMetres || sinceTurn < shortName && a.Name.Length == 0 && a.Ref.Length == 0):
				last.named, t.kind = t.named, Silent
			case untilNext < shortName, before > 0 && sinceTurn < shortName:
				t.kind = Silent
			}
			if t.kind == Silent {
				if next.kind == EndOfRoad {
					g.retell(next, last)
				}
				continue
			}
		case EndOfRoad:
			if !g.passesJunction(before, i) {
				g.retell(t, last)
			}
		}
		before = i
	}
}

// passesJunction says whether there is a junction between two turns.
func (g *Guide) passesJunction(from, to int) bool {
	for i := from + 1; i < to; i++ {
		if g.turns[i].isJunction {
			return true
		}
	}
	return false
}

// retell makes a plain turn of the end of a road that was only just told of.
func (g *Guide) retell(t, last *turn) {
	t.kind = Turn
	if g.net.sameName(g.net.wayOf(last.named), g.net.wayOf(t.named)) {
		t.kind = Continue
	}
}

// nextTold is the index of the next turn that something is told of.
func (g *Guide) nextTold(i int) int {
	for i++; i < len(g.turns)-1 && g.turns[i].kind == Silent; i++ {
	}
	return i
}

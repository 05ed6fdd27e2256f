package guide

import (
	"math"

	"wayside/internal/roads/graph"
)

// collapse joins maneuvers that a driver performs as one.
func (g *Guide) collapse() {
	g.joinSliproads()
	g.joinCrossings()
	g.joinStaggered()
	g.dropShortNames()
}

// staggerMetres is the maximum distance of two turns that a driver performs as one.
const staggerMetres = 31.0

// offsetMetres is the offset up to which a driver sees a staggered crossing as straight on.
const offsetMetres = 5.0

// turnBackMetres is the maximum length of a road without a name by which a driver turns back.
const turnBackMetres = 100.0

// joinStaggered joins two consecutive turns: to opposite sides, if a road continues with a small offset, and twice to
// the same side, if the driver turns back.
func (g *Guide) joinStaggered() {
	for i := 1; i < len(g.turns)-1; i++ {
		t := &g.turns[i]
		if !isPlain(t.kind) || t.until != nil || t.fixed {
			continue
		}
		k := g.nextAnnounced(i)
		if b := g.bendBack(i, k); b > 0 {
			k = b
		}
		u := &g.turns[k]
		if !isPlain(u.kind) && u.kind != Silent || u.until != nil || u.fixed || u.spot.At-t.spot.At > turnBackMetres || g.passesJunction(i, k) {
			continue
		}
		if (g.flagsAt(t.part)|g.flagsAt(t.part+1)|g.flagsAt(u.part+1))&graph.Ferry != 0 {
			continue
		}
		near := u.spot.At-t.spot.At <= staggerMetres
		between := g.net.wayOf(g.way.Parts[t.part+1].Arc)
		before, after := g.net.wayOf(g.way.Parts[t.part].Arc), g.net.wayOf(u.named)
		both := normal(u.out - t.in)
		switch {
		case (near || isLink(between) || between.Name.Length == 0 && between.Ref.Length == 0) && t.angle*u.angle > 0 && math.Abs(both) >= turnBackFrom && g.net.sameRoad(before, after):
			t.kind, t.dir = Continue, UTurn
		case u.spot.At-t.spot.At <= offsetMetres && t.angle*u.angle < 0 && math.Abs(both) < slightFrom && isRightAngle(t.angle) && isRightAngle(u.angle):
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

// bendBack returns the index of the junction, between turn i onto a link and a later turn, at which the link ends on the
// road that the driver came from, in the other direction. It returns 0 if there is none.
func (g *Guide) bendBack(i, before int) int {
	t := &g.turns[i]
	if !isLink(g.net.wayOf(g.way.Parts[t.part+1].Arc)) {
		return 0
	}
	for k := i + 1; k < before; k++ {
		u := &g.turns[k]
		if u.isJunction {
			if t.angle*u.angle > 0 && math.Abs(normal(u.out-t.in)) >= turnBackFrom && g.net.sameRoad(g.net.wayOf(g.way.Parts[t.part].Arc), g.net.wayOf(u.named)) {
				return k
			}
			return 0
		}
	}
	return 0
}

func isRightAngle(angle float64) bool { return math.Abs(angle) > 60 && math.Abs(angle) < 120 }

// isPlain reports whether a maneuver is a turn without a special kind.
func isPlain(k Kind) bool { return k == Turn || k == Continue || k == EndOfRoad }

// shortName is the minimum length in metres of a road's stretch under another name that is announced.
const shortName = 105.0

// sliproadName is the maximum length in metres of a one-way road after a turn whose name is not announced.
const sliproadName = 45.0

// dropShortNames drops names of short stretches of a road, such as bridges, and the original name after them.
func (g *Guide) dropShortNames() {
	before := 0 // the previous announced turn
	for i := 1; i < len(g.turns); i++ {
		t, last := &g.turns[i], &g.turns[before]
		if t.fixed && t.kind != Silent {
			before = i
			continue
		}
		switch t.kind {
		case Silent:
			continue
		case NewName:
			next := &g.turns[g.nextAnnounced(i)]
			a, b := g.net.wayOf(last.named), g.net.wayOf(t.named)
			sinceTurn, untilNext := t.spot.At-last.spot.At, next.spot.At-t.spot.At
			switch {
			case len(t.spot.Lanes) > 0:
			case !g.net.renamed(a, b):
				t.kind = Silent
			case before > 0 && (sinceTurn < staggerMetres || sinceTurn < sliproadName && g.net.isOneway(g.net.graph.Arcs[last.named].Piece) || sinceTurn < shortName && a.Name.Length == 0 && a.Ref.Length == 0):
				last.named, t.kind = t.named, Silent
				if last.kind == Turn || last.kind == Continue {
					g.makePlain(last, g.announcedBefore(before))
				}
			case untilNext < shortName, before > 0 && sinceTurn < shortName:
				t.kind = Silent
			}
			if t.kind == Silent {
				if next.kind == EndOfRoad {
					g.makePlain(next, last)
				}
				continue
			}
		case Turn:
			if t.dir == Straight && t.until == nil && t.spot.At-last.spot.At < staggerMetres && isPlain(last.kind) && last.dir != Straight {
				last.named, t.kind = t.named, Silent
				g.makePlain(last, g.announcedBefore(before))
				continue
			}
		case EndOfRoad:
			if !g.passesJunction(before, i) {
				g.makePlain(t, last)
			}
		}
		before = i
	}
}

func (g *Guide) flagsAt(part int) graph.Flags { return g.net.graph.Arcs[g.way.Parts[part].Arc].Flags }

// passesJunction reports whether there is a junction of roads between two turns.
func (g *Guide) passesJunction(from, to int) bool {
	for i := from + 1; i < to; i++ {
		if g.turns[i].isJunction && g.flagsAt(g.turns[i].part)&graph.Ferry == 0 {
			return true
		}
	}
	return false
}

// makePlain makes a turn a plain one: Continue if its road has the name that was announced last, otherwise Turn.
func (g *Guide) makePlain(t, last *turn) {
	t.kind = Turn
	if g.net.sameName(g.net.wayOf(last.named), g.net.wayOf(t.named)) {
		t.kind = Continue
	}
}

// announcedBefore returns the last announced turn before another one.
func (g *Guide) announcedBefore(i int) *turn {
	for i--; i > 0 && g.turns[i].kind == Silent; i-- {
	}
	return &g.turns[i]
}

// nextAnnounced returns the index of the next announced turn.
func (g *Guide) nextAnnounced(i int) int {
	for i++; i < len(g.turns)-1 && g.turns[i].kind == Silent; i++ {
	}
	return i
}

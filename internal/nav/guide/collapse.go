package guide

// collapse joins maneuvers that a driver does as one.
func (g *Guide) collapse() {
	g.joinCrossings()
	g.dropShortNames()
}

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
			case untilNext < shortName:
				t.kind = Silent
			case before > 0 && sinceTurn < shortName && a.Name.Length == 0 && a.Ref.Length == 0:
				last.named, t.kind = t.named, Silent
			case before > 0 && sinceTurn < shortName:
				t.kind = Silent
			}
			if t.kind == Silent {
				if next.kind == EndOfRoad {
					g.retell(next, last)
				}
				continue
			}
		case EndOfRoad:
			if before > 0 && !g.passesJunction(before, i) {
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

package guide

// collapse joins maneuvers that a driver does as one.
func (g *Guide) collapse() {
	g.dropShortNames()
}

// shortName is how far a road must go on under another name for a driver to be told, in metres.
const shortName = 105.0

// dropShortNames drops names that a road has for a short stretch only, such as bridges, and what it is called again behind it.
func (g *Guide) dropShortNames() {
	before := g.turns[0].named
	for i := 1; i < len(g.turns); i++ {
		t := &g.turns[i]
		switch t.kind {
		case Silent:
			continue
		case NewName:
			next := g.nextTold(i)
			a, b := g.net.wayOf(before), g.net.wayOf(t.named)
			if len(t.spot.Lanes) == 0 && g.turns[next].spot.At-t.spot.At < shortName || !g.net.renamed(a, b) {
				t.kind = Silent
				continue
			}
		}
		before = t.named
	}
}

// nextTold is the index of the next turn that something is told of.
func (g *Guide) nextTold(i int) int {
	for i++; i < len(g.turns)-1 && g.turns[i].kind == Silent; i++ {
	}
	return i
}

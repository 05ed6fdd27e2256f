package guide

import (
	"wayside/internal/roads/car"
	"wayside/internal/roads/graph"
)

// override applies a mapper's maneuver to a turn, and prevents the turn from being joined with others.
func (g *Guide) override(t *turn) {
	if len(g.net.graph.Maneuvers) == 0 || !t.isJunction {
		return
	}
	maneuvers := g.net.graph.ManeuversAt(g.net.graph.Arcs[g.way.Parts[t.part].Arc].To)
	for i := range maneuvers {
		m := &maneuvers[i]
		if !g.leadsOver(g.net.graph.WaysOf(m), t.part) {
			continue
		}
		if m.Heading != car.AnyHeading {
			t.dir = headings[m.Heading]
		}
		switch {
		case m.Type != car.AnyManeuver:
			t.kind = maneuverKinds[m.Type]
		case t.kind == Silent:
			t.kind = Turn
		}
		t.fixed, t.used = true, t.kind != Silent
		return
	}
}

var maneuverKinds = [...]Kind{
	car.SuppressManeuver: Silent, car.TurnManeuver: Turn, car.ForkManeuver: Fork, car.MergeManeuver: Merge, car.OnRampManeuver: OnRamp,
	car.OffRampManeuver: OffRamp, car.EndOfRoadManeuver: EndOfRoad, car.ContinueManeuver: Continue, car.NewNameManeuver: NewName,
	car.UTurnManeuver: Turn,
}

var headings = [...]Direction{
	car.HeadingUTurn: UTurn, car.HeadingSharpLeft: SharpLeft, car.HeadingLeft: Left, car.HeadingSlightLeft: SlightLeft, car.HeadingStraight: Straight,
	car.HeadingSlightRight: SlightRight, car.HeadingRight: Right, car.HeadingSharpRight: SharpRight,
}

// leadsOver reports whether the route reaches the end of a part over the first of these ways and leaves it over the
// others.
func (g *Guide) leadsOver(ways []uint32, part int) bool {
	in, out := g.wayAt(part), g.wayAt(part+1)
	for i, way := range ways {
		if way != in {
			continue
		}
		if i+1 < len(ways) && ways[i+1] == out && g.cameOver(ways[:i+1], part) && g.goesOver(ways[i+1:], part+1) {
			return true
		}
		if in == out && g.cameOver(ways[:i+1], part) && g.goesOver(ways[i:], part+1) {
			return true
		}
	}
	return false
}

// cameOver reports whether the parts up to one lead over exactly these ways, from the first to the last.
func (g *Guide) cameOver(ways []uint32, part int) bool {
	for i := len(ways) - 1; ; part-- {
		if part < 0 {
			return false
		}
		switch way := g.wayAt(part); {
		case i > 0 && way == ways[i-1]:
			i--
		case way != ways[i]:
			return false
		}
		if i == 0 {
			return true
		}
	}
}

// goesOver reports whether the parts from one on lead over exactly these ways.
func (g *Guide) goesOver(ways []uint32, part int) bool {
	for i := 0; ; part++ {
		if part >= len(g.way.Parts) {
			return false
		}
		switch way := g.wayAt(part); {
		case i+1 < len(ways) && way == ways[i+1]:
			i++
		case way != ways[i]:
			return false
		}
		if i == len(ways)-1 {
			return true
		}
	}
}

// wayAt returns the index of the way of a part, or graph.None after the last part.
func (g *Guide) wayAt(part int) uint32 {
	if part >= len(g.way.Parts) {
		return graph.None
	}
	return g.net.graph.Pieces[g.net.graph.Arcs[g.way.Parts[part].Arc].Piece].Way
}

package guide

import (
	"cmp"
	"math"
	"slices"

	"wayside/internal/roads/car"
	"wayside/internal/roads/graph"
)

// Lane is a lane before an intersection.
type Lane struct {
	Marks car.Lane
	Valid bool     // a driver may take it for the turn of the route
	Taken car.Lane // the arrow that the route follows; 0: none, or the lane is not valid
}

// Indications calls each with the names of a lane's arrows, in OSRM's order.
func Indications(marks car.Lane, each func(name string)) {
	if marks == 0 {
		each("none")
	}
	for _, m := range [...]struct {
		mark car.Lane
		name string
	}{
		{car.LaneThrough, "straight"},
		{car.LaneSharpLeft, "sharp left"},
		{car.LaneLeft, "left"},
		{car.LaneSlightLeft, "slight left"},
		{car.LaneSlightRight, "slight right"},
		{car.LaneRight, "right"},
		{car.LaneSharpRight, "sharp right"},
		{car.LaneReverse, "uturn"},
		{car.LaneMergeToLeft, "merge to left"},
		{car.LaneMergeToRight, "merge to right"},
	} {
		if marks&m.mark != 0 {
			each(m.name)
		}
	}
}

// pointsTo returns the angle of an arrow.
func pointsTo(mark car.Lane) float64 {
	switch mark {
	case car.LaneReverse:
		return 180
	case car.LaneSharpLeft:
		return -135
	case car.LaneLeft:
		return -90
	case car.LaneSlightLeft:
		return -40
	case car.LaneSlightRight:
		return 40
	case car.LaneRight:
		return 90
	case car.LaneSharpRight:
		return 135
	}
	return 0 // through, and lanes that merge
}

// The limits of matching arrows to roads.
const (
	arrowWithin  = 75.0 // degrees
	arrowInOrder = 80.0 // the same, if each arrow has its own road
	laneBefore   = 50.0 // metres before a junction within which mapped lanes may end
)

// lanesBefore returns the lanes that lead to a junction, and their part: the lanes of the arc that arrives there or, if
// that has none, those of an arc shortly before.
func (g *Guide) lanesBefore(part int) ([]car.Lane, int) {
	if lanes := g.net.graph.LanesOf(g.way.Parts[part].Arc); len(lanes) > 0 {
		return lanes, part
	}
	for ahead := 0.0; part > g.begins && g.way.Parts[part-1].Turned; part-- {
		ahead += g.at[part+1] - g.at[part]
		if ahead > laneBefore || !g.passesBy(part) && !g.leavesArrows(part-1) {
			return nil, 0
		}
		if lanes := g.net.graph.LanesOf(g.way.Parts[part-1].Arc); len(lanes) > 0 {
			return lanes, part - 1
		}
	}
	return nil, 0
}

// leavesArrows reports whether lanes at the end of a part show a turn that does not exist there, in which case they
// apply to the next junction too.
func (g *Guide) leavesArrows(part int) bool {
	for i := len(g.turns) - 1; i > 0 && g.turns[i].part >= part; i-- {
		if t := &g.turns[i]; t.part == part {
			return t.kind == Silent && t.leavesArrows
		}
	}
	return false
}

// passesBy reports whether no other road can be taken at the beginning of a part.
func (g *Guide) passesBy(part int) bool {
	from, to := g.way.Parts[part-1].Arc, g.way.Parts[part].Arc
	for _, turn := range g.net.graph.TurnsFrom(from) {
		other := &g.net.graph.Arcs[turn.To]
		if other.CopyOf != g.net.graph.Arcs[to].CopyOf && other.Piece != g.net.graph.Arcs[from].Piece {
			return false
		}
	}
	return true
}

// matchLanes returns the lanes before a turn, marked by whether they lead onto the taken branch. It returns nil if none
// does.
func (g *Guide) matchLanes(v *view, t *turn, to int) []Lane {
	marks, part := g.lanesBefore(t.part)
	if len(marks) == 0 || v.entries() == 0 {
		return nil
	}
	var all car.Lane
	for _, lane := range marks {
		all |= lane
	}
	v.readArrows(all)
	t.lanesOf, t.leavesArrows = part, v.isShown(none)
	first, valid := len(g.lanes), false
	for i, lane := range marks {
		l := Lane{Marks: lane}
		switch {
		case lane == 0 && to >= 0:
			l.Valid = !v.isShown(to) && outermost(marks, i, v.branches[to].angle) || math.Abs(v.branches[to].angle) <= slightFrom
		case to < 0:
			l.Valid, l.Taken = turnsBack(lane, all, i, len(marks), v.in.flags)
		default:
			l.Taken = v.taken(lane, to)
			l.Valid = l.Taken != 0
		}
		valid = valid || l.Valid
		g.lanes = append(g.lanes, l)
	}
	if !valid && to >= 0 && all&car.LaneReverse != 0 && v.branches[to].angle*backAngle(v.in.flags) > 0 {
		for i := range g.lanes[first:] { // the route turns back
			l := &g.lanes[first+i]
			l.Taken = l.Marks & car.LaneReverse
			l.Valid = l.Taken != 0
		}
		valid = true
	}
	if !valid {
		g.lanes = g.lanes[:first]
		return nil
	}
	return g.lanes[first:len(g.lanes):len(g.lanes)]
}

// backAngle returns the angle of turning back: negative to the left, and positive to the right where traffic drives on
// the left.
func backAngle(flags graph.Flags) float64 {
	if flags&graph.DriveLeft != 0 {
		return 1
	}
	return -1
}

// turnsBack reports whether drivers turn back from a lane: one with that arrow or, if none has it, the one next to the
// opposite direction.
func turnsBack(lane, all car.Lane, i, count int, flags graph.Flags) (bool, car.Lane) {
	if all&car.LaneReverse != 0 {
		return lane&car.LaneReverse != 0, lane & car.LaneReverse
	}
	if flags&graph.DriveLeft != 0 {
		return i == count-1, lane & (car.LaneRight | car.LaneSharpRight)
	}
	return i == 0, lane & (car.LaneLeft | car.LaneSharpLeft)
}

// taken returns the arrow of a lane that shows a branch.
func (v *view) taken(lane car.Lane, to int) car.Lane {
	for mark := car.LaneReverse; mark <= car.AllLaneMarks; mark <<= 1 {
		if lane&mark != 0 && v.shownBy(mark) == to {
			return mark
		}
	}
	return 0
}

// outermost reports whether a lane without an arrow serves a turn by an angle that no arrow shows: every lane goes
// straight on, and the last lane on a side also serves turns to that side.
func outermost(marks []car.Lane, at int, angle float64) bool {
	switch {
	case math.Abs(angle) <= turnFrom:
		return true
	case angle < 0:
		return at == 0
	}
	return at == len(marks)-1
}

// readArrows finds the branch that each arrow shows. If there are as many directions of arrows as roads, they match in
// order.
func (v *view) readArrows(all car.Lane) {
	v.arrows = v.arrows[:0]
	var order [10]car.Lane
	count := 0
	for mark := car.LaneReverse << 1; mark <= car.AllLaneMarks; mark <<= 1 {
		if all&mark != 0 && !slices.ContainsFunc(order[:count], func(o car.Lane) bool { return pointsTo(o) == pointsTo(mark) }) {
			order[count] = mark
			count++
		}
	}
	marks := order[:count]
	slices.SortFunc(marks, func(a, b car.Lane) int { return cmp.Compare(pointsTo(a), pointsTo(b)) })
	inOrder, next := count == v.entries(), 0
	for i := range v.branches {
		if b := &v.branches[i]; inOrder && b.entry {
			off := math.Abs(b.angle - pointsTo(marks[next]))
			inOrder = off < arrowInOrder
			v.arrows = append(v.arrows, arrow{pointsTo(marks[next]), i})
			next++
		}
	}
	if inOrder {
		return
	}
	v.arrows = v.arrows[:0]
	for _, mark := range marks {
		v.arrows = append(v.arrows, arrow{pointsTo(mark), v.nearest(mark)})
	}
}

// arrow is a direction of lanes, and the branch that it shows, or -1.
type arrow struct {
	angle float64
	to    int
}

// isShown reports whether an arrow shows a branch.
func (v *view) isShown(to int) bool {
	return slices.ContainsFunc(v.arrows, func(a arrow) bool { return a.to == to })
}

// shownBy returns the branch that an arrow shows, or -1.
func (v *view) shownBy(mark car.Lane) int {
	for _, a := range v.arrows {
		if mark != car.LaneReverse && a.angle == pointsTo(mark) {
			return a.to
		}
	}
	return -1
}

// nearest returns the branch whose angle is nearest to that of an arrow, or -1.
func (v *view) nearest(mark car.Lane) int {
	best, least := -1, arrowWithin
	for i := range v.branches {
		b := &v.branches[i]
		if !b.entry {
			continue
		}
		off := math.Abs(b.angle - pointsTo(mark))
		if wrongSide := b.angle*pointsTo(mark) < 0; wrongSide && math.Abs(b.angle) > 5 {
			off += 30
		}
		if off < least {
			best, least = i, off
		}
	}
	return best
}

// nearestArrow returns the arrow of a lane nearest to an angle, and the difference. A lane without an arrow counts as
// straight on.
func nearestArrow(l *Lane, angle float64) (best car.Lane, off float64) {
	if l.Marks == 0 {
		return 0, math.Abs(angle)
	}
	off = math.Inf(1)
	for mark := car.LaneReverse; mark <= car.AllLaneMarks; mark <<= 1 {
		if l.Marks&mark == 0 {
			continue
		}
		if d := math.Abs(normal(angle - pointsTo(mark))); d < off {
			best, off = mark, d
		}
	}
	return best, off
}

package guide

import (
	"math"
	"slices"

	"wayside/internal/roads/graph"
)

// judged is the instruction for a turn.
type judged struct {
	kind Kind
	dir  Direction
}

// classify returns the instruction for the turn onto the branch with index to.
func (v *view) classify(to int) judged {
	if to < 0 {
		return judged{Continue, UTurn}
	}
	b := &v.branches[to]
	if changes := (v.in.flags^b.flags)&graph.Ferry != 0; changes && v.ends <= 2 {
		return judged{Notification, directionOf(b.angle)}
	} else if changes {
		j := v.road(to)
		if j.kind == Silent || j.kind == NewName || j.kind == Fork {
			j.kind = Notification
		}
		return j
	}
	if math.Abs(b.angle) >= backFrom {
		return judged{Continue, UTurn}
	}
	if v.in.flags&graph.Ferry != 0 && (v.net.sameRoad(v.in.way, b.way) || !v.isHarbour()) {
		return judged{Silent, Straight} // passengers on a ferry do not drive
	}
	return v.road(to)
}

// isHarbour reports whether cars may drive onto land here.
func (v *view) isHarbour() bool {
	return slices.ContainsFunc(v.branches, func(b branch) bool { return b.entry && b.flags&graph.Ferry == 0 })
}

// road returns the instruction for the turn from one road onto another.
func (v *view) road(to int) judged {
	b := &v.branches[to]
	if len(v.all) > 2 && (isMotorway(v.in.way) || isRamp(v.in.way)) && isMotorway(b.way) && !v.net.sameRoad(v.in.way, b.way) && !v.net.keepsRef(v.in.way, b.way) && v.joins(b) {
		return judged{Merge, v.mergeSide(b)}
	}
	follow := v.follow()
	if follow == to {
		return v.obvious(b)
	}
	if dir, ok := v.fork(to); ok && follow < 0 {
		if kind := v.rampKind(b); kind != Turn {
			return judged{kind, dir}
		}
		return judged{Fork, dir}
	}
	kind := v.rampKind(b)
	dir := v.direction(to)
	if kind == Turn && dir == Straight && follow >= 0 && directionOf(v.branches[follow].angle) == Straight && !v.joinsThrough(b) {
		if dir = SlightRight; to < follow {
			dir = SlightLeft
		}
	}
	if kind == OffRamp || kind == OnRamp {
		if dir == Straight && len(v.branches) > 1 {
			dir = v.sideOf(to)
		}
		return judged{kind, dir}
	}
	if v.isEndOfRoad() {
		return judged{EndOfRoad, dir}
	}
	if kind == Turn && v.net.sameName(v.in.way, b.way) {
		kind = Continue
	}
	return judged{kind, dir}
}

// The limits of joining a road straight on: the angle, and the distance in metres for which the road goes on without a
// junction.
const (
	joinWithin = 30.0
	joinMetres = 60.0
)

// goesFar reports whether a branch goes on without a junction for longer than a driver needs to join it.
func (v *view) goesFar(b *branch) bool {
	far, _ := v.net.nextJunction(b.end, joinMetres)
	return far == b.end
}

// allSharpFrom is the angle from which a turn is sharp in any order.
const allSharpFrom = 132.0

// direction returns the direction of the turn onto a branch. Roads on one side whose angles have the same word are
// distinguished by their order.
func (v *view) direction(to int) Direction {
	dir := directionOf(v.branches[to].angle)
	if !dir.IsLeft() && !dir.IsRight() {
		return dir
	}
	var order [3]int // the roads on this side, from straight on to the back
	count, clash := 0, false
	step, i := 1, 0
	if dir.IsLeft() {
		step, i = -1, len(v.branches)-1
	}
	for ; i >= 0 && i < len(v.branches); i += step {
		d := directionOf(v.branches[i].angle)
		if d.IsLeft() != dir.IsLeft() || d.IsRight() != dir.IsRight() {
			continue
		}
		if count == len(order) {
			return dir
		}
		clash = clash || count > 0 && directionOf(v.branches[order[count-1]].angle) == d
		order[count] = i
		count++
	}
	if !clash || math.Abs(v.branches[order[0]].angle) > allSharpFrom {
		return dir
	}
	at := 0
	for order[at] != to {
		at++
	}
	names := [...]Direction{SlightRight, Right, SharpRight}
	first := 0
	if count == 2 && math.Abs(v.branches[order[0]].angle) > sharpFrom {
		first = 1
	}
	d := names[first+at]
	if dir.IsLeft() {
		return d.mirrored()
	}
	return d
}

// rampKind returns the kind of a turn onto or off a ramp, and Turn for all others.
func (v *view) rampKind(b *branch) Kind {
	switch {
	case isLink(b.way) && isMotorway(v.in.way):
		if !v.motorwayGoesOn() {
			return Turn // it splits into ramps
		}
		return OffRamp
	case isRamp(b.way) && !isRamp(v.in.way):
		return OnRamp
	}
	return Turn
}

// motorwayGoesOn reports whether the motorway continues at the junction.
func (v *view) motorwayGoesOn() bool {
	for i := range v.branches {
		if b := &v.branches[i]; b.entry && !isLink(b.way) {
			return true
		}
	}
	return false
}

// obvious returns the instruction for a turn that needs no decision.
func (v *view) obvious(b *branch) judged {
	dir := directionOf(b.angle)
	if kind := v.rampKind(b); kind == OnRamp && (len(v.all) > 2 || (v.in.flags^b.flags)&graph.Motorway != 0) {
		return judged{kind, dir}
	}
	if isRamp(v.in.way) && isRamp(b.way) && v.entriesAhead() == 1 && math.Abs(b.angle) <= turnFrom {
		return judged{Silent, dir} // ramps meet, and there is only one way on
	}
	renamed := v.net.renamed(v.in.way, b.way)
	if len(v.all) > 2 && math.Abs(b.angle) > 60 && !v.bends(v.find(b.end)) {
		switch {
		case v.net.sameName(v.in.way, b.way) && v.entries() > 1:
			return judged{Continue, dir}
		case v.net.sameName(v.in.way, b.way):
			return judged{Silent, dir}
		case v.isEndOfRoad():
			return judged{EndOfRoad, dir}
		}
		return judged{Turn, dir}
	}
	if renamed && len(v.all) > 2 && v.joinsThrough(b) {
		if math.Abs(b.angle) <= joinWithin && v.goesFar(b) {
			dir = Straight // the driver is led into the road
		}
		return judged{Turn, dir}
	}
	if renamed && len(v.all) > 2 && v.turnsOff(b) {
		return judged{Turn, dir}
	}
	if dir != Straight && v.isDecision(b) {
		return judged{Continue, dir}
	}
	if renamed {
		if len(v.all) > 2 && math.Abs(b.angle) > 45 {
			return judged{Turn, dir}
		}
		return judged{NewName, dir}
	}
	return judged{Silent, dir}
}

// turnsOff reports whether the current road leaves to one side at a right angle, while another one of its class goes
// straight on.
func (v *view) turnsOff(b *branch) bool {
	side := 0
	for i := range v.branches {
		o := &v.branches[i]
		if o.end == b.end || !v.net.sameName(v.in.way, o.way) {
			continue
		}
		if !o.entry || math.Abs(o.angle) < rightAngle || o.way.Class != v.in.way.Class || v.net.isOneway(o.end.piece()) != v.net.isOneway(b.end.piece()) {
			return false
		}
		side++
	}
	return side == 1 && b.way.Class == v.in.way.Class
}

// rightAngle is the angle from which a road leads to the side.
const rightAngle = 85.0

// isDecision reports whether a road that keeps its name bends at a junction where another road leads off at a similar or
// smaller angle.
func (v *view) isDecision(b *branch) bool {
	mine := math.Abs(b.angle)
	return v.net.sameName(v.in.way, b.way) && slices.ContainsFunc(v.branches, func(o branch) bool {
		other := math.Abs(o.angle)
		return o.end != b.end && o.entry && (!isLink(o.way) || isLink(b.way)) &&
			(rankOf(o.way) <= rankOf(b.way)+1 && mine > turnFrom && other < mine+30 || rankOf(o.way) <= rankOf(b.way)+4 && other+8 < mine)
	})
}

// joins reports whether another road, of similar importance and closed to this route, also leads into a branch, roughly
// straight on.
func (v *view) joins(b *branch) bool {
	for i := range v.branches {
		o := &v.branches[i]
		if !o.entry && v.net.arriving(o.end) != graph.None && apart(o.bearing, b.bearing) > 120 && rankOf(o.way) <= rankOf(b.way)+1 {
			return true
		}
	}
	return false
}

// joinsThrough reports whether a branch is a road that comes from one side and continues to the other, so that the
// driver turns onto it.
func (v *view) joinsThrough(b *branch) bool {
	for i := range v.branches {
		if o := &v.branches[i]; o.end != b.end && v.net.sameRoad(o.way, b.way) && apart(o.bearing, b.bearing) > 140 {
			return true
		}
	}
	return false
}

// mergeSide returns the side of the merge: away from the other road that leads there.
func (v *view) mergeSide(b *branch) Direction {
	for i := range v.branches {
		o := &v.branches[i]
		if !o.entry && v.net.arriving(o.end) != graph.None && apart(o.bearing, b.bearing) > 120 {
			if o.angle < 0 {
				return SlightLeft
			}
			return SlightRight
		}
	}
	return directionOf(b.angle)
}

// sideOf returns on which side of the other roads a branch lies.
func (v *view) sideOf(to int) Direction {
	left, right := false, false
	for i := range v.branches {
		if i == to || !v.branches[i].entry || math.Abs(v.branches[i].angle) > 90 {
			continue
		}
		left, right = left || i < to, right || i > to
	}
	switch {
	case left && !right:
		return SlightRight
	case right && !left:
		return SlightLeft
	}
	return Straight
}

// The angles within which roads are the branches of a fork.
const (
	forkWithin = 60.0
	forkApart  = 62.0
)

// fork reports whether a branch is one of two or three that lead ahead side by side, and returns its side.
func (v *view) fork(to int) (Direction, bool) {
	first, last := -1, -1
	for i := range v.branches {
		if b := &v.branches[i]; b.entry && math.Abs(b.angle) <= forkWithin {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if first < 0 || first == last || to < first || to > last || last-first > 2 || v.branches[last].angle-v.branches[first].angle > forkApart {
		return NoDirection, false
	}
	for i := first; i <= last; i++ {
		if b := &v.branches[i]; !b.entry || math.Abs(float64(rankOf(b.way)-rankOf(v.branches[to].way))) > 3 || isTurnLane(b.way) != isTurnLane(v.branches[to].way) {
			return NoDirection, false
		}
	}
	for i := range v.branches {
		if i < first || i > last {
			if b := &v.branches[i]; math.Abs(b.angle) < 110 && b.entry {
				return NoDirection, false
			}
		}
	}
	switch {
	case to == first:
		return SlightLeft, true
	case to == last:
		return SlightRight, true
	}
	return Straight, true
}

// isEndOfRoad reports whether the road ends at another one that it meets at a right angle.
func (v *view) isEndOfRoad() bool {
	if len(v.branches) != 2 {
		return false
	}
	left, right := &v.branches[0], &v.branches[1]
	return left.angle < -50 && left.angle > -130 && right.angle > 50 && right.angle < 130
}

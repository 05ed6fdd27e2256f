package guide

import (
	"math"

	"wayside/internal/roads/graph"
)

// circle determines the instruction at a junction of a roundabout, and returns false at other junctions. to is the index
// of the taken branch.
func (g *Guide) circle(v *view, t *turn, to int) bool {
	if to < 0 {
		return false
	}
	b := &v.branches[to]
	from, onto := isCircle(v.in.flags), isCircle(b.flags)
	if !from && !onto {
		return g.touchCircle(v, t, b)
	}
	c := g.lastCircle
	if !from || v.in.end.piece() != g.circlePiece {
		c = g.net.circleAt(v, b)
	}
	if c.kind == Silent {
		return false
	}
	if onto {
		g.lastCircle, g.circlePiece = c, b.end.piece()
	}
	switch {
	case from && onto:
		t.judged, t.passes = judged{Silent, directionOf(b.angle)}, v.hasExit(to)
	case onto:
		t.judged, t.rotary = judged{c.kind, directionOf(b.angle)}, c.name
		t.passes = v.hasExitBefore(to)
	default:
		t.judged, t.rotary = judged{ExitRoundabout, v.exitDirection(b)}, c.name
		if c.kind == Rotary {
			t.kind = ExitRotary
		}
	}
	return true
}

// exitDirection returns the direction of an exit from a roundabout. Where the roundabout goes on nearly straight too, it
// is the side on which the exit lies.
func (v *view) exitDirection(b *branch) Direction {
	dir := directionOf(b.angle)
	for i := range v.branches {
		o := &v.branches[i]
		if !o.entry || !isCircle(o.flags) || math.Abs(o.angle) > exitAside {
			continue
		}
		if dir == Straight || dir == SlightRight || dir == SlightLeft {
			if o.angle < b.angle {
				return Right
			}
			return Left
		}
	}
	return dir
}

// exitAside is the maximum angle by which a roundabout goes on nearly straight.
const exitAside = 30.0

// touchCircle determines the instruction for a turn that crosses a roundabout at a single node. Drivers who go straight
// on there do not see a roundabout.
func (g *Guide) touchCircle(v *view, t *turn, b *branch) bool {
	if directionOf(b.angle) == Straight {
		return false
	}
	for i := range v.branches {
		if !isCircle(v.branches[i].flags) || !v.branches[i].entry {
			continue
		}
		c := g.net.circleAt(v, &v.branches[i])
		if c.kind == Silent {
			return false
		}
		dir := directionOf(b.angle)
		if out, other := v.branches[i].angle, v.otherCircle(i); b.angle < other && other < out || b.angle > other && other > out {
			entry := *t // the exit lies before the entry, so the route goes all the way around
			entry.judged, entry.rotary, entry.exit = judged{c.kind, directionOf(out)}, c.name, c.exits
			if entry.kind == RoundaboutTurn {
				entry.kind = Roundabout
			}
			g.turns = append(g.turns, entry)
			if dir = Right; other > out {
				dir = Left
			}
		}
		t.judged, t.rotary = judged{ExitRoundabout, dir}, c.name
		if c.kind == Rotary {
			t.kind = ExitRotary
		}
		return true
	}
	return false
}

// otherCircle returns the angle of the branch by which a roundabout arrives, given the one by which it leaves.
func (v *view) otherCircle(leaving int) float64 {
	for i := range v.branches {
		if i != leaving && isCircle(v.branches[i].flags) {
			return v.branches[i].angle
		}
	}
	return v.branches[leaving].angle
}

// hasExit reports whether the roundabout has an exit at a junction, other than the taken branch.
func (v *view) hasExit(to int) bool {
	for i := range v.branches {
		if b := &v.branches[i]; i != to && b.entry && !isCircle(b.flags) && !isLow(b.way) {
			return true
		}
	}
	return false
}

// hasExitBefore reports whether the junction at which the route enters has an exit. Roads count that the driver passes
// before being in the roundabout.
func (v *view) hasExitBefore(to int) bool {
	out, other := v.branches[to].angle, v.branches[to].angle
	for i := range v.branches {
		if b := &v.branches[i]; i != to && isCircle(b.flags) {
			other = b.angle
		}
	}
	for i := range v.branches {
		b := &v.branches[i]
		if i == to || !b.entry || isCircle(b.flags) || isLow(b.way) {
			continue
		}
		if other < out && b.angle > other || other > out && b.angle < other {
			return true
		}
	}
	return false
}

// circleKind is the kind of roundabout that a driver enters.
type circleKind struct {
	kind  Kind
	name  *graph.Way // of a rotary
	exits int        // number of roads by which drivers may leave
}

// The sizes of roundabouts, as radii in metres.
const (
	smallCircle = 15.0
	largeCircle = 15.0
	maxExits    = 4 // of a roundabout that is announced as a turn
)

// circleAt determines the kind of roundabout that a junction belongs to, by following it all around. It returns Silent
// if the road does not lead around.
func (n *Network) circleAt(v *view, b *branch) circleKind {
	start := b.end
	if !isCircle(b.flags) {
		start = v.in.end ^ 1
	}
	if n.leaving(start) == graph.None {
		return circleKind{}
	}
	w := circleWalk{net: n, circular: true, oneName: true, turnable: true}
	if !w.around(start) {
		return circleKind{}
	}
	radius := w.length / (2 * math.Pi)
	switch {
	case radius > largeCircle && (w.circular || w.name != nil && w.oneName && !w.nameOutside):
		return circleKind{Rotary, w.name, w.leaving}
	case radius <= smallCircle && w.turnable && w.exits > 1 && w.exits <= maxExits:
		return circleKind{kind: RoundaboutTurn, exits: w.leaving}
	}
	return circleKind{kind: Roundabout, exits: w.leaving}
}

// circleWalk follows a roundabout all around.
type circleWalk struct {
	net         *Network
	length      float64
	circular    bool // all pieces are tagged junction=circular
	name        *graph.Way
	oneName     bool
	nameOutside bool // a road that leads to it has the same name
	exits       int  // roads
	leaving     int  // number of roads by which drivers may leave
	turnable    bool // each junction has one road, and the roads have distinct angles
	bearings    [maxExits]float64
}

// around follows a roundabout until it comes back, and returns false if it does not.
func (w *circleWalk) around(start end) bool {
	e := start
	for range maxFollowed {
		w.add(e)
		next, ok := w.next(e ^ 1)
		if !ok {
			return false
		}
		if next == start {
			w.compareOutside(start)
			return true
		}
		e = next
	}
	return false
}

// add counts a piece of the roundabout.
func (w *circleWalk) add(e end) {
	way := w.net.wayOfPiece(e.piece())
	w.length += w.net.metres(e.piece())
	w.circular = w.circular && w.net.flags(e.piece())&graph.Circular != 0
	switch {
	case way.Name.Length == 0:
	case w.name == nil:
		w.name = way
	case w.name.Name != way.Name:
		w.oneName = false
	}
}

// next returns the piece of the roundabout after the one that arrives at an end.
func (w *circleWalk) next(e end) (next end, ok bool) {
	outside := 0
	for _, o := range w.net.endsAt(w.net.node(e)) {
		switch {
		case o == e:
		case isCircle(w.net.flags(o.piece())):
			if w.net.leaving(o) != graph.None && o.piece() != e.piece() || o == e^1 {
				if ok && next != o {
					return 0, false // there are several ways around
				}
				next, ok = o, true
			}
		default:
			outside++
			w.note(o)
		}
	}
	if outside > 1 {
		w.turnable = false
	}
	return next, ok
}

// note records a road that leads to the roundabout.
func (w *circleWalk) note(o end) {
	bearing := w.net.bearingFrom(o, shownAhead)
	if w.net.leaving(o) != graph.None {
		w.leaving++
	}
	if w.exits < maxExits {
		for _, other := range w.bearings[:w.exits] {
			if apart(bearing, other) < 40 {
				w.turnable = false
			}
		}
		w.bearings[w.exits] = bearing
	}
	w.exits++
}

// compareOutside checks whether a road that leads to the roundabout has the roundabout's name.
func (w *circleWalk) compareOutside(start end) {
	if w.name == nil {
		return
	}
	e := start
	for range maxFollowed {
		for _, o := range w.net.endsAt(w.net.node(e ^ 1)) {
			if !isCircle(w.net.flags(o.piece())) && w.net.wayOfPiece(o.piece()).Name == w.name.Name {
				w.nameOutside = true
			}
		}
		counted := *w
		next, ok := counted.next(e ^ 1)
		if !ok || next == start {
			return
		}
		e = next
	}
}

// joinRoundabouts counts the exits of roundabouts, and gives their entries the names of the roads after them.
func (g *Guide) joinRoundabouts() {
	entry, exits := -1, 0
	for i := range g.turns {
		t := &g.turns[i]
		switch {
		case t.kind.entersCircle():
			entry, exits = i, 0
			if t.passes {
				exits++
			}
		case t.kind == Silent && t.passes:
			exits++
		case t.kind.leavesCircle():
			if entry >= 0 {
				t.rotary = nil // the entry has the name
				g.leave(&g.turns[entry], t, exits+1)
			} else {
				g.leaveUnentered(t, exits+1)
			}
			entry, exits = -1, 0
		}
	}
	if entry >= 0 && g.turns[entry].kind == RoundaboutTurn { // the route ends within the roundabout
		g.turns[entry].kind = Roundabout
	}
}

// leaveUnentered completes the exit of a roundabout without an entry: the route enters and leaves it at one node, or
// begins within it. Such an exit has a number, because it is the only instruction at the roundabout.
func (g *Guide) leaveUnentered(t *turn, count int) {
	t.exit = count
	if g.way.KeepExits {
		return
	}
	if t.kind == ExitRotary {
		t.kind = Rotary
	} else {
		t.kind = Roundabout
	}
}

// leave completes the entry of a roundabout with data that is known at its exit.
func (g *Guide) leave(entry, exit *turn, count int) {
	if entry.named = exit.named; entry.exit == 0 {
		entry.exit = count
	}
	in, out := &entry.spot, &exit.spot
	angle := turned(float64(in.Roads[in.In].Bearing), float64(out.Roads[out.Out].Bearing))
	if g.net.graph.Arcs[entry.named].Flags&graph.DriveLeft != 0 {
		angle = -angle
	}
	if entry.degrees = int(math.Round(180 - angle)); entry.degrees == 0 {
		entry.degrees = 360
	}
	if entry.kind == RoundaboutTurn {
		entry.dir = directionOf(turned(float64(in.Roads[in.In].Bearing), float64(out.Roads[out.Out].Bearing)))
		exit.kind = Silent
	}
	if !g.way.KeepExits {
		exit.kind = Silent
	}
}

package guide

import (
	"cmp"
	"math"
	"slices"

	"wayside/internal/roads/graph"
)

// branch is a road at a junction, as an arriving driver sees it.
type branch struct {
	end     end
	way     *graph.Way
	flags   graph.Flags
	shown   float64 // bearing from north, as shown in answers
	bearing float64 // bearing from north, over the distance that a driver sees
	seen    float64 // the same for this piece alone, if carriageways are joined
	angle   float64 // of the turn onto it: 0 is straight on, right positive; -180 to 180
	entry   bool    // turning onto it is allowed
	merged  bool    // it represents both carriageways of a road
}

// view is a junction as a driver sees it who arrives by an arc: the road that the driver comes from, and the others
// clockwise from it.
type view struct {
	net      *Network
	node     uint32
	from     uint32 // the arc
	in       branch
	ends     int      // number of roads; each carriageway counts
	back     end      // the other carriageway of the road that the driver comes from, or its own end
	all      []branch // including the road that the driver comes from, clockwise from north by shown
	arrows   []arrow  // of the lanes before the junction
	branches []branch // the other roads, from left to right; carriageways of one road are joined
}

// The distances over which bearings are measured, in metres.
const (
	shownAhead = 10.0
	seenAhead  = 18.0
)

// maxRoads is how many roads at a junction are considered. If there are more, the network only allows turning back.
const maxRoads = 64

// look fills a view of the junction at the end of an arc.
func (v *view) look(net *Network, from uint32) {
	v.net, v.from, v.node = net, from, net.graph.Arcs[from].To
	v.all, v.branches = v.all[:0], v.branches[:0]
	head := net.headOf(from)
	p := planeAt(net.graph.Nodes[v.node].Position)
	for _, e := range net.endsAt(v.node) {
		if len(v.all) >= maxRoads && e != head {
			continue // only turning back is possible at such a node
		}
		b := branch{end: e, way: net.wayOfPiece(e.piece()), flags: net.flags(e.piece()), entry: net.allows(from, e)}
		b.shown, b.bearing = net.bearingsFrom(p, e, shownAhead, seenAhead)
		if along, ok := net.joinsAhead(e); ok {
			b.shown, b.bearing = along, along
		}
		b.seen = b.bearing
		v.all = append(v.all, b)
		if e == head {
			v.in = b
		}
	}
	for i := range v.all {
		b := &v.all[i]
		b.angle = turned(v.in.bearing, b.bearing)
		if b.end != head {
			v.branches = append(v.branches, *b)
		}
	}
	v.in.angle, v.back = 180, v.in.end
	slices.SortFunc(v.all, func(a, b branch) int {
		return cmp.Or(cmp.Compare(fromNorth(a.shown), fromNorth(b.shown)), cmp.Compare(a.end, b.end))
	})
	slices.SortFunc(v.branches, func(a, b branch) int { return cmp.Or(cmp.Compare(a.angle, b.angle), cmp.Compare(a.end, b.end)) })
	if v.ends = len(v.all); v.ends > 2 {
		v.joinCarriageways()
	}
}

// fromNorth returns a bearing such that the roads at a junction sort clockwise from north, as answers show them: a road
// that leads north almost is the first, and not the last.
func fromNorth(bearing float64) float64 {
	const north = 360 - 7.5 // answers round to 15 degrees
	if bearing >= north {
		return bearing - 360
	}
	return bearing
}

// turned returns the angle of a turn between two roads whose bearings in and out are measured from the junction.
func turned(in, out float64) float64 {
	return normal(out - in + 180)
}

// normal normalizes an angle to between -180 and 180.
func normal(angle float64) float64 {
	a := math.Mod(angle, 360)
	switch {
	case a > 180:
		a -= 360
	case a <= -180:
		a += 360
	}
	return a
}

// apart returns the angle between two bearings.
func apart(a, b float64) float64 { return math.Abs(normal(a - b)) }

// find returns the branch with an end, or with the end that was joined with it, or -1 for the road that the driver comes
// from.
func (v *view) find(e end) int {
	return slices.IndexFunc(v.branches, func(b branch) bool { return b.end == e })
}

// seen returns the bearing of an end over the distance that a driver sees.
func (v *view) seen(e end) float64 {
	for i := range v.all {
		if b := &v.all[i]; b.end == e {
			return b.seen
		}
	}
	return v.net.bearingFrom(e, seenAhead) // it was joined with another one
}

// entriesAhead is like entries, but does not count sharp turns.
func (v *view) entriesAhead() (n int) {
	for i := range v.branches {
		if b := &v.branches[i]; b.entry && math.Abs(b.angle) <= sharpFrom {
			n++
		}
	}
	return n
}

// entries returns the number of roads onto which a turn is allowed, not counting turning back.
func (v *view) entries() (n int) {
	for i := range v.branches {
		if v.branches[i].entry {
			n++
		}
	}
	return n
}

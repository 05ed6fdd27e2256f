package guide

import (
	"cmp"
	"math"
	"slices"

	"wayside/internal/roads/graph"
)

// branch is a road at a junction, as who arrives there sees it.
type branch struct {
	end     end
	way     *graph.Way
	flags   graph.Flags
	shown   float64 // bearing from north, as answers tell it
	bearing float64 // bearing from north, over the distance that a driver sees
	seen    float64 // the same of this piece alone, where carriageways are joined
	angle   float64 // of the turn onto it: 0 is straight on, right positive; -180 to 180
	entry   bool    // one may turn onto it
	merged  bool    // it stands for both carriageways of a road
}

// view is a junction as who arrives there by an arc sees it: the road that one comes from, and the others clockwise from it.
type view struct {
	net      *Network
	node     uint32
	from     uint32 // the arc
	in       branch
	ends     int      // how many roads meet, each carriageway for itself
	back     end      // the other carriageway of the road that one comes from, or its own end
	all      []branch // with the road that one comes from, clockwise from north by what is shown
	arrows   []arrow  // of the lanes that lead there
	branches []branch // without it, from left to right; carriageways of one road joined
}

// The distances over which bearings are measured, in metres.
const (
	shownAhead = 10.0
	seenAhead  = 18.0
)

// maxRoads is how many roads are looked at where roads meet: where more do, the network allows nothing but turning back.
const maxRoads = 64

// look fills a view of the junction at the end of an arc.
func (v *view) look(net *Network, from uint32) {
	v.net, v.from, v.node = net, from, net.graph.Arcs[from].To
	v.all, v.branches = v.all[:0], v.branches[:0]
	head := net.headOf(from)
	p := planeAt(net.graph.Nodes[v.node].Position)
	for _, e := range net.endsAt(v.node) {
		if len(v.all) >= maxRoads && e != head {
			continue // one can only turn back at such a node
		}
		b := branch{end: e, way: net.wayOfPiece(e.piece()), flags: net.flags(e.piece()), entry: net.allows(from, e)}
		b.shown, b.bearing = net.bearingsFrom(p, e, shownAhead, seenAhead)
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
	slices.SortFunc(v.all, func(a, b branch) int { return cmp.Or(cmp.Compare(a.shown, b.shown), cmp.Compare(a.end, b.end)) })
	slices.SortFunc(v.branches, func(a, b branch) int { return cmp.Or(cmp.Compare(a.angle, b.angle), cmp.Compare(a.end, b.end)) })
	if v.ends = len(v.all); v.ends > 2 {
		v.joinCarriageways()
	}
}

// turned is the angle by which one turns who comes from one bearing and leaves by another, both as seen from the junction.
func turned(in, out float64) float64 {
	return normal(out - in + 180)
}

// normal brings an angle between -180 and 180.
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

// apart is the angle between two bearings.
func apart(a, b float64) float64 { return math.Abs(normal(a - b)) }

// find is the branch behind an end, or behind the end that was joined with it; -1: that is the road that one comes from.
func (v *view) find(e end) int {
	return slices.IndexFunc(v.branches, func(b branch) bool { return b.end == e })
}

// seen is the bearing of an end over the distance that a driver sees.
func (v *view) seen(e end) float64 {
	for i := range v.all {
		if b := &v.all[i]; b.end == e {
			return b.seen
		}
	}
	return v.net.bearingFrom(e, seenAhead) // it was joined with another one
}

// entriesAhead is the same without sharp turns.
func (v *view) entriesAhead() (n int) {
	for i := range v.branches {
		if b := &v.branches[i]; b.entry && math.Abs(b.angle) <= sharpFrom {
			n++
		}
	}
	return n
}

// entries is how many roads one may turn onto, without turning back.
func (v *view) entries() (n int) {
	for i := range v.branches {
		if v.branches[i].entry {
			n++
		}
	}
	return n
}

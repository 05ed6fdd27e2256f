package guide

import (
	"math"

	"wayside/internal/roads/car"
	"wayside/internal/roads/graph"
)

// Lanes of a sliproad are lanes of the road before the junction: who goes straight on sees them turn off, and who takes
// the sliproad sees those of the road beside it.

// addSliproadLanes adds the lanes of a sliproad, that the route passed before a junction, to the lanes before the
// junction.
func (g *Guide) addSliproadLanes(t *turn) {
	split := &g.turns[len(g.turns)-1]
	if split.part < 0 || !split.isJunction || split.kind != Silent || len(split.spot.Lanes) > 0 || t.spot.At-split.spot.At > sliproadMetres || split.part+1 != t.part {
		return
	}
	slip, ok := g.sliproadBeside(split.part)
	if !ok {
		return
	}
	lanes, right := g.lanesAside(slip)
	if len(lanes) == 0 {
		return
	}
	t.spot.Lanes = g.besideLanes(t.spot.Lanes, lanes, right)
}

// joinSliproadLanes shows the lanes of a sliproad at the turn by it, beside those of the road that it leaves.
func (g *Guide) joinSliproadLanes(t, u *turn) {
	if len(t.spot.Lanes) > 0 || len(u.spot.Lanes) == 0 {
		return
	}
	taken := g.net.tailOf(g.way.Parts[t.part+1].Arc)
	_, right := g.lanesAside(taken)
	v := &g.other
	v.look(g.net, g.way.Parts[t.part].Arc)
	for i := range v.branches {
		b := &v.branches[i]
		if b.end == taken || !b.entry || math.Abs(b.angle) > 60 {
			continue
		}
		if ahead := g.net.graph.LanesOf(g.net.leaving(b.end)); len(ahead) > 0 {
			t.spot.Lanes = g.besideLanes(u.spot.Lanes, ahead, !right)
			u.spot.Lanes = t.spot.Lanes
			return
		}
	}
}

// lanesAside returns the lanes of the road at an end if all their arrows turn to one side, and whether that is the right.
func (g *Guide) lanesAside(e end) (lanes []car.Lane, right bool) {
	arc := g.net.leaving(e)
	if arc == graph.None {
		return nil, false
	}
	lanes = g.net.graph.LanesOf(arc)
	const rights, lefts = car.LaneSlightRight | car.LaneRight | car.LaneSharpRight, car.LaneSlightLeft | car.LaneLeft | car.LaneSharpLeft
	var all car.Lane
	for _, lane := range lanes {
		if lane == 0 {
			return nil, false
		}
		all |= lane
	}
	switch {
	case all&^rights == 0:
		return lanes, true
	case all&^lefts == 0:
		return lanes, false
	}
	return nil, false
}

// besideLanes returns lanes with others beside them that the route does not take.
func (g *Guide) besideLanes(lanes []Lane, others []car.Lane, right bool) []Lane {
	first := len(g.lanes)
	if right {
		g.lanes = append(g.lanes, lanes...)
	}
	for _, marks := range others {
		g.lanes = append(g.lanes, Lane{Marks: marks})
	}
	if !right {
		g.lanes = append(g.lanes, lanes...)
	}
	return g.lanes[first:len(g.lanes):len(g.lanes)]
}

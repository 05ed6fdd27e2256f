package nav

import (
	"cmp"
	"slices"

	"wayside/internal/drive/nav/guide"
	"wayside/internal/roads/graph"
)

// Part is a part of a leg, as defined by guidance.
type Part = guide.Part

// Step is a step of a leg, as defined by guidance.
type Step = guide.Step

// describe makes the steps of a leg and its summary.
func (n *Network) describe(l *Leg, from, to *Spot, keepExits bool) {
	l.Steps = l.guide.Steps(n.junctions(), &guide.Way{Parts: l.Parts, Locations: l.Locations, From: from.Input, To: to.Input, KeepExits: keepExits})
	l.Summary = n.summary(l)
}

// summary returns the names of the two longest roads of the leg, in order.
func (n *Network) summary(l *Leg) string {
	type stretch struct {
		name   graph.TextRange
		length float64
		first  int
	}
	var most [16]stretch // usually enough
	roads := most[:0]    // equal names are stored once
	for i := range l.Steps {
		s := &l.Steps[i]
		way := n.way(s.Arc)
		name := way.Name
		if name.Length == 0 {
			name = way.Ref
		}
		if name.Length == 0 {
			continue
		}
		at := slices.IndexFunc(roads, func(r stretch) bool { return r.name == name })
		if at < 0 {
			at = len(roads)
			roads = append(roads, stretch{name: name, first: i})
		}
		roads[at].length += s.Distance
	}
	slices.SortStableFunc(roads, func(a, b stretch) int { return cmp.Compare(b.length, a.length) })
	if len(roads) == 0 {
		return ""
	}
	roads = roads[:min(2, len(roads))]
	slices.SortFunc(roads, func(a, b stretch) int { return cmp.Compare(a.first, b.first) })
	if len(roads) == 1 {
		return n.Graph.Text(roads[0].name)
	}
	return n.Graph.Text(roads[0].name) + ", " + n.Graph.Text(roads[1].name)
}

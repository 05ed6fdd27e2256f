package graph

import (
	"cmp"
	"slices"

	"wayside/internal/roads/car"
)

// Maneuver is what mappers want announced for the turn at a node (type=maneuver), to drivers who come over the ways of a
// path. The ways are ManeuverWays[First:First+Count], from the first to the last.
type Maneuver struct {
	Node         uint32
	First, Count uint32
	Type         car.ManeuverType
	Heading      car.Heading
	_            [2]byte
}

// ManeuversAt returns the maneuvers at a node.
func (g *Graph) ManeuversAt(node uint32) []Maneuver {
	if len(g.Maneuvers) == 0 {
		return nil
	}
	first, ok := slices.BinarySearchFunc(g.Maneuvers, node, func(m Maneuver, node uint32) int { return cmp.Compare(m.Node, node) })
	if !ok {
		return nil
	}
	after := first
	for after < len(g.Maneuvers) && g.Maneuvers[after].Node == node {
		after++
	}
	return g.Maneuvers[first:after]
}

// WaysOf returns the ways of a maneuver's path.
func (g *Graph) WaysOf(m *Maneuver) []uint32 { return g.ManeuverWays[m.First : m.First+m.Count] }

// maneuver is a relation of the extract.
type maneuver struct {
	id int64
	car.Maneuver
}

// storeManeuvers stores the maneuvers whose ways and node are in the network, in the order of their nodes and ids.
func (b *builder) storeManeuvers() {
	g := b.graph
	for i := range b.maneuvers {
		m := &b.maneuvers[i]
		stored := Maneuver{Node: None, First: uint32(len(g.ManeuverWays)), Type: m.Type, Heading: m.Heading}
		if index, ok := slices.BinarySearch(b.nodes.ids, m.Via); ok && b.nodes.has(uint32(index)) {
			stored.Node = b.nodeOf[index]
		}
		found := stored.Node != None
		for _, id := range slices.Concat([]int64{m.From}, m.Over, []int64{m.To}) {
			way, ok := b.findWay(id)
			found = found && ok
			g.ManeuverWays = append(g.ManeuverWays, way)
		}
		if !found {
			g.ManeuverWays = g.ManeuverWays[:stored.First]
			b.leaveOut(invalidManeuvers, 1)
			continue
		}
		stored.Count = uint32(len(g.ManeuverWays)) - stored.First
		g.Maneuvers = append(g.Maneuvers, stored)
	}
	slices.SortStableFunc(g.Maneuvers, func(a, b Maneuver) int { return cmp.Compare(a.Node, b.Node) })
	b.maneuvers = nil
}

func (g *Graph) goodManeuver(i int) bool {
	m := &g.Maneuvers[i]
	return uint64(m.Node) < uint64(len(g.Nodes)) && (i == 0 || g.Maneuvers[i-1].Node <= m.Node) && m.Count >= 2 && m.Count <= car.MaxOver+2 &&
		uint64(m.First)+uint64(m.Count) <= uint64(len(g.ManeuverWays)) && m.Type <= car.UTurnManeuver && m.Heading <= car.HeadingSharpRight
}

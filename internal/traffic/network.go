package traffic

import (
	"slices"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
	"wayside/internal/wire"
)

// Network is the roads that conditions are on.
type Network struct {
	graph  *graph.Graph
	index  *match.Index
	copies map[uint32][]uint32 // of the arcs that have some
	rules  rules
}

// NewNetwork makes the network of a region.
func NewNetwork(g *graph.Graph, x *match.Index) *Network {
	n := &Network{graph: g, index: x, copies: map[uint32][]uint32{}, rules: newRules()}
	for arc := range g.Arcs {
		if base := g.Arcs[arc].CopyOf; base != uint32(arc) {
			n.copies[base] = append(n.copies[base], uint32(arc))
		}
	}
	return n
}

// pin is one entity of those that are one condition, as far as its place matters.
type pin struct {
	at         geo.Point
	properties properties
	line       []geo.Point // of a live incident, or of its properties; nil: none
}

func pinOf(h *mapdata.Hit) pin {
	p := pin{at: h.Point, properties: parseProperties(wire.Properties(h))}
	p.line = p.properties.line
	if p.line == nil && wire.HasLine(h) {
		p.line = wire.AppendLine(nil, h)
	}
	return p
}

// arcs are the arcs that a pin stands for (D15.15), in order.
func (n *Network) arcs(p *pin) []uint32 {
	if len(p.line) >= 2 {
		arcs := n.index.Along(p.line)
		if p.properties.bothDirections {
			back := slices.Clone(p.line)
			slices.Reverse(back)
			arcs = append(arcs, n.index.Along(back)...)
			slices.Sort(arcs)
			arcs = slices.Compact(arcs)
		}
		return arcs
	}
	directed := p.properties.hasBearing && !p.properties.bothDirections
	arcs := n.index.At(p.at, p.properties.street, p.properties.bearing, directed)
	slices.Sort(arcs)
	return arcs
}

// nearest leaves the arc of each direction that is nearest to a point: what costs time once does so in one place.
func (n *Network) nearest(arcs []uint32, at geo.Point) []uint32 {
	if len(arcs) <= 1 {
		return arcs
	}
	place := n.index.Nearest(nil, at, match.Nearest{Within: 1e5, Count: 1, Accept: func(piece uint32) bool {
		return slices.ContainsFunc(arcs, func(arc uint32) bool { return n.graph.Arcs[arc].Piece == piece })
	}})
	if len(place) == 0 {
		return arcs[:1]
	}
	return slices.DeleteFunc(slices.Clone(arcs), func(arc uint32) bool { return n.graph.Arcs[arc].Piece != place[0].Piece })
}

// withCopies yields an arc and its copies, which cost the same.
func (n *Network) withCopies(arc uint32, yield func(arc uint32)) {
	yield(arc)
	for _, other := range n.copies[arc] {
		yield(other)
	}
}

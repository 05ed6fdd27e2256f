package traffic

import (
	"hash/maphash"

	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
)

// Network holds the roads that conditions are matched to.
type Network struct {
	graph  *graph.Graph
	index  *match.Index
	copies map[uint32][]uint32 // only of arcs that have copies
	rules  rules
	seed   maphash.Seed
	pins   pins
}

// NewNetwork returns the network of a region.
func NewNetwork(g *graph.Graph, x *match.Index) *Network {
	n := &Network{graph: g, index: x, copies: map[uint32][]uint32{}, rules: newRules(), seed: maphash.MakeSeed()}
	for arc := range g.Arcs {
		if base := g.Arcs[arc].CopyOf; base != uint32(arc) {
			n.copies[base] = append(n.copies[base], uint32(arc))
		}
	}
	return n
}

// withCopies yields an arc and its copies, which cost the same.
func (n *Network) withCopies(arc uint32, yield func(arc uint32)) {
	yield(arc)
	for _, other := range n.copies[arc] {
		yield(other)
	}
}

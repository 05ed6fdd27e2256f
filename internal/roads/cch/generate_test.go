package cch_test

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"wayside/internal/roads/graph"
)

// town generates a network with everything that is difficult: a grid with missing and one-way streets, parallel streets,
// loops, dead ends, forbidden turns, copies of arcs, and disconnected parts.
func town(random *rand.Rand, width, height int) *graph.Graph {
	b := builder{random: random}
	for y := range height {
		for x := range width {
			b.graph.Nodes = append(b.graph.Nodes, graph.Node{Position: graph.Position{
				Lng: int32(x*1000 + random.IntN(700)), Lat: int32(y*1000 + random.IntN(700)),
			}})
		}
	}
	for y := range height {
		for x := range width {
			node := uint32(y*width + x)
			if x+1 < width && x != width/3 { // a gap in the middle splits the town in two
				b.street(node, node+1)
			}
			if y+1 < height {
				b.street(node, node+uint32(width))
			}
			if random.IntN(40) == 0 {
				b.street(node, node)
			}
			if random.IntN(40) == 0 {
				b.street(node, min(node+uint32(random.IntN(3*width)), uint32(width*height-1)))
			}
		}
	}
	b.turns()
	return &b.graph
}

type builder struct {
	random *rand.Rand
	graph  graph.Graph
}

func (b *builder) street(from, to uint32) {
	kind := b.random.IntN(10)
	if kind == 0 {
		return
	}
	if kind == 1 {
		b.arc(from, to)
	}
	if kind != 2 {
		b.arc(from, to)
	}
	if kind > 3 || kind == 2 {
		b.arc(to, from)
	}
}

// arc adds an arc, and sometimes a copy of it.
func (b *builder) arc(from, to uint32) {
	index := uint32(len(b.graph.Arcs))
	arc := graph.Arc{From: from, To: to, Weight: 1 + b.random.Uint32N(50), CopyOf: index, Flags: graph.MayBegin | graph.MayEnd}
	switch b.random.IntN(12) {
	case 0:
		arc.Flags |= graph.Toll
	case 1:
		arc.Flags |= graph.Motorway
	case 2:
		arc.Weight *= 100
	}
	b.graph.Arcs = append(b.graph.Arcs, arc)
	if b.random.IntN(20) == 0 {
		arc.Flags &^= graph.MayBegin
		b.graph.Arcs = append(b.graph.Arcs, arc)
	}
}

// turns adds turns at random.
func (b *builder) turns() {
	leaving := make([][]uint32, len(b.graph.Nodes))
	for i, arc := range b.graph.Arcs {
		leaving[arc.From] = append(leaving[arc.From], uint32(i))
	}
	b.graph.FirstTurn = []uint32{0}
	for _, arc := range b.graph.Arcs {
		first := len(b.graph.Turns)
		for _, to := range leaving[arc.To] {
			back := b.graph.Arcs[to].To == arc.From
			if back && b.random.IntN(4) != 0 || b.random.IntN(6) == 0 {
				continue
			}
			for range 1 + b.random.IntN(20)/19 {
				turn := graph.Turn{To: to, Weight: b.random.Uint32N(12)}
				turn.Duration = turn.Weight
				b.graph.Turns = append(b.graph.Turns, turn)
			}
		}
		slices.SortFunc(b.graph.Turns[first:], func(a, b graph.Turn) int { return cmp.Compare(a.To, b.To) })
		b.graph.FirstTurn = append(b.graph.FirstTurn, uint32(len(b.graph.Turns)))
	}
}

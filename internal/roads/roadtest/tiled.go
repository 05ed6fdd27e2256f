package roadtest

import "wayside/internal/roads/graph"

// Tiled returns copies of a network side by side, as many as are needed for the number of junctions, each linked to its
// neighbours by long arcs.
func Tiled(g *graph.Graph, junctions int) *graph.Graph {
	whole := &graph.Graph{FirstTurn: []uint32{0}}
	const step = 2_000_000 // a fifth of a degree
	tiles := (junctions + len(g.Nodes) - 1) / len(g.Nodes)
	columns := 1
	for columns*columns < tiles {
		columns++
	}
	gate := gateOf(g)
	perTile := uint32(len(g.Arcs) + 4)
	for tile := range tiles {
		nodes, arcs := uint32(len(whole.Nodes)), uint32(tile)*perTile
		for _, node := range g.Nodes {
			node.Lng += int32(tile % columns * step)
			node.Lat += int32((tile/columns - columns/2) * step)
			whole.Nodes = append(whole.Nodes, node)
		}
		for i, arc := range g.Arcs {
			arc.From, arc.To, arc.CopyOf = arc.From+nodes, arc.To+nodes, arc.CopyOf+arcs
			whole.Arcs = append(whole.Arcs, arc)
			for _, turn := range g.TurnsFrom(uint32(i)) {
				turn.To += arcs
				whole.Turns = append(whole.Turns, turn)
			}
			for link := range uint32(4) {
				if uint32(i) == gate {
					whole.Turns = append(whole.Turns, graph.Turn{To: arcs + perTile - 4 + link, Weight: 1})
				}
			}
			whole.FirstTurn = append(whole.FirstTurn, uint32(len(whole.Turns)))
		}
		for _, to := range []int{tile - columns, tile - 1, tile + 1, tile + columns} {
			if to < 0 || to >= tiles || (to/columns != tile/columns && to%columns != tile%columns) {
				to = tile
			}
			whole.Arcs = append(whole.Arcs, graph.Arc{
				From: g.Arcs[gate].To + nodes, To: g.Arcs[gate].From + uint32(to*len(g.Nodes)),
				Weight: 600_000, CopyOf: uint32(len(whole.Arcs)),
			})
			whole.Turns = append(whole.Turns, graph.Turn{To: uint32(to)*perTile + gate, Weight: 1})
			whole.FirstTurn = append(whole.FirstTurn, uint32(len(whole.Turns)))
		}
	}
	return whole
}

// gateOf returns the arc by which tiles are linked: the first one of the largest island.
func gateOf(g *graph.Graph) uint32 {
	for i, arc := range g.Arcs {
		if arc.Island == 0 && arc.CopyOf == uint32(i) {
			return uint32(i)
		}
	}
	return 0
}

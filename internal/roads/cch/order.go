package cch

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"wayside/internal/roads/graph"
)

// street is all arcs between two nodes.
type street struct {
	from, to uint32 // nodes, from < to
	// The street's arcs are dissection.arcs[first:end]; those from middle on lead from node to to node from.
	first, middle, end uint32
}

// dissection computes the order in which arcs are contracted: nested dissection of the nodes by inertial flow. If
// streets cut the nodes in two, no turn leads from an arc of one half to one of the other. So the arcs of these streets
// separate the arcs of the halves, and are contracted after them.
type dissection struct {
	streets []street
	arcs    []uint32
	x, y    []int32
	order   []uint32 // arcs, the first to be contracted first
	workers chan struct{}
	running sync.WaitGroup
	ctx     context.Context
}

// orderArcs returns an order of all arcs of a graph. It depends on the graph alone, not on the number of workers.
func orderArcs(ctx context.Context, g *graph.Graph, workers int) ([]uint32, error) {
	d := &dissection{ctx: ctx, order: make([]uint32, 0, len(g.Arcs)), workers: make(chan struct{}, max(workers-1, 0))}
	nodes := d.readStreets(g)
	d.project(g, nodes)
	root := newCell(nodes, d.streets, nil)
	d.peel(root)
	whole := root.core(d)
	start := uint32(len(d.order))
	d.order = d.order[:len(g.Arcs)]
	d.dissect(whole, start)
	d.running.Wait()
	return d.order, ctx.Err()
}

// readStreets groups arcs by the nodes that they join, and appends arcs from a node to itself to the order. It returns
// the number of nodes.
func (d *dissection) readStreets(g *graph.Graph) int {
	nodes := len(g.Nodes)
	type key struct{ from, to, arc uint32 }
	keys := make([]key, 0, len(g.Arcs))
	for i := range g.Arcs {
		from, to := g.Arcs[i].From, g.Arcs[i].To
		nodes = max(nodes, int(from)+1, int(to)+1)
		if from == to {
			d.order = append(d.order, uint32(i))
			continue
		}
		keys = append(keys, key{min(from, to), max(from, to), uint32(i)})
	}
	slices.SortFunc(keys, func(a, b key) int {
		backwardA, backwardB := g.Arcs[a.arc].From != a.from, g.Arcs[b.arc].From != b.from
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), compareBool(backwardA, backwardB), cmp.Compare(a.arc, b.arc))
	})
	d.arcs = make([]uint32, len(keys))
	for i, k := range keys {
		d.arcs[i] = k.arc
		if i == 0 || keys[i-1].from != k.from || keys[i-1].to != k.to {
			d.streets = append(d.streets, street{from: k.from, to: k.to, first: uint32(i), middle: uint32(i)})
		}
		s := &d.streets[len(d.streets)-1]
		s.end = uint32(i) + 1
		if g.Arcs[k.arc].From == k.from {
			s.middle = s.end
		}
	}
	return nodes
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// project maps the nodes to a plane in which a metre is about as long in each direction.
func (d *dissection) project(g *graph.Graph, nodes int) {
	d.x, d.y = make([]int32, nodes), make([]int32, nodes)
	if len(g.Nodes) == 0 {
		return
	}
	var sum float64
	for i := range g.Nodes {
		sum += float64(g.Nodes[i].Lat)
	}
	shrink := math.Cos(sum / float64(len(g.Nodes)) / 1e7 * math.Pi / 180)
	for i := range g.Nodes {
		d.x[i], d.y[i] = int32(float64(g.Nodes[i].Lng)*shrink), g.Nodes[i].Lat
	}
}

// cell is a subset of the nodes with the streets between them.
type cell struct {
	nodes []uint32 // indexes in the whole graph
	// The streets at node n are heads[first[n]:first[n+1]].
	first  []uint32
	heads  []half
	orders [directions][]uint32 // the nodes, sorted by their position in each direction
	arcs   uint32               // number of arcs of all its streets
}

// half is a street as seen from one of its nodes.
type half struct {
	to     uint32 // node of the cell
	twin   uint32 // index of the half at the other node
	street uint32
}

// newCell returns the cell of count nodes with all their streets. nodes contains the index of each in the whole graph;
// nil means all nodes.
func newCell(count int, streets []street, nodes []uint32) *cell {
	c := &cell{nodes: nodes, first: make([]uint32, count+1), heads: make([]half, 2*len(streets))}
	if nodes == nil {
		c.nodes = make([]uint32, count)
		for i := range c.nodes {
			c.nodes[i] = uint32(i)
		}
	}
	for _, s := range streets {
		c.first[s.from+1]++
		c.first[s.to+1]++
		c.arcs += s.end - s.first
	}
	for n := range count {
		c.first[n+1] += c.first[n]
	}
	next := slices.Clone(c.first)
	for i, s := range streets {
		a, b := next[s.from], next[s.to]
		c.heads[a], c.heads[b] = half{s.to, b, uint32(i)}, half{s.from, a, uint32(i)}
		next[s.from]++
		next[s.to]++
	}
	return c
}

// peel appends the arcs of dead ends to the order, the outermost first, and removes their streets from the cell.
func (d *dissection) peel(c *cell) {
	degree := make([]uint32, len(c.nodes))
	var ends []uint32
	for n := range c.nodes {
		degree[n] = c.first[n+1] - c.first[n]
		if degree[n] == 1 {
			ends = append(ends, uint32(n))
		}
	}
	for len(ends) > 0 {
		n := ends[0]
		ends = ends[1:]
		for i := c.first[n]; i < c.first[n+1]; i++ {
			h := &c.heads[i]
			if h.street == noStreet {
				continue
			}
			s := d.streets[h.street]
			d.order = append(d.order, d.arcs[s.first:s.end]...)
			c.heads[h.twin].street = noStreet
			h.street = noStreet
			if degree[h.to]--; degree[h.to] == 1 {
				ends = append(ends, h.to)
			}
			degree[n] = 0
		}
	}
}

const noStreet = math.MaxUint32

// core returns the cell without the nodes of dead ends, with the orders of its nodes.
func (c *cell) core(d *dissection) *cell {
	side := make([]bool, len(c.nodes))
	for n := range c.nodes {
		side[n] = !slices.ContainsFunc(c.heads[c.first[n]:c.first[n+1]], func(h half) bool { return h.street != noStreet })
	}
	core := c.part(d, side, false)
	for i := range core.orders {
		order := make([]uint32, len(core.nodes))
		key := make([]int64, len(core.nodes))
		for n, node := range core.nodes {
			order[n], key[n] = uint32(n), along(i, int64(d.x[node]), int64(d.y[node]))
		}
		slices.SortFunc(order, func(a, b uint32) int { return cmp.Or(cmp.Compare(key[a], key[b]), cmp.Compare(a, b)) })
		core.orders[i] = order
	}
	return core
}

// part returns the cell of the nodes on one side with the streets between them.
func (c *cell) part(d *dissection, side []bool, want bool) *cell {
	local := make([]uint32, len(c.nodes))
	p := &cell{}
	for n := range c.nodes {
		if side[n] == want {
			local[n] = uint32(len(p.nodes))
			p.nodes = append(p.nodes, c.nodes[n])
		}
	}
	moved := make([]uint32, len(c.heads))
	p.first = append(make([]uint32, 0, len(p.nodes)+1), 0)
	for n := range c.nodes {
		if side[n] != want {
			continue
		}
		for i := c.first[n]; i < c.first[n+1]; i++ {
			h := c.heads[i]
			if h.street == noStreet || side[h.to] != want {
				continue
			}
			moved[i] = uint32(len(p.heads))
			if h.twin < i {
				h.twin = moved[h.twin]
				p.heads[h.twin].twin = moved[i]
				p.arcs += d.streets[h.street].end - d.streets[h.street].first
			}
			h.to = local[h.to]
			p.heads = append(p.heads, h)
		}
		p.first = append(p.first, uint32(len(p.heads)))
	}
	for i, order := range c.orders {
		p.orders[i] = make([]uint32, 0, len(p.nodes))
		for _, n := range order {
			if side[n] == want {
				p.orders[i] = append(p.orders[i], local[n])
			}
		}
	}
	return p
}

// minGoroutineNodes is the size of a cell from which a separate goroutine pays.
const minGoroutineNodes = 2000

// dissect writes the arcs of a cell into the order from start on.
func (d *dissection) dissect(c *cell, start uint32) {
	if c.arcs == 0 || d.ctx.Err() != nil {
		return
	}
	side := c.components()
	cut := side == nil
	if cut {
		side = d.bisect(c)
	}
	a, b := c.part(d, side, false), c.part(d, side, true)
	if cut {
		d.separate(c, side, start+a.arcs+b.arcs)
	}
	next := start + a.arcs
	*c = cell{} // free its memory for the recursion
	if len(a.nodes) < minGoroutineNodes {
		d.dissect(a, start)
	} else {
		d.concurrently(func() { d.dissect(a, start) })
	}
	d.dissect(b, next)
}

// concurrently calls work in another goroutine if a worker is free, and in the calling one otherwise.
func (d *dissection) concurrently(work func()) {
	select {
	case d.workers <- struct{}{}:
		d.running.Go(func() {
			work()
			<-d.workers
		})
	default:
		work()
	}
}

// separate writes the arcs of the streets between both sides into the order: those that lead to one side, then the
// others.
func (d *dissection) separate(c *cell, side []bool, at uint32) {
	for _, backward := range [2]bool{false, true} {
		for n := range c.nodes {
			if side[n] {
				continue
			}
			for _, h := range c.heads[c.first[n]:c.first[n+1]] {
				if !side[h.to] {
					continue
				}
				s := d.streets[h.street]
				arcs := d.arcs[s.first:s.middle]
				if (c.nodes[n] == s.from) == backward {
					arcs = d.arcs[s.middle:s.end]
				}
				at += uint32(copy(d.order[at:], arcs))
			}
		}
	}
}

package consensus

import (
	"cmp"
	"math"
	"slices"

	"wayside/internal/ground/mapdata"
)

const (
	// maxAround is how many nodes of other sources a node may have around it, in the cells within its family's merge distance,
	// before it stands in a crowd. No real place has as many.
	maxAround = 128
	// cellsAround is how many cells of a family a node has around it at most: two along each axis.
	cellsAround = 8
	// maxTries is how many clusters of a place are tried for one more member.
	maxTries = 16
)

// dense reports whether the cells around a node contain more than maxAround nodes: otherwise there is no crowd, and each
// node is compared with few.
func (c *clusters) dense(kinds *kindTable) bool {
	if len(c.nodes) <= maxAround {
		return false
	}
	c.cells.reset(len(c.nodes))
	c.counts = slices.Grow(c.counts[:0], len(c.nodes))[:len(c.nodes)]
	most := int32(0)
	for i := range c.nodes {
		n := &c.nodes[i]
		f := &kinds.family[n.kind]
		n.cell = f.cell(f.step(n.at.X), f.step(n.at.Y), f.step(n.at.Z))
		first := c.firstOf(n.cell)
		if first < 0 {
			first = int32(i)
			c.cells.put(c.cells.head(spread(n.cell)), first)
			c.counts[first] = 0
		}
		c.counts[first]++
		most = max(most, c.counts[first])
	}
	if most > maxAround {
		return true
	}
	if most <= maxAround/cellsAround {
		return false
	}
	for i := range c.nodes {
		if c.countAround(&kinds.family[c.nodes[i].kind], &c.nodes[i]) > maxAround {
			return true
		}
	}
	return false
}

// firstOf returns the first node of a cell; negative: there is none.
func (c *clusters) firstOf(cell uint64) int32 {
	for place := *c.cells.head(spread(cell)); place != 0; place = c.cells.next[place-1] {
		if c.nodes[place-1].cell == cell {
			return place - 1
		}
	}
	return -1
}

// countAround counts the nodes in the cells around a node, itself included.
func (c *clusters) countAround(f *family, n *node) (count int32) {
	_, x0, x1 := f.steps(n.at.X)
	_, y0, y1 := f.steps(n.at.Y)
	_, z0, z1 := f.steps(n.at.Z)
	for x := x0; x <= x1; x++ {
		for y := y0; y <= y1; y++ {
			for z := z0; z <= z1; z++ {
				if first := c.firstOf(f.cell(x, y, z)); first >= 0 {
					count += c.counts[first]
				}
			}
		}
	}
	return count
}

// grid holds dense nodes by cells of the fine families, and in each cell by source: a search for the nodes of other
// sources around a node passes over those of its own without looking at them.
type grid struct {
	spots []spot
	cells buckets // of the first spot of each cell
	near  []int32 // scratch: the first spots of the cells around a node
}

// spot is the place of a node in a grid.
type spot struct {
	cell      uint64
	source    int32
	node      int32
	sourceEnd int32 // where the spots of its source in its cell end
	cellEnd   int32 // where those of its cell end
}

// fill puts nodes into the grid.
func (g *grid) fill(nodes []node, kinds *kindTable) {
	g.spots = slices.Grow(g.spots[:0], len(nodes))
	for i := range nodes {
		n := &nodes[i]
		f := &kinds.fine[n.kind]
		g.spots = append(g.spots, spot{
			cell: f.cell(f.step(n.at.X), f.step(n.at.Y), f.step(n.at.Z)), source: n.source, node: int32(i),
		})
	}
	slices.SortFunc(g.spots, func(a, b spot) int {
		if a.cell != b.cell {
			return cmp.Compare(a.cell, b.cell)
		}
		return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.node, b.node))
	})
	g.cells.reset(len(g.spots))
	for i := len(g.spots) - 1; i >= 0; i-- {
		s := &g.spots[i]
		s.sourceEnd, s.cellEnd = int32(i)+1, int32(i)+1
		if next := i + 1; next < len(g.spots) && g.spots[next].cell == s.cell {
			s.cellEnd = g.spots[next].cellEnd
			if g.spots[next].source == s.source {
				s.sourceEnd = g.spots[next].sourceEnd
			}
		}
		if i == 0 || g.spots[i-1].cell != s.cell {
			g.cells.put(g.cells.head(spread(s.cell)), int32(i))
		}
	}
}

// around returns the first spots of the cells around a node. They are valid until the next call.
func (g *grid) around(f *family, n *node) []int32 {
	g.near = g.near[:0]
	_, x0, x1 := f.steps(n.at.X)
	_, y0, y1 := f.steps(n.at.Y)
	_, z0, z1 := f.steps(n.at.Z)
	for x := x0; x <= x1; x++ {
		for y := y0; y <= y1; y++ {
			for z := z0; z <= z1; z++ {
				cell := f.cell(x, y, z)
				for place := *g.cells.head(spread(cell)); place != 0; place = g.cells.next[place-1] {
					if g.spots[place-1].cell == cell {
						g.near = append(g.near, place-1)
						break
					}
				}
			}
		}
	}
	return g.near
}

// own returns where the spots of a source begin and end in the cell of a first spot.
func (g *grid) own(first, source int32) (from, to int32) {
	cell := g.spots[first:g.spots[first].cellEnd]
	at, found := slices.BinarySearchFunc(cell, source, func(s spot, source int32) int { return cmp.Compare(s.source, source) })
	if from = first + int32(at); !found {
		return from, from
	}
	return from, g.spots[from].sourceEnd
}

// markCrowds marks the nodes that have more than maxAround nodes of other sources around them.
func (c *clusters) markCrowds(kinds *kindTable) {
	g := &c.grid
	for i := range c.nodes {
		n := &c.nodes[i]
		others, around := int32(0), g.around(&kinds.fine[n.kind], n)
		c.compared += len(around)
		for _, first := range around {
			from, to := g.own(first, n.source)
			others += g.spots[first].cellEnd - first - (to - from)
		}
		n.crowd = others > maxAround
	}
}

// collectDense lists pairs that may be joined, all or the nearest of them, apart from those of two nodes in crowds. Each node
// that is in none has at most maxAround pairs.
func (c *clusters) collectDense(kinds *kindTable) {
	c.pairs, c.more = c.pairs[:0], false
	g := &c.grid
	for i := range c.nodes {
		n := &c.nodes[i]
		if n.crowd || !n.open {
			continue // clusters only grow: a node that no pair could join will not be joined
		}
		n.open = false
		for _, first := range g.around(&kinds.fine[n.kind], n) {
			end := g.spots[first].cellEnd
			from, to := g.own(first, n.source)
			c.collectSpots(kinds, int32(i), g.spots[first:from])
			c.collectSpots(kinds, int32(i), g.spots[to:end])
		}
	}
}

// collectSpots lists the pairs of node i, which is in no crowd, with others. The later of two that are in none lists theirs.
func (c *clusters) collectSpots(kinds *kindTable, i int32, spots []spot) {
	c.compared += len(spots)
	for s := range spots {
		switch o := spots[s].node; {
		case o < i:
			c.collectPair(kinds, o, i)
		case c.nodes[o].crowd:
			c.collectPair(kinds, i, o)
		}
	}
}

// places joins crowded nodes by the place where they are.
type places struct {
	spots []placed
	nodes []int32 // scratch: of one place, in the order of their names
	bins  []bin   // scratch: the clusters of one place
	mark  int32   // of the place
	seen  []int32 // by root: the mark of the place where it is one of the bins
	from  []tried // by source
}

// placed is where a node is: a code whose leading bits name the cubes in which it lies, the largest first.
type placed struct {
	code uint64
	node int32
	kind mapdata.Kind
}

// bin is a cluster of a place, by its root, and the first of its nodes that is there.
type bin struct{ root, node int32 }

// tried is the first bin of a place that may lack a source.
type tried struct{ mark, bin int32 }

const (
	codeBits = 21      // of each axis
	codeUnit = 1 << 20 // smallest cubes per unit: about 6 m wide
)

// joinCrowds joins nodes in crowds: of one kind, first those in one cube of some 6 m, then of 12 m, and so on, as far as their
// kind reaches. In a cube they join in the order of their names, the first of one source with the first of another. So
// nearly as much is merged as if all pairs were looked at, about the nearest first, at a cost that grows as their number
// does. Cubes are fixed to the globe: neither the order of hits nor the place of the reader matters.
func (c *clusters) joinCrowds(kinds *kindTable) {
	p := &c.places
	p.spots = p.spots[:0]
	for i := range c.nodes {
		if n := &c.nodes[i]; n.crowd {
			p.spots = append(p.spots, placed{code: placeCode(n.at.X) | placeCode(n.at.Y)<<1 | placeCode(n.at.Z)<<2, node: int32(i), kind: n.kind})
		}
	}
	if len(p.spots) == 0 {
		return
	}
	slices.SortFunc(p.spots, func(a, b placed) int {
		if a.kind != b.kind {
			return cmp.Compare(a.kind, b.kind)
		}
		return cmp.Compare(a.code, b.code)
	})
	p.reset(len(c.nodes), c.sources)
	for from := 0; from < len(p.spots); {
		to, kind := from+1, p.spots[from].kind
		for to < len(p.spots) && p.spots[to].kind == kind {
			to++
		}
		reach := kinds.reach[kind]
		for level := 0; float64(int(1)<<level)/codeUnit < 2*math.Sqrt(reach); level++ {
			c.joinLevel(p.spots[from:to], 3*level, reach)
		}
		from = to
	}
}

// reset makes room for so many nodes and sources.
func (p *places) reset(nodes, sources int) {
	p.seen = slices.Grow(p.seen[:0], nodes)[:nodes]
	clear(p.seen)
	p.from = slices.Grow(p.from[:0], sources)[:sources]
	clear(p.from)
	p.mark = 0
}

// placeCode spreads the bits of a coordinate so that two others fit between them.
func placeCode(v float64) uint64 {
	x := uint64(min(max(v+1, 0)*codeUnit, 1<<codeBits-1))
	x = (x | x<<32) & 0x1f00000000ffff
	x = (x | x<<16) & 0x1f0000ff0000ff
	x = (x | x<<8) & 0x100f00f00f00f00f
	x = (x | x<<4) & 0x10c30c30c30c30c3
	return (x | x<<2) & 0x1249249249249249
}

// joinLevel joins nodes of one kind in cubes, which are named by a code without its last bits.
func (c *clusters) joinLevel(spots []placed, shift int, reach float64) {
	p := &c.places
	for from := 0; from < len(spots); {
		cube := spots[from].code >> shift
		p.nodes = p.nodes[:0]
		for from < len(spots) && spots[from].code>>shift == cube {
			p.nodes = append(p.nodes, spots[from].node)
			from++
		}
		if len(p.nodes) > 1 {
			slices.Sort(p.nodes)
			c.joinPlace(reach)
		}
	}
}

// joinPlace joins the nodes of one place, which are of one kind: each with the first cluster of the place that is near enough and
// shares no source with its own, among the first few that lack its source.
func (c *clusters) joinPlace(reach float64) {
	p := &c.places
	p.mark++
	p.bins = p.bins[:0]
	for _, i := range p.nodes {
		root, n := c.roots.root(i), &c.nodes[i]
		if p.seen[root] == p.mark {
			continue
		}
		from := &p.from[n.source]
		if from.mark != p.mark {
			*from = tried{mark: p.mark}
		}
		for int(from.bin) < len(p.bins) && c.has(p.bins[from.bin].root, n.source) {
			from.bin++ // it will have it for good
			c.compared++
		}
		tries := p.bins[from.bin:min(len(p.bins), int(from.bin)+maxTries)]
		joined := slices.IndexFunc(tries, func(b bin) bool {
			c.compared++
			return n.at.ChordSquared(c.nodes[b.node].at) <= reach && c.disjoint(b.root, root)
		})
		if joined >= 0 {
			c.joinRoots(tries[joined].root, root)
			continue
		}
		p.seen[root] = p.mark
		p.bins = append(p.bins, bin{root: root, node: i})
	}
}

package consensus

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
)

// How many pairs are held at once.
const (
	fewPairs  = 1 << 13 // as many as any real place has
	mostPairs = 1 << 19 // of a crowd: 8 MiB
	sampled   = 1 << 10 // pairs that tell where to cut
)

// portions says how many pairs are held at once: few before nodes are ordered, and most, at least 4, afterwards.
type portions struct{ few, most int }

// crowd finds which entities are one event.
type crowd struct {
	portions
	nodes   []node
	origins int // every node's origin is below it

	sets  []uint64 // by node: the origins in the cluster that is known by it
	words int      // of each set

	cells   buckets
	pairs   []pair
	sample  []pair
	ordered bool // nodes stand in the order of their ids, so that their places tell it
	later   bool // some pairs were joined before: not every pair of two origins may be joined any more
	left    bool // some pairs were left for the next portion
	bound   pair // the farthest of this portion, if left
}

// node is an entity that may be merged.
type node struct {
	at     geo.Vector
	cell   uint64
	hit    int32 // its place in the hits
	origin int32
	parent int32 // towards the node that its cluster is known by; that one is its own
	link   int32 // the next of its cluster, round and round
	kind   mapdata.Kind
	open   bool // there was a pair in the last portion that it could be joined by
}

// pair is two nodes that match, that in the lower place first.
type pair struct {
	chord float64 // squared
	a, b  int32
}

// unite joins what is one event (D10.2): over all matching pairs, nearest first, two clusters become one unless they
// share a source.
func (c *crowd) unite(hits []mapdata.Hit, kinds *kindTable) {
	c.ordered, c.later = false, false
	c.part()
	c.gather(kinds)
	if !c.left {
		c.join(hits)
		return
	}
	// Pairs grow with the square of the density: hostile feeds could ask for more than fit into memory. What a portion
	// joined or found to share a source stays so, and is not gathered again. Each portion holds the nearest pairs that are
	// left, so that the order over all portions is that over all pairs.
	slices.SortFunc(c.nodes, func(a, b node) int { return compareNames(&hits[a.hit], &hits[b.hit]) })
	c.ordered = true
	c.pairs = slices.Grow(c.pairs[:0], c.most)
	c.part()
	for c.left {
		c.gather(kinds)
		c.join(hits)
		c.later = true
	}
	c.pairs = nil
}

// part makes every node a cluster.
func (c *crowd) part() {
	c.words = (c.origins + 63) / 64
	size := len(c.nodes) * c.words
	c.sets = slices.Grow(c.sets[:0], size)[:size]
	clear(c.sets)
	for i := range c.nodes {
		n := &c.nodes[i]
		n.parent, n.link, n.open = int32(i), int32(i), true
		c.sets[i*c.words+int(n.origin)/64] |= 1 << (n.origin % 64)
	}
}

// gather lists pairs that may be joined: all, or the nearest of them. Of unordered nodes it gives up when they are more
// than a few.
func (c *crowd) gather(kinds *kindTable) {
	c.pairs, c.left = c.pairs[:0], false
	c.cells.reset(len(c.nodes))
	for i := range c.nodes {
		n := &c.nodes[i]
		if !n.open {
			continue // clusters only grow: what no pair could join, none will
		}
		n.open = false
		f := &kinds.family[n.kind]
		x, x0, x1 := f.steps(n.at.X)
		y, y0, y1 := f.steps(n.at.Y)
		z, z0, z1 := f.steps(n.at.Z)
		n.cell = f.cell(x, y, z)
		for x = x0; x <= x1; x++ {
			for y = y0; y <= y1; y++ {
				for z = z0; z <= z1; z++ {
					c.gatherCell(kinds, int32(i), f.cell(x, y, z))
				}
			}
		}
		if c.left && !c.ordered {
			return
		}
		c.cells.put(c.cells.head(spread(n.cell)), int32(i))
	}
}

// steps gives a node's cell along one axis, and the first and the last where its neighbours may lie.
func (f *family) steps(v float64) (own, first, last int64) {
	at, around := (v+1)*f.scale, f.radius*f.scale
	return int64(at), int64(at - around), int64(at + around)
}

// cell names a cell. Steps are below 2^18, see narrowest.
func (f *family) cell(x, y, z int64) uint64 { return f.number<<57 | uint64(x<<38|y<<19|z) }

// spread makes a hash of a cell's name.
func spread(cell uint64) uint64 { return cell * 0x9E3779B97F4A7C15 }

// gatherCell lists the pairs of node i with those in a cell that came before it.
func (c *crowd) gatherCell(kinds *kindTable, i int32, cell uint64) {
	n := &c.nodes[i]
	match, reach := kinds.match[n.kind], kinds.reach[n.kind]
	for place := *c.cells.head(spread(cell)); place != 0; place = c.cells.next[place-1] {
		o := &c.nodes[place-1]
		if o.origin == n.origin || o.cell != cell || !match.Has(o.kind) {
			continue
		}
		chord := n.at.ChordSquared(o.at)
		if chord > max(reach, kinds.reach[o.kind]) || c.later && !c.joinable(c.root(i), c.root(place-1)) {
			continue
		}
		n.open, o.open = true, true
		c.offer(pair{chord: chord, a: place - 1, b: i})
	}
}

func (c *crowd) offer(p pair) {
	switch {
	case !c.ordered && len(c.pairs) == c.few:
		c.left = true
		return
	case c.left && p.compareOrdered(c.bound) > 0:
		return
	}
	c.pairs = append(c.pairs, p)
	if len(c.pairs) == c.most {
		c.cut()
	}
}

// cut leaves about the farther half of the pairs for the next portion.
func (c *crowd) cut() {
	c.sample = c.sample[:0]
	for i := 0; i < len(c.pairs); i += max(1, c.most/sampled) {
		c.sample = append(c.sample, c.pairs[i])
	}
	slices.SortFunc(c.sample, pair.compareOrdered)
	c.left, c.bound = true, c.sample[len(c.sample)/2]
	c.pairs = slices.DeleteFunc(c.pairs, func(p pair) bool { return p.compareOrdered(c.bound) > 0 })
}

// join takes the pairs, nearest first.
func (c *crowd) join(hits []mapdata.Hit) {
	if c.ordered {
		slices.SortFunc(c.pairs, pair.compareOrdered)
	} else {
		slices.SortFunc(c.pairs, func(p, q pair) int { return c.comparePairs(hits, p, q) })
	}
	for _, p := range c.pairs {
		a, b := c.root(p.a), c.root(p.b)
		if !c.joinable(a, b) {
			continue
		}
		c.nodes[b].parent = a
		c.nodes[a].link, c.nodes[b].link = c.nodes[b].link, c.nodes[a].link
		for w := range c.words {
			c.sets[int(a)*c.words+w] |= c.sets[int(b)*c.words+w]
		}
	}
}

// root gives the node that the cluster of i is known by.
func (c *crowd) root(i int32) int32 {
	for c.nodes[i].parent != i {
		c.nodes[i].parent = c.nodes[c.nodes[i].parent].parent
		i = c.nodes[i].parent
	}
	return i
}

// joinable says whether two clusters share no source. One and the same cluster does.
func (c *crowd) joinable(a, b int32) bool {
	for w := range c.words {
		if c.sets[int(a)*c.words+w]&c.sets[int(b)*c.words+w] != 0 {
			return false
		}
	}
	return true
}

// comparePairs orders pairs nearest first, then by their names, the lower of each pair first: never by where the input
// had them.
func (c *crowd) comparePairs(hits []mapdata.Hit, p, q pair) int {
	switch {
	case p.chord < q.chord:
		return -1
	case p.chord > q.chord:
		return 1
	}
	pLow, pHigh := c.byName(hits, p)
	qLow, qHigh := c.byName(hits, q)
	return cmp.Or(compareNames(pLow, qLow), compareNames(pHigh, qHigh))
}

// compareOrdered is comparePairs of nodes whose places tell the order of their names.
func (p pair) compareOrdered(q pair) int {
	switch {
	case p.chord < q.chord:
		return -1
	case p.chord > q.chord:
		return 1
	case p.a != q.a:
		return int(p.a) - int(q.a)
	}
	return int(p.b) - int(q.b)
}

func (c *crowd) byName(hits []mapdata.Hit, p pair) (low, high *mapdata.Hit) {
	low, high = &hits[c.nodes[p.a].hit], &hits[c.nodes[p.b].hit]
	if compareNames(low, high) > 0 {
		return high, low
	}
	return low, high
}

// compareNames orders by source and external id: cheaper than the order of entity ids, and as firm.
func compareNames(a, b *mapdata.Hit) int {
	return cmp.Or(strings.Compare(string(a.Source), string(b.Source)), bytes.Compare(a.ExternalID, b.ExternalID))
}

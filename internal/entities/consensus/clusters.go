package consensus

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// Numbers of pairs.
const (
	maxUnorderedPairs = 1 << 13 // no real place has more
	maxPairs          = 1 << 19 // held at a time: 8 MiB
	sampleSize        = 1 << 10 // from which the median distance is estimated
)

// pairLimits bounds the pairs that are held at a time, before nodes are ordered and afterwards (at least 4).
type pairLimits struct{ unordered, atOnce int }

// clusters finds which entities are one event: union-find over all matching pairs, nearest first.
type clusters struct {
	pairLimits
	nodes   []node
	sources int // every node's source is below it

	roots unionFind // of nodes, by position
	sets  []uint64  // by node: the sources in the cluster of which the node is the root
	words int       // of each set

	cells   buckets
	pairs   []pair
	sample  []pair
	ordered bool // nodes are in the order of their names, so that their positions order them
	joined  bool // an earlier batch joined pairs, so that not every pair of two sources may be joined any more
	more    bool // pairs are left for the next batch
	bound   pair // the farthest of this batch, if there are more

	counts []int32    // scratch of dense: nodes in a cell, by the position of its first
	grid   grid       // of dense nodes
	places places     // of crowded nodes
	linked unionFind  // of nodes that matching pairs link, whether these were joined or not, crowds apart
	links  linkedness // of linked

	compared int // pairs and cells that were looked at, for tests
}

// linkedness is how much clusters.linked is worth.
type linkedness uint8

const (
	notLinked   linkedness = iota // pairs are kept, from which it can be made
	linkedAll                     // it is made
	linkedNever                   // pairs were taken in batches: nothing is known
)

// node is an entity that may be merged.
type node struct {
	at     geo.Vector
	cell   uint64
	hit    int32 // its index in the hits
	source int32
	link   int32 // the next node of its cluster, in a ring
	kind   mapdata.Kind
	open   bool // a pair of the last batch could join it
	crowd  bool // it stands in a crowd
}

// pair is two matching nodes, the one at the lower position first.
type pair struct {
	chord float64 // squared
	a, b  int32
}

// unite joins what is one event (D10.2): over all matching pairs, nearest first, two clusters become one unless they
// share a source. In crowds it joins by places instead: see joinCrowds.
func (c *clusters) unite(hits []mapdata.Hit, kinds *kindTable) {
	c.ordered, c.joined, c.links, c.compared = false, false, notLinked, 0
	if !c.dense(kinds) {
		c.makeSets()
		c.collectPairs(kinds)
		if !c.more {
			c.join(hits)
			return
		}
	}
	c.uniteDense(hits, kinds)
}

// uniteDense does what unite does where nodes are dense or pairs are many. Each batch holds the nearest pairs that are left,
// so that the order over all batches is that over all pairs. What a batch joined or found to share a source stays so, and is
// not collected again.
func (c *clusters) uniteDense(hits []mapdata.Hit, kinds *kindTable) {
	slices.SortFunc(c.nodes, func(a, b node) int { return compareNames(&hits[a.hit], &hits[b.hit]) })
	c.ordered = true
	c.makeSets()
	c.grid.fill(c.nodes, kinds)
	c.markCrowds(kinds)
	for c.more = true; c.more; c.joined = true {
		c.collectDense(kinds)
		switch {
		case c.joined || c.more:
			c.links = linkedNever
		default:
			c.linkPairs()
		}
		c.join(hits)
	}
	c.pairs = nil
	c.joinCrowds(kinds)
}

// linkPairs makes one set of all nodes that are linked by matching pairs. In a crowd they are not: it has no end.
func (c *clusters) linkPairs() {
	c.linked.reset(len(c.nodes))
	for _, p := range c.pairs {
		if !c.nodes[p.a].crowd && !c.nodes[p.b].crowd {
			c.linked.union(p.a, p.b)
		}
	}
	c.links = linkedAll
}

// makeSets makes every node a separate cluster.
func (c *clusters) makeSets() {
	c.words = (c.sources + 63) / 64
	size := len(c.nodes) * c.words
	c.sets = slices.Grow(c.sets[:0], size)[:size]
	clear(c.sets)
	c.roots.reset(len(c.nodes))
	for i := range c.nodes {
		n := &c.nodes[i]
		n.link, n.open, n.crowd = int32(i), true, false
		c.sets[i*c.words+int(n.source)/64] |= 1 << (n.source % 64)
	}
}

// collectPairs lists all pairs that may be joined, or gives up when there are more than the limit.
func (c *clusters) collectPairs(kinds *kindTable) {
	c.pairs, c.more = c.pairs[:0], false
	c.cells.reset(len(c.nodes))
	for i := range c.nodes {
		n := &c.nodes[i]
		f := &kinds.family[n.kind]
		x, x0, x1 := f.steps(n.at.X)
		y, y0, y1 := f.steps(n.at.Y)
		z, z0, z1 := f.steps(n.at.Z)
		n.cell = f.cell(x, y, z)
		for x = x0; x <= x1; x++ {
			for y = y0; y <= y1; y++ {
				for z = z0; z <= z1; z++ {
					c.collectFromCell(kinds, int32(i), f.cell(x, y, z))
				}
			}
		}
		if c.more {
			return
		}
		c.cells.put(c.cells.head(spread(n.cell)), int32(i))
	}
}

// steps returns a node's cell along one axis, and the first and the last cell where its neighbours may lie. Cells are cubes of space rather
// than cells of a geo.Grid, because their size depends on the family's merge distance, and three ranges need no trigonometry.
func (f *family) steps(v float64) (own, first, last int64) {
	at, around := (v+1)*f.scale, f.radius*f.scale
	return int64(at), int64(at - around), int64(at + around)
}

// step gives a node's cell along one axis.
func (f *family) step(v float64) int64 { return int64((v + 1) * f.scale) }

// cell names a cell. Steps are below 2^19, see minCellSize.
func (f *family) cell(x, y, z int64) uint64 { return f.number<<57 | uint64(x<<38|y<<19|z) }

// spread hashes the number of a cell.
func spread(cell uint64) uint64 { return cell * 0x9E3779B97F4A7C15 }

// collectFromCell collects the pairs of node i with the earlier nodes in a cell.
func (c *clusters) collectFromCell(kinds *kindTable, i int32, cell uint64) {
	n := &c.nodes[i]
	for place := *c.cells.head(spread(cell)); place != 0; place = c.cells.next[place-1] {
		c.compared++
		if o := &c.nodes[place-1]; o.source != n.source && o.cell == cell {
			c.collectPair(kinds, place-1, i)
		}
	}
}

// collectPair lists a pair of two sources if it matches and may still be joined.
func (c *clusters) collectPair(kinds *kindTable, a, b int32) {
	n, o := &c.nodes[a], &c.nodes[b]
	if !kinds.match[n.kind].Has(o.kind) {
		return
	}
	chord := n.at.ChordSquared(o.at)
	if chord > max(kinds.reach[n.kind], kinds.reach[o.kind]) || c.joined && !c.disjoint(c.roots.root(a), c.roots.root(b)) {
		return
	}
	n.open, o.open = true, true
	c.addPair(pair{chord: chord, a: a, b: b})
}

// addPair keeps a pair if there is room, or if it is nearer than others of this batch.
func (c *clusters) addPair(p pair) {
	switch {
	case !c.ordered && len(c.pairs) == c.unordered:
		c.more = true
		return
	case c.more && p.compareOrdered(c.bound) > 0:
		return
	}
	c.pairs = append(c.pairs, p)
	if len(c.pairs) == c.atOnce {
		c.keepNearer()
	}
}

// keepNearer drops about the farther half of the pairs, which the next batch collects again.
func (c *clusters) keepNearer() {
	c.sample = c.sample[:0]
	for i := 0; i < len(c.pairs); i += max(1, c.atOnce/sampleSize) {
		c.sample = append(c.sample, c.pairs[i])
	}
	slices.SortFunc(c.sample, pair.compareOrdered)
	c.more, c.bound = true, c.sample[len(c.sample)/2]
	c.pairs = slices.DeleteFunc(c.pairs, func(p pair) bool { return p.compareOrdered(c.bound) > 0 })
}

// join joins the clusters of the pairs, nearest first.
func (c *clusters) join(hits []mapdata.Hit) {
	if c.ordered {
		slices.SortFunc(c.pairs, pair.compareOrdered)
	} else {
		slices.SortFunc(c.pairs, func(p, q pair) int { return c.comparePairs(hits, p, q) })
	}
	for _, p := range c.pairs {
		if a, b := c.roots.root(p.a), c.roots.root(p.b); c.disjoint(a, b) {
			c.joinRoots(a, b)
		}
	}
}

// joinRoots makes two clusters one, of which a is the root.
func (c *clusters) joinRoots(a, b int32) {
	c.roots.union(a, b)
	c.nodes[a].link, c.nodes[b].link = c.nodes[b].link, c.nodes[a].link
	for w := range c.words {
		c.sets[int(a)*c.words+w] |= c.sets[int(b)*c.words+w]
	}
}

// has reports whether a source is in the cluster of a root.
func (c *clusters) has(root, source int32) bool {
	return c.sets[int(root)*c.words+int(source)/64]&(1<<(source%64)) != 0
}

// disjoint reports whether two clusters share no source. A cluster shares its sources with itself.
func (c *clusters) disjoint(a, b int32) bool {
	for w := range c.words {
		if c.sets[int(a)*c.words+w]&c.sets[int(b)*c.words+w] != 0 {
			return false
		}
	}
	return true
}

// comparePairs orders pairs nearest first, then by their names, the lower of each pair first, so that the order of the input does not
// matter.
func (c *clusters) comparePairs(hits []mapdata.Hit, p, q pair) int {
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

// compareOrdered compares pairs of ordered nodes as comparePairs does.
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

func (c *clusters) byName(hits []mapdata.Hit, p pair) (low, high *mapdata.Hit) {
	low, high = &hits[c.nodes[p.a].hit], &hits[c.nodes[p.b].hit]
	if compareNames(low, high) > 0 {
		return high, low
	}
	return low, high
}

// compareNames orders by source and external id, which is cheaper than the order of entity ids, and as stable.
func compareNames(a, b *mapdata.Hit) int {
	return cmp.Or(strings.Compare(string(a.Source), string(b.Source)), bytes.Compare(a.ExternalID, b.ExternalID))
}

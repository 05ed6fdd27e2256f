package cch

import (
	"context"
	"math/bits"
	"slices"

	"wayside/internal/roads/graph"
)

// maxEdges bounds the edges of the hierarchy in one direction for each arc, in case the hierarchy of a hostile graph
// explodes. Roads have about six.
const maxEdges = 1000

// contraction computes the edges of the hierarchy. A vertex v gets an edge to w for a turn, and for each lower vertex u
// with edges from v to u and from u to w, as in the factorization of a sparse matrix. The directions are kept apart, so
// that an edge that no metric can make finite does not exist.
type contraction struct {
	*Topology
	heads [2][]uint32 // the ancestor at the other end of each edge, out and in
	// waiting[side][v] is a linked list of the lower vertices whose next edge, given by cursor, leads to v or comes from
	// v; link is the next entry.
	waiting, link, cursor [2][]uint32
}

const (
	sideOut = iota
	sideIn
)

func (t *Topology) contract(ctx context.Context) error {
	count := len(t.arcOf)
	c := &contraction{Topology: t}
	sides := [2]*edges{&t.out, &t.in}
	for side := range sides {
		c.waiting[side], c.link[side], c.cursor[side] = make([]uint32, count), make([]uint32, count), make([]uint32, count)
		for v := range c.waiting[side] {
			c.waiting[side][v] = graph.None
		}
		sides[side].first = make([]uint32, 1, count+1)
	}
	height := 0
	for _, d := range t.depth {
		height = max(height, int(d))
	}
	found := make([]uint64, height/64+1)
	ancestors := make([]uint32, height+1)
	for v := range uint32(count) {
		if v%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		for a := t.parent[v]; a != graph.None && ancestors[t.depth[a]] != a; a = t.parent[a] {
			ancestors[t.depth[a]] = a
		}
		for side := range sides {
			c.markTurns(v, side, found)
			for u := c.waiting[1-side][v]; u != graph.None; u = c.link[1-side][u] {
				c.mark(u, v, side, found)
			}
			c.collect(v, side, found, ancestors)
		}
		for side := range sides {
			c.advance(v, side)
		}
		if len(t.out.depth)+len(t.in.depth) > maxEdges*count {
			return ErrTangled
		}
	}
	for side := range sides {
		sides[side].invert(c.heads[side])
	}
	return nil
}

// markTurns marks the depths of the higher vertices to which a turn leads from v (sideOut), or from which one leads to v
// (sideIn).
func (c *contraction) markTurns(v uint32, side int, found []uint64) {
	mark := func(arc uint32) {
		if w := c.vertexOf[arc]; w > v {
			found[c.depth[w]/64] |= 1 << (c.depth[w] % 64)
		}
	}
	if side == sideIn {
		for _, from := range c.into.of(c.arcOf[v]) {
			mark(from)
		}
		return
	}
	for _, turn := range c.graph.TurnsFrom(c.arcOf[v]) {
		mark(turn.To)
	}
}

// mark marks the depths of those edges of a lower vertex u that lead to ancestors of v.
func (c *contraction) mark(u, v uint32, side int, found []uint64) {
	e := &c.out
	if side == sideIn {
		e = &c.in
	}
	depths := e.depth[e.first[u]:e.first[u+1]]
	for i := len(depths) - 1; i >= 0 && depths[i] < c.depth[v]; i-- {
		found[depths[i]/64] |= 1 << (depths[i] % 64)
	}
}

// collect turns the marked depths into edges of v, and clears the marks.
func (c *contraction) collect(v uint32, side int, found []uint64, ancestors []uint32) {
	e := &c.out
	if side == sideIn {
		e = &c.in
	}
	for i := int(c.depth[v] / 64); i >= 0; i-- {
		for word := found[i]; word != 0; {
			bit := 63 - bits.LeadingZeros64(word)
			word &^= 1 << bit
			e.depth = append(e.depth, uint16(64*i+bit))
			c.heads[side] = append(c.heads[side], ancestors[64*i+bit])
		}
		found[i] = 0
	}
	e.first = append(e.first, uint32(len(e.depth)))
	c.cursor[side][v] = e.first[v]
}

// advance moves v, and the lower vertices that waited for v, to the lists of the vertices of their next edges.
func (c *contraction) advance(v uint32, side int) {
	e := &c.out
	if side == sideIn {
		e = &c.in
	}
	wait := func(u uint32) {
		if c.cursor[side][u] < e.first[u+1] {
			next := c.heads[side][c.cursor[side][u]]
			c.link[side][u], c.waiting[side][next] = c.waiting[side][next], u
		}
	}
	for u := c.waiting[side][v]; u != graph.None; {
		next := c.link[side][u]
		c.cursor[side][u]++
		wait(u)
		u = next
	}
	wait(v)
}

// invert lists the lower vertices of each vertex.
func (e *edges) invert(heads []uint32) {
	count := len(e.first) - 1
	e.firstBelow = make([]uint32, count+1)
	for _, head := range heads {
		e.firstBelow[head+1]++
	}
	for v := range count {
		e.firstBelow[v+1] += e.firstBelow[v]
	}
	e.below = make([]uint32, len(heads))
	next := slices.Clone(e.firstBelow)
	for v := range count {
		for _, head := range heads[e.first[v]:e.first[v+1]] {
			e.below[next[head]] = uint32(v)
			next[head]++
		}
	}
}

package cch

import (
	"slices"

	"wayside/internal/roads/minheap"
)

// updater customises in part: it recomputes the edges of a vertex if one of them may have changed, and then marks the
// edges that depend on those that did change. It visits vertices in ascending order, because edges depend only on those
// of lower vertices.
type updater struct {
	weights, ancestors byDepth

	marked []uint64                       // two bits for each vertex: one for its outgoing edges, one for the incoming ones
	queue  minheap.Heap[uint32, struct{}] // of vertices
	// The previous weights of the edges of the visited vertex; only rows that are recomputed are set.
	oldOut, oldIn []uint32
}

// apply changes weights of arcs, and records in changed what it changed.
func (u *updater) apply(t *Topology, c *costs, changes []ArcWeight, changed *difference) {
	if u.marked == nil {
		u.marked = make([]uint64, len(t.arcOf)/32+1)
	}
	for _, change := range changes {
		if c.arcs[change.Arc] == change.Weight {
			continue
		}
		c.arcs[change.Arc] = change.Weight
		changed.arcs = append(changed.arcs, change.Arc)
		to := t.vertexOf[change.Arc]
		for _, arc := range t.into.of(change.Arc) {
			u.mark(t.vertexOf[arc], to)
		}
	}
	for u.queue.Len() > 0 {
		v, _ := u.queue.Pop()
		u.visit(t, c, v, changed)
	}
}

// mark schedules the edge between two vertices for recomputation.
func (u *updater) mark(from, to uint32) {
	low, bit := from, uint64(1)
	switch {
	case from == to:
		return // no path of least weight contains such an edge
	case to < from:
		low, bit = to, 2
	}
	word, shift := &u.marked[low/32], low%32*2
	if *word>>shift&3 == 0 {
		u.queue.Push(low, struct{}{})
	}
	*word |= bit << shift
}

// visit recomputes the marked edges of a vertex, and marks the edges that depend on those that changed.
func (u *updater) visit(t *Topology, c *costs, v uint32, changed *difference) {
	word, shift := &u.marked[v/32], v%32*2
	marks := *word >> shift & 3
	*word &^= 3 << shift
	out, in := c.out[t.out.first[v]:t.out.first[v+1]], c.in[t.in.first[v]:t.in.first[v+1]]
	u.oldOut, u.oldIn = append(u.oldOut[:0], out...), append(u.oldIn[:0], in...)
	if marks&1 != 0 {
		t.pullOut(c, v, &u.weights)
		t.out.store(v, c.out, &u.weights)
		changed.out = appendChanged(changed.out, t.out.first[v], u.oldOut, out)
	}
	if marks&2 != 0 {
		t.pullIn(c, v, &u.weights)
		t.in.store(v, c.in, &u.weights)
		changed.in = appendChanged(changed.in, t.in.first[v], u.oldIn, in)
	}
	if slices.Equal(out, u.oldOut) && slices.Equal(in, u.oldIn) {
		return
	}
	u.markAbove(t, c, v, out, in)
}

// markAbove marks the edges over v whose weight came from a changed edge of v, or comes from it now.
func (u *updater) markAbove(t *Topology, c *costs, v uint32, out, in []uint32) {
	outDepths, inDepths := t.out.depth[t.out.first[v]:t.out.first[v+1]], t.in.depth[t.in.first[v]:t.in.first[v+1]]
	if len(outDepths) == 0 || len(inDepths) == 0 {
		return
	}
	highest := min(outDepths[len(outDepths)-1], inDepths[len(inDepths)-1])
	for a, d := v, t.depth[v]; d > highest; {
		a, d = t.parent[a], d-1
		u.ancestors[d] = a
	}
	for i, fromDepth := range inDepths {
		for o, toDepth := range outDepths {
			before, after := u.oldIn[i]+u.oldOut[o], in[i]+out[o]
			if before == after || fromDepth == toDepth {
				continue
			}
			from, to := u.ancestors[fromDepth], u.ancestors[toDepth]
			now := t.weight(c, from, to)
			if before == now || after < now {
				u.mark(from, to)
			}
		}
	}
}

// appendChanged appends the indexes, offset by first, at which before and after differ.
func appendChanged(indexes []uint32, first uint32, before, after []uint32) []uint32 {
	for i := range before {
		if before[i] != after[i] {
			indexes = append(indexes, first+uint32(i))
		}
	}
	return indexes
}

package cch

import (
	"slices"

	"wayside/internal/roads/graph"
)

// pair is an edge, by the vertices between which it leads, with its weight.
type pair struct{ from, to, weight uint32 }

// unpack appends the arcs of the way over a meeting, but for the last one, and returns the index of its end.
func (q *Query) unpack(c *costs, m meeting) (last uint32, ok bool) {
	q.stack = q.stack[:0]
	// From the first vertex up to the meeting.
	at := m.forward
	for {
		s := &q.forward.steps[at]
		if s.from&isStart != 0 {
			q.arcs = append(q.arcs, q.topology.arcOf[s.vertex])
			break
		}
		before := &q.forward.steps[s.from]
		q.stack = append(q.stack, pair{before.vertex, s.vertex, s.dist - before.dist})
		at = s.from
	}
	if !q.unpackTo(c) {
		return 0, false
	}
	// From the meeting down to the last vertex.
	at = m.backward
	for {
		s := &q.backward.steps[at]
		if s.from&isStart != 0 {
			last = q.backward.starts[s.from&^isStart].end
			break
		}
		before := &q.backward.steps[s.from]
		q.stack = append(q.stack, pair{s.vertex, before.vertex, s.dist - before.dist})
		at = s.from
	}
	slices.Reverse(q.stack)
	return last, q.unpackTo(c)
}

// unpackTo appends the arcs of the edges on the stack, the last one first, each without its first arc.
func (q *Query) unpackTo(c *costs) bool {
	t := q.topology
	for len(q.stack) > 0 {
		edge := q.stack[len(q.stack)-1]
		q.stack = q.stack[:len(q.stack)-1]
		if t.turnWeight(c.arcs, t.arcOf[edge.from], t.arcOf[edge.to]) == edge.weight {
			q.arcs = append(q.arcs, t.arcOf[edge.to])
			continue
		}
		middle, weight := t.middle(c, edge)
		if middle == graph.None {
			return false
		}
		q.stack = append(q.stack, pair{middle, edge.to, edge.weight - weight}, pair{edge.from, middle, weight})
	}
	return true
}

// middle is the lower vertex over which an edge leads, and the weight up to there. It is None for turns and edges of no way.
func (t *Topology) middle(c *costs, edge pair) (vertex, weight uint32) {
	// The lower end has a list of the vertices to where, or from where, its edges lead. The highest come first: most ways between
	// two vertices lead over others that are not far below.
	fromDepth, toDepth := t.depth[edge.from], t.depth[edge.to]
	if edge.from < edge.to {
		candidates := t.in.belowOf(edge.from)
		for i := len(candidates) - 1; i >= 0; i-- {
			m := candidates[i]
			if second := t.out.weight(c.out, m, toDepth); second < edge.weight && second+t.in.weight(c.in, m, fromDepth) == edge.weight {
				return m, edge.weight - second
			}
		}
		return graph.None, 0
	}
	candidates := t.out.belowOf(edge.to)
	for i := len(candidates) - 1; i >= 0; i-- {
		m := candidates[i]
		if first := t.in.weight(c.in, m, fromDepth); first < edge.weight && first+t.out.weight(c.out, m, toDepth) == edge.weight {
			return m, first
		}
	}
	return graph.None, 0
}

// weight is the weight of an edge, infinite if there is none.
func (t *Topology) weight(c *costs, from, to uint32) uint32 {
	if from < to {
		return t.out.weight(c.out, from, t.depth[to])
	}
	return t.in.weight(c.in, to, t.depth[from])
}

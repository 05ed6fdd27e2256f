package cch

import (
	"slices"

	"wayside/internal/roads/graph"
)

// pair is an edge, by the vertices between which it leads.
type pair struct{ from, to uint32 }

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
		q.stack = append(q.stack, pair{q.forward.steps[s.from].vertex, s.vertex})
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
		q.stack = append(q.stack, pair{s.vertex, q.backward.steps[s.from].vertex})
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
		middle, shortcut := t.middle(c, edge)
		if middle == graph.None {
			return false
		}
		if !shortcut {
			q.arcs = append(q.arcs, t.arcOf[edge.to])
			continue
		}
		q.stack = append(q.stack, pair{middle, edge.to}, pair{edge.from, middle})
	}
	return true
}

// middle is the lower vertex over which an edge leads, or false if it is a turn. It is None only in a file that somebody forged.
func (t *Topology) middle(c *costs, edge pair) (uint32, bool) {
	weight := t.weight(c, edge)
	if t.turnWeight(c.arcs, t.arcOf[edge.from], t.arcOf[edge.to]) == weight {
		return 0, false
	}
	// The lower of both has a list of the vertices from where, or to where, its edges lead.
	fromDepth, toDepth := t.depth[edge.from], t.depth[edge.to]
	candidates := t.out.belowOf(edge.to)
	if edge.from < edge.to {
		candidates = t.in.belowOf(edge.from)
	}
	for _, m := range candidates {
		if first := t.in.weight(c.in, m, fromDepth); first < weight && first+t.out.weight(c.out, m, toDepth) == weight {
			return m, true
		}
	}
	return graph.None, true
}

// weight is the weight of an edge, infinite if there is none.
func (t *Topology) weight(c *costs, edge pair) uint32 {
	if edge.from < edge.to {
		return t.out.weight(c.out, edge.from, t.depth[edge.to])
	}
	return t.in.weight(c.in, edge.to, t.depth[edge.from])
}

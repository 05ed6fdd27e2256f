package cch

import (
	"slices"

	"wayside/internal/roads/graph"
)

// pair is an edge, given by its vertices, with its weight and its index in Topology.out or .in.
type pair struct{ from, to, weight, index uint32 }

// pair returns the edge between two vertices, with the given weight.
func (t *Topology) pair(from, to, weight uint32) pair {
	p := pair{from: from, to: to, weight: weight}
	if from < to {
		p.index, _ = t.out.find(from, t.depth[to])
	} else {
		p.index, _ = t.in.find(to, t.depth[from])
	}
	return p
}

// unpack appends the arcs of the path over a meeting except the last one, and returns the index of the end that the path
// leads to.
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
		q.stack = append(q.stack, q.topology.pair(before.vertex, s.vertex, s.dist-before.dist))
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
		q.stack = append(q.stack, q.topology.pair(s.vertex, before.vertex, s.dist-before.dist))
		at = s.from
	}
	slices.Reverse(q.stack)
	return last, q.unpackTo(c)
}

// unpackTo appends the arcs of the edges on the stack, starting with the top of the stack, each edge without its first
// arc.
func (q *Query) unpackTo(c *costs) bool {
	t := q.topology
	for len(q.stack) > 0 {
		edge := q.stack[len(q.stack)-1]
		q.stack = q.stack[:len(q.stack)-1]
		first, second, ok := t.usual(c, edge)
		if !ok {
			if t.turnWeight(c.arcs, t.arcOf[edge.from], t.arcOf[edge.to]) == edge.weight {
				q.arcs = append(q.arcs, t.arcOf[edge.to])
				continue
			}
			if first, second, ok = t.middle(c, edge); !ok {
				return false
			}
		}
		q.stack = append(q.stack, second, first)
	}
	return true
}

// usual returns both parts of an edge if it leads over the same vertex as without conditions.
func (t *Topology) usual(c *costs, edge pair) (first, second pair, ok bool) {
	middle := t.out.middle
	if edge.from > edge.to {
		middle = t.in.middle
	}
	if middle == nil || middle[edge.index] == graph.None {
		return first, second, false
	}
	return t.over(c, edge, middle[edge.index])
}

// over returns both parts of an edge if a path over the vertex middle has the edge's weight.
func (t *Topology) over(c *costs, edge pair, middle uint32) (first, second pair, ok bool) {
	to, ok := t.out.find(middle, t.depth[edge.to])
	if !ok || c.out[to] >= edge.weight {
		return first, second, false
	}
	from, ok := t.in.find(middle, t.depth[edge.from])
	if !ok || c.in[from]+c.out[to] != edge.weight {
		return first, second, false
	}
	return pair{edge.from, middle, c.in[from], from}, pair{middle, edge.to, c.out[to], to}, true
}

// middle returns both parts of an edge that leads over any lower vertex. ok is false for turns and for edges without a
// path.
func (t *Topology) middle(c *costs, edge pair) (first, second pair, ok bool) {
	// The lower end lists the vertices to which, or from which, its edges lead. The highest candidates come first,
	// because most paths between two vertices lead over others that are not far below.
	candidates := t.out.belowOf(edge.to)
	if edge.from < edge.to {
		candidates = t.in.belowOf(edge.from)
	}
	for i := len(candidates) - 1; i >= 0 && !ok; i-- {
		first, second, ok = t.over(c, edge, candidates[i])
	}
	return first, second, ok
}

// weight returns the weight of an edge, or infinite if there is none.
func (t *Topology) weight(c *costs, from, to uint32) uint32 {
	if from < to {
		return t.out.weight(c.out, from, t.depth[to])
	}
	return t.in.weight(c.in, to, t.depth[from])
}

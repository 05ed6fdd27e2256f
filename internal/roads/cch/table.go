package cch

import (
	"cmp"
	"context"
	"slices"

	"wayside/internal/roads/graph"
)

// TableRequest asks for the paths from each set of ends in From to each in To.
type TableRequest struct {
	From, To [][]graph.End
	// Arc returns the duration and length of an arc. If it is nil, only weights are computed.
	Arc func(arc uint32) Measure
}

// Measure is the sums along a path besides its weight.
type Measure struct{ Duration, Length uint64 }

func (m *Measure) add(other Measure) {
	m.Duration += other.Duration
	m.Length += other.Length
}

// Cell is one path of a table.
type Cell struct {
	Weight   uint64 // including the costs of both ends; NoPath if there is none
	Measure         // sums of the durations of all turns, and of TableRequest.Arc for the arcs between the first and the last
	From, To uint32 // indexes of the ends in TableRequest.From[i] and To[j]
}

// NoPath is the weight of a cell without a path.
const NoPath = ^uint64(0)

// Table fills cells with the paths of the least weight, row by row, with a row for each element of From. It searches
// once from each set of ends: the vertices that the backward searches reached are gathered and sorted, and each forward
// search meets them as it climbs. The error is that of ctx.
func (q *Query) Table(ctx context.Context, view View, request TableRequest, cells []Cell) error {
	t := table{query: q, costs: view.costs, arc: request.Arc, to: request.To, measures: make(map[[2]uint32]Measure)}
	for i, to := range request.To {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		q.backward.startTo(q.topology, to)
		t.gather(uint32(i))
	}
	slices.SortFunc(t.reached, func(a, b reached) int {
		return cmp.Or(cmp.Compare(a.vertex, b.vertex), cmp.Compare(a.column, b.column))
	})
	for i, from := range request.From {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		q.forward.startFrom(q.topology, from)
		t.row(cells[i*len(request.To) : (i+1)*len(request.To)])
	}
	return nil
}

// table is the state of one call of Table.
type table struct {
	query    *Query
	costs    *costs
	to       [][]graph.End
	arc      func(arc uint32) Measure
	backward []partWay // the steps of all backward searches
	reached  []reached
	forward  []partWay // the steps of the row's forward search
	meetings []meeting // of the row
	measures map[[2]uint32]Measure
}

// reached records that the backward search of a column reached a vertex.
type reached struct{ vertex, dist, column, step uint32 }

// partWay is a step with the sums between it and the start of its search.
type partWay struct {
	step
	Measure
	end      uint32
	measured bool
}

// climb searches up to the roots.
func (s *search) climb(t *Topology, e *edges, weights []uint32) {
	for s.at != graph.None {
		s.visit(t, e, weights, infinite)
	}
	s.finish()
}

// gather searches backward for a column.
func (t *table) gather(column uint32) {
	s, first := &t.query.backward, uint32(len(t.backward))
	s.climb(t.query.topology, &t.query.topology.in, t.costs.in)
	for i, step := range s.steps {
		t.reached = append(t.reached, reached{step.vertex, step.dist, column, first + uint32(i)})
		p := partWay{step: step}
		if step.from&isStart == 0 {
			p.from += first
		} else {
			p.end = s.starts[step.from&^isStart].end
			p.Duration = t.lastTurn(step.vertex, t.to[column][p.end].Arc)
		}
		t.backward = append(t.backward, p)
	}
}

// lastTurn returns the duration of the turn onto the arc at which a path ends.
func (t *table) lastTurn(vertex, arc uint32) uint64 {
	turn, _ := t.query.topology.turn(t.query.topology.arcOf[vertex], arc)
	return uint64(turn.Duration)
}

// row searches forward, and meets the vertices that the columns reached.
func (t *table) row(cells []Cell) {
	s := &t.query.forward
	s.climb(t.query.topology, &t.query.topology.out, t.costs.out)
	t.meetings, t.forward = t.meetings[:0], t.forward[:0]
	for range cells {
		t.meetings = append(t.meetings, meeting{weight: infinite})
	}
	rest := t.reached
	for i, step := range s.steps {
		p := partWay{step: step}
		if step.from&isStart != 0 {
			p.end = s.starts[step.from&^isStart].end
		}
		t.forward = append(t.forward, p)
		skip, _ := slices.BinarySearchFunc(rest, step.vertex, func(r reached, vertex uint32) int { return cmp.Compare(r.vertex, vertex) })
		rest = rest[skip:]
		same := 0
		for same < len(rest) && rest[same].vertex == step.vertex {
			r := &rest[same]
			if sum := step.dist + r.dist; sum < t.meetings[r.column].weight {
				t.meetings[r.column] = meeting{sum, uint32(i), r.step}
			}
			same++
		}
		rest = rest[same:]
	}
	for i, m := range t.meetings {
		cells[i] = Cell{Weight: NoPath}
		if m.weight >= infinite {
			continue
		}
		from, to := t.measure(t.forward, m.forward, false), t.measure(t.backward, m.backward, true)
		cells[i] = Cell{Weight: uint64(m.weight), Measure: from.Measure, From: from.end, To: to.end}
		cells[i].add(to.Measure)
	}
}

// measure sums up the path between a step and the start of its search. An edge includes the arc to which it leads. So
// the arc of the meeting counts in the forward search; the first arc of the path does not count, and neither does the
// last one, to which no edge leads.
func (t *table) measure(steps []partWay, at uint32, backward bool) *partWay {
	s := &steps[at]
	if s.measured || s.from&isStart != 0 {
		return s
	}
	s.measured = true
	before := t.measure(steps, s.from, backward)
	s.end, s.Measure = before.end, before.Measure
	if t.arc == nil {
		return s
	}
	if backward {
		s.add(t.edge(t.query.topology.pair(s.vertex, before.vertex, s.dist-before.dist)))
	} else {
		s.add(t.edge(t.query.topology.pair(before.vertex, s.vertex, s.dist-before.dist)))
	}
	return s
}

// edge sums up the turns and arcs of an edge, without its first arc.
func (t *table) edge(edge pair) Measure {
	key := [2]uint32{edge.from, edge.to}
	sum, known := t.measures[key]
	if known {
		return sum
	}
	topology := t.query.topology
	q := t.query
	q.stack, q.arcs = append(q.stack[:0], edge), append(q.arcs[:0], topology.arcOf[edge.from])
	q.unpackTo(t.costs)
	for i, arc := range q.arcs[1:] {
		turn, _ := topology.turn(q.arcs[i], arc)
		sum.Duration += uint64(turn.Duration)
		sum.add(t.arc(arc))
	}
	t.measures[key] = sum
	return sum
}

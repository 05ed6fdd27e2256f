package nav

import (
	"context"
	"runtime"
	"sync"

	"wayside/internal/roads/graph"
)

// Plain is the search without preparation, by Dijkstra's algorithm. It is exact, and takes time in proportion to the
// searched area. It serves the short ways between the places of a trace, and tests compare the hierarchy with it.
type Plain struct {
	graph     *graph.Graph
	weights   []uint32 // current
	durations []uint32 // current; nil: those without conditions
	free      []uint32 // weights without conditions
	slots     chan struct{}
	trees     *sync.Pool // shared with searches over other weights of the same graph

	mu       sync.Mutex
	excluded map[excluded][]uint32
}

type excluded struct {
	flags graph.Flags
	free  bool
}

// NewPlain returns a search over arcs with these weights and durations; nil means those without conditions. At most as
// many requests as there are processors search concurrently, and the others wait.
func NewPlain(g *graph.Graph, weights, durations []uint32) *Plain {
	p := &Plain{graph: g, weights: weights, durations: durations, free: g.Weights(), slots: make(chan struct{}, runtime.GOMAXPROCS(0)), excluded: make(map[excluded][]uint32)}
	if weights == nil {
		p.weights = p.free
	}
	p.trees = &sync.Pool{New: func() any { return newTree(g) }}
	return p
}

// excludable are the flags that a request may exclude.
const excludable = graph.Toll | graph.Motorway | graph.Ferry

// metric returns the weights of all arcs for a query. Those for each set of excluded flags are made once.
func (p *Plain) metric(exclude graph.Flags, free bool) []uint32 {
	weights := p.weights
	if free {
		weights = p.free
	}
	exclude &= excludable
	if exclude == 0 {
		return weights
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	key := excluded{exclude, free}
	if made := p.excluded[key]; made != nil {
		return made
	}
	made := make([]uint32, len(weights))
	for arc := range made {
		if made[arc] = weights[arc]; p.graph.Arcs[arc].Flags&exclude != 0 {
			made[arc] = graph.Closed
		}
	}
	p.excluded[key] = made
	return made
}

// search calls use with a tree when one of the slots is free.
func (p *Plain) search(ctx context.Context, use func(t *tree) error) error {
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	t, ok := p.trees.Get().(*tree)
	if !ok {
		t = newTree(p.graph)
	}
	defer p.trees.Put(t)
	return use(t)
}

// Route returns the path of the least weight that takes at least one turn.
func (p *Plain) Route(ctx context.Context, q *Query) (path graph.Path, found bool, err error) {
	err = p.search(ctx, func(t *tree) error {
		t.aim(q.To)
		if err := t.grow(ctx, p.metric(q.Exclude, q.Free), q.From, unreached); err != nil {
			return err
		}
		if found = t.found[0].weight != unreached; found {
			path = t.path(0)
		}
		return nil
	})
	return path, found, err
}

// Table fills the cells of a table, a search for each row.
func (p *Plain) Table(ctx context.Context, q *TableQuery) error {
	return p.search(ctx, func(t *tree) error {
		t.aim(q.To...)
		weights := p.metric(q.Exclude, false)
		for i, from := range q.From {
			if err := t.grow(ctx, weights, from, unreached); err != nil {
				return err
			}
			row := q.Cells[i*len(q.To) : (i+1)*len(q.To)]
			for j := range row {
				row[j] = t.cell(j, from, p.durations)
			}
		}
		return nil
	})
}

// cell sums up the path to a set.
func (t *tree) cell(set int, from []graph.End, durations []uint32) Cell {
	found := &t.found[set]
	cell := Cell{Weight: found.weight, To: found.nth}
	if found.weight == unreached {
		return cell
	}
	r := Roads{Graph: t.graph}
	arc := found.arc
	for previous := found.previous; previous != graph.None; arc, previous = previous, t.frontier.Previous(previous) {
		cell.Duration += uint64(r.turn(previous, arc).Duration)
		if t.frontier.Previous(previous) != graph.None {
			if durations != nil {
				cell.Duration += uint64(durations[previous])
			} else {
				cell.Duration += uint64(t.graph.Arcs[previous].Duration)
			}
			cell.Length += uint64(t.graph.Pieces[t.graph.Arcs[previous].Piece].Length)
		}
	}
	for i := range from { // none if the caller knows where the path begins
		if from[i].Arc == arc && (from[cell.From].Arc != arc || from[i].Cost < from[cell.From].Cost) {
			cell.From = uint32(i)
		}
	}
	return cell
}

package nav

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"wayside/internal/roads/cch"
	"wayside/internal/roads/graph"
)

// Live is a network whose conditions change while routes are requested. Update must not be called concurrently; Network
// may be, and never waits.
type Live struct {
	roads    *Roads
	topology *cch.Topology
	metric   *cch.Metric
	free     atomic.Pointer[cch.Metric] // without conditions; nil until first needed
	making   chan struct{}              // holds a value while free is made
	queries  sync.Pool
	versions atomic.Pointer[[]versioned]
}

// versioned is the conditions for one version of the metric.
type versioned struct {
	metric     uint64
	conditions Conditions
}

// keptVersions is how many versions of the conditions are kept. A reader has the latest metric or one shortly before.
const keptVersions = 4

// NewLive customises a topology with the weights of the roads without conditions.
func NewLive(ctx context.Context, roads *Roads, topology *cch.Topology) (*Live, error) {
	metric, err := topology.Customize(ctx, roads.Graph.Weights())
	if err != nil {
		return nil, err
	}
	l := &Live{roads: roads, topology: topology, metric: metric, making: make(chan struct{}, 1)}
	l.queries.New = func() any { return cch.NewQuery(topology) }
	l.versions.Store(new([]versioned))
	return l, nil
}

// Begin sets the initial conditions of the network, which must not concern any arc. It must be called before the first
// Network and Update.
func (l *Live) Begin(conditions Conditions) { l.versions.Store(&[]versioned{{1, conditions}}) }

// Update changes weights of arcs in one step. Every network taken after it has returned has the changes, with these
// conditions.
func (l *Live) Update(changes []cch.ArcWeight, conditions Conditions) {
	view := l.metric.View()
	next := versioned{view.Version() + 1, conditions}
	view.Release()
	kept := *l.versions.Load()
	kept = append(slices.Clone(kept[max(0, len(kept)-keptVersions+1):]), next)
	l.versions.Store(&kept) // first, so that no reader has the metric without its conditions
	l.metric.Update(changes)
}

// Network returns the current network, with conditions and weights of one version. The caller must release it soon,
// because changes of weights wait for readers of the version before. It must not be released by a context, because a
// search may still run when the context has ended.
func (l *Live) Network() *Network {
	for {
		view := l.metric.View()
		search := &hierarchy{live: l, view: view}
		n := &Network{Roads: l.roads, Search: search, release: view.Release}
		found := view.Version() == 1
		for _, v := range *l.versions.Load() {
			if v.metric == view.Version() {
				n.Conditions, search.conditions, found = v.conditions, v.conditions, true
			}
		}
		if found {
			return n
		}
		view.Release() // the view is old, because several changes came in between
	}
}

// freeMetric returns the metric without conditions. The first call makes it, which takes as long as a customisation.
func (l *Live) freeMetric(ctx context.Context) (*cch.Metric, error) {
	if made := l.free.Load(); made != nil {
		return made, nil
	}
	select {
	case l.making <- struct{}{}:
		defer func() { <-l.making }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if made := l.free.Load(); made != nil {
		return made, nil
	}
	made, err := l.topology.Customize(ctx, l.roads.Graph.Weights())
	if err != nil {
		return nil, err
	}
	l.free.Store(made)
	return made, nil
}

// hierarchy searches one version of the metric.
type hierarchy struct {
	live       *Live
	view       cch.View
	conditions Conditions // nil: none
}

// search calls use with a query and the view that the request needs.
func (h *hierarchy) search(ctx context.Context, exclude graph.Flags, free bool, use func(query *cch.Query, view cch.View) error) error {
	view, err := h.viewFor(ctx, exclude, free)
	if err != nil {
		return err
	}
	if view != h.view {
		defer view.Release()
	}
	query, ok := h.live.queries.Get().(*cch.Query)
	if !ok {
		query = cch.NewQuery(h.live.topology)
	}
	defer h.live.queries.Put(query)
	return use(query, view)
}

// viewFor returns the view without conditions, or without excluded arcs. A view without excluded arcs may be one change
// newer than the others of a request.
func (h *hierarchy) viewFor(ctx context.Context, exclude graph.Flags, free bool) (cch.View, error) {
	metric := h.live.metric
	if free {
		var err error
		if metric, err = h.live.freeMetric(ctx); err != nil {
			return cch.View{}, err
		}
	}
	if exclude &= excludable; exclude != 0 {
		without, err := metric.Excluding(ctx, exclude)
		if err != nil {
			return cch.View{}, err
		}
		if without != metric || free {
			return without.View(), nil
		}
	}
	if free {
		return metric.View(), nil
	}
	return h.view, nil
}

// Route returns the path of the least weight that takes at least one turn.
func (h *hierarchy) Route(ctx context.Context, q *Query) (path graph.Path, found bool, err error) {
	err = h.search(ctx, q.Exclude, q.Free, func(query *cch.Query, view cch.View) error {
		path, found = query.Route(view, q.From, q.To)
		path.Arcs = slices.Clone(path.Arcs)
		return nil
	})
	return path, found, err
}

// Alternatives returns the best path, and others that a driver would call different.
func (h *hierarchy) Alternatives(ctx context.Context, q *Query, count int) (paths []graph.Path, err error) {
	err = h.search(ctx, q.Exclude, q.Free, func(query *cch.Query, view cch.View) error {
		paths = query.Alternatives(view, q.From, q.To, count+1)
		return nil
	})
	return paths, err
}

// Table fills the cells of a table.
func (h *hierarchy) Table(ctx context.Context, q *TableQuery) error {
	return h.search(ctx, q.Exclude, false, func(query *cch.Query, view cch.View) error {
		cells := make([]cch.Cell, len(q.Cells))
		if err := query.Table(ctx, view, cch.TableRequest{From: q.From, To: q.To, Arc: h.measure}, cells); err != nil {
			return err
		}
		for i, c := range cells {
			q.Cells[i] = Cell{Weight: c.Weight, Duration: c.Duration, Length: c.Length, From: c.From, To: c.To}
		}
		return nil
	})
}

// measure returns the current duration of an arc, and its length.
func (h *hierarchy) measure(arc uint32) cch.Measure {
	g := h.live.roads.Graph
	m := cch.Measure{Duration: uint64(g.Arcs[arc].Duration), Length: uint64(g.Pieces[g.Arcs[arc].Piece].Length)}
	if h.conditions != nil {
		if c, ok := h.conditions.On(arc); ok {
			m.Duration = uint64(c.Duration)
		}
	}
	return m
}

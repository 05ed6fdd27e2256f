package nav

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"wayside/internal/roads/cch"
	"wayside/internal/roads/graph"
)

// Live is a network whose conditions change while routes are asked for. Its Update is for one goroutine at a time; Network is for any
// number, and never waits.
type Live struct {
	roads    *Roads
	topology *cch.Topology
	metric   *cch.Metric
	slots    chan struct{} // of searches without preparation
	queries  sync.Pool
	trees    sync.Pool
	versions atomic.Pointer[[]versioned]
}

// versioned is the conditions of one version of the metric.
type versioned struct {
	metric     uint64
	conditions Conditions
}

// keptVersions is how many versions of the conditions are kept: a reader has the metric of the last one or of one shortly before.
const keptVersions = 4

// NewLive customises a topology with the weights of the roads without conditions.
func NewLive(ctx context.Context, roads *Roads, topology *cch.Topology) (*Live, error) {
	metric, err := topology.Customize(ctx, roads.Graph.Weights())
	if err != nil {
		return nil, err
	}
	l := &Live{roads: roads, topology: topology, metric: metric, slots: newSlots()}
	l.queries.New = func() any { return cch.NewQuery(topology) }
	l.trees.New = func() any { return newTree(roads.Graph) }
	l.versions.Store(new([]versioned))
	return l, nil
}

// Update changes weights of arcs, all at once. Every network taken after it has returned has them, with these conditions.
func (l *Live) Update(changes []cch.ArcWeight, conditions Conditions) {
	view := l.metric.View()
	next := versioned{view.Version() + 1, conditions}
	view.Release()
	kept := *l.versions.Load()
	kept = append(slices.Clone(kept[max(0, len(kept)-keptVersions+1):]), next)
	l.versions.Store(&kept) // first, so that nobody has the metric without its conditions
	l.metric.Update(changes)
}

// Network is the network now, with conditions and weights of one version. It must not be used after ctx has ended, and ctx should end
// soon: changes of what arcs cost wait for those who still use what was there before.
func (l *Live) Network(ctx context.Context) *Network {
	for {
		view := l.metric.View()
		n := &Network{Roads: l.roads, Search: &hierarchy{live: l, view: view}}
		found := view.Version() == 1
		for _, v := range *l.versions.Load() {
			if v.metric == view.Version() {
				n.Conditions, found = v.conditions, true
			}
		}
		if found {
			context.AfterFunc(ctx, view.Release)
			return n
		}
		view.Release() // so many changes came in between that the view is old
	}
}

// hierarchy searches one version of the metric.
type hierarchy struct {
	live *Live
	view cch.View
}

// plain is the search for what hierarchies do not do.
func (h *hierarchy) plain() *Plain {
	return &Plain{
		graph: h.live.roads.Graph, weights: h.view.Weights(), free: h.live.roads.Graph.Weights(), slots: h.live.slots,
		trees: &h.live.trees, excluded: make(map[excluded][]uint32),
	}
}

// Route is the path of the least weight that takes at least one turn.
func (h *hierarchy) Route(ctx context.Context, q *Query) (path graph.Path, found bool, err error) {
	if q.Exclude&excludable != 0 || q.Free {
		return h.plain().Route(ctx, q)
	}
	query, ok := h.live.queries.Get().(*cch.Query)
	if !ok {
		query = cch.NewQuery(h.live.topology)
	}
	defer h.live.queries.Put(query)
	path, found = query.Route(h.view, q.From, q.To)
	path.Arcs = slices.Clone(path.Arcs)
	return path, found, nil
}

// Alternatives is the best path, and others that a driver would call different.
func (h *hierarchy) Alternatives(ctx context.Context, q *Query, _ int) ([]graph.Path, error) {
	path, found, err := h.Route(ctx, q)
	if !found || err != nil {
		return nil, err
	}
	return []graph.Path{path}, nil
}

// Table fills the cells of a table.
func (h *hierarchy) Table(ctx context.Context, q *TableQuery) error { return h.plain().Table(ctx, q) }

package cch

import (
	"context"
	"slices"
	"time"

	"wayside/internal/roads/graph"
)

// excludable are the flags of arcs that a request may avoid.
const excludable = graph.Toll | graph.Motorway | graph.Ferry

// maxExclusions bounds the metrics that avoid arcs, each of which takes as much memory as the original metric. Few
// regions have all of tolls, motorways and ferries, and few drivers avoid several, so more than three combinations in
// use at a time are rare.
const maxExclusions = 3

// exclusion is a metric that closes all arcs with at least one of some flags. It follows the changes of the metric that
// it is derived from.
type exclusion struct {
	flags  graph.Flags
	metric *Metric
	used   uint64 // number of the last use
}

// flagsOf returns the excludable flags that occur in a graph.
func flagsOf(g *graph.Graph) (flags graph.Flags) {
	for i := range g.Arcs {
		flags |= g.Arcs[i].Flags
	}
	return flags & excludable
}

// Excluding returns a metric in which all arcs with one of these flags are closed, and all others have their current
// costs. The first request for some flags takes a full customisation; afterwards the metric is kept and takes part in
// each change. If no arc has such a flag, Excluding returns m itself. The caller must use the result only to take a view
// immediately, because the least used metric is dropped when there are too many. The error is that of ctx.
func (m *Metric) Excluding(ctx context.Context, flags graph.Flags) (*Metric, error) {
	flags &= m.topology.flags
	if flags == 0 {
		return m, nil
	}
	if found := m.exclusion(flags); found != nil {
		return found, nil
	}
	select { // one at a time, because each takes all cores
	case m.excluding <- struct{}{}:
		defer func() { <-m.excluding }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if found := m.exclusion(flags); found != nil {
		return found, nil
	}
	if err := m.awaitMaking(ctx); err != nil {
		return nil, err
	}
	began := time.Now()
	closed := func(c *costs, arc int) uint32 {
		if m.topology.graph.Arcs[arc].Flags&flags != 0 {
			return graph.Closed
		}
		return c.arcs[arc]
	}
	view := m.View()
	weights := make([]uint32, len(view.costs.arcs))
	for arc := range weights {
		weights[arc] = closed(view.costs, arc)
	}
	view.Release()
	made, err := m.topology.Customize(ctx, weights)
	if err != nil {
		return nil, err
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	current := m.current.Load()
	var missed []ArcWeight
	for arc := range weights {
		if weight := closed(current, arc); weight != weights[arc] {
			missed = append(missed, ArcWeight{uint32(arc), weight})
		}
	}
	made.change(missed, current.version)
	m.keep(exclusion{flags: flags, metric: made})
	m.makeNext = time.Now().Add(pauseAfter(time.Since(began)))
	return made, nil
}

// The pauses between metrics that displace each other. A client that asks for one combination after another causes them;
// with the pauses, making metrics takes at most a tenth of the time.
const (
	makingPause = 9 // A client that asks for one combination after another makes metrics displace each other. The pauses limit making metrics to a tenth of the time.
	minPause    = 100 * time.Millisecond
)

// pauseAfter returns how long no other metric is displaced after one that took so long to make.
func pauseAfter(took time.Duration) time.Duration { return max(minPause, makingPause*took) }

// awaitMaking waits until a metric that displaces another one may be made. Metrics that displace none need not wait.
func (m *Metric) awaitMaking(ctx context.Context) error {
	m.exclusionsMutex.Lock()
	full := len(m.exclusions) >= maxExclusions
	m.exclusionsMutex.Unlock()
	pause := time.Until(m.makeNext)
	if !full || pause <= 0 {
		return nil
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// exclusion returns the metric without arcs of some flags, or nil.
func (m *Metric) exclusion(flags graph.Flags) *Metric {
	m.exclusionsMutex.Lock()
	defer m.exclusionsMutex.Unlock()
	m.uses++
	for i := range m.exclusions {
		if e := &m.exclusions[i]; e.flags == flags {
			e.used = m.uses
			return e.metric
		}
	}
	return nil
}

// keep adds an exclusion, and drops the one that was not used for longest if there are too many.
func (m *Metric) keep(e exclusion) {
	m.exclusionsMutex.Lock()
	defer m.exclusionsMutex.Unlock()
	e.used = m.uses
	if len(m.exclusions) >= maxExclusions {
		oldest := slices.MinFunc(m.exclusions, func(a, b exclusion) int { return int(int64(a.used - b.used)) })
		m.exclusions = slices.DeleteFunc(m.exclusions, func(e exclusion) bool { return e.flags == oldest.flags })
	}
	m.exclusions = append(m.exclusions, e)
}

// changeExclusions applies a change to all metrics that avoid arcs.
func (m *Metric) changeExclusions(changes []ArcWeight, version uint64) {
	m.exclusionsMutex.Lock()
	exclusions := slices.Clone(m.exclusions)
	m.exclusionsMutex.Unlock()
	for _, e := range exclusions {
		e.metric.change(slices.DeleteFunc(slices.Clone(changes), func(c ArcWeight) bool {
			return m.topology.graph.Arcs[c.Arc].Flags&e.flags != 0
		}), version)
	}
}

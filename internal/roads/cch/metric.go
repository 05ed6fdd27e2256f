package cch

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// ArcWeight is what an arc weighs from now on: milliseconds, or graph.Closed.
type ArcWeight struct{ Arc, Weight uint32 }

// Metric is what everything costs now. It has two copies: readers hold the current one, and a change is made to the other one, which
// then becomes the current one. Readers take no lock; changes wait for each other.
type Metric struct {
	topology *Topology
	current  atomic.Pointer[costs]
	released chan struct{} // has an entry when a copy that is not the current one may have lost its last reader

	mutex sync.Mutex
	// other is the copy that is not current, or nil as long as nothing changed. What the last change did to the current copy alone is in behind, or, if all is set, it is
	// too much for a list.
	other  *costs
	behind difference
	all    bool
	update updater

	excluding       chan struct{} // held while an exclusion is made
	makeNext        time.Time     // when the next one that displaces another may be made; for who holds excluding
	exclusionsMutex sync.Mutex    // readers hold it for a look at the list; those who exclude nothing never do
	exclusions      []exclusion
	uses            uint64
}

// readerTimeout is how long a change waits for those who still read the copy that it needs. A search holds a copy for less than a
// millisecond, a table for some tens. After that the change gets a new copy, and the garbage collector the old one: a reader that
// holds its view for long costs memory for as long as it does, but no driver gets a route over a road that was closed meanwhile.
const readerTimeout = 20 * time.Millisecond

// Customize computes what everything costs from the weights of all arcs, on all cores. The error is that of ctx.
func (t *Topology) Customize(ctx context.Context, weights []uint32) (*Metric, error) {
	m := &Metric{topology: t, released: make(chan struct{}, 1), excluding: make(chan struct{}, 1)}
	first := t.newCosts()
	first.version = 1
	copy(first.arcs, weights)
	t.customize(ctx, first)
	m.current.Store(first)
	return m, ctx.Err()
}

// View is what everything costs at one moment: immutable until it is released.
type View struct {
	metric *Metric
	costs  *costs
}

// View is the current state. Release it soon: a change waits for a moment until nobody holds the state before the last one.
func (m *Metric) View() View {
	for {
		c := m.current.Load()
		c.readers.Add(1)
		if m.current.Load() == c {
			return View{m, c}
		}
		// A change came in between: the copy may be in the making.
		m.leave(c)
	}
}

// Release ends the use of a view.
func (v View) Release() { v.metric.leave(v.costs) }

func (m *Metric) leave(c *costs) {
	if c.readers.Add(-1) == 0 && m.current.Load() != c {
		select {
		case m.released <- struct{}{}:
		default:
		}
	}
}

// Version grows with each change; the first is 1.
func (v View) Version() uint64 { return v.costs.version }

// Weights are the weights of all arcs. They must not be changed, nor used after the release.
func (v View) Weights() []uint32 { return v.costs.arcs }

// Update changes the weights of arcs, all at once; the last of several weights for one arc counts. Every view taken after it has
// returned has them. It returns the new version.
func (m *Metric) Update(changes []ArcWeight) uint64 {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	version := m.current.Load().version + 1
	m.change(changes, version)
	m.changeExclusions(changes, version)
	return version
}

// change makes the copy that is not current the next version, and swaps both.
func (m *Metric) change(changes []ArcWeight, version uint64) {
	current := m.current.Load()
	m.prepareOther(current)
	next := m.other
	next.version = version
	m.behind.reset()
	if m.all = len(changes) > len(next.arcs)/arcsPerChange+minFullChanges; m.all {
		for _, change := range changes {
			next.arcs[change.Arc] = change.Weight
		}
		m.topology.customize(context.Background(), next)
	} else {
		m.update.apply(m.topology, next, changes, &m.behind)
	}
	m.current.Store(next)
	m.other = current
}

// A full customisation takes less time than one in part where more than one arc in arcsPerChange changed, and minFullChanges more.
const (
	arcsPerChange  = 100
	minFullChanges = 100
)

// prepareOther makes the other copy equal to the current one. Its last readers leave first, or it is replaced.
func (m *Metric) prepareOther(current *costs) {
	if m.other == nil || !m.awaitReaders() {
		m.other = &costs{arcs: slices.Clone(current.arcs), out: slices.Clone(current.out), in: slices.Clone(current.in)}
		return
	}
	if m.all {
		copy(m.other.arcs, current.arcs)
		copy(m.other.out, current.out)
		copy(m.other.in, current.in)
		return
	}
	for _, i := range m.behind.arcs {
		m.other.arcs[i] = current.arcs[i]
	}
	for _, i := range m.behind.out {
		m.other.out[i] = current.out[i]
	}
	for _, i := range m.behind.in {
		m.other.in[i] = current.in[i]
	}
}

// awaitReaders waits until nobody reads the other copy. It is false after the timeout.
func (m *Metric) awaitReaders() bool {
	if m.other.readers.Load() == 0 {
		return true
	}
	timeout := time.NewTimer(readerTimeout)
	defer timeout.Stop()
	for m.other.readers.Load() != 0 {
		select {
		case <-m.released:
		case <-timeout.C:
			return false
		}
	}
	return true
}

// difference is the indexes of arcs and edges whose weight a change changed.
type difference struct{ arcs, out, in []uint32 }

func (d *difference) reset() { d.arcs, d.out, d.in = d.arcs[:0], d.out[:0], d.in[:0] }

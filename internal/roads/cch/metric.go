package cch

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// ArcWeight is a new weight of an arc: milliseconds, or graph.Closed.
type ArcWeight struct{ Arc, Weight uint32 }

// Metric is the current cost of every arc and edge. It has two copies: readers hold the current one, while a change is
// made to the other one, which then becomes the current one. Readers take no lock; changes wait for each other.
type Metric struct {
	topology *Topology
	current  atomic.Pointer[costs]
	released chan struct{} // has an entry if a copy that is not current may have lost its last reader

	mutex sync.Mutex
	// other is the copy that is not current, or nil before the first change. behind lists what the last change changed
	// in the current copy but not yet in other; if all is set, the change was too large for a list and other must be
	// copied as a whole.
	other  *costs
	behind difference
	all    bool
	update updater

	excluding       chan struct{} // held while an exclusion is made
	makeNext        time.Time     // earliest time for making an exclusion that displaces another; guarded by excluding
	exclusionsMutex sync.Mutex    // readers hold it to look at the list; those that exclude nothing never do
	exclusions      []exclusion
	uses            uint64
}

// readerTimeout is how long a change waits for the last readers of the copy that it needs. A search holds a copy for
// less than a millisecond, a table for some tens. After the timeout the change makes a new copy and leaves the old one
// to its readers and the garbage collector: a reader that holds its view for long costs memory meanwhile, but does not
// delay closures for other drivers.
const readerTimeout = 20 * time.Millisecond

// Customize computes the costs of all edges from the weights of all arcs, on all cores. The error is that of ctx.
func (t *Topology) Customize(ctx context.Context, weights []uint32) (*Metric, error) {
	m := &Metric{topology: t, released: make(chan struct{}, 1), excluding: make(chan struct{}, 1)}
	first := t.newCosts()
	first.version = 1
	copy(first.arcs, weights)
	t.customize(ctx, first)
	m.current.Store(first)
	return m, ctx.Err()
}

// View is the cost of every arc and edge at one moment: immutable until it is released.
type View struct {
	metric *Metric
	costs  *costs
}

// View returns the current state. The caller should release it soon, because a change waits for a moment until all views
// of the state before the current one are released.
func (m *Metric) View() View {
	for {
		c := m.current.Load()
		c.readers.Add(1)
		if m.current.Load() == c {
			return View{m, c}
		}
		// A change came in between, and may be writing to this copy.
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

// Version returns the view's version, which grows with each change, starting from 1.
func (v View) Version() uint64 { return v.costs.version }

// Weights returns the weights of all arcs. The caller must not change them, nor use them after the release.
func (v View) Weights() []uint32 { return v.costs.arcs }

// Update changes the weights of arcs in one step; the last of several weights for one arc counts. Every view taken after
// Update has returned includes the changes. Update returns the new version.
func (m *Metric) Update(changes []ArcWeight) uint64 {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	version := m.current.Load().version + 1
	m.change(changes, version)
	m.changeExclusions(changes, version)
	return version
}

// change turns the copy that is not current into the next version, and swaps both.
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

// A full customisation is faster than a partial one if more arcs change than 1/arcsPerChange of all plus minFullChanges.
const (
	arcsPerChange  = 100
	minFullChanges = 100
)

// prepareOther makes the other copy equal to the current one. It first waits for the copy's last readers, and replaces
// the copy if they take too long.
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

// awaitReaders waits until the other copy has no readers. It returns false after readerTimeout.
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

// difference lists the indexes of the arcs and edges whose weight a change changed.
type difference struct{ arcs, out, in []uint32 }

func (d *difference) reset() { d.arcs, d.out, d.in = d.arcs[:0], d.out[:0], d.in[:0] }

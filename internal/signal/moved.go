package signal

import (
	"slices"
	"sync"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
)

// maxAreas is how many areas a Moved keeps apart. Beyond it, it says that anything may have moved.
const maxAreas = 16 << 10

// Moved says where answers to readers changed. It keeps what its consumer has not taken yet. Its methods may be called
// from many goroutines. On nil, Notify does nothing.
type Moved struct {
	wake wake

	mu       sync.Mutex
	pending  mapdata.Touched
	notified uint64
	also     []*Moved
}

// NewMoved makes a Moved.
func NewMoved() *Moved { return &Moved{wake: newWake()} }

// Notify adds t to what is pending and wakes the consumer. It never blocks, and keeps no slice of t.
func (m *Moved) Notify(t mapdata.Touched) {
	if m == nil || !t.Everywhere && len(t.Areas)+len(t.Returns)+len(t.Live)+len(t.Accounts) == 0 {
		return
	}
	m.mu.Lock()
	m.notified++
	p := &m.pending
	p.Everywhere = p.Everywhere || t.Everywhere || len(p.Areas)+len(t.Areas) > maxAreas
	if p.Everywhere {
		p.Areas = nil
	} else {
		p.Areas = append(p.Areas, t.Areas...)
	}
	p.Returns = append(p.Returns, t.Returns...)
	p.Live = append(p.Live, t.Live...)
	p.Accounts = append(p.Accounts, t.Accounts...)
	also := m.also
	m.mu.Unlock()
	m.wake.Notify()
	for _, other := range also {
		other.Notify(t)
	}
}

// Also has other notified of everything that m is notified of from now on, for a second consumer, until stop is called.
func (m *Moved) Also(other *Moved) (stop func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.also = append(slices.Clip(m.also), other)
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.also = slices.DeleteFunc(slices.Clone(m.also), func(o *Moved) bool { return o == other })
	}
}

// NotifyAreas is Notify for what moved within areas alone.
func (m *Moved) NotifyAreas(areas []geo.Circle) { m.Notify(mapdata.Touched{Areas: areas}) }

// C delivers one value after one or more notifications; Take gives their content. It must not be called on nil.
func (m *Moved) C() <-chan struct{} { return m.wake.C() }

// Notified returns the number of notifications so far. A Take that is called later returns all of these that no Take returned.
func (m *Moved) Notified() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.notified
}

// Take gives what was notified since the last Take.
func (m *Moved) Take() mapdata.Touched {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.pending
	m.pending = mapdata.Touched{}
	return t
}

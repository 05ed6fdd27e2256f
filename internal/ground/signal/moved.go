package signal

import (
	"slices"
	"sync"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// maxAreas bounds the separate areas that a Moved keeps. If there are more, anything may have moved.
const maxAreas = 16 << 10

// Moved collects where answers to readers changed, until its consumer takes it. Its methods may be called from many goroutines. On
// nil, Notify does nothing.
type Moved struct {
	wake wake

	mu       sync.Mutex
	pending  mapdata.Touched
	notified uint64
	also     []*Moved
}

// NewMoved returns an empty Moved.
func NewMoved() *Moved { return &Moved{wake: newWake()} }

// Notify adds t to the pending changes and wakes the consumer. It never blocks, and keeps no slice of t.
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

// Also makes later notifications of m notify other too, for a second consumer, until stop is called.
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

// NotifyAreas notifies of changes within areas only.
func (m *Moved) NotifyAreas(areas []geo.Circle) { m.Notify(mapdata.Touched{Areas: areas}) }

// C returns a channel that delivers one value after one or more notifications; Take returns their content. It must not be called on
// nil.
func (m *Moved) C() <-chan struct{} { return m.wake.C() }

// Notified returns the number of notifications so far. A later Take returns all of them that no earlier Take returned.
func (m *Moved) Notified() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.notified
}

// Take returns the changes since the last Take.
func (m *Moved) Take() mapdata.Touched {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.pending
	m.pending = mapdata.Touched{}
	return t
}

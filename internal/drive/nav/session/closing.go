package session

import "sync"

// maxClosing is how many arcs that were closed are compared with the ways of all drivers before the hub's next turn. With more, drivers
// learn of the closures with their next judgement, within a second.
const maxClosing = 1 << 16

// closing collects arcs that were closed, for the hub to wake their drivers. A judgement reads the conditions of all arcs ahead, some
// 50 µs, and a busy region changes many times a second: so a session is judged once a second at most. Comparing its arcs with those that
// were just closed takes a nanosecond each, and finds the few drivers who must not wait.
type closing struct {
	wake chan struct{}

	mu   sync.Mutex
	arcs []uint32
}

// Closed immediately wakes the drivers whose way ahead leads over one of the arcs, which have just been closed. It does not wait.
func (h *Hub) Closed(arcs []uint32) {
	if len(arcs) == 0 {
		return
	}
	c := &h.closing
	c.mu.Lock()
	if len(c.arcs)+len(arcs) <= maxClosing {
		c.arcs = append(c.arcs, arcs...)
	}
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default: // the hub is to look anyway
	}
}

// urge schedules a judgement of each session whose way ahead has one of the collected arcs.
func (h *Hub) urge() {
	h.closing.mu.Lock()
	arcs := h.closing.arcs
	h.closing.arcs = nil
	h.closing.mu.Unlock()
	closed := newArcSet(arcs)
	for _, s := range h.all() {
		if t := s.reader(); t != nil && s.shown.Load().leadsOver(closed) {
			t.urge()
		}
	}
}

// leadsOver reports whether the way ahead of the driver has an arc of the set.
func (w *way) leadsOver(set arcSet) bool {
	for _, arc := range w.arcs[min(w.at, len(w.arcs)):] {
		if set.has(arc) {
			return true
		}
	}
	return false
}

// arcSet is a set of arcs, as bits.
type arcSet []uint64

func newArcSet(arcs []uint32) arcSet {
	most := uint32(0)
	for _, arc := range arcs {
		most = max(most, arc)
	}
	set := make(arcSet, most/64+1)
	for _, arc := range arcs {
		set[arc/64] |= 1 << (arc % 64)
	}
	return set
}

func (s arcSet) has(arc uint32) bool {
	return int(arc/64) < len(s) && s[arc/64]&(1<<(arc%64)) != 0
}

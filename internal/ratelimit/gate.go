package ratelimit

import (
	"context"
	"errors"
	"sync"
)

// ErrBusy is the error of work that would have to wait behind too much of others.
var ErrBusy = errors.New("too much waits to be computed")

// Bounds of what waits at a Gate.
const (
	maxWaiting       = 1024 // altogether
	maxWaitingPerKey = 128  // as many as an account may ask at once
)

// Gate bounds how much is computed at the same time, and shares it fairly by caller: of those who wait, the one who was given the least goes
// first (start-time fair queueing, Goyal et al. 1996), so that a caller who asks for much waits behind a caller who asks for little. Its methods
// may be called from many goroutines.
type Gate struct {
	slots, heavySlots int

	mu      sync.Mutex
	running int
	heavy   int // of those that run
	clock   int64
	given   map[Key]int64 // the clock at which a caller's last work is paid for; only while something runs
	waiting []*waiter
	perKey  map[Key]int
}

type waiter struct {
	key      Key
	start    int64
	heavy    bool
	admitted chan error // receives nil when its turn has come
}

// NewGate makes a gate for so much work at once, of which heavy work is at most heavySlots.
func NewGate(slots, heavySlots int) *Gate {
	return &Gate{slots: max(1, slots), heavySlots: max(1, heavySlots), given: make(map[Key]int64), perKey: make(map[Key]int)}
}

// Enter waits for the turn of a caller's work. leave must be called when it is done. It fails with the context's cause, and with ErrBusy if too
// much waits already. At a gate that is nil nobody waits.
func (g *Gate) Enter(ctx context.Context, key Key, cost int, heavy bool) (leave func(), err error) {
	if g == nil {
		return func() {}, nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	w, err := g.enqueue(key, cost, heavy)
	if err != nil {
		return nil, err
	}
	select {
	case err := <-w.admitted:
		if err != nil {
			return nil, err
		}
	case <-ctx.Done():
		g.mu.Lock()
		defer g.mu.Unlock()
		if !g.drop(w, nil) && <-w.admitted == nil { // it was admitted meanwhile
			g.end(heavy)
		}
		return nil, context.Cause(ctx)
	}
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.end(heavy)
	}, nil
}

func (g *Gate) enqueue(key Key, cost int, heavy bool) (*waiter, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.perKey[key] >= maxWaitingPerKey || len(g.waiting) >= maxWaiting && !g.makeRoom(key) {
		return nil, ErrBusy
	}
	w := &waiter{key: key, start: max(g.clock, g.given[key]), heavy: heavy, admitted: make(chan error, 1)}
	g.given[key] = w.start + int64(max(1, cost))
	g.waiting = append(g.waiting, w)
	g.perKey[key]++
	g.admit()
	return w, nil
}

// makeRoom drops the last work of the caller with the most that waits, unless that is the newcomer.
func (g *Gate) makeRoom(key Key) bool {
	var last *waiter
	most := g.perKey[key] + 1
	for _, w := range g.waiting {
		if count := g.perKey[w.key]; count > most || count == most && last != nil && last.key == w.key {
			last, most = w, count
		}
	}
	return last != nil && g.drop(last, ErrBusy)
}

// drop takes work out of the queue, and tells it why unless err is nil. It reports whether the work was there.
func (g *Gate) drop(w *waiter, err error) bool {
	for i := range g.waiting {
		if g.waiting[i] == w {
			g.waiting = append(g.waiting[:i], g.waiting[i+1:]...)
			if g.perKey[w.key]--; g.perKey[w.key] == 0 {
				delete(g.perKey, w.key)
			}
			if err != nil {
				w.admitted <- err
			}
			return true
		}
	}
	return false
}

// admit lets work in while there are slots.
func (g *Gate) admit() {
	for g.running < g.slots {
		var next *waiter
		for _, w := range g.waiting {
			if (!w.heavy || g.heavy < g.heavySlots) && (next == nil || w.start < next.start) {
				next = w
			}
		}
		if next == nil {
			return
		}
		g.drop(next, nil)
		g.clock = max(g.clock, next.start)
		g.running++
		if next.heavy {
			g.heavy++
		}
		next.admitted <- nil
	}
}

// end gives the slot of work back.
func (g *Gate) end(heavy bool) {
	g.running--
	if heavy {
		g.heavy--
	}
	g.admit()
	if g.running == 0 { // nobody waits: nothing of a caller is kept
		clear(g.given)
		g.clock = 0
	}
}

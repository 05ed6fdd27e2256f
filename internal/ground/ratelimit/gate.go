package ratelimit

import (
	"context"
	"errors"
	"sync"
)

// ErrBusy means that too much work of others waits already.
var ErrBusy = errors.New("too much waits to be computed")

// Bounds of the work that waits at a Gate.
const (
	maxWaiting       = 1024 // altogether
	maxWaitingPerKey = 128  // as many as an account may request at the same time
)

// Gate bounds how much work is computed at the same time, and shares it fairly among callers. The caller who has been given the
// least is admitted first (start-time fair queueing, Goyal et al. 1996), so that a caller who asks for much waits behind a caller
// who asks for little. Its methods may be called from many goroutines.
type Gate struct {
	slots, heavySlots int

	mu      sync.Mutex
	running int
	heavy   int // of the running work
	clock   int64
	given   map[Key]int64 // the clock at which a caller's last work is paid for; only while something runs
	waiting []*waiter
	perKey  map[Key]int
}

type waiter struct {
	key      Key
	start    int64
	heavy    bool
	admitted chan error // receives nil when the work is admitted
}

// NewGate returns a gate for slots pieces of concurrent work, of which heavySlots at most are heavy.
func NewGate(slots, heavySlots int) *Gate {
	return &Gate{slots: max(1, slots), heavySlots: max(1, heavySlots), given: make(map[Key]int64), perKey: make(map[Key]int)}
}

// Enter waits until the work of a caller is admitted. The caller must call leave when the work is done. Enter fails with the
// context's cause, and with ErrBusy if too much waits already. At a nil gate it returns immediately.
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

// makeRoom drops the last work of the caller who has the most work waiting, unless that is the newcomer.
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

// drop removes work from the queue, and sends it err unless that is nil. It reports whether the work was there.
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

// admit admits work while there are slots.
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

// end frees the slot of work and admits other work.
func (g *Gate) end(heavy bool) {
	g.running--
	if heavy {
		g.heavy--
	}
	g.admit()
	if g.running == 0 { // nothing waits: no data of callers is kept
		clear(g.given)
		g.clock = 0
	}
}

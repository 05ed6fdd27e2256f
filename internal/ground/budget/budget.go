// Package budget bounds the bytes that requests hold in memory, all together and those of one caller.
//
// A request takes a Hold for the memory that it is expected to need before work on it begins, corrects the size once it is known,
// and releases the Hold when its answer was written. A request for which there is no room waits, in the order of arrival, until its
// context ends. While others wait, an answer that its client reads too slowly is given up, so that clients that read nothing do not
// block others.
package budget

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"wayside/internal/ground/ratelimit"
)

// Bounds of waiting.
const (
	maxWaiting = 512                    // requests that wait for room, of one budget: each holds its own text meanwhile
	slowAnswer = time.Second            // for which an answer may be written while others wait for room
	evictEvery = 200 * time.Millisecond // how often a waiting request looks for such answers
)

// Why there is no room:
var (
	ErrFull  = errors.New("requests hold as many bytes as they may together")
	ErrShare = errors.New("the caller's requests hold as many bytes as those of one caller may")
)

// Budget is a number of bytes that requests share. Its methods may be called from many goroutines.
type Budget struct {
	total int

	mu      sync.Mutex
	held    int
	most    int       // largest value of held since the start
	waiting []*waiter // in the order of arrival
	writing []*Hold   // whose clients read the answer, in the order in which they began
}

// New returns a budget of total bytes.
func New(total int) *Budget { return &Budget{total: total} }

// Part is the part of a budget that requests of one kind may hold together, so that a flood of one kind leaves room for others.
type Part struct {
	budget       *Budget
	limit, share int

	// Guarded by the budget's mutex.
	held    int
	callers map[ratelimit.Key]int
}

// Part returns a part of at most limit bytes, of which the requests of one caller may hold share.
func (b *Budget) Part(limit, share int) *Part {
	return &Part{budget: b, limit: min(limit, b.total), share: share, callers: make(map[ratelimit.Key]int)}
}

// Hold is the memory of one request. Its methods are called by one goroutine at a time. The methods of nil do nothing.
type Hold struct {
	part   *Part
	caller ratelimit.Key
	bytes  int
	evict  func() // nil: the answer is not being written
	since  time.Time
}

// waiter is a request that waits for room.
type waiter struct {
	hold    *Hold
	bytes   int
	granted chan struct{}
}

// Held returns how many bytes are held now, and the most that were held at a time since the start.
func (b *Budget) Held() (now, most int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held, b.most
}

// Held returns how many bytes requests of the part hold now.
func (p *Part) Held() int {
	p.budget.mu.Lock()
	defer p.budget.mu.Unlock()
	return p.held
}

// Begin returns an empty hold, which grows by Grow.
func (p *Part) Begin(caller ratelimit.Key) *Hold { return &Hold{part: p, caller: caller} }

// Take waits until there is room for the given bytes, and takes them. More than the caller's share counts as the share. It fails
// with ErrFull or ErrShare if there is no room before ctx ends, or when too many requests wait already.
func (p *Part) Take(ctx context.Context, caller ratelimit.Key, bytes int) (*Hold, error) {
	b := p.budget
	h := p.Begin(caller)
	bytes = min(bytes, p.share, p.limit)
	b.mu.Lock()
	if b.room(h, bytes) == nil && !b.overtakes(h) {
		b.add(h, bytes)
		b.mu.Unlock()
		return h, nil
	}
	if len(b.waiting) >= maxWaiting || ctx.Err() != nil {
		err := b.refusal(h, bytes)
		b.mu.Unlock()
		return nil, err
	}
	w := &waiter{h, bytes, make(chan struct{})}
	b.waiting = append(b.waiting, w)
	b.mu.Unlock()
	return b.wait(ctx, w)
}

// overtakes reports whether a request that waits for room in the same part could have some within its caller's share: a newcomer
// must not go before it.
func (b *Budget) overtakes(h *Hold) bool {
	return slices.ContainsFunc(b.waiting, func(w *waiter) bool {
		return w.hold.part == h.part && h.part.callers[w.hold.caller]+w.bytes <= h.part.share
	})
}

func (b *Budget) wait(ctx context.Context, w *waiter) (*Hold, error) {
	tick := time.NewTicker(evictEvery)
	defer tick.Stop()
	for {
		b.mu.Lock()
		b.evictSlow(w.hold.part, w.hold.part.held+w.bytes-w.hold.part.limit)
		b.mu.Unlock()
		select {
		case <-w.granted:
			return w.hold, nil
		case <-tick.C:
			continue
		case <-ctx.Done():
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		if i := slices.Index(b.waiting, w); i >= 0 {
			b.waiting = slices.Delete(b.waiting, i, i+1)
			err := b.refusal(w.hold, w.bytes)
			b.grant() // those behind it may need less
			return nil, err
		}
		return w.hold, nil // the room was granted at the same time
	}
}

// room returns nil if the given bytes fit too, or why they do not.
func (b *Budget) room(h *Hold, bytes int) error {
	p := h.part
	switch {
	case p.callers[h.caller]+bytes > p.share:
		return ErrShare
	case b.held+bytes > b.total, p.held+bytes > p.limit:
		return ErrFull
	}
	return nil
}

// refusal returns why a request found no room.
func (b *Budget) refusal(h *Hold, bytes int) error {
	if err := b.room(h, bytes); err != nil {
		return err
	}
	return ErrFull // earlier requests come first
}

func (b *Budget) add(h *Hold, bytes int) {
	h.bytes += bytes
	h.part.held += bytes
	b.held += bytes
	b.most = max(b.most, b.held)
	if h.part.callers[h.caller] += bytes; h.part.callers[h.caller] == 0 {
		delete(h.part.callers, h.caller)
	}
}

// grant assigns room to waiting requests, in their order. A request that waits for room of its own caller or part delays no other.
func (b *Budget) grant() {
	left := b.waiting[:0]
	var full []*Part // parts in which an earlier request waits
	for _, w := range b.waiting {
		err := b.room(w.hold, w.bytes)
		if err == nil && !slices.Contains(full, w.hold.part) {
			b.add(w.hold, w.bytes)
			close(w.granted)
			continue
		}
		if errors.Is(err, ErrFull) {
			full = append(full, w.hold.part)
		}
		left = append(left, w)
	}
	clear(b.waiting[len(left):])
	b.waiting = left
}

// evictSlow abandons answers of a part that have been written for longer than slowAnswer, the oldest first, until they hold need
// bytes together.
func (b *Budget) evictSlow(p *Part, need int) {
	before := time.Now().Add(-slowAnswer)
	for _, h := range b.writing {
		if need <= 0 || !h.since.Before(before) {
			return
		}
		if h.part != p {
			continue
		}
		if h.evict != nil {
			h.evict() // while the lock is held, so that it is never called after Release has returned
			h.evict = nil
		}
		need -= h.bytes
	}
}

// Grow takes more bytes without waiting, because a body must be read or refused. It fails with ErrFull or ErrShare.
func (h *Hold) Grow(bytes int) error {
	b := h.part.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.room(h, bytes)
	switch {
	case err == nil:
		b.add(h, bytes)
	case errors.Is(err, ErrFull):
		b.evictSlow(h.part, h.part.held+bytes-h.part.limit)
	}
	return err
}

// Set sets the bytes that the request really holds. They count even if there is no room for them, because they are held already.
func (h *Hold) Set(bytes int) {
	if h == nil {
		return
	}
	b := h.part.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	before := h.bytes
	b.add(h, bytes-before)
	if bytes < before {
		b.grant()
	} else if over := h.part.held - h.part.limit; over > 0 {
		b.evictSlow(h.part, over)
	}
}

// Write marks the request as waiting only for its client from now on. If the client takes too long while others wait for room,
// evict is called, at most once, by another goroutine and never after Release. It ends the writing, and must not block or use the
// budget.
func (h *Hold) Write(evict func()) {
	if h == nil {
		return
	}
	b := h.part.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	h.evict, h.since = evict, time.Now()
	b.writing = append(b.writing, h)
}

// Release returns all bytes to the budget. It may be called more than once.
func (h *Hold) Release() {
	if h == nil {
		return
	}
	b := h.part.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.Index(b.writing, h); i >= 0 {
		b.writing = slices.Delete(b.writing, i, i+1)
	}
	h.evict = nil
	if h.bytes != 0 {
		b.add(h, -h.bytes)
		b.grant()
	}
}

package budget

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"wayside/internal/ratelimit"
)

// Slots lets few requests work at once, so that what is short finds a free processor, and takes turns among callers, so that one who
// asks for much waits for himself. Its methods may be called from many goroutines.
type Slots struct {
	mu      sync.Mutex
	free    int
	waiting map[ratelimit.Key][]chan struct{} // by caller, in the order of arrival
	order   []ratelimit.Key                   // of the callers who wait: the first is next
}

// Heavy returns as many slots as there are processors but one, and at least one.
func Heavy() *Slots { return NewSlots(max(1, runtime.GOMAXPROCS(0)-1)) }

// NewSlots makes so many slots.
func NewSlots(count int) *Slots {
	return &Slots{free: count, waiting: make(map[ratelimit.Key][]chan struct{})}
}

// Take waits for a slot, which the caller gives back by calling done once. It fails with the cause of ctx's end. Slots that are nil are
// without bound.
func (s *Slots) Take(ctx context.Context, caller ratelimit.Key) (done func(), err error) {
	if s == nil {
		return func() {}, nil
	}
	s.mu.Lock()
	if s.free > 0 {
		s.free--
		s.mu.Unlock()
		return s.give, nil
	}
	turn := make(chan struct{})
	if len(s.waiting[caller]) == 0 {
		s.order = append(s.order, caller)
	}
	s.waiting[caller] = append(s.waiting[caller], turn)
	s.mu.Unlock()
	select {
	case <-turn:
		return s.give, nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	i := slices.Index(s.waiting[caller], turn)
	if i >= 0 {
		s.remove(caller, i)
	}
	s.mu.Unlock()
	if i < 0 { // its turn came at the same time
		s.give()
	}
	return nil, context.Cause(ctx)
}

// remove takes one who waits out of the queue.
func (s *Slots) remove(caller ratelimit.Key, i int) {
	queue := slices.Delete(s.waiting[caller], i, i+1)
	if len(queue) > 0 {
		s.waiting[caller] = queue
		return
	}
	delete(s.waiting, caller)
	if at := slices.Index(s.order, caller); at >= 0 {
		s.order = slices.Delete(s.order, at, at+1)
	}
}

// give hands a slot to the first of the next caller, who is then the last.
func (s *Slots) give() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.order) == 0 {
		s.free++
		return
	}
	caller := s.order[0]
	turn := s.waiting[caller][0]
	if len(s.waiting[caller]) > 1 {
		s.order = append(s.order[1:], caller)
		s.waiting[caller] = s.waiting[caller][1:]
	} else {
		s.order = s.order[1:]
		delete(s.waiting, caller)
	}
	close(turn)
}

package ratelimit

import (
	"context"
	"hash/maphash"
	"math/bits"
	"sync"
	"time"
)

// ways is the number of buckets in a set: all the places that one key can have. Five and their lock fill two cache lines.
const ways = 5

// DefaultBuckets is room for 163 840 callers at a time, in 4 MiB.
const DefaultBuckets = ways << 15

// Memory keeps buckets in the process. Its size is fixed: a table of small sets, where a key's hash chooses the set (seeded, so
// that a caller cannot choose its set). When a set is full, the bucket that is soonest full again is evicted, which loses the
// least: a flood of addresses can hardly clear the bucket of a caller who is being refused.
//
// Allow and Peek may be called from many goroutines and allocate nothing. Run must run beside them.
type Memory struct {
	seed maphash.Seed
	sets []set // a power of two of them
}

type set struct {
	mu      sync.Mutex
	buckets [ways]bucket
}

type bucket struct {
	key   Key
	state State
}

// NewMemory returns a Memory with room for at least the given number of buckets (DefaultBuckets is a good one), 26 bytes each.
func NewMemory(buckets int) *Memory {
	sets := max(1, (buckets+ways-1)/ways)
	return &Memory{seed: maphash.MakeSeed(), sets: make([]set, 1<<bits.Len(uint(sets-1)))}
}

// Allow takes cost units out of the key's bucket, or refuses (see Decide).
func (m *Memory) Allow(key Key, limit Limit, cost int, now time.Time) Decision {
	return m.ask(key, limit, cost, now, true)
}

// Peek returns the decision that Allow would return, and takes nothing.
func (m *Memory) Peek(key Key, limit Limit, cost int, now time.Time) Decision {
	return m.ask(key, limit, cost, now, false)
}

func (m *Memory) ask(key Key, limit Limit, cost int, now time.Time, take bool) Decision {
	s := &m.sets[maphash.Comparable(m.seed, key)&uint64(len(m.sets)-1)]
	s.mu.Lock()
	defer s.mu.Unlock()
	b, known := s.find(key)
	var state State
	if known {
		state = b.state
	}
	next, decision := Decide(state, now, limit, cost)
	if take && next != state {
		*b = bucket{key: key, state: next}
	}
	return decision
}

// Return puts cost units back into the key's bucket.
func (m *Memory) Return(key Key, limit Limit, cost int, now time.Time) {
	if limit.Count > 0 && cost > 0 {
		m.Lower(key, limit.Price(cost).Take, now)
	}
}

// Lower makes a bucket fuller by the units that are refilled in the given time; at most full.
func (m *Memory) Lower(key Key, by time.Duration, now time.Time) {
	s := &m.sets[maphash.Comparable(m.seed, key)&uint64(len(m.sets)-1)]
	s.mu.Lock()
	defer s.mu.Unlock()
	b, known := s.find(key)
	if !known {
		return
	}
	if b.state -= State(by / time.Microsecond); b.state <= State(now.UnixMicro()) {
		*b = bucket{}
	}
}

// Raise makes a bucket as empty as the state, if it is not already, because other nodes have taken from it too.
func (m *Memory) Raise(key Key, state State) {
	s := &m.sets[maphash.Comparable(m.seed, key)&uint64(len(m.sets)-1)]
	s.mu.Lock()
	defer s.mu.Unlock()
	if b, known := s.find(key); !known || b.state < state {
		*b = bucket{key: key, state: state}
	}
}

// find returns the key's bucket, or the one that it may take over: that which is full again soonest.
func (s *set) find(key Key) (_ *bucket, known bool) {
	soonest := &s.buckets[0]
	for i := range s.buckets {
		b := &s.buckets[i]
		if b.key == key {
			return b, true
		}
		if b.state < soonest.state {
			soonest = b
		}
	}
	return soonest, false
}

// Run drops buckets that are full again, once a minute, until ctx ends. So an address is gone from memory after an hour even if no
// more requests come (D13.2).
func (m *Memory) Run(ctx context.Context) error {
	ticker := time.NewTicker(time.Minute)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-ticker.C:
			m.sweep(now)
		}
	}
}

func (m *Memory) sweep(now time.Time) {
	full := State(now.UnixMicro())
	for i := range m.sets {
		s := &m.sets[i]
		s.mu.Lock()
		for j := range s.buckets {
			if b := &s.buckets[j]; b.state != 0 && b.state <= full {
				*b = bucket{}
			}
		}
		s.mu.Unlock()
	}
}

// Len returns the number of buckets in use.
func (m *Memory) Len() int {
	n := 0
	for i := range m.sets {
		s := &m.sets[i]
		s.mu.Lock()
		for j := range s.buckets {
			if s.buckets[j].state != 0 {
				n++
			}
		}
		s.mu.Unlock()
	}
	return n
}

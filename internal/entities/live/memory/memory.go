package memory

import (
	"bytes"
	"container/heap"
	"container/list"
	"context"
	"errors"
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// DefaultLimit is the number of bytes of keys and values that a driver holds by default.
const DefaultLimit = 256 << 20

const (
	shardCount = 64
	overhead   = 240 // approximate bytes of an entry beside its key and value
	sweepEvery = time.Second
)

// ErrTooLarge is the error for a value that would not fit even alone.
var ErrTooLarge = errors.New("memory: value larger than the driver's memory")

// Driver stores values in memory. It is safe for concurrent use. It stores and returns values without copying them.
type Driver struct {
	now    func() time.Time
	limit  int64
	used   atomic.Int64
	writes atomic.Int64
	seed   maphash.Seed
	shards [shardCount]shard
}

type shard struct {
	mu      sync.RWMutex
	values  map[string]*entry
	expiry  expiryHeap
	written list.List // of *entry, the least recently written first
}

// entry is one value. It is replaced, never changed, except for its index in the heap.
type entry struct {
	key     string
	value   []byte
	until   int64 // nanoseconds since 1970
	number  int64 // of the write that stored it
	place   int   // index in the heap
	element *list.Element
}

func (e *entry) cost() int64 { return int64(len(e.key)+len(e.value)) + overhead }

// Option configures a driver.
type Option func(*Driver)

// WithLimit bounds the bytes that the driver holds. Beyond it, expired values are evicted first, then the least
// recently written: claims live for seconds, and must not be evicted before pins that live for minutes (D8.3).
func WithLimit(bytes int64) Option { return func(d *Driver) { d.limit = bytes } }

// New returns an empty driver.
func New(now func() time.Time, options ...Option) *Driver {
	d := &Driver{now: now, limit: DefaultLimit, seed: maphash.MakeSeed()}
	for i := range d.shards {
		d.shards[i].values = make(map[string]*entry)
	}
	for _, option := range options {
		option(d)
	}
	return d
}

func (d *Driver) shard(key string) *shard { return &d.shards[maphash.String(d.seed, key)%shardCount] }

// Get returns the values of the keys in their order, nil for an absent or expired one. It fails only when ctx has
// ended.
func (d *Driver) Get(ctx context.Context, keys []string) ([][]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	now := d.now().UnixNano()
	values := make([][]byte, len(keys))
	for i, key := range keys {
		s := d.shard(key)
		s.mu.RLock()
		if e := s.values[key]; e != nil && e.until > now {
			values[i] = e.value
		}
		s.mu.RUnlock()
	}
	return values, nil
}

// Swap stores value under key for ttl if the key's current value is exactly old (nil: none), and reports whether it
// did. It fails when ctx has ended, and with ErrTooLarge.
func (d *Driver) Swap(ctx context.Context, key string, old, value []byte, ttl time.Duration) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	now := d.now()
	e := &entry{value: value, until: now.Add(ttl).UnixNano()}
	if int64(len(key))+e.cost() > d.limit {
		return false, ErrTooLarge
	}
	if !d.shard(key).swap(d, key, old, e, now.UnixNano()) {
		return false, nil
	}
	d.trim(now.UnixNano())
	return true, nil
}

func (s *shard) swap(d *Driver, key string, old []byte, e *entry, now int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.values[key]
	if was == nil || was.until <= now {
		if old != nil {
			return false
		}
	} else if !bytes.Equal(old, was.value) { // no value is empty, so that a nil old never equals one
		return false
	}
	if was != nil {
		s.remove(d, was)
		e.key = was.key
	} else {
		e.key = strings.Clone(key) // the key may be part of a longer text
	}
	s.values[e.key] = e
	heap.Push(&s.expiry, e)
	e.number = d.writes.Add(1)
	e.element = s.written.PushBack(e)
	d.used.Add(e.cost())
	return true
}

// remove removes an entry; the shard must be locked.
func (s *shard) remove(d *Driver, e *entry) {
	delete(s.values, e.key)
	heap.Remove(&s.expiry, e.place)
	s.written.Remove(e.element)
	d.used.Add(-e.cost())
}

// Delete removes a key; an absent one is not an error. It fails only when ctx has ended.
func (d *Driver) Delete(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s := d.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.values[key]; e != nil {
		s.remove(d, e)
	}
	return nil
}

// Used returns the approximate number of bytes that the driver holds: keys, values and their overhead, including
// expired ones until they are swept.
func (d *Driver) Used() int64 { return d.used.Load() }

// Run sweeps expired values until ctx ends. Without it, expired values are not returned, but take memory.
func (d *Driver) Run(ctx context.Context) error {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			d.sweep()
		}
	}
}

func (d *Driver) sweep() {
	now := d.now().UnixNano()
	for i := range d.shards {
		d.shards[i].sweep(d, now)
	}
}

// sweep drops expired values.
func (s *shard) sweep(d *Driver, now int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.expiry) > 0 && s.expiry[0].until <= now {
		s.remove(d, s.expiry[0])
	}
}

// trim evicts values until the driver is within its limit.
func (d *Driver) trim(now int64) {
	if d.used.Load() <= d.limit {
		return
	}
	for i := range d.shards {
		if d.shards[i].expired(now) {
			d.shards[i].sweep(d, now)
		}
	}
	for d.used.Load() > d.limit {
		if !d.evictOldest() {
			return
		}
	}
}

func (s *shard) expired(now int64) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.expiry) > 0 && s.expiry[0].until <= now
}

// evictOldest evicts the least recently written value, and reports whether there was one.
func (d *Driver) evictOldest() bool {
	var from *shard
	var oldest int64
	for i := range d.shards {
		s := &d.shards[i]
		s.mu.RLock()
		if e := s.oldest(); e != nil && (from == nil || e.number < oldest) {
			from, oldest = s, e.number
		}
		s.mu.RUnlock()
	}
	if from == nil {
		return false
	}
	from.mu.Lock()
	defer from.mu.Unlock()
	if e := from.oldest(); e != nil {
		from.remove(d, e)
	}
	return true
}

// oldest returns the least recently written value, or nil; the shard must be locked.
func (s *shard) oldest() *entry {
	first := s.written.Front()
	if first == nil {
		return nil
	}
	e, _ := first.Value.(*entry) // the list contains nothing else
	return e
}

// expiryHeap is a heap with the entry that expires first at the top.
type expiryHeap []*entry

func (h expiryHeap) Len() int           { return len(h) }
func (h expiryHeap) Less(i, j int) bool { return h[i].until < h[j].until }

func (h expiryHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

// Push implements heap.Interface.
func (h *expiryHeap) Push(x any) {
	if e, ok := x.(*entry); ok {
		e.place = len(*h)
		*h = append(*h, e)
	}
}

// Pop implements heap.Interface.
func (h *expiryHeap) Pop() any {
	all := *h
	last := all[len(all)-1]
	all[len(all)-1] = nil
	*h = all[:len(all)-1]
	return last
}

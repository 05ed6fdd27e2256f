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

// DefaultLimit is how many bytes of keys and values a driver holds unless it is told otherwise.
const DefaultLimit = 256 << 20

const (
	shardCount = 64
	overhead   = 240 // bytes that an entry takes beside its key and value, about
	sweepEvery = time.Second
)

// ErrTooLarge is of a value that would not fit even alone.
var ErrTooLarge = errors.New("memory: value larger than the driver's memory")

// Driver keeps values in memory. It is safe for concurrent use. What it is given it keeps without a copy, and gives out
// the same.
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
	written list.List // of *entry, the one that was written longest ago first
}

// entry is one value. It is replaced, never changed, but for its place in the heap.
type entry struct {
	key     string
	value   []byte
	until   int64 // nanoseconds since 1970
	number  int64 // of the write that made it
	place   int   // in the heap
	element *list.Element
}

func (e *entry) cost() int64 { return int64(len(e.key)+len(e.value)) + overhead }

// Option changes how a driver is made.
type Option func(*Driver)

// WithLimit bounds the bytes that the driver holds. Beyond it, what has expired goes first, then what was written longest
// ago: claims live for seconds, and must not go before pins that live for minutes (D8.3).
func WithLimit(bytes int64) Option { return func(d *Driver) { d.limit = bytes } }

// New makes an empty driver.
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

// Get gives the values under the keys in their order, nil where there is none or its time is over. It fails only when ctx
// has ended.
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

// Swap puts value under key for ttl if the key holds exactly old now (nil: nothing), and says whether it did. It fails
// when ctx has ended, and with ErrTooLarge.
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
	} else if !bytes.Equal(old, was.value) { // no value is empty: nothing equals none
		return false
	}
	if was != nil {
		s.remove(d, was)
		e.key = was.key
	} else {
		e.key = strings.Clone(key) // it may be part of a longer text
	}
	s.values[e.key] = e
	heap.Push(&s.expiry, e)
	e.number = d.writes.Add(1)
	e.element = s.written.PushBack(e)
	d.used.Add(e.cost())
	return true
}

// remove takes an entry out; the shard is locked.
func (s *shard) remove(d *Driver, e *entry) {
	delete(s.values, e.key)
	heap.Remove(&s.expiry, e.place)
	s.written.Remove(e.element)
	d.used.Add(-e.cost())
}

// Delete removes a key; one that is not there is no error. It fails only when ctx has ended.
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

// Used is how many bytes the driver holds, about: keys, values and what they cost, expired ones included until they are
// swept.
func (d *Driver) Used() int64 { return d.used.Load() }

// Run sweeps what has expired until ctx ends. Without it, expired values are not found, but take memory.
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

// sweep drops what has expired.
func (s *shard) sweep(d *Driver, now int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.expiry) > 0 && s.expiry[0].until <= now {
		s.remove(d, s.expiry[0])
	}
}

// trim brings the driver down to its limit.
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

// evictOldest drops what was written longest ago of all, and says whether there was anything.
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

// oldest gives what was written longest ago, or nil; the shard is locked.
func (s *shard) oldest() *entry {
	first := s.written.Front()
	if first == nil {
		return nil
	}
	e, _ := first.Value.(*entry) // the list holds nothing else
	return e
}

// expiryHeap has the soonest to expire first.
type expiryHeap []*entry

func (h expiryHeap) Len() int           { return len(h) }
func (h expiryHeap) Less(i, j int) bool { return h[i].until < h[j].until }

func (h expiryHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

// Push is for container/heap.
func (h *expiryHeap) Push(x any) {
	if e, ok := x.(*entry); ok {
		e.place = len(*h)
		*h = append(*h, e)
	}
}

// Pop is for container/heap.
func (h *expiryHeap) Pop() any {
	all := *h
	last := all[len(all)-1]
	all[len(all)-1] = nil
	*h = all[:len(all)-1]
	return last
}

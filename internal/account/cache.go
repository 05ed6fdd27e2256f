package account

import (
	"crypto/sha256"
	"sync"
	"time"
)

const (
	// cacheLife is how long a look-up may be answered from memory. What another node or the command line changed counts
	// after it at the latest.
	cacheLife = time.Second
	cacheSize = 10_000
)

// cache remembers found sessions or tokens for a second, by the hash of their secret, so that somebody who asks often
// costs one look-up a second.
type cache[V any] struct {
	mu      sync.RWMutex
	epoch   int // raised by clear
	entries map[[sha256.Size]byte]entry[V]
}

type entry[V any] struct {
	value *V
	until time.Time
}

func newCache[V any]() *cache[V] {
	return &cache[V]{entries: make(map[[sha256.Size]byte]entry[V])}
}

// get gives what was remembered, or nil and the epoch that put wants.
func (c *cache[V]) get(key [sha256.Size]byte, now time.Time) (*V, int) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if e, ok := c.entries[key]; ok && now.Before(e.until) {
		return e.value, c.epoch
	}
	return nil, c.epoch
}

// put remembers value unless something was cleared since the look-up began: it may have been found before it was
// revoked.
func (c *cache[V]) put(key [sha256.Size]byte, value *V, epoch int, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if epoch != c.epoch {
		return
	}
	if len(c.entries) >= cacheSize {
		clear(c.entries) // nothing in it would have lived longer than a second
	}
	c.entries[key] = entry[V]{value: value, until: now.Add(cacheLife)}
}

// clear forgets everything, so that a revocation counts at once on this node. It is rare, and what is forgotten had a
// second to live.
func (c *cache[V]) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.epoch++
	clear(c.entries)
}

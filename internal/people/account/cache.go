package account

import (
	"crypto/sha256"
	"sync"
	"time"
)

const (
	// cacheTTL is how long a look-up is cached. Changes by another node or the command line take effect after at most this
	// time.
	cacheTTL  = time.Second
	cacheSize = 10_000
)

// cache caches sessions or tokens for a second by the hash of their secret, so that a frequent client costs one look-up a
// second.
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

// get returns the cached value, or nil and the epoch to pass to put.
func (c *cache[V]) get(key [sha256.Size]byte, now time.Time) (*V, int) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if e, ok := c.entries[key]; ok && now.Before(e.until) {
		return e.value, c.epoch
	}
	return nil, c.epoch
}

// put caches value, unless the cache was cleared since the look-up began: the value may have been read before it was
// revoked.
func (c *cache[V]) put(key [sha256.Size]byte, value *V, epoch int, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if epoch != c.epoch {
		return
	}
	if len(c.entries) >= cacheSize {
		clear(c.entries) // every entry expires within a second anyway
	}
	c.entries[key] = entry[V]{value: value, until: now.Add(cacheTTL)}
}

// clear drops everything, so that a revocation takes effect immediately on this node. Revocations are rare and entries
// short-lived, so that a selective removal is not worth it.
func (c *cache[V]) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.epoch++
	clear(c.entries)
}

package feed

import (
	"context"
	"errors"
	"sync"
	"time"

	"wayside/internal/ground/mapdata"
)

// maxCachedFeeds is the number of feeds whose values a cache holds.
const maxCachedFeeds = 1000

// cache keeps one value per feed until it expires. Concurrent callers for the same feed share one load; callers for
// different feeds do not block each other. The zero value is an empty cache.
type cache[V any] struct {
	mu     sync.Mutex
	byFeed map[mapdata.FeedID]*cached[V]
}

// cached is one entry, loaded or still loading: value, until and err are set before done is closed.
type cached[V any] struct {
	done  chan struct{}
	value V
	until time.Time // when the value expires
	err   error
}

// get returns the feed's cached value, or loads it. It fails as load does, or with the error of ctx when ctx ends while
// another caller loads the value. load also returns when its value expires.
func (c *cache[V]) get(ctx context.Context, id mapdata.FeedID, now time.Time, load func() (V, time.Time, error)) (V, error) {
	for {
		e, created := c.entry(id, now)
		if created {
			return c.fill(id, e, now, load)
		}
		select {
		case <-e.done:
		case <-ctx.Done():
			var none V
			return none, ctx.Err()
		}
		if e.err == nil && now.Before(e.until) {
			return e.value, nil
		}
		// The value is expired already, or the load failed, perhaps because that caller's context ended: try again.
	}
}

// fill loads the value and releases the callers that wait for it, also when load panics.
func (c *cache[V]) fill(id mapdata.FeedID, e *cached[V], now time.Time, load func() (V, time.Time, error)) (V, error) {
	e.err = errNotLoaded
	defer func() {
		if e.err != nil || !now.Before(e.until) {
			c.forget(id, e)
		}
		close(e.done)
	}()
	e.value, e.until, e.err = load()
	return e.value, e.err
}

var errNotLoaded = errors.New("feed: the value was not loaded")

// entry returns the feed's entry, or a new one (created) that the caller must fill.
func (c *cache[V]) entry(id mapdata.FeedID, now time.Time) (e *cached[V], created bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byFeed[id]; e != nil {
		select {
		case <-e.done:
			if now.Before(e.until) {
				return e, false
			}
		default:
			return e, false
		}
	}
	if c.byFeed == nil {
		c.byFeed = make(map[mapdata.FeedID]*cached[V])
	}
	for other := range c.byFeed { // random eviction
		if len(c.byFeed) < maxCachedFeeds {
			break
		}
		delete(c.byFeed, other)
	}
	e = &cached[V]{done: make(chan struct{})}
	c.byFeed[id] = e
	return e, true
}

func (c *cache[V]) forget(id mapdata.FeedID, e *cached[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byFeed[id] == e {
		delete(c.byFeed, id)
	}
}

package feed

import (
	"context"
	"errors"
	"sync"
	"time"

	"wayside/internal/mapdata"
)

// maxCachedFeeds is how many feeds a cache holds values of.
const maxCachedFeeds = 1000

// cache keeps a value of each feed for a while. Callers who want the value of one feed at the same time share the work;
// those of different feeds do not wait for each other. The zero value is empty.
type cache[V any] struct {
	mu     sync.Mutex
	byFeed map[mapdata.FeedID]*cached[V]
}

// cached is a value, or the work on one: value, until and err are set once done is closed.
type cached[V any] struct {
	done  chan struct{}
	value V
	until time.Time // the value is repeated before this time
	err   error
}

// get gives the feed's value as it is kept at now, or has it made. It fails as make does, or with the error of ctx when
// that ends while another caller makes the value. make also says until when its value may be repeated.
func (c *cache[V]) get(ctx context.Context, id mapdata.FeedID, now time.Time, make func() (V, time.Time, error)) (V, error) {
	for {
		e, mine := c.entry(id, now)
		if mine {
			return c.fill(id, e, now, make)
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
		// The value is not kept, or the caller who made it failed, perhaps because their own context ended: try again.
	}
}

// fill has the value made, and lets those who wait for it go on, also when make panics.
func (c *cache[V]) fill(id mapdata.FeedID, e *cached[V], now time.Time, make func() (V, time.Time, error)) (V, error) {
	e.err = errNotMade
	defer func() {
		if e.err != nil || !now.Before(e.until) {
			c.forget(id, e)
		}
		close(e.done)
	}()
	e.value, e.until, e.err = make()
	return e.value, e.err
}

var errNotMade = errors.New("feed: the value was not made")

// entry gives what there is of the feed, or a new entry that the caller has to fill.
func (c *cache[V]) entry(id mapdata.FeedID, now time.Time) (e *cached[V], mine bool) {
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
	for other := range c.byFeed { // in no order
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

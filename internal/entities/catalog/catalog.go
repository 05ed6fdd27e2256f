package catalog

import (
	"slices"
	"sync/atomic"
	"time"

	"wayside/internal/ground/mapdata"
)

// Counts returns the number of a feed's published entities, by whether they expire.
type Counts func(id mapdata.FeedID) (persistent, decaying int)

// Catalog holds every feed, its source and health. Reads are safe concurrently with the one goroutine that calls Load, Apply
// and Publish.
type Catalog struct {
	counts Counts
	view   atomic.Pointer[view]
	health atomic.Pointer[healthView]
}

// view is the immutable state that readers use.
type view struct {
	sources table[mapdata.FeedID, *source]
	layers  table[string, mapdata.FeedID]
	owned   table[mapdata.AccountID, []mapdata.FeedID] // oldest first
	served  []mapdata.FeedID                           // oldest first
}

// New creates an empty Catalog. counts is called when a feed has changed, after its entities were published; nil: no feed has
// persistent entities.
func New(counts Counts) *Catalog {
	c := &Catalog{counts: counts}
	c.view.Store(new(view))
	return c
}

// feed returns a feed without checking permissions; nil: there is none.
func (v *view) feed(id mapdata.FeedID) *mapdata.Feed {
	if s, ok := v.sources.get(id); ok {
		return s.feed
	}
	return nil
}

// EachFeed calls yield with every feed, regardless of who may read it, in no order.
func (c *Catalog) EachFeed(yield func(*mapdata.Feed)) {
	for _, page := range c.view.Load().sources.pages {
		for _, s := range page {
			yield(s.feed)
		}
	}
}

// Feed returns the feed of a source if the account may read it: it is served, or the account's own. Otherwise nil.
func (c *Catalog) Feed(id mapdata.FeedID, account mapdata.AccountID) *mapdata.Feed {
	return readable(c.view.Load().feed(id), account)
}

// ByLayer returns the feed that owns a layer, with the permissions of Feed.
func (c *Catalog) ByLayer(slug string, account mapdata.AccountID) *mapdata.Feed {
	v := c.view.Load()
	id, ok := v.layers.get(slug)
	if !ok {
		return nil
	}
	return readable(v.feed(id), account)
}

func readable(f *mapdata.Feed, account mapdata.AccountID) *mapdata.Feed {
	if f == nil || f.Served() || f.ManagedBy(account) {
		return f
	}
	return nil
}

// Owned returns the feeds that the account owns or maintains; none for a guest.
func (c *Catalog) Owned(account mapdata.AccountID) []mapdata.FeedID {
	if account.IsZero() {
		return nil
	}
	owned, _ := c.view.Load().owned.get(account)
	return owned
}

// Listed returns the feeds in the public catalogue: public, approved and active; oldest first.
func (c *Catalog) Listed() []*mapdata.Feed {
	v := c.view.Load()
	var listed []*mapdata.Feed
	for _, id := range v.served {
		if f := v.feed(id); f.Listed() {
			listed = append(listed, f)
		}
	}
	return listed
}

// Sources returns the ids that the account may select as sources (D4.5), oldest first.
func (c *Catalog) Sources(account mapdata.AccountID) []mapdata.SourceID {
	v := c.view.Load()
	ids := make([]mapdata.SourceID, 0, len(v.served))
	for _, id := range v.served {
		ids = append(ids, id.SourceID())
	}
	if account.IsZero() {
		return ids
	}
	owned, _ := v.owned.get(account)
	for _, id := range owned {
		if !v.feed(id).Served() {
			ids = append(ids, id.SourceID())
		}
	}
	return ids
}

// ServedCount returns the number of served sources.
func (c *Catalog) ServedCount() int { return len(c.view.Load().served) }

// ServedHealth returns the health of every served source, oldest first. The slice is shared and immutable; it is the same
// slice as long as no health changes. The result is cached until a feed changes or a health changes with time.
func (c *Catalog) ServedHealth(now time.Time) []mapdata.SourceHealth {
	v, h := c.view.Load(), c.health.Load()
	if h != nil && h.view == v && h.contains(now) {
		return h.served
	}
	next := v.evaluate(now)
	if h != nil && slices.Equal(h.served, next.served) {
		next.served = h.served
	}
	c.health.Store(next)
	return next.served
}

// Health returns the health of the given feeds, in their order; a deleted feed is offline.
func (c *Catalog) Health(ids []mapdata.FeedID, now time.Time) []mapdata.SourceHealth {
	v := c.view.Load()
	all := make([]mapdata.SourceHealth, 0, len(ids))
	for _, id := range ids {
		h := mapdata.SourceHealth{ID: id.SourceID(), Health: mapdata.Health{Status: mapdata.Offline}}
		if s, ok := v.sources.get(id); ok {
			h.Health = s.health(now).Health
		}
		all = append(all, h)
	}
	return all
}

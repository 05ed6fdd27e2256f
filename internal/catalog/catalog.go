package catalog

import (
	"slices"
	"sync/atomic"
	"time"

	"wayside/internal/mapdata"
)

// Counts tells how many entities of a feed readers see, by whether they expire.
type Counts func(id mapdata.FeedID) (persistent, decaying int)

// Catalog knows every feed, the source it makes and its health. Any number of goroutines may read beside the one that
// calls Load, Apply and Publish.
type Catalog struct {
	counts Counts
	view   atomic.Pointer[view]
	health atomic.Pointer[healthView]
}

// view is what readers select from; immutable.
type view struct {
	sources table[mapdata.FeedID, *source]
	layers  table[string, mapdata.FeedID]
	owned   table[mapdata.AccountID, []mapdata.FeedID] // oldest first
	served  []mapdata.FeedID                           // oldest first
}

// New makes an empty catalogue. counts is asked when a feed changes, once its entities are published; nil: no feed has
// entities that persist.
func New(counts Counts) *Catalog {
	c := &Catalog{counts: counts}
	c.view.Store(new(view))
	return c
}

// feed gives a feed, whoever may read it; nil: there is none.
func (v *view) feed(id mapdata.FeedID) *mapdata.Feed {
	if s, ok := v.sources.get(id); ok {
		return s.feed
	}
	return nil
}

// Feed gives the feed behind a source if the account may read it: it is served, or the account's own. Otherwise nil.
func (c *Catalog) Feed(id mapdata.FeedID, account mapdata.AccountID) *mapdata.Feed {
	return readable(c.view.Load().feed(id), account)
}

// ByLayer gives the feed that owns a layer, on the same terms as Feed.
func (c *Catalog) ByLayer(slug string, account mapdata.AccountID) *mapdata.Feed {
	v := c.view.Load()
	id, ok := v.layers.get(slug)
	if !ok {
		return nil
	}
	return readable(v.feed(id), account)
}

func readable(f *mapdata.Feed, account mapdata.AccountID) *mapdata.Feed {
	if f == nil || f.Served() || !account.IsZero() && f.Owner == account {
		return f
	}
	return nil
}

// Owned gives the account's own feeds; none for a guest.
func (c *Catalog) Owned(account mapdata.AccountID) []mapdata.FeedID {
	if account.IsZero() {
		return nil
	}
	owned, _ := c.view.Load().owned.get(account)
	return owned
}

// Listed gives the feeds that the catalogue of sources shows: public, approved and active; oldest first.
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

// Sources gives the ids that the account may name as sources (D4.5), oldest first.
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

// ServedCount tells how many sources are served.
func (c *Catalog) ServedCount() int { return len(c.view.Load().served) }

// ServedHealth gives the health of every served source, oldest first. The slice is shared and never changes; the same slice
// means the same health. A call costs nothing unless a feed has changed since the last one, or time has changed a health.
func (c *Catalog) ServedHealth(now time.Time) []mapdata.SourceHealth {
	v, h := c.view.Load(), c.health.Load()
	if h != nil && h.of == v && h.holds(now) {
		return h.served
	}
	next := v.judge(now)
	if h != nil && slices.Equal(h.served, next.served) {
		next.served = h.served
	}
	c.health.Store(next)
	return next.served
}

// Health gives the health of the named feeds, in their order; one that is gone is offline.
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

package catalog

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"wayside/internal/mapdata"
)

// Catalog knows every feed, the source it makes and its health. Reading is safe for any number of callers beside one
// writer.
type Catalog struct {
	view   atomic.Pointer[view]
	health atomic.Pointer[healthView]

	mu    sync.Mutex // guards feeds: the writer's, and health's once a second
	feeds map[mapdata.FeedID]*tracked
}

// tracked is a feed with what its health is made of.
type tracked struct {
	feed     *mapdata.Feed
	recent   mapdata.Recent
	decaying bool
}

// view is what readers select from; immutable.
type view struct {
	feeds  map[mapdata.FeedID]*mapdata.Feed
	layers map[string]*mapdata.Feed
	served []*mapdata.Feed // oldest first
	owned  map[mapdata.AccountID][]mapdata.FeedID
}

// healthView is the health of the served sources at a moment; immutable.
type healthView struct {
	at     time.Time
	of     *view
	served []mapdata.SourceHealth
}

// healthEvery is how long a health is repeated before it is judged again: a change is visible within a second (D12.7).
const healthEvery = 500 * time.Millisecond

// New makes an empty catalogue.
func New() *Catalog {
	c := &Catalog{feeds: make(map[mapdata.FeedID]*tracked)}
	c.Publish()
	return c
}

// Reset forgets everything; what was published stays until the next Publish.
func (c *Catalog) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.feeds = make(map[mapdata.FeedID]*tracked)
}

// Set takes over a feed as it is now. It shows after Publish. decaying says whether what it holds, or last held, expires.
func (c *Catalog) Set(f *mapdata.Feed, decaying bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.feeds[f.ID]
	if t == nil {
		t = new(tracked)
		c.feeds[f.ID] = t
	}
	t.feed, t.decaying = f, decaying
}

// Newest is when the newest attempt of a feed was that the catalogue knows; zero: none.
func (c *Catalog) Newest(id mapdata.FeedID) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.feeds[id]; t != nil {
		return t.recent.Newest()
	}
	return time.Time{}
}

// Add remembers attempts of a feed, oldest first.
func (c *Catalog) Add(id mapdata.FeedID, attempts []mapdata.Attempt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.feeds[id]; t != nil {
		for _, a := range attempts {
			t.recent.Add(a)
		}
	}
}

// Remove forgets a feed. It shows after Publish.
func (c *Catalog) Remove(id mapdata.FeedID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.feeds, id)
}

// Publish shows readers what was set and removed.
func (c *Catalog) Publish() {
	c.mu.Lock()
	v := &view{
		feeds:  make(map[mapdata.FeedID]*mapdata.Feed, len(c.feeds)),
		layers: make(map[string]*mapdata.Feed, len(c.feeds)),
		owned:  make(map[mapdata.AccountID][]mapdata.FeedID),
	}
	for id, t := range c.feeds {
		v.feeds[id] = t.feed
		v.layers[t.feed.Layer.Slug] = t.feed
		v.owned[t.feed.Owner] = append(v.owned[t.feed.Owner], id)
		if t.feed.Served() {
			v.served = append(v.served, t.feed)
		}
	}
	c.mu.Unlock()
	slices.SortFunc(v.served, func(a, b *mapdata.Feed) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	c.view.Store(v)
}

// Feed gives the feed behind a source if the account may read it: it is served, or the account's own. Otherwise nil.
func (c *Catalog) Feed(id mapdata.FeedID, account mapdata.AccountID) *mapdata.Feed {
	return readable(c.view.Load().feeds[id], account)
}

// ByLayer gives the feed that owns a layer, on the same terms as Feed.
func (c *Catalog) ByLayer(slug string, account mapdata.AccountID) *mapdata.Feed {
	return readable(c.view.Load().layers[slug], account)
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
	return c.view.Load().owned[account]
}

// Listed gives the feeds that the catalogue of sources shows: public, approved and active; oldest first.
func (c *Catalog) Listed() []*mapdata.Feed {
	var listed []*mapdata.Feed
	for _, f := range c.view.Load().served {
		if f.Listed() {
			listed = append(listed, f)
		}
	}
	return listed
}

// Sources gives the ids that the account may name as sources (D4.5), oldest first.
func (c *Catalog) Sources(account mapdata.AccountID) []mapdata.SourceID {
	v := c.view.Load()
	ids := make([]mapdata.SourceID, 0, len(v.served))
	for _, f := range v.served {
		ids = append(ids, f.ID.Source())
	}
	for _, id := range c.Owned(account) {
		if !v.feeds[id].Served() {
			ids = append(ids, id.Source())
		}
	}
	return ids
}

// ServedHealth gives the health of every served source, oldest first. The slice is shared and stays as it is: the same
// slice means that nothing was judged anew.
func (c *Catalog) ServedHealth(now time.Time) []mapdata.SourceHealth {
	v := c.view.Load()
	h := c.health.Load()
	if h != nil && h.of == v && now.Sub(h.at) < healthEvery && !now.Before(h.at) {
		return h.served
	}
	next := &healthView{at: now, of: v, served: make([]mapdata.SourceHealth, 0, len(v.served))}
	c.mu.Lock()
	for _, f := range v.served {
		next.served = append(next.served, c.judge(f.ID, now))
	}
	c.mu.Unlock()
	if h != nil && h.of == v && slices.Equal(h.served, next.served) {
		next.served = h.served
	}
	c.health.Store(next)
	return next.served
}

// Health gives the health of the named feeds, in their order; one that is gone is offline.
func (c *Catalog) Health(ids []mapdata.FeedID, now time.Time) []mapdata.SourceHealth {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]mapdata.SourceHealth, 0, len(ids))
	for _, id := range ids {
		all = append(all, c.judge(id, now))
	}
	return all
}

func (c *Catalog) judge(id mapdata.FeedID, now time.Time) mapdata.SourceHealth {
	h := mapdata.SourceHealth{ID: id.Source(), Health: mapdata.Health{Status: mapdata.Offline}}
	if t := c.feeds[id]; t != nil {
		h.Health = mapdata.FeedHealth(t.feed, &t.recent, t.decaying, now)
	}
	return h
}

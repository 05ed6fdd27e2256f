package catalog

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"wayside/internal/ground/mapdata"
)

// stage is a view under construction.
type stage struct {
	c             *Catalog
	sources       tableEdit[mapdata.FeedID, *source]
	layers        tableEdit[string, mapdata.FeedID]
	owned         tableEdit[mapdata.AccountID, []mapdata.FeedID]
	served        []mapdata.FeedID
	servedChanges map[mapdata.FeedID]bool    // changes to served
	changed       map[mapdata.FeedID]*source // not published before
}

func (c *Catalog) stage(from *view) *stage {
	return &stage{
		c: c, sources: from.sources.edit(), layers: from.layers.edit(), owned: from.owned.edit(), served: from.served,
		servedChanges: make(map[mapdata.FeedID]bool), changed: make(map[mapdata.FeedID]*source),
	}
}

// Load stages a catalogue of everything in the store.
func (c *Catalog) Load(ctx context.Context, from mapdata.StoreSnapshot) (mapdata.Staged, error) {
	s := c.stage(new(view))
	for _, f := range from.Feeds() {
		s.set(f, new(mapdata.Recent))
	}
	err := from.Attempts(ctx, func(a *mapdata.FeedAttempt) {
		if src := s.changed[a.Feed]; src != nil {
			src.recent.AddAttempt(a.Revision, &a.Attempt) // not published yet, so it may be changed
		}
	})
	if err != nil {
		return nil, fmt.Errorf("load attempts: %w", err)
	}
	s.updateServed()
	return s, nil
}

// Apply stages changes of feeds and their attempts. Its cost is proportional to the changes, plus a copy of the list of
// served feeds when that changes.
func (c *Catalog) Apply(changes []mapdata.FeedChange) mapdata.Staged {
	s := c.stage(c.view.Load())
	for i := range changes {
		change := &changes[i]
		switch {
		case change.Feed != nil:
			s.set(change.Feed, s.recent(change))
		case !change.FeedID.IsZero(): // zero: votes on live incidents
			s.remove(change.FeedID)
		}
	}
	s.updateServed()
	return s
}

// recent returns a feed's attempts including those of the change.
func (s *stage) recent(c *mapdata.FeedChange) *mapdata.Recent {
	old := new(mapdata.Recent)
	if src, ok := s.sources.get(c.FeedID); ok {
		old = src.recent
	}
	if len(c.Attempts) == 0 {
		return old
	}
	next := *old
	for i := range c.Attempts {
		next.AddAttempt(c.Revision, &c.Attempts[i])
	}
	return &next
}

// set adds or replaces a feed.
func (s *stage) set(f *mapdata.Feed, recent *mapdata.Recent) {
	old, known := s.sources.get(f.ID)
	if known && (old.feed.Layer.Slug != f.Layer.Slug || !slices.Equal(old.feed.Managers(), f.Managers())) {
		s.unlink(old.feed)
		known = false
	}
	if !known {
		s.layers.set(f.Layer.Slug, f.ID)
		s.own(f)
	}
	s.setServed(f.ID, f.Served())
	next := &source{feed: f, recent: recent}
	s.sources.set(f.ID, next)
	s.changed[f.ID] = next
}

// own adds a feed to copies of the lists of its owner and its maintainers.
func (s *stage) own(f *mapdata.Feed) {
	for _, account := range f.Managers() {
		owned, _ := s.owned.get(account)
		at, _ := slices.BinarySearchFunc(owned, f.ID, compareIDs)
		s.owned.set(account, slices.Insert(slices.Clone(owned), at, f.ID))
	}
}

// unlink removes a feed from its layer, its owner and its maintainers.
func (s *stage) unlink(f *mapdata.Feed) {
	if id, _ := s.layers.get(f.Layer.Slug); id == f.ID {
		s.layers.remove(f.Layer.Slug)
	}
	for _, account := range f.Managers() {
		owned, _ := s.owned.get(account)
		owned = slices.DeleteFunc(slices.Clone(owned), func(id mapdata.FeedID) bool { return id == f.ID })
		if len(owned) == 0 {
			s.owned.remove(account)
		} else {
			s.owned.set(account, owned)
		}
	}
}

func (s *stage) remove(id mapdata.FeedID) {
	old, known := s.sources.get(id)
	if !known {
		return
	}
	s.unlink(old.feed)
	s.setServed(id, false)
	s.sources.remove(id)
	delete(s.changed, id)
}

// setServed records whether a feed is served.
func (s *stage) setServed(id mapdata.FeedID, served bool) {
	if _, was := slices.BinarySearchFunc(s.served, id, compareIDs); was == served {
		delete(s.servedChanges, id)
	} else {
		s.servedChanges[id] = served
	}
}

// updateServed applies the changes to a copy of the list of served feeds.
func (s *stage) updateServed() {
	if len(s.servedChanges) == 0 {
		return
	}
	next := slices.DeleteFunc(slices.Clone(s.served), func(id mapdata.FeedID) bool { _, moved := s.servedChanges[id]; return moved })
	for id, served := range s.servedChanges {
		if served {
			next = append(next, id)
		}
	}
	slices.SortFunc(next, compareIDs)
	s.served = next
}

func compareIDs(a, b mapdata.FeedID) int { return bytes.Compare(a[:], b[:]) }

// Publish makes the view visible to readers. It touches no area of the map: entities are in the index.
func (s *stage) Publish() mapdata.Touched {
	for id, src := range s.changed {
		src.decaying = s.c.decaying(id)
	}
	s.c.view.Store(&view{sources: s.sources.table, layers: s.layers.table, owned: s.owned.table, served: s.served})
	return mapdata.Touched{}
}

// decaying reports whether a feed's entities expire. A feed without entities counts as one whose entities expire, so that it
// does not stay online without pushes.
func (c *Catalog) decaying(id mapdata.FeedID) bool {
	if c.counts == nil {
		return true
	}
	persistent, decaying := c.counts(id)
	return decaying > 0 || persistent == 0
}

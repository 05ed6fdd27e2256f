package catalog

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"wayside/internal/mapdata"
)

// stage is the next view in the making.
type stage struct {
	c       *Catalog
	sources tableEdit[mapdata.FeedID, *source]
	layers  tableEdit[string, mapdata.FeedID]
	owned   tableEdit[mapdata.AccountID, []mapdata.FeedID]
	served  []mapdata.FeedID
	serves  map[mapdata.FeedID]bool    // where it differs from served
	changed map[mapdata.FeedID]*source // not published before
}

func (c *Catalog) stage(from *view) *stage {
	return &stage{
		c: c, sources: from.sources.edit(), layers: from.layers.edit(), owned: from.owned.edit(), served: from.served,
		serves: make(map[mapdata.FeedID]bool), changed: make(map[mapdata.FeedID]*source),
	}
}

// Load builds the catalogue anew from what the store holds.
func (c *Catalog) Load(ctx context.Context, from mapdata.StoreSnapshot) (mapdata.Staged, error) {
	s := c.stage(new(view))
	for _, f := range from.Feeds() {
		s.set(f, new(mapdata.Recent))
	}
	err := from.Attempts(ctx, func(a *mapdata.FeedAttempt) {
		if one := s.changed[a.Feed]; one != nil {
			one.recent.AddAttempt(a.Revision, &a.Attempt) // nobody else has it yet
		}
	})
	if err != nil {
		return nil, fmt.Errorf("load attempts: %w", err)
	}
	s.listServed()
	return s, nil
}

// Apply stages what changed of feeds and what they attempted. It costs what changed, and a copy of the list of served feeds
// when one of them comes or goes.
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
	s.listServed()
	return s
}

// recent gives a feed's attempts with those of the change.
func (s *stage) recent(c *mapdata.FeedChange) *mapdata.Recent {
	old := new(mapdata.Recent)
	if one, ok := s.sources.get(c.FeedID); ok {
		old = one.recent
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

// set puts a feed into the place of its earlier state.
func (s *stage) set(f *mapdata.Feed, recent *mapdata.Recent) {
	old, known := s.sources.get(f.ID)
	if known && (old.feed.Layer.Slug != f.Layer.Slug || old.feed.Owner != f.Owner) {
		s.unlink(old.feed)
		known = false
	}
	if !known {
		s.layers.set(f.Layer.Slug, f.ID)
		s.own(f)
	}
	s.serve(f.ID, f.Served())
	next := &source{feed: f, recent: recent}
	s.sources.set(f.ID, next)
	s.changed[f.ID] = next
}

// own adds a feed to its owner's. The list that readers have stays as it is.
func (s *stage) own(f *mapdata.Feed) {
	owned, _ := s.owned.get(f.Owner)
	at, _ := slices.BinarySearchFunc(owned, f.ID, compareIDs)
	s.owned.set(f.Owner, slices.Insert(slices.Clone(owned), at, f.ID))
}

// unlink removes a feed from its layer and its owner.
func (s *stage) unlink(f *mapdata.Feed) {
	if id, _ := s.layers.get(f.Layer.Slug); id == f.ID {
		s.layers.remove(f.Layer.Slug)
	}
	owned, _ := s.owned.get(f.Owner)
	owned = slices.DeleteFunc(slices.Clone(owned), func(id mapdata.FeedID) bool { return id == f.ID })
	if len(owned) == 0 {
		s.owned.remove(f.Owner)
	} else {
		s.owned.set(f.Owner, owned)
	}
}

func (s *stage) remove(id mapdata.FeedID) {
	old, known := s.sources.get(id)
	if !known {
		return
	}
	s.unlink(old.feed)
	s.serve(id, false)
	s.sources.remove(id)
	delete(s.changed, id)
}

// serve notes whether a feed is served from now on.
func (s *stage) serve(id mapdata.FeedID, served bool) {
	if _, was := slices.BinarySearchFunc(s.served, id, compareIDs); was == served {
		delete(s.serves, id)
	} else {
		s.serves[id] = served
	}
}

// listServed brings the list of served feeds up to date, in a copy if it changes.
func (s *stage) listServed() {
	if len(s.serves) == 0 {
		return
	}
	next := slices.DeleteFunc(slices.Clone(s.served), func(id mapdata.FeedID) bool { _, moved := s.serves[id]; return moved })
	for id, served := range s.serves {
		if served {
			next = append(next, id)
		}
	}
	slices.SortFunc(next, compareIDs)
	s.served = next
}

func compareIDs(a, b mapdata.FeedID) int { return bytes.Compare(a[:], b[:]) }

// Publish shows the view to readers. It touches nothing on the map: entities are the index's.
func (s *stage) Publish() mapdata.Touched {
	for id, one := range s.changed {
		one.decaying = s.c.decaying(id)
	}
	s.c.view.Store(&view{sources: s.sources.table, layers: s.layers.table, owned: s.owned.table, served: s.served})
	return mapdata.Touched{}
}

// decaying says whether what a feed holds, or last held, expires. A feed that holds nothing counts as one whose entities
// expire: its silence must not look like health.
func (c *Catalog) decaying(id mapdata.FeedID) bool {
	if c.counts == nil {
		return true
	}
	persistent, decaying := c.counts(id)
	return decaying > 0 || persistent == 0
}

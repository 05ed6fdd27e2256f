package projectiontest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// Start is the time of everything in a World.
var Start = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

// Center is at or near the entities of a World.
var Center = geo.Point{Lat: 52, Lng: 4}

// World is the contents of a store. A projection can load it, and it changes step by step as a store does.
type World struct {
	Registered map[mapdata.FeedID]*mapdata.Feed
	Entities   map[Key]mapdata.Entity
	Tallies    map[Key]mapdata.Tally // those of live incidents have no feed
	Attempts   []mapdata.FeedAttempt // in the order of their revisions
	Revision   int64

	feeds int // ever registered
}

// Key names an entity, or a live incident when it has no feed.
type Key struct {
	Feed       mapdata.FeedID
	ExternalID string
}

// NewWorld returns a world of some feeds, whose entities have the same external ids.
func NewWorld(random *rand.Rand, steps int) *World {
	w := &World{Registered: make(map[mapdata.FeedID]*mapdata.Feed), Entities: make(map[Key]mapdata.Entity), Tallies: make(map[Key]mapdata.Tally)}
	for range 4 {
		w.register()
	}
	for range steps {
		w.Step(random)
	}
	return w
}

// Step changes something, as one transaction of a store does, and returns the change that a replica gets.
func (w *World) Step(random *rand.Rand) mapdata.FeedChange {
	w.Revision++
	f := w.anyFeed(random)
	id := fmt.Sprint(random.IntN(20))
	switch n := random.IntN(100); {
	case f == nil || n < 3:
		f = w.register()
	case n < 6:
		return w.delete(f.ID)
	case n < 12:
		own := *f
		own.ReviewState = []mapdata.ReviewState{mapdata.Approved, mapdata.Pending}[random.IntN(2)]
		own.Active = random.IntN(4) > 0
		w.Registered[f.ID] = &own
		f = &own
	case n < 25:
		return w.vote(mapdata.FeedID{}, nil, id, random)
	case n < 45:
		if _, there := w.Entities[Key{f.ID, id}]; there {
			return w.vote(f.ID, f, id, random)
		}
	case n < 60:
		a := mapdata.Attempt{At: Start.Add(-time.Duration(random.IntN(7200)) * time.Second), OK: random.IntN(3) > 0}
		w.Attempts = append(w.Attempts, mapdata.FeedAttempt{Feed: f.ID, Revision: w.Revision, Attempt: a})
		return mapdata.FeedChange{Revision: w.Revision, Feed: f, FeedID: f.ID, Attempts: []mapdata.Attempt{a}}
	default:
		return w.write(f, random)
	}
	return mapdata.FeedChange{Revision: w.Revision, Feed: f, FeedID: f.ID}
}

func (w *World) anyFeed(random *rand.Rand) *mapdata.Feed {
	all := w.Feeds()
	if len(all) == 0 {
		return nil
	}
	return all[random.IntN(len(all))]
}

func (w *World) register() *mapdata.Feed {
	w.feeds++
	f := &mapdata.Feed{
		ID: mapdata.FeedID{0: 1, 15: byte(w.feeds), 14: byte(w.feeds >> 8)}, Owner: mapdata.AccountID{byte(w.feeds % 3)}, Name: fmt.Sprint("feed ", w.feeds),
		Layer: mapdata.Layer{Slug: fmt.Sprint("layer-", w.feeds)}, Direction: mapdata.Pull, Visibility: mapdata.Public,
		ReviewState: mapdata.Approved, Active: true,
	}
	w.Registered[f.ID] = f
	return f
}

func (w *World) delete(id mapdata.FeedID) mapdata.FeedChange {
	delete(w.Registered, id)
	for k := range w.Entities {
		if k.Feed == id {
			delete(w.Entities, k)
		}
	}
	for k := range w.Tallies {
		if k.Feed == id {
			delete(w.Tallies, k)
		}
	}
	w.Attempts = slices.DeleteFunc(slices.Clone(w.Attempts), func(a mapdata.FeedAttempt) bool { return a.Feed == id })
	return mapdata.FeedChange{Revision: w.Revision, FeedID: id}
}

func (w *World) vote(feed mapdata.FeedID, f *mapdata.Feed, id string, random *rand.Rand) mapdata.FeedChange {
	t := w.Tallies[Key{feed, id}]
	t.Source, t.ExternalID, t.ChangedAt = mapdata.Incidents, id, Start
	if f != nil {
		t.Source, t.LifeAt = f.ID.SourceID(), Start
	}
	if t.Confirms += random.IntN(3) - 1; t.Confirms < 0 {
		t.Confirms = 2
	}
	w.Tallies[Key{feed, id}] = t
	return mapdata.FeedChange{Revision: w.Revision, Feed: f, FeedID: feed, Tallies: []mapdata.Tally{t}}
}

// write upserts some entities of a feed and retires others.
func (w *World) write(f *mapdata.Feed, random *rand.Rand) mapdata.FeedChange {
	c := mapdata.FeedChange{Revision: w.Revision, Feed: f, FeedID: f.ID}
	for i := range 20 {
		id := fmt.Sprint(i)
		switch _, there := w.Entities[Key{f.ID, id}]; {
		case there && random.IntN(10) == 0:
			delete(w.Entities, Key{f.ID, id})
			c.Gone = append(c.Gone, id)
		case random.IntN(4) == 0:
			e := Entity(f.ID, id)
			e.Properties = fmt.Appendf(nil, `{"n":%d}`, random.IntN(1000))
			e.Point.Lng += float64(random.IntN(3)) / 1000
			w.Entities[Key{f.ID, id}] = e
			c.Entities = append(c.Entities, e)
		}
	}
	return c
}

// Entity returns an entity at the Center that lives for an hour.
func Entity(feed mapdata.FeedID, id string) mapdata.Entity {
	return mapdata.Entity{
		Feed: feed, ExternalID: id, Point: Center, Properties: []byte("{}"),
		FirstSeenAt: Start, SeenAt: Start, ChangedAt: Start, Lifetime: time.Hour,
	}
}

// Clone returns a copy of the world.
func (w *World) Clone() *World {
	next := *w
	next.Registered, next.Entities, next.Tallies = make(map[mapdata.FeedID]*mapdata.Feed), make(map[Key]mapdata.Entity), make(map[Key]mapdata.Tally)
	for k, v := range w.Registered {
		next.Registered[k] = v
	}
	for k, v := range w.Entities {
		next.Entities[k] = v
	}
	for k, v := range w.Tallies {
		next.Tallies[k] = v
	}
	next.Attempts = slices.Clone(w.Attempts)
	return &next
}

// Feeds returns every feed, in the order of ids.
func (w *World) Feeds() []*mapdata.Feed {
	var all []*mapdata.Feed
	for n := range w.feeds {
		if f := w.Registered[mapdata.FeedID{0: 1, 15: byte(n + 1), 14: byte((n + 1) >> 8)}]; f != nil {
			all = append(all, f)
		}
	}
	return all
}

// snapshot reads a world for a projection that loads, as a store's snapshot does.
type snapshot struct {
	*World
	fail func() error // called before each value; nil: none fails
}

var errBroken = errors.New("the store broke")

func (s snapshot) check(ctx context.Context) error {
	if s.fail != nil {
		if err := s.fail(); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Entities yields the entities of one part.
func (s snapshot) Entities(ctx context.Context, part, parts int, yield func(*mapdata.Entity)) error {
	for k, e := range s.World.Entities {
		if int(k.Feed[15])%parts != part {
			continue
		}
		if err := s.check(ctx); err != nil {
			return err
		}
		yield(&e)
	}
	return nil
}

// FeedTallies yields the tallies of entities of feeds.
func (s snapshot) FeedTallies(ctx context.Context, _ time.Time, yield func(*mapdata.Tally)) error {
	return s.tallies(ctx, false, yield)
}

// LiveTallies yields the tallies of live incidents of a kind.
func (s snapshot) LiveTallies(ctx context.Context, kind mapdata.Kind, _ time.Time, yield func(*mapdata.Tally)) error {
	return s.tallies(ctx, true, func(t *mapdata.Tally) {
		if t.Kind == kind {
			yield(t)
		}
	})
}

func (s snapshot) tallies(ctx context.Context, live bool, yield func(*mapdata.Tally)) error {
	for k, t := range s.Tallies {
		if k.Feed.IsZero() != live {
			continue
		}
		if err := s.check(ctx); err != nil {
			return err
		}
		yield(&t)
	}
	return nil
}

// Attempts yields all attempts, in the order of their revisions.
func (s snapshot) Attempts(ctx context.Context, yield func(*mapdata.FeedAttempt)) error {
	for _, a := range s.World.Attempts {
		if err := s.check(ctx); err != nil {
			return err
		}
		yield(&a)
	}
	return nil
}

package projectiontest_test

import (
	"context"
	"fmt"
	"maps"
	"sync/atomic"
	"testing"

	"wayside/internal/ground/mapdata"
	"wayside/internal/store/replica/projectiontest"
)

// register counts the entities of each feed: it is the smallest projection possible.
type register struct {
	view atomic.Pointer[view]
}

// view is immutable.
type view map[mapdata.FeedID]map[string]bool

func (r *register) Load(ctx context.Context, from mapdata.StoreSnapshot) (mapdata.Staged, error) {
	next := make(view)
	for _, f := range from.Feeds() {
		next[f.ID] = make(map[string]bool)
	}
	// Other projections may need tallies and attempts.
	err := from.Entities(ctx, 0, 1, func(e *mapdata.Entity) {
		if held := next[e.Feed]; held != nil {
			held[e.ExternalID] = true
		}
	})
	return staged{r, next}, err
}

func (r *register) Apply(changes []mapdata.FeedChange) mapdata.Staged {
	next := make(view)
	if present := r.view.Load(); present != nil {
		next = maps.Clone(*present)
	}
	for i := range changes {
		c := &changes[i]
		if c.FeedID.IsZero() {
			continue
		}
		if c.Feed == nil {
			delete(next, c.FeedID)
			continue
		}
		held := maps.Clone(next[c.FeedID])
		if held == nil {
			held = make(map[string]bool)
		}
		for _, id := range c.Gone {
			delete(held, id)
		}
		for k := range c.Entities {
			held[c.Entities[k].ExternalID] = true
		}
		next[c.FeedID] = held
	}
	return staged{r, next}
}

type staged struct {
	of   *register
	next view
}

func (s staged) Publish() mapdata.Touched {
	s.of.view.Store(&s.next)
	return mapdata.Touched{}
}

// TestToy checks that a new projection is a leaf: it depends only on the contract, and passes its tests.
func TestToy(t *testing.T) {
	projectiontest.Run(t, func() projectiontest.Subject {
		r := new(register)
		r.view.Store(new(view))
		return projectiontest.Subject{
			Projection: r,
			Read: func() map[string]string {
				read := make(map[string]string)
				for id, held := range *r.view.Load() {
					read[id.String()] = fmt.Sprint(len(held))
				}
				return read
			},
			Want: func(w *projectiontest.World) map[string]string {
				held := make(map[mapdata.FeedID]int)
				for _, f := range w.Feeds() {
					held[f.ID] = 0
				}
				for k := range w.Entities {
					held[k.Feed]++
				}
				want := make(map[string]string)
				for id, n := range held {
					want[id.String()] = fmt.Sprint(n)
				}
				return want
			},
		}
	})
}

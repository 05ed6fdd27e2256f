package nearby_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wayside/internal/entities/catalog"
	"wayside/internal/entities/index"
	"wayside/internal/entities/nearby"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/signal"
	"wayside/internal/store/replica"
)

// togglingStore is a store in which one of two feeds is repeatedly approved, rejected and sometimes deleted.
type togglingStore struct {
	revision atomic.Int64
	feeds    [2]mapdata.Feed
	entities [2]mapdata.Entity
}

func newTogglingStore() *togglingStore {
	s := new(togglingStore)
	camera, _ := mapdata.ParseKind("camera.speed") // is not merged
	for i := range s.feeds {
		f := &s.feeds[i]
		*f = mapdata.Feed{
			ID: mapdata.FeedID{15: byte(i + 1)}, Owner: owner, Visibility: mapdata.Public, ReviewState: mapdata.Approved, Active: true,
			Direction: mapdata.Push, Layer: mapdata.Layer{Slug: fmt.Sprint("layer-", i)},
		}
		s.entities[i] = mapdata.Entity{Feed: f.ID, ExternalID: "1", Kind: camera, Point: geo.Point{Lat: 52, Lng: 4}, FirstSeenAt: start, SeenAt: start, ChangedAt: start}
	}
	return s
}

// State advances the revision with each call.
func (s *togglingStore) State(context.Context) (mapdata.StoreState, error) {
	return mapdata.StoreState{Revision: s.revision.Add(100)}, nil
}

func (s *togglingStore) Changes(_ context.Context, after int64, _ int) ([]mapdata.FeedChange, error) {
	n := after + 1
	f := s.feeds[1]
	c := mapdata.FeedChange{Revision: n, FeedID: f.ID}
	if n%7 == 0 {
		return []mapdata.FeedChange{c}, nil
	}
	if n%2 == 0 {
		f.ReviewState = mapdata.Pending
	}
	c.Feed, c.Entities = &f, s.entities[1:]
	return []mapdata.FeedChange{c}, nil
}

func (s *togglingStore) AllFeeds(_ context.Context, yield func(*mapdata.Feed)) error {
	for i := range s.feeds {
		yield(&s.feeds[i])
	}
	return nil
}

func (s *togglingStore) AllEntities(_ context.Context, part, parts int, yield func(*mapdata.Entity)) error {
	for i := range s.entities {
		if i%parts == part {
			yield(&s.entities[i])
		}
	}
	return nil
}

func (s *togglingStore) AllTallies(context.Context, time.Time, func(*mapdata.Tally)) error {
	return nil
}

func (s *togglingStore) LiveTallies(context.Context, mapdata.Kind, time.Time, func(*mapdata.Tally)) error {
	return nil
}

func (s *togglingStore) OldTallies(context.Context, time.Time, func(*mapdata.Tally)) error {
	return nil
}

func (s *togglingStore) RecordedAttempts(context.Context, int64, int64) ([]mapdata.FeedAttempt, error) {
	return nil, nil
}

func (s *togglingStore) RecentAttempts(context.Context, time.Time, func(*mapdata.FeedAttempt)) error {
	return nil
}

func (s *togglingStore) Forget(context.Context, mapdata.FeedID, []string, time.Time) error {
	return nil
}

// TestAnswerHasOneRevision checks that during publications an answer has entities of exactly the sources that it lists.
func TestAnswerHasOneRevision(t *testing.T) {
	ix := index.New(func(dst []byte, _ *mapdata.Entity) []byte { return dst })
	c := catalog.New(ix.Counts)
	now := func() time.Time { return start }
	changed := signal.NewStoreChanged()
	store := newTogglingStore()
	f := replica.New(store, []replica.Projection{index.Projection{Index: ix, Now: now}, c}, replica.Options{
		Now: now, Log: slog.New(slog.DiscardHandler), StoreChanged: changed,
	})
	reader := nearby.New(nearby.Config{Index: ix, Catalog: c, Primary: "tesla", Now: now, Publications: f})
	ctx, stop := context.WithCancel(t.Context())
	var jobs sync.WaitGroup
	jobs.Go(func() {
		if err := f.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	for range 3 {
		jobs.Go(func() {
			var a nearby.Answer
			for ctx.Err() == nil {
				q := &nearby.Query{Center: geo.Point{Lat: 52, Lng: 4}, Radius: 1000, Kinds: mapdata.AllKinds, Limit: 10}
				if err := reader.Near(ctx, q, &a); err != nil {
					t.Error(err)
					return
				}
				var found, named []mapdata.SourceID
				for i := range a.Hits {
					found = append(found, a.Hits[i].Source)
				}
				for i := range a.Sources {
					named = append(named, a.Sources[i].ID)
				}
				slices.Sort(found)
				if !slices.Equal(found, named) {
					t.Errorf("entities of %v, sources %v", found, named)
					return
				}
			}
		})
	}
	deadline := time.After(time.Minute)
	for f.Revision() < 600 && !t.Failed() {
		changed.Notify()
		select {
		case <-deadline:
			t.Errorf("revision %d after a minute", f.Revision())
		case <-time.After(time.Millisecond):
		}
	}
	stop()
	jobs.Wait()
}

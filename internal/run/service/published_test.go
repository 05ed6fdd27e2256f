package service

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/signal"
	"wayside/internal/store/replica"
)

// slowStore is an empty store whose changes take the time slow to be read.
type slowStore struct {
	replica.Store
	revision, slow atomic.Int64
}

func (s *slowStore) State(context.Context) (mapdata.StoreState, error) {
	return mapdata.StoreState{Revision: s.revision.Load()}, nil
}

func (s *slowStore) AllFeeds(context.Context, func(*mapdata.Feed)) error { return nil }

func (s *slowStore) Changes(_ context.Context, _ int64, _ int) ([]mapdata.FeedChange, error) {
	time.Sleep(time.Duration(s.slow.Load()))
	return []mapdata.FeedChange{{Revision: s.revision.Load()}}, nil
}

// TestAnswersWaitAtMost checks that an answer waits until its node shows the change, and 50 ms at most.
func TestAnswersWaitAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, changed := new(slowStore), signal.NewStoreChanged()
		p := published{replica.New(store, nil, replica.Options{Now: time.Now, Log: slog.New(slog.DiscardHandler), StoreChanged: changed}), new(roads)}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- p.replica.Run(ctx) }()
		synctest.Wait()
		for slow, want := range map[time.Duration]time.Duration{0: 0, 20 * time.Millisecond: 20 * time.Millisecond, 2 * time.Second: 50 * time.Millisecond} {
			store.slow.Store(int64(slow))
			revision, began := store.revision.Add(1), time.Now()
			changed.Notify()
			p.Await(t.Context())
			if took := time.Since(began); took != want || slow == want && p.replica.Revision() != revision {
				t.Errorf("changes that take %v: waited %v until revision %d of %d", slow, took, p.replica.Revision(), revision)
			}
			time.Sleep(5 * time.Second)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// TestRoadsAreAwaited checks that a closure is in the network once a wait for the roads has ended.
func TestRoadsAreAwaited(t *testing.T) {
	day(t, func(d *badDay) {
		r := new(roads)
		r.await(d.t.Context()) // there is no region
		r.current.Store(&network{live: d.live, follow: d.follow})
		entity := closure("one", townCenter, `{}`)
		entity.Feed = d.feed.ID
		for range 50 {
			d.moved.Notify(d.index.Apply([]mapdata.FeedChange{{Feed: d.feed, FeedID: d.feed.ID, Entities: []mapdata.Entity{entity}}}))
			published{roads: r}.AwaitRoads(d.t.Context())
			if d.follow.State().Empty() {
				d.t.Fatal("nothing is closed")
			}
			d.moved.Notify(d.index.Apply([]mapdata.FeedChange{{Feed: d.feed, FeedID: d.feed.ID, Gone: []string{"one"}}}))
			published{roads: r}.AwaitRoads(d.t.Context())
			if !d.follow.State().Empty() {
				d.t.Fatal("it is still closed")
			}
		}
	})
}

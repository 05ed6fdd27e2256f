package feed_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"wayside/internal/feeds/feed"
	"wayside/internal/ground/mapdata"
)

// slowStore has served feeds. Reading the entities of slowFeed blocks until release is closed.
type slowStore struct {
	feed.Store
	slowFeed mapdata.FeedID
	release  chan struct{}
	reads    int
}

func (*slowStore) Feed(_ context.Context, id mapdata.FeedID) (*mapdata.Feed, error) {
	return &mapdata.Feed{ID: id, Visibility: mapdata.Public, ReviewState: mapdata.Approved, Active: true}, nil
}

func (s *slowStore) FeedEntities(ctx context.Context, id mapdata.FeedID, _ time.Time, _ int, _ func(*mapdata.Entity)) error {
	if id != s.slowFeed {
		return nil
	}
	s.reads++
	select {
	case <-s.release:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (*slowStore) HiddenPins(context.Context, mapdata.SourceID, time.Time, int) ([]mapdata.HiddenPin, error) {
	return nil, nil
}

// TestSketchConcurrency checks that a request for one feed's sketch waits neither for another feed's nor
// beyond its own context, and that concurrent requests for the same sketch share one read.
func TestSketchConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowStore{slowFeed: mapdata.FeedID{1}, release: make(chan struct{})}
		s := feed.New(feed.Config{Store: store, Now: time.Now})
		sketch := func(ctx context.Context, id mapdata.FeedID) chan error {
			done := make(chan error, 1)
			go func() {
				_, err := s.Sketch(ctx, id)
				done <- err
			}()
			return done
		}
		leaving, leave := context.WithCancel(t.Context())
		first := sketch(leaving, store.slowFeed)
		synctest.Wait()
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		second, third := sketch(short, store.slowFeed), sketch(t.Context(), store.slowFeed)
		other := sketch(t.Context(), mapdata.FeedID{2})
		synctest.Wait()
		select {
		case err := <-other:
			if err != nil {
				t.Error(err)
			}
		default:
			t.Error("another feed's sketch waits")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		select {
		case err := <-second:
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("request with a timeout of 1 s: %v", err)
			}
		default:
			t.Error("a request waits beyond its own context")
		}
		if store.reads != 1 {
			t.Errorf("%d reads for three requests", store.reads)
		}
		leave() // the request that reads
		if err := <-first; !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled request: %v", err)
		}
		synctest.Wait()
		close(store.release)
		if err := <-third; err != nil {
			t.Errorf("remaining request: %v", err)
		}
		if store.reads != 2 {
			t.Errorf("%d reads, want one more after the first request was cancelled", store.reads)
		}
	})
}

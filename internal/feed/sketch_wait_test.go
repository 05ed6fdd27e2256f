package feed_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"wayside/internal/feed"
	"wayside/internal/mapdata"
)

// slowStore has served feeds. Entities of the slow one are read once release is closed.
type slowStore struct {
	feed.Store
	slow    mapdata.FeedID
	release chan struct{}
	reads   int
}

func (*slowStore) Feed(_ context.Context, id mapdata.FeedID) (*mapdata.Feed, error) {
	return &mapdata.Feed{ID: id, Visibility: mapdata.Public, ReviewState: mapdata.Approved, Active: true}, nil
}

func (s *slowStore) FeedEntities(ctx context.Context, id mapdata.FeedID, _ time.Time, _ int, _ func(*mapdata.Entity)) error {
	if id != s.slow {
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

// TestSketchesOfOtherFeedsDoNotWait holds that guests who look at one feed's page wait neither for another feed's nor
// beyond their own context, and that all who want the same sketch cost one read.
func TestSketchesOfOtherFeedsDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowStore{slow: mapdata.FeedID{1}, release: make(chan struct{})}
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
		first := sketch(leaving, store.slow)
		synctest.Wait()
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		second, third := sketch(short, store.slow), sketch(t.Context(), store.slow)
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
				t.Errorf("who waited for a second: %v", err)
			}
		default:
			t.Error("a guest waits beyond their own context")
		}
		if store.reads != 1 {
			t.Errorf("%d reads for three guests", store.reads)
		}
		leave() // the one whose read it is
		if err := <-first; !errors.Is(err, context.Canceled) {
			t.Errorf("who left: %v", err)
		}
		synctest.Wait()
		close(store.release)
		if err := <-third; err != nil {
			t.Errorf("who stayed: %v", err)
		}
		if store.reads != 2 {
			t.Errorf("%d reads, want one more after the first guest left", store.reads)
		}
	})
}

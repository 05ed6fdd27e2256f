package ingest_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wayside/internal/feeds/ingest"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/signal"
)

// blockingStore stores nothing. The first Apply of the feed waits until release is closed.
type blockingStore struct {
	feed     mapdata.FeedID
	applying chan struct{} // closed by the first Apply
	release  chan struct{}
	applied  int
}

func (*blockingStore) Mark(context.Context, mapdata.FeedID) (mapdata.Mark, error) {
	return mapdata.Mark{}, nil
}

func (*blockingStore) Stored(context.Context, mapdata.FeedID, []string, func(mapdata.Stored)) error {
	return nil
}

func (s *blockingStore) Apply(_ context.Context, c *mapdata.Change) error {
	if c.Feed != s.feed {
		return nil
	}
	if s.applied++; s.applied == 1 {
		close(s.applying)
		<-s.release
	}
	return nil
}

func emptyBatch(t *testing.T) *ingest.Batch {
	t.Helper()
	b, err := ingest.DecodeBatch([]byte("[]"), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// feedsOfOneGroup are feeds whose ids agree in their last six bits.
var feedsOfOneGroup = [2]mapdata.FeedID{{15: 1}, {15: 65}}

// wantPushNow fails unless a push to the feed ends within a second.
func wantPushNow(t *testing.T, in *ingest.Ingester, feed mapdata.FeedID) {
	t.Helper()
	pushed := make(chan error, 1)
	go func() {
		_, err := in.Push(t.Context(), feed, emptyBatch(t))
		pushed <- err
	}()
	time.Sleep(time.Second)
	select {
	case err := <-pushed:
		if err != nil {
			t.Error(err)
		}
	default:
		t.Error("the push still waits after a second")
	}
}

func TestPushDoesNotWaitForTheSnapshotOfAnotherFeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &blockingStore{}
		in := ingest.New(store, time.Now, signal.StoreChanged{})
		release := make(chan struct{})
		go func() {
			_, err := in.Snapshot(t.Context(), feedsOfOneGroup[0], ingest.Snapshot{
				Open: func() (io.ReadCloser, error) {
					<-release // a large body takes seconds to parse
					return io.NopCloser(strings.NewReader("[]")), nil
				},
				Hash: make([]byte, 32), At: time.Now(),
				Finish: func(ingest.Result) (ingest.Record, error) { return ingest.Record{}, nil },
			})
			if err != nil {
				t.Error(err)
			}
		}()
		synctest.Wait()
		wantPushNow(t, in, feedsOfOneGroup[1])
		close(release)
	})
}

func TestPushDoesNotWaitForThePushToAnotherFeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &blockingStore{feed: feedsOfOneGroup[0], applying: make(chan struct{}), release: make(chan struct{})}
		in := ingest.New(store, time.Now, signal.StoreChanged{})
		go func() {
			if _, err := in.Push(t.Context(), feedsOfOneGroup[0], emptyBatch(t)); err != nil {
				t.Error(err)
			}
		}()
		<-store.applying
		wantPushNow(t, in, feedsOfOneGroup[1])
		close(store.release)
	})
}

// TestPushesToOneFeedTakeTurns also checks that a push that waits for its turn ends with its context, and that the turn
// then still passes to the next one.
func TestPushesToOneFeedTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		feed := mapdata.FeedID{15: 1}
		store := &blockingStore{feed: feed, applying: make(chan struct{}), release: make(chan struct{})}
		in := ingest.New(store, time.Now, signal.StoreChanged{})
		push := func(ctx context.Context) chan error {
			done := make(chan error, 1)
			batch := emptyBatch(t)
			go func() {
				_, err := in.Push(ctx, feed, batch)
				done <- err
			}()
			return done
		}
		first := push(t.Context())
		<-store.applying
		short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		second, third := push(short), push(t.Context())
		time.Sleep(time.Second)
		select {
		case err := <-second:
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the push whose context ended while it waited: %v", err)
			}
		default:
			t.Error("a push still waits, 0.9 s after its own context ended")
		}
		if store.applied != 1 {
			t.Errorf("%d pushes to one feed are stored side by side", store.applied)
		}
		close(store.release)
		if err := errors.Join(<-first, <-third); err != nil {
			t.Error(err)
		}
		if store.applied != 2 {
			t.Errorf("%d pushes were stored, want the first and the third", store.applied)
		}
	})
}

package replica_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/signal"
	"wayside/internal/proof/testenv"
	"wayside/internal/store/replica"
	"wayside/internal/store/sqlite"
)

// failing is a store of which one call fails on demand.
type failing struct {
	*sqlite.DB
	call   atomic.Pointer[string] // the name of the call that fails; nil: none
	failed atomic.Int64
}

func (s *failing) err(name string) error {
	if call := s.call.Load(); call == nil || *call != name {
		return nil
	}
	s.failed.Add(1)
	return errors.New(name + " fails")
}

func (s *failing) State(ctx context.Context) (mapdata.StoreState, error) {
	if err := s.err("State"); err != nil {
		return mapdata.StoreState{}, err
	}
	return s.DB.State(ctx)
}

func (s *failing) Changes(ctx context.Context, after int64, limit int) ([]mapdata.FeedChange, error) {
	if err := s.err("Changes"); err != nil {
		return nil, err
	}
	return s.DB.Changes(ctx, after, limit)
}

func (s *failing) RecordedAttempts(ctx context.Context, after, upTo int64) ([]mapdata.FeedAttempt, error) {
	if err := s.err("RecordedAttempts"); err != nil {
		return nil, err
	}
	return s.DB.RecordedAttempts(ctx, after, upTo)
}

func (s *failing) AllFeeds(ctx context.Context, yield func(*mapdata.Feed)) error {
	if err := s.err("AllFeeds"); err != nil {
		return err
	}
	return s.DB.AllFeeds(ctx, yield)
}

// TestFailedReadPublishesNothing checks for each read of the store that a failure is logged, that nothing of the same batch is
// published (missing attempts would make a healthy feed look stale), and that the read is retried.
func TestFailedReadPublishesNothing(t *testing.T) {
	for _, call := range []string{"State", "Changes", "RecordedAttempts"} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			db, f := newStore(t)
			put(t, db, f, "a")
			store, log := &failing{DB: db}, new(testenv.Output)
			n := newNodeWith(store, replica.Options{Now: func() time.Time { return start }, Log: slog.New(slog.NewTextHandler(log, nil))})
			running(t, n)
			eventually(t, "loaded", n.Loaded)
			loaded := n.Revision()
			store.call.Store(&call)
			put(t, db, f, "b")
			n.notify()
			eventually(t, "the failure is logged", func() bool { return strings.Contains(log.String(), call+" fails") })
			if got := n.Revision(); got != loaded || !cmp.Equal(n.ids(), []string{"a"}) {
				t.Errorf("revision %d with %v is published, want %d", got, n.ids(), loaded)
			}
			store.call.Store(nil)
			eventually(t, "the change shows", func() bool { return cmp.Equal(n.ids(), []string{"a", "b"}) })
		})
	}
}

// TestFailedLoadPublishesNothing checks that a first load that cannot read the feeds is logged and retried.
func TestFailedLoadPublishesNothing(t *testing.T) {
	db, f := newStore(t)
	put(t, db, f, "a")
	store, log := &failing{DB: db}, new(testenv.Output)
	call := "AllFeeds"
	store.call.Store(&call)
	n := newNodeWith(store, replica.Options{Now: func() time.Time { return start }, Log: slog.New(slog.NewTextHandler(log, nil))})
	running(t, n)
	eventually(t, "the failure is logged", func() bool { return strings.Contains(log.String(), "AllFeeds fails") })
	if n.Loaded() {
		t.Error("loaded without feeds")
	}
	store.call.Store(nil)
	eventually(t, "loaded", func() bool { return n.Loaded() && cmp.Equal(n.ids(), []string{"a"}) })
}

// TestFollowerNotifiesWhereAnswersMoved checks that streams are notified of the places where a change is visible.
func TestFollowerNotifiesWhereAnswersMoved(t *testing.T) {
	db, f := newStore(t)
	moved := signal.NewMoved()
	n := newNodeWith(db, replica.Options{Now: func() time.Time { return start }, Log: slog.New(slog.DiscardHandler), Moved: moved})
	running(t, n)
	eventually(t, "loaded", n.Loaded)
	moved.Take()
	put(t, db, f, "a")
	n.notify()
	at := geo.Point{Lat: 52, Lng: 4}.Vector()
	eventually(t, "the place of the row is notified", func() bool {
		for _, area := range moved.Take().Areas {
			if geo.MetresOf(area.Center.Vector().ChordSquared(at)) <= area.Radius+1 {
				return true
			}
		}
		return false
	})
}

// TestLoadReadsVotes checks that the votes on entities of feeds are loaded.
func TestLoadReadsVotes(t *testing.T) {
	db, f := newStore(t)
	put(t, db, f, "a")
	ballot := &mapdata.Ballot{Source: f.ID.SourceID(), ExternalID: "a", Account: f.Owner, Vote: mapdata.Confirm, At: start}
	if _, err := db.CastVote(t.Context(), ballot); err != nil {
		t.Fatal(err)
	}
	n := newNode(db)
	running(t, n)
	eventually(t, "loaded", n.Loaded)
	hits, _ := n.index.Search(&mapdata.Search{Center: geo.Point{Lat: 52, Lng: 4}, Radius: 1000, Kinds: mapdata.AllKinds, Served: true, Now: start, Limit: 10}, nil)
	if len(hits) != 1 || hits[0].Confirms != 1 {
		t.Errorf("%d pins: %+v, want one with a confirm", len(hits), hits)
	}
}

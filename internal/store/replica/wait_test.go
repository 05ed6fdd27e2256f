package replica_test

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

// numbered is an empty store at a revision.
type numbered struct {
	idle
	revision, polls atomic.Int64
}

func (s *numbered) State(context.Context) (mapdata.StoreState, error) {
	s.polls.Add(1)
	return mapdata.StoreState{Revision: s.revision.Load()}, nil
}

func (s *numbered) Changes(_ context.Context, after int64, _ int) ([]mapdata.FeedChange, error) {
	revision := s.revision.Load()
	if after >= revision {
		return nil, nil
	}
	return []mapdata.FeedChange{{Revision: revision}}, nil
}

// TestWaitFor checks that a wait for a published revision takes no time, that one for a revision of another node polls the store
// immediately, and that one for a revision that never comes ends with its context.
func TestWaitFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(numbered)
		store.revision.Store(5)
		n := newNode(store)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- n.Run(ctx) }()
		time.Sleep(1100 * time.Millisecond) // the next poll is 900 ms away

		polls, began := store.polls.Load(), time.Now()
		n.WaitFor(t.Context(), 5)
		synctest.Wait()
		if took := time.Since(began); took != 0 || store.polls.Load() != polls {
			t.Errorf("a published revision took %v and %d polls", took, store.polls.Load()-polls)
		}

		patient, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		store.revision.Store(7)
		n.WaitFor(patient, 7)
		if took := time.Since(began); took >= 900*time.Millisecond || n.Revision() != 7 {
			t.Errorf("a written revision took %v; readers see %d", took, n.Revision())
		}

		began = time.Now()
		short, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		n.WaitFor(short, 8)
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("a revision that does not come took %v", took)
		}
		if revision, err := n.Newest(t.Context()); err != nil || revision != 7 {
			t.Errorf("newest: %d, %v", revision, err)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// ended is a store in which each revision ends the sessions of an account, which streams are notified of.
type ended struct{ numbered }

func (s *ended) Changes(_ context.Context, after int64, _ int) (changes []mapdata.FeedChange, err error) {
	for revision := after + 1; revision <= s.revision.Load(); revision++ {
		changes = append(changes, mapdata.FeedChange{Revision: revision, Account: mapdata.AccountID{1}})
	}
	return changes, nil
}

// TestAwait checks that readers see the changes that were committed before a wait, and that streams and roads were notified of
// them, because callers wait for those next.
func TestAwait(t *testing.T) {
	store, moved := new(ended), signal.NewMoved()
	n := newNodeWith(store, replica.Options{Now: time.Now, Log: slog.New(slog.DiscardHandler), Moved: moved})
	n.Await(t.Context()) // nothing is loaded, so that it does not wait
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- n.Run(ctx) }()
	store.revision.Store(1)
	n.WaitFor(t.Context(), 1)
	for range 2000 {
		before := moved.Notified()
		revision := store.revision.Add(1)
		n.Await(t.Context())
		if n.Revision() < revision || moved.Notified() == before {
			t.Fatalf("readers see revision %d of %d; notifications went from %d to %d", n.Revision(), revision, before, moved.Notified())
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

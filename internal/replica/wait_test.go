package replica_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wayside/internal/mapdata"
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

// TestWaitFor: a wait for a revision that is published takes no time, one for a revision that another node has written has the store
// polled at once, and one that is in vain ends with its context.
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

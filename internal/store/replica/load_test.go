package replica_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/signal"
	"wayside/internal/store/replica"
)

// script is a store whose revision is the number of its feeds, for tests in virtual time. A test modifies it with change, and
// inspects it after wait.
type script struct {
	idle
	mu     sync.Mutex
	state  mapdata.StoreState
	during func()          // called once during a load; may be nil
	forget []time.Time     // times passed to Forget
	all    []*mapdata.Feed // by revision
	votes  bool            // all changes are of votes
	asked  [][2]int64      // ranges of revisions whose attempts were read
}

func (s *script) add(n int) {
	for range n {
		s.state.Revision++
		s.all = append(s.all, &mapdata.Feed{ID: mapdata.FeedID{1, byte(s.state.Revision)}})
	}
}

// change runs do, whose changes the follower sees at its next poll.
func (s *script) change(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

func (s *script) State(context.Context) (state mapdata.StoreState, err error) {
	s.change(func() { state = s.state })
	return state, nil
}

func (s *script) AllFeeds(_ context.Context, yield func(*mapdata.Feed)) error {
	for _, f := range s.all {
		yield(f)
	}
	if during := s.during; during != nil {
		s.during = nil
		during()
	}
	return nil
}

func (s *script) Changes(_ context.Context, after int64, _ int) (all []mapdata.FeedChange, err error) {
	for i := after; i < s.state.Revision; i++ {
		c := mapdata.FeedChange{Revision: i + 1, Feed: s.all[i], FeedID: s.all[i].ID}
		if s.votes {
			c.Tallies = []mapdata.Tally{{Source: c.FeedID.SourceID(), ExternalID: "a", Confirms: 1}}
		}
		all = append(all, c)
	}
	return all, nil
}

// RecordedAttempts returns an attempt for each revision.
func (s *script) RecordedAttempts(_ context.Context, after, upTo int64) (all []mapdata.FeedAttempt, err error) {
	s.asked = append(s.asked, [2]int64{after, upTo})
	for i := after; i < upTo; i++ {
		all = append(all, mapdata.FeedAttempt{Feed: s.all[i].ID, Revision: i + 1, Attempt: mapdata.Attempt{Rows: int(i + 1)}})
	}
	return all, nil
}

func (s *script) Forget(_ context.Context, _ mapdata.FeedID, _ []string, before time.Time) error {
	s.forget = append(s.forget, before)
	return nil
}

// counter is a projection that counts feeds. It records the published counts.
type counter struct {
	feeds     atomic.Int64
	published []int64
	marks     []uint64 // of the publications
	mark      func() uint64
	fail      error // returned by the next load
	loads     int
	sweeps    []time.Time
	rows      []int // of the attempts that came with changes
}

type counted struct {
	of *counter
	n  int64
}

func (c counted) Publish() mapdata.Touched {
	c.of.feeds.Store(c.n)
	c.of.published, c.of.marks = append(c.of.published, c.n), append(c.of.marks, c.of.mark())
	return mapdata.Touched{}
}

func (c *counter) Load(_ context.Context, from mapdata.StoreSnapshot) (mapdata.Staged, error) {
	c.loads++
	if err := c.fail; err != nil {
		c.fail = nil
		return nil, err
	}
	return counted{c, int64(len(from.Feeds()))}, nil
}

func (c *counter) Apply(changes []mapdata.FeedChange) mapdata.Staged {
	for i := range changes {
		for _, a := range changes[i].Attempts {
			c.rows = append(c.rows, a.Rows)
		}
	}
	return counted{c, c.feeds.Load() + int64(len(changes))}
}

func (c *counter) Sweep(before time.Time) []mapdata.Expired {
	c.sweeps = append(c.sweeps, before)
	return []mapdata.Expired{{Feed: mapdata.FeedID{1}, ExternalIDs: []string{"a"}}}
}

// follow runs a follower of two counters over a script, in virtual time, until do returns.
func follow(t *testing.T, store *script, do func(f *replica.Follower, a, b *counter)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		a, b := new(counter), new(counter)
		f := replica.New(store, []replica.Projection{a, b}, replica.Options{
			Now: time.Now, Log: slog.New(slog.DiscardHandler), StoreChanged: signal.NewStoreChanged(),
		})
		a.mark, b.mark = f.Begin, f.Begin
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- f.Run(ctx) }()
		synctest.Wait()
		do(f, a, b)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// wait advances the virtual time and synchronizes with the follower.
func (s *script) wait(d time.Duration) {
	s.change(func() {})
	time.Sleep(d)
	synctest.Wait()
}

// TestOneFailureKeepsAll checks that no projection is published when one cannot load.
func TestOneFailureKeepsAll(t *testing.T) {
	store := &script{}
	store.add(3)
	follow(t, store, func(f *replica.Follower, a, b *counter) {
		store.change(func() {
			store.state.Epoch, b.fail = "another", errors.New("no memory")
			store.add(2)
		})
		store.wait(time.Second + time.Millisecond) // the next poll
		if a.feeds.Load() != 3 || b.feeds.Load() != 3 || b.loads != 2 {
			t.Errorf("after a load that failed readers see %d and %d feeds, want 3", a.feeds.Load(), b.feeds.Load())
		}
		store.wait(time.Second) // the load is retried
		if a.feeds.Load() != 5 || b.feeds.Load() != 5 || f.Revision() != 5 {
			t.Errorf("after the next load readers see %d and %d feeds, want 5", a.feeds.Load(), b.feeds.Load())
		}
	})
}

// TestDatabaseIsReplacedDuringALoad checks that data of two databases is never published together.
func TestDatabaseIsReplacedDuringALoad(t *testing.T) {
	store := &script{}
	store.add(3)
	follow(t, store, func(_ *replica.Follower, a, _ *counter) {
		store.change(func() {
			store.state.Epoch = "second"
			store.during = func() {
				store.state = mapdata.StoreState{Epoch: "third", Revision: 0}
				store.all = nil
				store.add(7)
			}
		})
		store.wait(3 * time.Second)
		if diff := cmp.Diff([]int64{3, 7}, a.published); diff != "" {
			t.Error("published (-want/+got)", diff)
		}
		if a.loads != 3 {
			t.Errorf("loaded %d times, want 3: at the start, of two databases, of the third", a.loads)
		}
	})
}

// TestChangesDuringALoadBelongToIt checks that changes during a load are published with it.
func TestChangesDuringALoadBelongToIt(t *testing.T) {
	store := &script{}
	store.add(3)
	store.during = func() { store.add(2) }
	follow(t, store, func(f *replica.Follower, a, b *counter) {
		if f.Revision() != 5 || !f.Loaded() || a.feeds.Load() != 5 || b.feeds.Load() != 5 {
			t.Errorf("revision %d, %d and %d feeds; want 5 of each", f.Revision(), a.feeds.Load(), b.feeds.Load())
		}
		if diff := cmp.Diff([]uint64{1, 1}, a.marks); diff != "" {
			t.Error("load and changes are publications of their own (-want/+got)", diff)
		}
	})
}

// TestPrunedDuringALoad checks that a load is repeated when the log no longer covers the changes during it.
func TestPrunedDuringALoad(t *testing.T) {
	store := &script{}
	store.add(3)
	store.during = func() { store.add(2); store.state.Floor = 4 }
	follow(t, store, func(f *replica.Follower, a, _ *counter) {
		if f.Loaded() || len(a.published) != 0 {
			t.Errorf("published %v", a.published)
		}
		store.wait(time.Second)
		if diff := cmp.Diff([]int64{5}, a.published); diff != "" || !f.Loaded() {
			t.Error("published (-want/+got)", diff)
		}
	})
}

// TestAttemptsAreReadOnce checks that one query reads the attempts of a batch, and none is made for votes.
func TestAttemptsAreReadOnce(t *testing.T) {
	store := &script{}
	store.add(3)
	follow(t, store, func(_ *replica.Follower, a, _ *counter) {
		store.change(func() { store.add(4) })
		store.wait(time.Second + time.Millisecond)
		if diff := cmp.Diff([][2]int64{{3, 7}}, store.asked); diff != "" {
			t.Error("attempts are read between the revisions (-want/+got)", diff)
		}
		if diff := cmp.Diff([]int{4, 5, 6, 7}, a.rows); diff != "" {
			t.Error("attempts of the changes (-want/+got)", diff)
		}
		store.change(func() { store.votes = true; store.add(5) })
		store.wait(time.Second)
		if a.feeds.Load() != 12 || len(store.asked) != 1 {
			t.Errorf("%d changes, attempts read %d times; want 12, once", a.feeds.Load(), len(store.asked))
		}
	})
}

// TestSweepLeavesAMinute checks that expired entities are kept for a minute, and swept once a minute.
func TestSweepLeavesAMinute(t *testing.T) {
	store := &script{}
	follow(t, store, func(_ *replica.Follower, a, _ *counter) {
		began := time.Now()
		store.wait(2*time.Minute + 500*time.Millisecond)
		want := []time.Time{began, began.Add(time.Minute)} // a minute before each sweep
		if diff := cmp.Diff(want, a.sweeps); diff != "" {
			t.Error("swept (-want/+got)", diff)
		}
		if len(store.forget) != 4 || !store.forget[0].Equal(began) { // of two projections
			t.Errorf("the store forgets what expired before %v", store.forget)
		}
	})
}

// TestFailoverAfterADeletedFeed checks two feeds with the same external id and a vote on the feed that is deleted, after which the
// database fails over.
func TestFailoverAfterADeletedFeed(t *testing.T) {
	db, a := newStore(t)
	put(t, db, a, "1")
	b := *a
	b.ID, b.Layer.ID, b.Layer.Slug, b.PushTokenHash = mapdata.FeedID{2}, "m", "g", []byte{2}
	if err := db.CreateFeed(t.Context(), &b, 10); err != nil {
		t.Fatal(err)
	}
	put(t, db, &b, "1")
	store := &flaky{DB: db}
	n := newNode(store)
	running(t, n)
	caughtUp := func() bool {
		state, err := db.State(t.Context())
		return err == nil && n.Loaded() && n.Revision() == state.Revision
	}
	eventually(t, "loaded", func() bool { return caughtUp() && len(n.ids()) == 2 })
	ballot := &mapdata.Ballot{Source: a.ID.SourceID(), ExternalID: "1", Account: a.Owner, Vote: mapdata.Confirm, At: start}
	if _, err := db.CastVote(t.Context(), ballot); err != nil {
		t.Fatal(err)
	}
	n.notify()
	eventually(t, "the vote is followed", caughtUp)
	if err := db.DeleteFeed(t.Context(), a.ID, mapdata.AuditEntry{At: start, Action: "feed.delete", Subject: a.ID.String()}); err != nil {
		t.Fatal(err)
	}
	n.notify()
	eventually(t, "the feed is gone", func() bool { return len(n.ids()) == 1 })
	epoch := "promoted"
	store.epoch.Store(&epoch)
	n.notify()
	eventually(t, "loaded again", func() bool { return store.loads.Load() == 2 && caughtUp() })
	got := func() (text string) {
		defer func() {
			if p := recover(); p != nil {
				text = fmt.Sprint("panic: ", p)
			}
		}()
		return fmt.Sprint(n.ids())
	}
	for range 3 { // searches reuse memory
		if got() != "[1]" {
			t.Errorf("after the failover a read finds: %s", got())
		}
	}
}

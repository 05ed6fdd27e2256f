package replica_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/entities/catalog"
	"wayside/internal/entities/index"
	"wayside/internal/entities/votes"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/signal"
	"wayside/internal/store/replica"
	"wayside/internal/store/sqlite"
	"wayside/internal/store/sqlite/sqlitetest"
)

var start = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

// node is a follower with its projections.
type node struct {
	*replica.Follower
	changed    signal.StoreChanged
	mailQueued signal.MailQueued
	index      *index.Index
	catalogue  *catalog.Catalog
}

func newNode(store replica.Store) *node {
	return newNodeAt(store, func() time.Time { return start })
}

func newNodeAt(store replica.Store, now func() time.Time) *node {
	return newNodeWith(store, replica.Options{Now: now, Log: slog.New(slog.DiscardHandler)})
}

func newNodeWith(store replica.Store, o replica.Options) *node {
	n := &node{
		changed: signal.NewStoreChanged(), mailQueued: signal.NewMailQueued(),
		index: index.New(func(dst []byte, e *mapdata.Entity) []byte { return append(dst, e.Properties...) }),
	}
	n.catalogue = catalog.New(n.index.Counts)
	projections := []replica.Projection{index.Projection{Index: n.index, Now: o.Now}, n.catalogue, votes.NewTallies(o.Now)}
	o.StoreChanged, o.MailQueued = n.changed, n.mailQueued
	n.Follower = replica.New(store, projections, o)
	return n
}

// notify wakes the follower.
func (n *node) notify() { n.changed.Notify() }

// ids returns the ids that a reader finds near 52, 4.
func (n *node) ids() []string {
	hits, _ := n.index.Search(&mapdata.Search{Center: geo.Point{Lat: 52, Lng: 4}, Radius: 1000, Kinds: mapdata.AllKinds, Served: true, Now: start, Limit: 1000}, nil)
	ids := []string{}
	for _, h := range hits {
		ids = append(ids, string(h.ExternalID))
	}
	slices.Sort(ids)
	return ids
}

func newStore(t *testing.T) (*sqlite.DB, *mapdata.Feed) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), sqlitetest.Path(t), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	owner := mapdata.AccountID{1}
	if err := db.CreateAccount(t.Context(), &mapdata.Account{ID: owner, Email: "a@example.org", Role: mapdata.Driver, Tier: mapdata.TierAccount, CreatedAt: start}); err != nil {
		t.Fatal(err)
	}
	f := &mapdata.Feed{
		ID: mapdata.FeedID{1}, Owner: owner, Name: "f", Direction: mapdata.Push, Visibility: mapdata.Public, ReviewState: mapdata.Approved, Active: true,
		Layer: mapdata.Layer{ID: "l", Slug: "f", Name: "f"}, CreatedAt: start, UpdatedAt: start, PushTokenHash: []byte{1},
	}
	if err := db.CreateFeed(t.Context(), f, 10); err != nil {
		t.Fatal(err)
	}
	return db, f
}

// put stores entities of the feed.
func put(t *testing.T, db *sqlite.DB, f *mapdata.Feed, ids ...string) {
	t.Helper()
	mark, err := db.Mark(t.Context(), f.ID)
	if err != nil {
		t.Fatal(err)
	}
	c := &mapdata.Change{Feed: f.ID, Base: mark.EntitiesRevision, At: start, Attempt: mapdata.Attempt{At: start, OK: true, Outcome: mapdata.OutcomeOK}}
	for _, id := range ids {
		c.Upserts = append(c.Upserts, mapdata.Entity{
			Feed: f.ID, ExternalID: id, Point: geo.Point{Lat: 52, Lng: 4}, Properties: []byte("{}"),
			FirstSeenAt: start, SeenAt: start, ChangedAt: start, Lifetime: time.Hour,
		})
	}
	if err := db.Apply(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

// running runs a follower for as long as the test, and waits for its end.
func running(t *testing.T, n *node) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() {
		if err := n.Run(ctx); err != nil {
			t.Errorf("the follower ended with %v", err)
		}
	})
	t.Cleanup(func() { stop(); ended.Wait() })
}

// eventually polls for at most ten seconds.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for !is() {
		if time.Now().After(deadline) {
			t.Fatalf("not within ten seconds: %s", what)
		}
		select {
		case <-t.Context().Done():
		case <-time.After(time.Millisecond):
		}
	}
}

func TestFollowerLoadsAndFollows(t *testing.T) {
	db, f := newStore(t)
	put(t, db, f, "a", "b")
	n := newNode(db)
	running(t, n)
	eventually(t, "what was there is loaded", func() bool { return n.Loaded() && cmp.Equal(n.ids(), []string{"a", "b"}) })
	put(t, db, f, "c")
	n.notify()
	eventually(t, "what is new shows", func() bool { return cmp.Equal(n.ids(), []string{"a", "b", "c"}) })
	health := n.catalogue.ServedHealth(start)
	if len(health) != 1 || health[0].Status != mapdata.Online {
		t.Errorf("health: %+v", health)
	}
	if err := db.DeleteFeed(t.Context(), f.ID, mapdata.AuditEntry{At: start, Action: "feed.delete", Subject: f.ID.String()}); err != nil {
		t.Fatal(err)
	}
	n.notify()
	eventually(t, "a feed that is gone takes all it had along", func() bool {
		return len(n.ids()) == 0 && len(n.catalogue.Sources(mapdata.AccountID{})) == 0
	})
}

// TestFollowerOfAnotherProcess relies on polling, without notifications, as for changes by the command line.
func TestFollowerOfAnotherProcess(t *testing.T) {
	db, f := newStore(t)
	n := newNode(db)
	running(t, n)
	eventually(t, "loaded", n.Loaded)
	put(t, db, f, "a")
	eventually(t, "the change shows", func() bool { return cmp.Equal(n.ids(), []string{"a"}) })
}

// flaky is a store that fails or reports an older revision on demand.
type flaky struct {
	*sqlite.DB
	down  atomic.Bool
	epoch atomic.Pointer[string]
	back  atomic.Int64 // subtracted from the revision
	loads atomic.Int64
}

func (s *flaky) State(ctx context.Context) (mapdata.StoreState, error) {
	if s.down.Load() {
		return mapdata.StoreState{}, errors.New("down")
	}
	state, err := s.DB.State(ctx)
	if epoch := s.epoch.Load(); epoch != nil {
		state.Epoch = *epoch
	}
	state.Revision -= s.back.Load()
	return state, err
}

func (s *flaky) AllFeeds(ctx context.Context, yield func(*mapdata.Feed)) error {
	s.loads.Add(1)
	return s.DB.AllFeeds(ctx, yield)
}

func TestFollowerOutlivesItsStore(t *testing.T) {
	db, f := newStore(t)
	put(t, db, f, "a")
	store := &flaky{DB: db}
	n := newNode(store)
	running(t, n)
	eventually(t, "loaded", n.Loaded)
	store.down.Store(true)
	put(t, db, f, "b")
	n.notify()
	if diff := cmp.Diff([]string{"a"}, n.ids()); diff != "" {
		t.Error("what was loaded is not readable while the store is down", diff)
	}
	store.down.Store(false)
	eventually(t, "the follower catches up", func() bool { return cmp.Equal(n.ids(), []string{"a", "b"}) })
	if got := store.loads.Load(); got != 1 {
		t.Errorf("loaded %d times, want once", got)
	}
	epoch := "another"
	store.epoch.Store(&epoch)
	n.notify()
	eventually(t, "another epoch loads everything again", func() bool { return store.loads.Load() == 2 && len(n.ids()) == 2 })
	store.back.Store(1)
	n.notify()
	eventually(t, "so does a store that went back", func() bool { return store.loads.Load() == 3 })
	store.back.Store(0)
	put(t, db, f, "c")
	n.notify()
	eventually(t, "and is followed from there", func() bool { return cmp.Equal(n.ids(), []string{"a", "b", "c"}) })
	if got := store.loads.Load(); got != 3 {
		t.Errorf("loaded %d times, want three times", got)
	}
}

// idle is an empty store that counts polls.
type idle struct{ asked, forgot int }

func (s *idle) State(context.Context) (mapdata.StoreState, error) {
	s.asked++
	return mapdata.StoreState{}, nil
}
func (s *idle) AllFeeds(context.Context, func(*mapdata.Feed)) error                { return nil }
func (s *idle) AllEntities(context.Context, int, int, func(*mapdata.Entity)) error { return nil }
func (s *idle) AllTallies(context.Context, time.Time, func(*mapdata.Tally)) error  { return nil }
func (s *idle) Changes(context.Context, int64, int) ([]mapdata.FeedChange, error)  { return nil, nil }

func (s *idle) LiveTallies(context.Context, mapdata.Kind, time.Time, func(*mapdata.Tally)) error {
	return nil
}
func (s *idle) OldTallies(context.Context, time.Time, func(*mapdata.Tally)) error { return nil }

func (s *idle) RecordedAttempts(context.Context, int64, int64) ([]mapdata.FeedAttempt, error) {
	return nil, nil
}

func (s *idle) RecentAttempts(context.Context, time.Time, func(*mapdata.FeedAttempt)) error {
	return nil
}

func (s *idle) Forget(context.Context, mapdata.FeedID, []string, time.Time) error {
	s.forgot++
	return nil
}

// TestFollowerLooksEverySecond checks the polling interval in virtual time, and that Run ends with its context.
func TestFollowerLooksEverySecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &idle{}
		n := newNode(store)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- n.Run(ctx) }()
		time.Sleep(10*time.Second + time.Millisecond)
		synctest.Wait()
		if store.asked != 12 { // twice for the load, then once a second
			t.Errorf("asked %d times in ten seconds, want 12", store.asked)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func BenchmarkFollow(b *testing.B) {
	for _, n := range []int{1, 5000} {
		b.Run(fmt.Sprintf("entities=%d", n), func(b *testing.B) {
			nd := newNode(&idle{})
			f := &mapdata.Feed{ID: mapdata.FeedID{1}}
			var entities []mapdata.Entity
			for i := range n {
				entities = append(entities, mapdata.Entity{Feed: f.ID, ExternalID: fmt.Sprint(i), Point: geo.Point{Lat: 52, Lng: 4 + float64(i)/1e5}, Properties: []byte("{}")})
			}
			for i := 0; b.Loop(); i++ {
				for k := range entities {
					entities[k].ChangedAt = start.Add(time.Duration(i) * time.Second)
				}
				nd.index.Apply([]mapdata.FeedChange{{Feed: f, FeedID: f.ID, Entities: entities}})
			}
		})
	}
}

// TestEditsQueueMail checks that the mail sender is notified of an edit by another process, but not of new rows.
func TestEditsQueueMail(t *testing.T) {
	db, f := newStore(t)
	n := newNode(db)
	running(t, n)
	eventually(t, "what was there is loaded", n.Loaded)
	put(t, db, f, "a")
	n.notify()
	eventually(t, "the row shows", func() bool { return cmp.Equal(n.ids(), []string{"a"}) })
	if len(n.mailQueued.C()) != 0 {
		t.Error("rows queue mail")
	}
	if _, err := db.UpdateFeed(t.Context(), f.ID, func(stored *mapdata.Feed) (mapdata.Side, error) {
		stored.ReviewState, stored.UpdatedAt = mapdata.Rejected, start.Add(time.Second)
		return mapdata.Side{}, nil
	}); err != nil {
		t.Fatal(err)
	}
	n.notify()
	eventually(t, "mail is queued", func() bool { return len(n.mailQueued.C()) == 1 })
}

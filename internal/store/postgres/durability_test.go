package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/proof/testenv"
	"wayside/internal/store/postgres"
)

// TestKilledDatabase kills the server repeatedly while writers run, with synchronous_commit off as the database's
// default, and checks that every acknowledged row is stored and in the log of changes.
func TestKilledDatabase(t *testing.T) {
	const writers, kills = 4, 2
	server := testenv.Postgres(t)
	url := server.Database(t)
	conn := operator(t, url)
	run(t, conn, `ALTER DATABASE `+conn.Config().Database+` SET synchronous_commit = off`) // the store must override this
	db := open(t, url)
	var (
		mu    sync.Mutex
		acked = make(map[string]bool)
		jobs  sync.WaitGroup
	)
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(func() { stop(); jobs.Wait() }) // also when the test ends early
	count := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(acked)
	}
	for w := range writers {
		f := newFeed(t, db, url, byte(w+1))
		jobs.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				id := fmt.Sprint(w, "/", n)
				err := put(ctx, db, f, entity(f, id))
				if err == nil {
					mu.Lock()
					acked[id] = true
					mu.Unlock()
					continue
				}
				if ctx.Err() == nil && !errors.Is(err, mapdata.ErrUnavailable) {
					t.Errorf("put = %v, want mapdata.ErrUnavailable", err)
				}
				select { // like a client that retries later
				case <-ctx.Done():
				case <-time.After(5 * time.Millisecond):
				}
			}
		})
	}
	for range kills {
		before := count()
		eventually(t, "writers go on", func() bool { return count() > before+100 })
		if err := errors.Join(server.Kill(), server.Start()); err != nil {
			t.Fatal(err)
		}
	}
	before := count()
	eventually(t, "writers go on", func() bool { return count() > before })
	stop()
	jobs.Wait()
	stored := make(map[string]bool)
	if err := db.AllEntities(t.Context(), 0, 1, func(e *mapdata.Entity) { stored[e.ExternalID] = true }); err != nil {
		t.Fatal(err)
	}
	follower := following(t, db)
	lost := 0
	for id := range acked {
		if !stored[id] {
			lost++
		}
		eventually(t, "the log tells of "+id, func() bool { return follower.knows(t, id) })
	}
	if lost > 0 {
		t.Errorf("%d of %d acknowledged rows are lost", lost, len(acked))
	}
}

// TestForgetWaits checks that Forget on another node waits for a snapshot that is being stored and renews old entities,
// and then checks the entities again.
func TestForgetWaits(t *testing.T) {
	url := postgres.Servers.Migrated(t)
	db := open(t, url)
	f := newFeed(t, db, url, 1)
	snapshot := func(n int64, at time.Time, upserts ...mapdata.Entity) error {
		mark, err := db.Mark(t.Context(), f.ID)
		if err != nil {
			return err
		}
		return db.Apply(t.Context(), &mapdata.Change{
			Feed: f.ID, Base: mark.EntitiesRevision, At: at, Upserts: upserts, Attempt: mapdata.Attempt{At: at, OK: true},
			Snapshot: &mapdata.SnapshotTaken{Snapshot: n},
		})
	}
	old := entity(f, "old")
	old.SeenAt = time.Time{} // like every row of a snapshot
	if err := snapshot(1, start, old, entity(f, "held")); err != nil {
		t.Fatal(err)
	}
	holder, watcher := operator(t, url), operator(t, url)
	run(t, holder, "BEGIN")
	run(t, holder, "SELECT 1 FROM entities WHERE external_id = 'held' FOR UPDATE")
	done := make(chan error, 2)
	later := start.Add(2 * time.Hour)
	go func() { done <- snapshot(2, later, entity(f, "held")) }()
	eventually(t, "the snapshot waits", func() bool { return waiting(t, watcher) == 1 })
	go func() { done <- db.Forget(t.Context(), f.ID, []string{"old"}, later.Add(-time.Minute)) }()
	eventually(t, "so does the other", func() bool { return waiting(t, watcher) == 2 })
	run(t, holder, "COMMIT")
	if err := errors.Join(<-done, <-done); err != nil {
		t.Fatal(err)
	}
	there := false
	if err := db.Stored(t.Context(), f.ID, []string{"old"}, func(mapdata.Stored) { there = true }); err != nil || !there {
		t.Errorf("an entity of the newest snapshot was removed (%v)", err)
	}
}

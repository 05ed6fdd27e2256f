package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/proof/testenv"
	"wayside/internal/store/postgres"
)

var start = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

func open(t testing.TB, url string) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(t.Context(), postgres.Config{URL: url, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// operator connects to the database outside of the store, as an operator does.
func operator(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func run(t testing.TB, conn *pgx.Conn, query string, args ...any) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// newFeed registers a push feed of a new owner.
func newFeed(t testing.TB, db *postgres.DB, url string, n byte) *mapdata.Feed {
	t.Helper()
	owner := mapdata.AccountID{n}
	run(t, operator(t, url), `INSERT INTO accounts VALUES ($1, $2, 'driver', 'account', 0)`, owner[:], fmt.Sprint(n, "@example.org"))
	f := &mapdata.Feed{
		ID: mapdata.FeedID{n}, Owner: owner, Name: "f", Direction: mapdata.Push, Visibility: mapdata.Public, ReviewState: mapdata.Approved, Active: true,
		Layer: mapdata.Layer{ID: fmt.Sprint(n), Slug: "f", Name: "f"}, CreatedAt: start, UpdatedAt: start, PushTokenHash: []byte{n},
	}
	if err := db.CreateFeed(t.Context(), f, 10); err != nil {
		t.Fatal(err)
	}
	return f
}

func entity(f *mapdata.Feed, id string) mapdata.Entity {
	return mapdata.Entity{
		Feed: f.ID, ExternalID: id, Point: geo.Point{Lat: 52, Lng: 4}, Properties: []byte(`{"street":"Damrak","lanes":2}`),
		FirstSeenAt: start, SeenAt: start, ChangedAt: start, Lifetime: time.Hour,
	}
}

// put stores entities of the feed.
func put(ctx context.Context, db *postgres.DB, f *mapdata.Feed, all ...mapdata.Entity) error {
	mark, err := db.Mark(ctx, f.ID)
	if err != nil {
		return err
	}
	return db.Apply(ctx, &mapdata.Change{
		Feed: f.ID, Base: mark.EntitiesRevision, At: start, Upserts: all,
		Attempt: mapdata.Attempt{At: start, OK: true, Outcome: mapdata.OutcomeOK},
	})
}

// eventually polls a condition for at most twenty seconds.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !is() {
		if time.Now().After(deadline) {
			t.Fatalf("not within twenty seconds: %s", what)
		}
		select {
		case <-t.Context().Done():
		case <-time.After(time.Millisecond):
		}
	}
}

// follower follows the log of changes as a node does: it listens, and applies new changes.
type follower struct {
	db       *postgres.DB
	poke     chan struct{}
	pokes    atomic.Int64
	failures atomic.Int64

	mu       sync.Mutex
	revision int64
	known    map[string]bool
	wrong    error
}

func following(t testing.TB, db *postgres.DB) *follower {
	t.Helper()
	f := &follower{db: db, poke: make(chan struct{}, 1), known: make(map[string]bool)}
	ctx, stop := context.WithCancel(context.Background())
	var jobs sync.WaitGroup
	jobs.Go(func() {
		if err := db.Listen(ctx, func() {
			f.pokes.Add(1)
			select {
			case f.poke <- struct{}{}:
			default:
			}
		}); err != nil {
			t.Errorf("Listen = %v", err)
		}
	})
	jobs.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-f.poke:
				f.catchUp(ctx)
			}
		}
	})
	t.Cleanup(func() { stop(); jobs.Wait() })
	return f
}

func (f *follower) catchUp(ctx context.Context) {
	for {
		f.mu.Lock()
		after := f.revision
		f.mu.Unlock()
		changes, err := f.db.Changes(ctx, after, 1000)
		if err != nil {
			f.failures.Add(1)
			return
		}
		if len(changes) == 0 {
			return
		}
		f.mu.Lock()
		for i := range changes {
			if changes[i].Revision != f.revision+1 {
				f.wrong = fmt.Errorf("revision %d comes after %d", changes[i].Revision, f.revision)
			}
			f.revision = changes[i].Revision
			for _, e := range changes[i].Entities {
				f.known[e.ExternalID] = true
			}
		}
		f.mu.Unlock()
	}
}

func (f *follower) knows(t testing.TB, id string) bool {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.wrong != nil {
		t.Fatal(f.wrong)
	}
	return f.known[id]
}

// TestLateCommitIsNotMissed delays a writer that began first and has written its rows, while others commit before it,
// and checks that a follower that read in between still gets the changes of the first one. With revisions from a
// sequence drawn before the commit, it would miss them.
func TestLateCommitIsNotMissed(t *testing.T) {
	url := postgres.Servers.Migrated(t)
	db := open(t, url)
	slow, fast := newFeed(t, db, url, 1), newFeed(t, db, url, 2)
	follower := following(t, open(t, url))

	// A lock on a row that the slow writer is about to write blocks it within its transaction.
	if err := put(t.Context(), db, slow, entity(slow, "held")); err != nil {
		t.Fatal(err)
	}
	holder := operator(t, url)
	run(t, holder, "BEGIN")
	run(t, holder, "SELECT 1 FROM entities WHERE external_id = 'held' FOR UPDATE")
	written := make(chan error)
	go func() { written <- put(t.Context(), db, slow, entity(slow, "first"), entity(slow, "held")) }()
	watcher := operator(t, url)
	eventually(t, "the slow writer waits", func() bool { return waiting(t, watcher) == 1 })
	passing, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for n := range 5 {
		if err := put(passing, db, fast, entity(fast, fmt.Sprint("fast ", n))); err != nil {
			run(t, holder, "COMMIT")
			t.Fatal("a writer of another feed waited: ", err, <-written)
		}
	}
	eventually(t, "the follower knows what the fast writer wrote", func() bool { return follower.knows(t, "fast 4") })
	if follower.knows(t, "first") {
		t.Error("the follower has what is not committed")
	}
	run(t, holder, "COMMIT")
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	eventually(t, "the follower knows what was committed last", func() bool { return follower.knows(t, "first") })
}

// waiting returns the number of sessions that wait for a lock.
func waiting(t testing.TB, conn *pgx.Conn) (n int) {
	t.Helper()
	err := conn.QueryRow(t.Context(), `SELECT COUNT(*) FROM pg_stat_activity
		WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestStoppedNodeHoldsNoLocks checks that a node that stops in the middle of its transaction, after writing its rows,
// does not hold the lock of the counter.
func TestStoppedNodeHoldsNoLocks(t *testing.T) {
	url := postgres.Servers.Migrated(t)
	db := open(t, url)
	stopped, other := newFeed(t, db, url, 1), newFeed(t, db, url, 2)
	goOn, reached, updated := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		_, err := db.UpdateFeed(t.Context(), stopped.ID, func(*mapdata.Feed) (mapdata.Side, error) {
			close(reached)
			<-goOn
			return mapdata.Side{}, nil
		})
		updated <- err
	}()
	<-reached
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := put(ctx, db, other, entity(other, "a")); err != nil {
		t.Error("another feed's writer waited:", err)
	}
	close(goOn)
	if err := <-updated; err != nil {
		t.Error(err)
	}
}

// TestFollowerIsNotified checks that a change on one node is notified to another long before that node's next poll.
func TestFollowerIsNotified(t *testing.T) {
	url := postgres.Servers.Migrated(t)
	db := open(t, url)
	f := newFeed(t, db, url, 1)
	follower := following(t, open(t, url))
	watcher := operator(t, url)
	eventually(t, "the follower listens", func() bool { return listening(t, watcher) == 1 })
	var quickest time.Duration = time.Hour
	for n := range 10 {
		id := fmt.Sprint(n)
		if err := put(t.Context(), db, f, entity(f, id)); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		eventually(t, "the follower knows", func() bool { return follower.knows(t, id) })
		quickest = min(quickest, time.Since(began))
	}
	if quickest > 50*time.Millisecond {
		t.Errorf("the quickest of ten took %v", quickest)
	}
}

func listening(t testing.TB, conn *pgx.Conn) (n int) {
	t.Helper()
	err := conn.QueryRow(t.Context(), `SELECT COUNT(*) FROM pg_stat_activity
		WHERE datname = current_database() AND application_name = 'wayside' AND query LIKE 'LISTEN%'`).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestFollowerReconnects checks that a follower catches up after its connections are killed, a notification is lost,
// and the server restarts.
func TestFollowerReconnects(t *testing.T) {
	server := testenv.Postgres(t)
	url := server.Database(t)
	db := open(t, url)
	f := newFeed(t, db, url, 1)
	follower := following(t, open(t, url))
	n := 0
	shows := func(what string) {
		t.Helper()
		n++
		id := fmt.Sprint(n)
		eventually(t, what+": it can be written again", func() bool {
			err := put(t.Context(), db, f, entity(f, id))
			if err != nil && !errors.Is(err, mapdata.ErrUnavailable) {
				t.Fatalf("%s: %v, want mapdata.ErrUnavailable", what, err)
			}
			return err == nil
		})
		eventually(t, what+": the follower knows", func() bool { return follower.knows(t, id) })
	}
	shows("at first")

	conn := operator(t, url)
	run(t, conn, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	shows("all connections killed")

	// This change is written without a notification.
	run(t, conn, `WITH raised AS (UPDATE state SET revision = revision + 1 RETURNING revision), e AS (
			INSERT INTO entities SELECT feed_id, 'silent', kind, lat, lng, properties, network, digest, lifetime_ms, first_seen_at, seen_at, changed_at, absent_since
			FROM entities LIMIT 1)
		INSERT INTO changes SELECT revision, $1, 0, 1, ARRAY['silent'], false FROM raised`, f.ID[:])
	began := time.Now()
	eventually(t, "the notification lost: the follower knows", func() bool { return follower.knows(t, "silent") })
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("after a lost notification, the change was read after %v", took)
	}

	for what, restart := range map[string]func() error{
		"restarted":           server.Restart,
		"stopped immediately": func() error { return errors.Join(server.Stop(true), server.Start()) },
		"killed":              func() error { return errors.Join(server.Kill(), server.Start()) },
	} {
		if err := restart(); err != nil {
			t.Fatal(what, err)
		}
		shows(what)
	}
	state, err := db.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if follower.mu.Lock(); follower.revision != state.Revision {
		t.Errorf("the follower is at %d, the store at %d", follower.revision, state.Revision)
	}
	follower.mu.Unlock()
}

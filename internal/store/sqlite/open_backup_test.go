package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/store/migrate"
	"wayside/internal/store/storetest"
)

// Promises of this store beyond the contract.

var start = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

// clock is a clock that the test sets.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = at
}

func openAt(t *testing.T, path string, opts Options) *DB {
	t.Helper()
	db, err := Open(t.Context(), path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// openOlder creates a database at an older version, runs a statement in it, and opens it, which migrates it.
func openOlder(t *testing.T, version int, statement string, args ...any) *DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "wayside.db")
	all, err := migrate.Read(migrations, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	old, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	begin := func(ctx context.Context) (*sql.Tx, error) { return old.BeginTx(ctx, nil) }
	if err := migrate.Run(t.Context(), begin, recordMigration, all[:version]); err != nil {
		t.Fatal(err)
	}
	if _, err := old.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatal(err)
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	return openAt(t, path, Options{})
}

// migrated returns the file of an empty database: copies of it save the time of the migrations. Tests outside this
// package have sqlitetest, which this one cannot import.
var migrated = sync.OnceValues(func() (_ []byte, err error) {
	folder, err := os.MkdirTemp("", "wayside-sqlite-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, "wayside.db")
	db, err := Open(context.Background(), path, Options{})
	if err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil { // moves the write-ahead log into the file
		return nil, err
	}
	return os.ReadFile(path)
})

func openNew(t *testing.T, opts Options) *DB {
	t.Helper()
	content, err := migrated()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "wayside.db")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return openAt(t, path, opts)
}

// feedOf registers a push feed.
func feedOf(t *testing.T, db *DB) mapdata.FeedID {
	t.Helper()
	account, err := mapdata.NewAccountID()
	if err != nil {
		t.Fatal(err)
	}
	id, err := mapdata.NewFeedID()
	if err != nil {
		t.Fatal(err)
	}
	if err := db.CreateAccount(t.Context(), &mapdata.Account{ID: account, Email: account.String(), CreatedAt: start}); err != nil {
		t.Fatal(err)
	}
	f := &mapdata.Feed{ID: id, Owner: account, Layer: mapdata.Layer{Slug: "x"}, Direction: mapdata.Push, Active: true, CreatedAt: start, UpdatedAt: start}
	if err := db.CreateFeed(t.Context(), f, 1); err != nil {
		t.Fatal(err)
	}
	return id
}

// push stores count entities with ids that begin with name, and properties so large that a page has room for only a
// few.
func push(ctx context.Context, db *DB, feed mapdata.FeedID, at time.Time, name string, count int) error {
	mark, err := db.Mark(ctx, feed)
	if err != nil {
		return err
	}
	c := &mapdata.Change{Feed: feed, Base: mark.EntitiesRevision, At: at, Attempt: mapdata.Attempt{At: at, OK: true}}
	for i := range count {
		c.Upserts = append(c.Upserts, mapdata.Entity{
			Feed: feed, ExternalID: fmt.Sprintf("%s-%06d", name, i), Properties: []byte(`{"a":"` + strings.Repeat("x", 200) + `"}`),
			FirstSeenAt: at, SeenAt: at, ChangedAt: at, Digest: rand.Uint64(),
		})
	}
	return db.Apply(ctx, c)
}

func mustPush(t *testing.T, db *DB, feed mapdata.FeedID, at time.Time, name string, count int) {
	t.Helper()
	if err := push(t.Context(), db, feed, at, name, count); err != nil {
		t.Fatal(err)
	}
}

// number queries a number.
func number(t *testing.T, db *DB, query string, args ...any) (n int) {
	t.Helper()
	if err := db.reader.QueryRowContext(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func wantSound(t *testing.T, db *DB) {
	t.Helper()
	var verdict string
	if err := db.reader.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("integrity_check = %q, %v", verdict, err)
	}
}

// TestFullDisk checks that on a full disk writes fail as unavailable and change nothing while reads work, and that
// writes work again once there is room.
func TestFullDisk(t *testing.T) {
	db := openNew(t, Options{MaxPages: 160})
	feed := feedOf(t, db)
	mustPush(t, db, feed, start, "before", 100)
	state, err := db.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := push(t.Context(), db, feed, start, "too much", 2_000); !errors.Is(err, mapdata.ErrUnavailable) {
			t.Fatalf("Apply on a full disk = %v, want %v", err, mapdata.ErrUnavailable)
		}
		if got, err := db.State(t.Context()); err != nil || got != state {
			t.Errorf("state = %+v, %v; want %+v", got, err, state)
		}
		if n, err := db.CountEntities(t.Context(), feed, start); err != nil || n != 100 {
			t.Errorf("CountEntities = %d, %v; want 100", n, err)
		}
	}
	mustPush(t, db, feed, start, "little", 1) // a row that fits is stored
	if _, err := db.writer.ExecContext(t.Context(), "PRAGMA max_page_count = 100000"); err != nil {
		t.Fatal(err)
	}
	mustPush(t, db, feed, start, "too much", 2_000)
	wantSound(t, db)
}

func TestNewerDatabaseIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wayside.db")
	db := openAt(t, path, Options{})
	if _, err := db.writer.ExecContext(t.Context(), recordMigration, 999, "from the future"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err := Open(t.Context(), path, Options{}); err == nil || !strings.Contains(err.Error(), "newer") {
		t.Errorf("Open = %v, %v; want an error that contains newer", db, err)
	}
}

func TestOpenFails(t *testing.T) {
	folder := t.TempDir()
	garbage := filepath.Join(folder, "garbage.db")
	if err := os.WriteFile(garbage, []byte(strings.Repeat("no database at all\n", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"in no folder": filepath.Join(folder, "none", "wayside.db"), "a folder": folder, "no database": garbage,
	} {
		if db, err := Open(t.Context(), path, Options{}); err == nil {
			t.Errorf("%s: Open = %v, want an error", name, db)
		}
	}
}

func TestFileIsPrivate(t *testing.T) {
	db := openNew(t, Options{})
	mustPush(t, db, feedOf(t, db), start, "a", 10)
	copied := db.path + ".copy"
	if err := db.Backup(t.Context(), copied, nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{db.path, db.path + "-wal", db.path + "-shm", copied} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != filePermissions {
			t.Errorf("%s has mode %v", filepath.Base(name), info.Mode())
		}
	}
}

func TestPing(t *testing.T) {
	db := openNew(t, Options{})
	if err := db.Ping(t.Context()); err != nil {
		t.Errorf("Ping = %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.Ping(t.Context()); !errors.Is(err, mapdata.ErrUnavailable) {
		t.Errorf("Ping after Close = %v, want %v", err, mapdata.ErrUnavailable)
	}
}

// TestBackup copies while a writer writes, and checks that the copy is complete, of one moment, and opens as a store.
func TestBackup(t *testing.T) {
	db := openNew(t, Options{})
	feed := feedOf(t, db)
	mustPush(t, db, feed, start, "before", 20_000) // more pages than one step copies
	before, err := db.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "copy.db")
	steps, last := 0, 0
	err = db.Backup(t.Context(), copied, func(done, total int) {
		if done < last || done > total || total == 0 {
			t.Errorf("progress %d of %d after %d", done, total, last)
		}
		last = done
		mustPush(t, db, feed, start, fmt.Sprint("meanwhile ", steps), 1_000)
		steps++
	})
	if err != nil {
		t.Fatal(err)
	}
	if steps < 2 {
		t.Errorf("progress was reported %d times", steps)
	}
	second := openAt(t, copied, Options{})
	wantSound(t, second)
	if got, err := second.State(t.Context()); err != nil || got != before {
		t.Errorf("state of the copy = %+v, %v; want %+v", got, err, before)
	}
	if n, err := second.CountEntities(t.Context(), feed, start); err != nil || n != 20_000 {
		t.Errorf("the copy holds %d entities (%v), want the first 20000", n, err)
	}
	if err := second.NewEpoch(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := second.State(t.Context()); err != nil || got.Epoch == before.Epoch || got.Revision != before.Revision {
		t.Errorf("state of the new epoch = %+v, %v; want another epoch than %+v", got, err, before)
	}
	mustPush(t, second, feed, start, "afterwards", 10)
}

// TestBackupHoldsEverything checks that a backup contains all data, including lines and ends of entities (D17.3).
func TestBackupHoldsEverything(t *testing.T) {
	db := openNew(t, Options{})
	storetest.Fill(t, db, 100)
	copied := filepath.Join(t.TempDir(), "copy.db")
	if err := db.Backup(t.Context(), copied, func(_, _ int) {}); err != nil {
		t.Fatal(err)
	}
	storetest.Same(t, db, openAt(t, copied, Options{}))
}

func TestBackupFails(t *testing.T) {
	db := openNew(t, Options{})
	mustPush(t, db, feedOf(t, db), start, "a", 10_000)
	folder := t.TempDir()
	taken := filepath.Join(folder, "taken.db")
	if err := os.WriteFile(taken, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := db.Backup(t.Context(), taken, nil); !errors.Is(err, mapdata.ErrConflict) {
		t.Errorf("Backup over a file = %v, want %v", err, mapdata.ErrConflict)
	}
	if text, err := os.ReadFile(taken); err != nil || string(text) != "mine" {
		t.Errorf("the file holds %q, %v", text, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := db.Backup(ctx, filepath.Join(folder, "stopped.db"), func(int, int) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled Backup = %v, want %v", err, context.Canceled)
	}
	if err := db.Backup(t.Context(), filepath.Join(folder, "none", "x.db"), nil); err == nil {
		t.Error("Backup into a missing folder = nil")
	}
	names, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(names) != 1 {
		t.Errorf("left behind: %q, %v", names, err)
	}
}

// TestCheckpoint checks that the write-ahead log stays bounded under continuous writes and with open readers.
func TestCheckpoint(t *testing.T) {
	db := openNew(t, Options{})
	feed := feedOf(t, db)
	own := openAt(t, db.path, Options{}).writer // another connection to the file
	var sizes []int64
	for i := range 12 {
		mustPush(t, db, feed, start, fmt.Sprint(i%2), 2_000)
		if err := db.checkpoint(t.Context(), own); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(db.path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, info.Size())
	}
	if first, last := sizes[1], sizes[len(sizes)-1]; last > 2*first {
		t.Errorf("the log grew from %d to %d bytes: %v", first, last, sizes)
	}
	if db.written.Load() {
		t.Error("written is still set after a complete checkpoint")
	}
	wantSound(t, db)
}

func TestRunCheckpointsEnds(t *testing.T) {
	db := openNew(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := db.RunCheckpoints(ctx); err != nil {
		t.Errorf("RunCheckpoints = %v", err)
	}
}

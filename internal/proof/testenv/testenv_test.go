package testenv

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// connect opens a connection that the test closes.
func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func value[T any](t *testing.T, conn *pgx.Conn, query string) (v T) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), query).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

func do(t *testing.T, conn *pgx.Conn, statement string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestPostgres(t *testing.T) {
	pg := Postgres(t)
	t.Run("databases are apart and have PostGIS", func(t *testing.T) {
		a, b := connect(t, pg.Database(t)), connect(t, pg.Database(t))
		do(t, a, "CREATE TABLE a (p geometry)")
		if n := value[int](t, b, "SELECT count(*) FROM pg_tables WHERE tablename = 'a'"); n != 0 {
			t.Error("a table of one database is in another")
		}
		for _, conn := range []*pgx.Conn{a, b, connect(t, pg.URL())} {
			if got := value[string](t, conn, "SELECT ST_AsText(ST_Point(4.5, 52))"); got != "POINT(4.5 52)" {
				t.Errorf("postgis_version = %s", got)
			}
		}
	})
	t.Run("what is written is synced", func(t *testing.T) {
		conn := connect(t, pg.URL())
		for _, setting := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
			if got := value[string](t, conn, "SHOW "+setting); got != "on" {
				t.Errorf("%s = %s, want on", setting, got)
			}
		}
	})
	t.Run("a database goes with its test", func(t *testing.T) {
		var gone string
		t.Run("test", func(t *testing.T) { gone = pg.Database(t); connect(t, gone) })
		if conn, err := pgx.Connect(t.Context(), gone); err == nil {
			conn.Close(t.Context())
			t.Error("the database is there after the test")
		}
	})
	t.Run("the password is needed", func(t *testing.T) {
		u, err := url.Parse(pg.URL())
		must(t, err)
		u.User = url.UserPassword(superuser, "wrong")
		if conn, err := pgx.Connect(t.Context(), u.String()); err == nil {
			conn.Close(t.Context())
			t.Error("a wrong password is accepted")
		}
	})
}

// TestPostgresRestarts checks that committed rows are there after each way of stopping the server.
func TestPostgresRestarts(t *testing.T) {
	pg := Postgres(t, Setting("work_mem", "5MB"))
	at := pg.Database(t)
	do(t, connect(t, at), "CREATE TABLE kept (n int)")
	for i, c := range []struct {
		name string
		ends func() error
	}{
		{"in order", func() error { return pg.Stop(false) }},
		{"immediately", func() error { return pg.Stop(true) }},
		{"killed", pg.Kill},
	} {
		t.Run(c.name, func(t *testing.T) {
			do(t, connect(t, at), fmt.Sprint("INSERT INTO kept VALUES (", i, ")"))
			must(t, c.ends())
			if conn, err := pgx.Connect(t.Context(), at); err == nil {
				conn.Close(t.Context())
				t.Fatal("it answers after it was stopped")
			}
			must(t, pg.Start())
			conn := connect(t, at)
			if n := value[int](t, conn, "SELECT count(*) FROM kept"); n != i+1 {
				t.Errorf("%d rows, want %d", n, i+1)
			}
			if got := value[string](t, conn, "SHOW work_mem"); got != "5MB" {
				t.Errorf("work_mem = %s, want what was set", got)
			}
		})
	}
	must(t, pg.Restart())
	value[int](t, connect(t, at), "SELECT 1")
}

// TestPostgresPauses checks that a paused server keeps its connections and sends no answer until it is resumed.
func TestPostgresPauses(t *testing.T) {
	pg := Postgres(t, Unsynced())
	conn := connect(t, pg.URL())
	do(t, conn, "SELECT 1")
	must(t, pg.Pause())
	answer := make(chan error, 1)
	go func() {
		_, err := conn.Exec(context.Background(), "SELECT 1")
		answer <- err
	}()
	select {
	case err := <-answer:
		t.Errorf("a paused server answers: %v", err)
	case <-time.After(200 * time.Millisecond):
	}
	must(t, pg.Resume())
	must(t, <-answer)
}

func TestCache(t *testing.T) {
	c := Cache(t)
	if u, err := url.Parse(c.URL()); err != nil || u.Scheme != "valkey" || u.Port() == "" {
		t.Errorf("URL = %v, %v; want one of valkey", u.Redacted(), err)
	}
	must(t, c.command("SET a 1"))
	must(t, c.Empty())
	if err := c.command("RENAME a b"); err == nil || !strings.Contains(err.Error(), "no such key") {
		t.Errorf("after Empty, RENAME = %v; want no such key", err)
	}
	must(t, c.command("SET a 1"))
	must(t, c.Stop())
	if c.command("PING") == nil {
		t.Error("it answers after it was stopped")
	}
	must(t, c.Start())
	if c.command("RENAME a b") == nil {
		t.Error("a key is left after the server was stopped")
	}
	must(t, c.Pause())
	answer := make(chan error, 1)
	go func() { answer <- c.command("PING") }()
	select {
	case err := <-answer:
		t.Errorf("a paused server answers: %v", err)
	case <-time.After(200 * time.Millisecond):
	}
	must(t, c.Resume())
	must(t, <-answer)
}

// TestServersStartConcurrently checks that several servers can start at the same time, as test binaries start them, each with its
// own folder and port.
func TestServersStartConcurrently(t *testing.T) {
	skipShort(t)
	var all [3]*PG
	var group sync.WaitGroup
	for i := range all {
		group.Go(func() {
			pg, err := StartPostgres(Unsynced())
			if err != nil && !errors.Is(err, ErrMissing) {
				t.Error(err)
			}
			all[i] = pg
		})
	}
	group.Wait()
	for i, pg := range all {
		if pg == nil {
			continue
		}
		do(t, connect(t, pg.URL()), "CREATE TABLE mine ()")
		folder := pg.folder.path
		must(t, pg.Close())
		if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("server %d left its folder: %v", i, err)
		}
	}
}

// TestPortTakenMeanwhile checks that a server whose port another one took in the meantime is not mistaken for that one.
func TestPortTakenMeanwhile(t *testing.T) {
	first, second := Postgres(t, Unsynced()), Postgres(t, Unsynced())
	must(t, second.Stop(true))
	second.port = first.port
	if err := second.Start(); err == nil {
		t.Error("a server started on a port that another has")
	}
}

// asChild names the environment variable that makes this binary the child process to be killed.
const asChild = "WAYSIDE_THROWAWAY_CHILD"

// TestServersEndWithTheirTest checks that a killed test binary leaves no server behind, and that the next one removes its folders.
func TestServersEndWithTheirTest(t *testing.T) {
	if os.Getenv(asChild) != "" {
		pg, cache := Postgres(t), Cache(t)
		fmt.Println("pids", pg.process.cmd.Process.Pid, cache.process.cmd.Process.Pid, pg.folder.path, cache.folder.path)
		select {} // until it is killed
	}
	Postgres(t, Unsynced()) // or skip
	self := exec.Command(os.Args[0], "-test.run=^TestServersEndWithTheirTest$")
	self.Env = append(os.Environ(), asChild+"=yes")
	out, err := self.StdoutPipe()
	must(t, err)
	must(t, self.Start())
	var pids [2]int
	var folders [2]string
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if n, _ := fmt.Sscanf(lines.Text(), "pids %d %d %s %s", &pids[0], &pids[1], &folders[0], &folders[1]); n == 4 {
			break
		}
	}
	must(t, self.Process.Kill())
	self.Wait() //nolint:errcheck // it was killed
	if pids[1] == 0 {
		t.Fatal("the child never started its servers")
	}
	deadline := time.After(serverTimeout)
	for _, pid := range pids {
		for !strings.Contains("ZX", stateOf(pid)) {
			select {
			case <-deadline:
				t.Fatalf("process %d goes on", pid)
			case <-time.After(lookEach):
			}
		}
	}
	for _, path := range folders {
		old := time.Now().Add(-2 * minAbandoned)
		must(t, os.Chtimes(path, old, old))
	}
	sweep(os.TempDir())
	for _, path := range folders {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left", path)
		}
	}
}

// TestSweepKeepsFoldersInUse checks that a folder that is locked, or that has just been created, is not removed.
func TestSweepKeepsFoldersInUse(t *testing.T) {
	in := t.TempDir()
	old := time.Now().Add(-2 * minAbandoned)
	for name, c := range map[string]struct{ old, lock, held, stays bool }{
		"held":      {old: true, lock: true, held: true, stays: true},
		"new":       {lock: true, stays: true},
		"left":      {old: true, lock: true},
		"unlocked":  {old: true},
		"just made": {stays: true},
	} {
		path := filepath.Join(in, folderPrefix+name)
		must(t, os.Mkdir(path, 0o700))
		if c.lock {
			lock, err := lockFile(filepath.Join(path, lockName), syscall.LOCK_EX)
			must(t, err)
			if c.held {
				defer lock.Close()
			} else {
				must(t, lock.Close())
			}
		}
		if c.old {
			must(t, os.Chtimes(path, old, old))
		}
		sweep(in)
		if _, err := os.Stat(path); (err == nil) != c.stays {
			t.Errorf("%s: stays = %v, want %v", name, err == nil, c.stays)
		}
	}
}

func TestVersions(t *testing.T) {
	for banner, want := range map[string]int{
		"postgres (PostgreSQL) 15.20 (Debian 15.20-0+deb12u1)": 15,
		"postgres (PostgreSQL) 18beta1":                        18,
		"postgres (PostgreSQL) 16":                             16,
		"something else 9":                                     0,
		"":                                                     0,
	} {
		if got := major(banner); got != want {
			t.Errorf("major(%q) = %d, want %d", banner, got, want)
		}
	}
	for folder, want := range map[string]int{"/usr/lib/postgresql/9/bin": 9, "/usr/pgsql-17/bin": 17, "/opt/pg/bin": 0} {
		if got := versionOf(folder); got != want {
			t.Errorf("versionOf(%s) = %d, want %d", folder, got, want)
		}
	}
}

// BenchmarkStart measures how long a test waits for its server and a database in it.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		pg, err := StartPostgres()
		if err != nil {
			b.Skip(err)
		}
		if err := pg.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDatabase(b *testing.B) {
	for name, options := range map[string][]Option{"synced": nil, "unsynced": {Unsynced()}} {
		b.Run(name, func(b *testing.B) {
			pg := Postgres(b, options...)
			for b.Loop() {
				pg.Database(b)
			}
		})
	}
}

// outcome is a testing.TB that only records how the test ended.
type outcome struct {
	testing.TB
	skipped, failed bool
}

func (*outcome) Helper()        {}
func (v *outcome) Skip(...any)  { v.skipped = true }
func (v *outcome) Fatal(...any) { v.failed = true }

// TestMissingServers checks that a missing server skips the test with a message on a developer's machine and fails it in CI, and
// that any other error fails it.
func TestMissingServers(t *testing.T) {
	for _, c := range []struct {
		ci              string
		err             error
		skipped, failed bool
	}{
		{"", fmt.Errorf("%w: install it", ErrMissing), true, false},
		{"true", fmt.Errorf("%w: install it", ErrMissing), false, true},
		{"", errors.New("it does not start"), false, true},
		{"true", nil, false, false},
	} {
		t.Setenv("CI", c.ci)
		var got outcome
		missing(&got, c.err)
		if got.skipped != c.skipped || got.failed != c.failed {
			t.Errorf("CI=%q, %v: skipped %v, failed %v; want %v, %v", c.ci, c.err, got.skipped, got.failed, c.skipped, c.failed)
		}
	}
}

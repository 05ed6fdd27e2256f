package migrate

import (
	"context"
	"database/sql"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	_ "modernc.org/sqlite"
)

func folder(files ...string) fstest.MapFS {
	fs := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		fs["migrations/"+files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return fs
}

func TestRead(t *testing.T) {
	all, err := Read(folder("0002_b.sql", "B", "0001_a.sql", "A"), "migrations")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 2 || all[0] != (Migration{1, "0001_a.sql", "A"}) || all[1] != (Migration{2, "0002_b.sql", "B"}) {
		t.Errorf("Read = %+v", all)
	}
	for name, fs := range map[string]fstest.MapFS{
		"a gap":             folder("0001_a.sql", "", "0003_c.sql", ""),
		"begins at 2":       folder("0002_a.sql", ""),
		"a number twice":    folder("0001_a.sql", "", "0001_b.sql", ""),
		"no number":         folder("first.sql", ""),
		"a number too long": folder("00001_a.sql", ""),
		"another file":      folder("0001_a.sql", "", "0002_b.txt", ""),
		"no folder":         {},
	} {
		if all, err := Read(fs, "migrations"); err == nil {
			t.Errorf("%s: Read = %+v, want an error", name, all)
		}
	}
}

const record = `INSERT INTO schema_migrations (version, name) VALUES (?, ?)`

func open(t *testing.T) (*sql.DB, Begin) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+t.TempDir()+"/m.db?_txlock=immediate&_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if err := db.PingContext(t.Context()); err != nil { // one connection alone makes the file one with a WAL: SQLite does not wait for that
		t.Fatal(err)
	}
	return db, func(ctx context.Context) (*sql.Tx, error) { return db.BeginTx(ctx, nil) }
}

func TestRun(t *testing.T) {
	db, begin := open(t)
	first := Migration{1, "0001_a.sql", "CREATE TABLE a (n INTEGER); INSERT INTO a VALUES (1)"}
	second := Migration{2, "0002_b.sql", "INSERT INTO a VALUES (2); CREATE TABLE b (n INTEGER)"}
	broken := Migration{3, "0003_c.sql", "INSERT INTO a VALUES (3); CREATE TABLE b (n INTEGER)"}
	sum := func() (n int) {
		t.Helper()
		if err := db.QueryRow("SELECT SUM(n) FROM a").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, step := range []struct {
		name string
		all  []Migration
		fail string
		sum  int
	}{
		{"the first", []Migration{first}, "", 1},
		{"again", []Migration{first}, "", 1},
		{"one more", []Migration{first, second}, "", 3},
		{"by an older program", []Migration{first}, "newer", 3},
		{"one that fails halfway", []Migration{first, second, broken}, "0003_c.sql", 3},
		{"afterwards", []Migration{first, second}, "", 3},
	} {
		err := Run(t.Context(), begin, record, step.all)
		if (err != nil) != (step.fail != "") || err != nil && !strings.Contains(err.Error(), step.fail) {
			t.Errorf("%s: Run = %v, want %q in it", step.name, err, step.fail)
		}
		if got := sum(); got != step.sum {
			t.Errorf("%s: sum = %d, want %d", step.name, got, step.sum)
		}
	}
}

// TestFirstRunIsWhole checks that an empty database gets all migrations or none, so that no process ever reads a part
// of the schema.
func TestFirstRunIsWhole(t *testing.T) {
	db, begin := open(t)
	good := Migration{1, "0001_a.sql", "CREATE TABLE a (n INTEGER)"}
	broken := Migration{2, "0002_b.sql", "CREATE TABLE b (n INTEGER); CREATE TABLE a (n INTEGER)"}
	if err := Run(t.Context(), begin, record, []Migration{good, broken}); err == nil || !strings.Contains(err.Error(), broken.Name) {
		t.Fatalf("Run = %v, want %s in it", err, broken.Name)
	}
	var tables int
	if err := db.QueryRow("SELECT COUNT(*) FROM sqlite_master").Scan(&tables); err != nil || tables != 0 {
		t.Errorf("%d tables and indexes are left, %v; want none", tables, err)
	}
	broken.SQL = "CREATE TABLE b (n INTEGER)"
	if err := Run(t.Context(), begin, record, []Migration{good, broken}); err != nil {
		t.Error(err)
	}
}

func TestRunConcurrently(t *testing.T) {
	db, begin := open(t)
	all := []Migration{{1, "0001_a.sql", "CREATE TABLE a (n INTEGER)"}, {2, "0002_b.sql", "INSERT INTO a VALUES (1)"}}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if err := Run(t.Context(), begin, record, all); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	var n int
	if err := db.QueryRow("SELECT COUNT(*) FROM a").Scan(&n); err != nil || n != 1 {
		t.Errorf("the second migration ran %d times (%v)", n, err)
	}
}

package sqlitetest

import (
	"os"
	"path/filepath"
	"testing"

	"wayside/internal/store/sqlite"
)

// TestPathIsMigratedAndSeparate checks that a database of this package equals one that Open created, and that every
// call returns another one.
func TestPathIsMigratedAndSeparate(t *testing.T) {
	path := Path(t)
	if left, err := filepath.Glob(path + "-*"); err != nil || len(left) != 0 {
		t.Fatalf("beside the copy there is %v, %v", left, err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(after) != string(before) {
		t.Error("opening the copy changed it: it was not migrated")
	}
	if Path(t) == path {
		t.Error("a second database has the same path")
	}
}

func BenchmarkOpen(b *testing.B) {
	for name, path := range map[string]func() string{
		"copied":   func() string { return Path(b) },
		"migrated": func() string { return filepath.Join(b.TempDir(), "wayside.db") },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				db, err := sqlite.Open(b.Context(), path(), sqlite.Options{})
				if err != nil {
					b.Fatal(err)
				}
				if err := db.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

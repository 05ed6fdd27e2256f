// Package sqlitetest creates migrated databases for tests of other packages: copies of one file that is migrated once
// in a test binary, since a copy takes a fraction of the time of the migrations.
package sqlitetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"wayside/internal/store/sqlite"
)

// migrated is an empty database of the newest version.
var migrated = sync.OnceValues(func() (_ []byte, err error) {
	folder, err := os.MkdirTemp("", "wayside-sqlitetest-")
	if err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, "wayside.db")
	db, err := sqlite.Open(context.Background(), path, sqlite.Options{})
	if err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil { // moves the write-ahead log into the file
		return nil, err
	}
	return os.ReadFile(path)
})

// Path creates a database that lives as long as the test, and returns its path. All databases of one test binary have the
// same epoch: a test of two stores with different epochs must let Open create one of them.
func Path(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "wayside.db")
	Copy(t, path)
	return path
}

// Copy creates a database at a path where no file exists.
func Copy(t testing.TB, path string) {
	t.Helper()
	content, err := migrated()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

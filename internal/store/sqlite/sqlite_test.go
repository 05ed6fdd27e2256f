package sqlite_test

import (
	"testing"

	"wayside/internal/store/sqlite"
	"wayside/internal/store/sqlite/sqlitetest"
	"wayside/internal/store/storetest"
)

var _ storetest.Store = (*sqlite.DB)(nil)

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) func(*testing.T) storetest.Store {
		path := t.TempDir() + "/way side?&#%.db" // a path that needs escaping in a URI
		sqlitetest.Copy(t, path)
		return func(t *testing.T) storetest.Store {
			t.Helper()
			db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return db
		}
	})
}

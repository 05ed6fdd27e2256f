package postgres_test

import (
	"fmt"
	"net/url"
	"sync/atomic"
	"testing"

	"wayside/internal/store/postgres"
	"wayside/internal/store/storetest"
)

var _ storetest.Store = (*postgres.DB)(nil)

// TestContract runs the contract of stores on PostgreSQL.
func TestContract(t *testing.T) {
	fresh := schemas(t)
	storetest.Run(t, func(t *testing.T) func(*testing.T) storetest.Store {
		url := fresh(t)
		return func(t *testing.T) storetest.Store {
			t.Helper()
			db, err := postgres.Open(t.Context(), postgres.Config{URL: url})
			if err != nil {
				t.Fatal(err)
			}
			return db
		}
	})
}

// schemas returns URLs of empty schemas in one database: creating a schema takes a tenth of the time of a database.
func schemas(t *testing.T) func(t *testing.T) string {
	t.Helper()
	database := postgres.Servers.Postgres(t).Database(t)
	var made atomic.Int64
	return func(t *testing.T) string {
		t.Helper()
		name := fmt.Sprint("way side ", made.Add(1)) // a name that needs quoting
		run(t, operator(t, database), `CREATE SCHEMA "`+name+`"`)
		u, err := url.Parse(database)
		if err != nil {
			t.Fatal(err)
		}
		path := `"` + name + `",public` // PostGIS is in the schema public
		u.RawQuery += "&search_path=" + url.PathEscape(path)
		return u.String()
	}
}

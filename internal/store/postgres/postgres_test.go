package postgres_test

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

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

// schemas returns a function that returns URLs of empty schemas in one database, because creating a schema takes a
// tenth of the time of a database. A schema whose test has passed is emptied and reused, since the migrations take
// longer than most tests.
func schemas(t *testing.T) func(t *testing.T) string {
	t.Helper()
	database := postgres.Servers.Postgres(t).Database(t)
	var mu sync.Mutex
	var free []string
	made := 0
	return func(t *testing.T) string {
		t.Helper()
		mu.Lock()
		defer mu.Unlock()
		var address string
		if n := len(free); n > 0 {
			address, free = free[n-1], free[:n-1]
		} else {
			made++
			address = newSchema(t, database, fmt.Sprint("way side ", made)) // a name that needs quoting
		}
		t.Cleanup(func() { // after the test has closed its stores
			if t.Failed() {
				return
			}
			emptySchema(t, address)
			mu.Lock()
			defer mu.Unlock()
			free = append(free, address)
		})
		return address
	}
}

func newSchema(t *testing.T, database, name string) (address string) {
	t.Helper()
	run(t, operator(t, database), `CREATE SCHEMA "`+name+`"`)
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	path := `"` + name + `",public` // PostGIS is in the schema public
	u.RawQuery += "&search_path=" + url.PathEscape(path)
	return u.String()
}

// emptySchema resets a schema to its state after the migrations: no rows but those of the migrations and a new epoch,
// and sequences at their start. It truncates large tables and deletes from small ones, which is faster.
func emptySchema(t *testing.T, address string) {
	t.Helper()
	ctx := context.Background() // the test's own context has ended
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, `DO $$
		DECLARE one text;
		BEGIN
			SET LOCAL session_replication_role = replica; -- no foreign keys
			FOR one IN SELECT tablename FROM pg_tables
				WHERE schemaname = current_schema() AND tablename NOT IN ('schema_migrations', 'state') LOOP
				IF pg_relation_size(format('%I', one)::regclass) > 1000000 THEN
					EXECUTE format('TRUNCATE %I CASCADE', one);
				ELSE
					EXECUTE format('DELETE FROM %I', one);
				END IF;
			END LOOP;
			UPDATE state SET epoch = replace(gen_random_uuid()::text, '-', ''), revision = 0, floor = 0;
			PERFORM setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false)
				FROM pg_sequences WHERE schemaname = current_schema();
		END $$`)
	if err != nil {
		t.Errorf("empty the schema: %v", err)
	}
}

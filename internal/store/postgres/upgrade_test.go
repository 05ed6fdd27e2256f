package postgres_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"wayside/internal/store/migrate"
	"wayside/internal/store/postgres"
	"wayside/internal/store/storetest"
)

// columns lists the columns of an older database that rows may set.
const columns = `SELECT c.table_name, c.column_name, c.data_type, c.is_nullable = 'NO' AND c.column_default IS NULL
	FROM information_schema.columns AS c JOIN information_schema.tables AS t USING (table_schema, table_name)
	WHERE c.table_schema = current_schema() AND t.table_type = 'BASE TABLE' AND c.is_generated = 'NEVER' AND c.is_identity = 'NO'`

// TestUpgrade migrates databases of all older versions, with rows in each of their tables.
func TestUpgrade(t *testing.T) {
	all, err := migrate.Read(os.DirFS("."), "migrations")
	if err != nil {
		t.Fatal(err)
	}
	database := postgres.Servers.Postgres(t).Database(t)
	run(t, operator(t, database), `CREATE EXTENSION IF NOT EXISTS postgis`) // in the schema public, whose types are visible in all schemas
	storetest.Upgrade(t, len(all), func(t *testing.T, version int) storetest.Older {
		t.Helper()
		url := newSchema(t, database, fmt.Sprint("older ", version))
		config, err := pgx.ParseConfig(url)
		if err != nil {
			t.Fatal(err)
		}
		migrating := *config
		migrating.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol // for several statements in one text
		old := stdlib.OpenDB(migrating)
		begin := func(ctx context.Context) (*sql.Tx, error) { return old.BeginTx(ctx, nil) }
		if err := migrate.Run(t.Context(), begin, `INSERT INTO schema_migrations (version, name) VALUES ($1, $2)`, all[:version]); err != nil {
			t.Fatal(err)
		}
		if err := old.Close(); err != nil {
			t.Fatal(err)
		}
		return storetest.Older{DB: stdlib.OpenDB(*config), Columns: columns, Open: func(t *testing.T) storetest.Store {
			t.Helper()
			store, err := postgres.Open(t.Context(), postgres.Config{URL: url, Migrate: true})
			if err != nil {
				t.Fatal(err)
			}
			return store
		}}
	})
}

package sqlite_test

import (
	"context"
	"database/sql"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"wayside/internal/store/migrate"
	"wayside/internal/store/sqlite"
	"wayside/internal/store/storetest"
)

// columns lists the columns of an older database. SQLite assigns values to integer keys itself.
const columns = `SELECT t.name, c.name, c.type, c."notnull" AND c.dflt_value IS NULL AND NOT (c.pk AND c.type = 'INTEGER' AND NOT t.wr)
	FROM pragma_table_list AS t, pragma_table_info(t.name) AS c WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'`

// TestUpgrade migrates databases of all older versions, with rows in each of their tables.
func TestUpgrade(t *testing.T) {
	all := migrations(t, os.DirFS("."))
	storetest.Upgrade(t, len(all), func(t *testing.T, version int) storetest.Older {
		t.Helper()
		path := filepath.Join(t.TempDir(), "wayside.db")
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		begin := func(ctx context.Context) (*sql.Tx, error) { return db.BeginTx(ctx, nil) }
		if err := migrate.Run(t.Context(), begin, `INSERT INTO schema_migrations (version, name) VALUES (?, ?)`, all[:version]); err != nil {
			t.Fatal(err)
		}
		return storetest.Older{DB: db, Columns: columns, Open: func(t *testing.T) storetest.Store {
			t.Helper()
			store, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return store
		}}
	})
}

func migrations(t *testing.T, files fs.FS) []migrate.Migration {
	t.Helper()
	all, err := migrate.Read(files, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

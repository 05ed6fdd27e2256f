package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"wayside/internal/store/migrate"
)

// Snapshot is the content of the database at one moment.
type Snapshot struct{ r *readTx }

// Snapshot calls do with the content of the database at one moment. Concurrent writes are not visible in it.
func (db *DB) Snapshot(ctx context.Context, do func(*Snapshot) error) error {
	return db.read(ctx, "read everything", func(r *readTx) error {
		// The moment is that of the first read.
		if _, err := db.StateIn(ctx, r); err != nil {
			return err
		}
		return do(&Snapshot{r})
	})
}

// Tables lists all tables but SQLite's own.
func (s *Snapshot) Tables(ctx context.Context) ([]string, error) {
	var names []string
	err := scan(ctx, s.r.conn, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name`, nil,
		func(row []driver.Value) error {
			names = append(names, text(row[0]))
			return nil
		})
	return names, err
}

// Count counts a table's rows. Names of tables and columns are the program's own, never a user's.
func (s *Snapshot) Count(ctx context.Context, table string) (n int64, err error) {
	err = s.r.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+table).Scan(&n)
	return n, err
}

// Rows passes each row of a table to take, with the columns in the given order, each an int64, a float64, a string, a
// []byte or nil. The row is valid during the call only, its values remain valid.
func (s *Snapshot) Rows(ctx context.Context, table string, columns []string, take func(row []driver.Value) error) error {
	return scan(ctx, s.r.conn, "SELECT "+strings.Join(columns, ", ")+" FROM "+table, nil, take)
}

// Pending lists the migrations that a database file lacks, in their order. It changes nothing. It fails when the file
// does not exist, and when a newer version made it.
func Pending(ctx context.Context, path string) (_ []migrate.Migration, err error) {
	all, err := migrate.Read(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", dsn(path, url.Values{"mode": {"ro"}},
		pragma("busy_timeout", int(busyTimeout/time.Millisecond)), // another process may be creating the database
		"query_only(1)"))
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var recorded bool
	err = db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'schema_migrations')`).Scan(&recorded)
	if err != nil {
		return nil, failure("open database", err)
	}
	version := 0
	if recorded {
		if err := db.QueryRowContext(ctx, `SELECT COALESCE(MAX(version), 0) FROM schema_migrations`).Scan(&version); err != nil {
			return nil, failure("open database", err)
		}
	}
	if version > len(all) {
		return nil, fmt.Errorf("open database: its schema has version %d, this program knows %d: it was made by a newer one", version, len(all))
	}
	return all[version:], nil
}

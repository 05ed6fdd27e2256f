// Package migrate brings a database's schema up to date: numbered SQL files, embedded by each store, each applied once,
// in order and in its own transaction. An empty database gets all of them in one transaction, so that no process takes
// a part of the schema for that of an older program. Files are never edited after they were merged.
package migrate

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// Migration is one step of the schema.
type Migration struct {
	Version int    // 1, 2, 3, …
	Name    string // of its file
	SQL     string
}

// Read lists the migrations in a directory of files named "0001_what_it_does.sql". Numbers begin at 1 and leave no gap.
func Read(files fs.FS, folder string) ([]Migration, error) {
	entries, err := fs.ReadDir(files, folder) // sorted by name
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	var all []Migration
	for _, entry := range entries {
		number, rest, _ := strings.Cut(entry.Name(), "_")
		version, err := strconv.Atoi(number)
		if err != nil || len(number) != 4 || !strings.HasSuffix(rest, ".sql") {
			return nil, fmt.Errorf("migration %s: want a name like 0001_what_it_does.sql", entry.Name())
		}
		if version != len(all)+1 {
			return nil, fmt.Errorf("migration %s: want number %04d", entry.Name(), len(all)+1)
		}
		text, err := fs.ReadFile(files, folder+"/"+entry.Name())
		if err != nil {
			return nil, fmt.Errorf("read migration %s: %w", entry.Name(), err)
		}
		all = append(all, Migration{Version: version, Name: entry.Name(), SQL: string(text)})
	}
	return all, nil
}

// The table of applied migrations is the same on every database.
const (
	createRecord = `CREATE TABLE IF NOT EXISTS schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL)`
	readVersion  = `SELECT COALESCE(MAX(version), 0) FROM schema_migrations`
)

// Begin starts a transaction that excludes other migrations.
type Begin func(ctx context.Context) (*sql.Tx, error)

// Run applies the missing migrations; several processes may do so at the same time. record is the statement that stores
// a version and a name in schema_migrations, with the database's own parameter syntax. A database with more migrations
// than all was migrated by a newer program: Run fails and changes nothing.
func Run(ctx context.Context, begin Begin, record string, all []Migration) error {
	for {
		done, err := next(ctx, begin, record, all)
		if err != nil {
			return fmt.Errorf("migrate the database: %w", err)
		}
		if done {
			return nil
		}
	}
}

// next applies the first missing migration, and to an empty database all of them.
func next(ctx context.Context, begin Begin, record string, all []Migration) (done bool, err error) {
	tx, err := begin(ctx)
	if err != nil {
		return false, fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, createRecord); err != nil {
		return false, fmt.Errorf("create record: %w", err)
	}
	var version int
	if err := tx.QueryRowContext(ctx, readVersion).Scan(&version); err != nil {
		return false, fmt.Errorf("read version: %w", err)
	}
	switch {
	case version > len(all):
		return false, fmt.Errorf("its schema has version %d, this program knows %d: it was made by a newer one", version, len(all))
	case version == len(all):
		return true, nil
	}
	steps := all[version : version+1]
	if version == 0 {
		steps = all
	}
	for _, step := range steps {
		if _, err := tx.ExecContext(ctx, step.SQL); err != nil {
			return false, fmt.Errorf("%s: %w", step.Name, err)
		}
		if _, err := tx.ExecContext(ctx, record, step.Version, step.Name); err != nil {
			return false, fmt.Errorf("record %s: %w", step.Name, err)
		}
	}
	return false, tx.Commit()
}

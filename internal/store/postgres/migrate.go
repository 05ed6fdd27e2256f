package postgres

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"net/url"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"wayside/internal/ground/mapdata"
	"wayside/internal/store/migrate"
)

//go:embed migrations/*.sql
var migrations embed.FS

const (
	// Only one node migrates at a time; the number is this program's own.
	lockSchema       = `SELECT pg_advisory_xact_lock(7710547307)`
	recordMigration  = `INSERT INTO schema_migrations (version, name) VALUES ($1, $2)`
	hasRecord        = `SELECT to_regclass('schema_migrations') IS NOT NULL`
	readVersion      = `SELECT COALESCE(MAX(version), 0) FROM schema_migrations`
	minServerVersion = 150_000
)

// ErrOlder is the error of Open when the schema must be migrated first.
var ErrOlder = mapdata.Describe(mapdata.ErrConflict,
	"The database's schema is older than this program. Make a backup (pg_dump) and run: wayside migrate. Nodes of the release before go on meanwhile.")

// Pending returns the migrations that the database lacks, in their order; all of them for an empty one. It fails when
// the schema was made by a newer program.
func Pending(ctx context.Context, databaseURL string) ([]migrate.Migration, error) {
	var pending []migrate.Migration
	err := withSchema(databaseURL, func(db *sql.DB, all []migrate.Migration) (err error) {
		version, err := schemaVersion(ctx, db, len(all))
		if err == nil {
			pending = all[version:]
		}
		return err
	})
	return pending, err
}

// Migrate applies the migrations that the database lacks, each step in its own transaction, or all in one where it is
// empty. Several nodes may do so at the same time. It fails, having changed nothing, when the schema was made by a
// newer program.
func Migrate(ctx context.Context, databaseURL string) error {
	return withSchema(databaseURL, func(db *sql.DB, all []migrate.Migration) error { return migrateAll(ctx, db, all) })
}

// prepare makes sure that the schema is one that this program works with, or fails.
func prepare(ctx context.Context, cfg Config) error {
	return withSchema(cfg.URL, func(db *sql.DB, all []migrate.Migration) error {
		version, err := schemaVersion(ctx, db, len(all))
		switch {
		case err != nil || version == len(all):
			return err
		case version == 0 || cfg.Migrate:
			return migrateAll(ctx, db, all)
		}
		return ErrOlder
	})
}

func migrateAll(ctx context.Context, db *sql.DB, all []migrate.Migration) error {
	begin := func(ctx context.Context) (*sql.Tx, error) {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return nil, err
		}
		if _, err := tx.ExecContext(ctx, lockSchema); err != nil {
			return nil, errors.Join(err, tx.Rollback())
		}
		return tx, nil
	}
	return failure("open database", migrate.Run(ctx, begin, recordMigration, all))
}

// schemaVersion returns the version of the newest migration in the database; 0: it is empty.
func schemaVersion(ctx context.Context, db *sql.DB, known int) (version int, err error) {
	var server int
	var recorded bool
	if err := db.QueryRowContext(ctx, `SELECT current_setting('server_version_num')::integer`).Scan(&server); err != nil {
		return 0, failure("open database", err)
	}
	if server < minServerVersion {
		return 0, errors.New("open database: PostgreSQL 15 or later is needed")
	}
	if err := db.QueryRowContext(ctx, hasRecord).Scan(&recorded); err != nil || !recorded {
		return 0, failure("open database", err)
	}
	if err := db.QueryRowContext(ctx, readVersion).Scan(&version); err != nil {
		return 0, failure("open database", err)
	}
	if version > known {
		return 0, fmt.Errorf("open database: its schema has version %d, this program knows %d: it was made by a newer one", version, known)
	}
	return version, nil
}

// withSchema connects with several statements per query, as migrations need, and passes all migrations to do.
func withSchema(databaseURL string, do func(db *sql.DB, all []migrate.Migration) error) (err error) {
	all, err := migrate.Read(migrations, "migrations")
	if err != nil {
		return err
	}
	conn, err := connConfig(databaseURL)
	if err != nil {
		return err
	}
	conn.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	db := stdlib.OpenDB(*conn)
	db.SetMaxOpenConns(1)
	defer func() { err = errors.Join(err, db.Close()) }()
	return do(db, all)
}

// connConfig parses the URL for one connection beside the pool.
func connConfig(databaseURL string) (*pgx.ConnConfig, error) {
	pool, err := pgxpool.ParseConfig(databaseURL)
	if err != nil {
		return nil, errURL
	}
	setDefaults(pool.ConnConfig)
	return pool.ConnConfig, nil
}

func hasParameter(databaseURL, name string) bool {
	u, err := url.Parse(databaseURL)
	return err == nil && u.Query().Has(name)
}

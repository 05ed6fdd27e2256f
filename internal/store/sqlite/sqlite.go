package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // the driver named "sqlite"

	"wayside/internal/ground/mapdata"
	"wayside/internal/store"
	"wayside/internal/store/migrate"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Bounds of the database's resources. Together the caches stay below 48 MiB.
const (
	readers         = 4
	readerCacheKiB  = 4 << 10
	writerCacheKiB  = 24 << 10
	busyTimeout     = 10 * time.Second // how long another process may hold the write lock
	journalKeep     = 64 << 20         // bytes that the write-ahead log keeps once it is empty
	autoCheckpoint  = 64 << 10         // pages; only where RunCheckpoints does not run
	filePermissions = 0o600            // the file contains e-mail addresses
)

// Options are the optional parameters of Open.
type Options struct {
	Now func() time.Time // the clock where a caller passes no time; nil: time.Now
	Log *slog.Logger     // for failures of jobs that are tried again; nil: not logged

	// MaxPages bounds the size of the file, in pages of 4 KiB; beyond it every write fails as on a full disk. 0: no
	// bound.
	MaxPages int
}

// DB is an open store. Its methods may be called from many goroutines.
type DB struct {
	*store.Scripts

	backend backend
	path    string
	now     func() time.Time
	logger  *slog.Logger
	writer  *sql.DB // one connection
	reader  *sql.DB
	written atomic.Bool // since the last checkpoint
	erased  atomic.Bool // the write-ahead log may contain erased data
}

// Open opens the database file, creates it if it does not exist, and brings its schema up to date. It fails when the
// file was made by a newer version.
func Open(ctx context.Context, path string, opts Options) (_ *DB, err error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	db := &DB{path: full, now: opts.Now, logger: opts.Log}
	if db.now == nil {
		db.now = time.Now
	}
	if db.logger == nil {
		db.logger = slog.New(slog.DiscardHandler)
	}
	// SQLite would make the file readable by everybody; its companion files get the same permissions.
	if err := makeFile(full); err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	if db.writer, err = sql.Open("sqlite", writerDSN(full, opts)); err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}()
	db.writer.SetMaxOpenConns(1)
	if err := db.migrate(ctx); err != nil {
		return nil, err
	}
	if db.reader, err = sql.Open("sqlite", readerDSN(full)); err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	db.reader.SetMaxOpenConns(readers)
	db.reader.SetMaxIdleConns(readers)
	db.backend = backend{queries{db.reader}, db}
	db.Scripts = store.New(db.backend, dialect, db.now)
	return db, db.Ping(ctx)
}

// makeFile creates the file if it does not exist. It does not open an existing file, because closing that would release
// the locks that this process holds on it by another DB.
func makeFile(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, filePermissions)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return file.Close()
}

func (db *DB) migrate(ctx context.Context) error {
	all, err := migrate.Read(migrations, "migrations")
	if err != nil {
		return err
	}
	begin := func(ctx context.Context) (*sql.Tx, error) { return db.writer.BeginTx(ctx, nil) }
	return failure("open database", migrate.Run(ctx, begin, recordMigration, all))
}

const recordMigration = `INSERT INTO schema_migrations (version, name) VALUES (?, ?)`

// dsn returns the data source name of a file, with the settings of its connections. A pragma that fails makes the
// connection fail.
func dsn(path string, query url.Values, pragmas ...string) string {
	for _, p := range pragmas {
		query.Add("_pragma", p)
	}
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // the path begins with a drive letter
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}
	return u.String()
}

func pragma(name string, value int) string { return name + "(" + strconv.Itoa(value) + ")" }

func writerDSN(path string, opts Options) string {
	pragmas := []string{
		pragma("busy_timeout", int(busyTimeout/time.Millisecond)),
		"journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "temp_store(MEMORY)",
		"secure_delete(1)", // overwrites deleted data with zeros (D11.11)
		pragma("cache_size", -writerCacheKiB),
		pragma("journal_size_limit", journalKeep),
		pragma("wal_autocheckpoint", autoCheckpoint),
	}
	if opts.MaxPages > 0 {
		pragmas = append(pragmas, pragma("max_page_count", opts.MaxPages))
	}
	return dsn(path, url.Values{"_txlock": {"immediate"}}, pragmas...)
}

func readerDSN(path string) string {
	return dsn(path, url.Values{},
		pragma("busy_timeout", int(busyTimeout/time.Millisecond)),
		"query_only(1)", "temp_store(MEMORY)",
		pragma("cache_size", -readerCacheKiB),
	)
}

func checkpointDSN(path string) string {
	return dsn(path, url.Values{},
		pragma("busy_timeout", int(truncateTimeout/time.Millisecond)),
		"synchronous(FULL)", pragma("journal_size_limit", journalKeep), pragma("wal_autocheckpoint", 0), pragma("cache_size", -256),
	)
}

// Close closes all connections. The last one to close moves the write-ahead log into the file. While another process
// has the file open, Close empties a log that contains data erased here; where that fails, the process that serves the
// file does so within a minute.
func (db *DB) Close() error {
	var err error
	if db.erased.Load() {
		ctx, cancel := context.WithTimeout(context.Background(), busyTimeout)
		defer cancel()
		if err := db.removeTraces(ctx, db.writer); err != nil {
			db.logger.Warn("cannot remove traces of what was deleted", "error", err)
		}
	}
	if db.reader != nil {
		err = db.reader.Close()
	}
	return errors.Join(err, db.writer.Close())
}

// Ping checks that the store can be read; otherwise it fails with mapdata.ErrUnavailable.
func (db *DB) Ping(ctx context.Context) error {
	if _, err := db.State(ctx); err != nil {
		return fmt.Errorf("%w: %w", mapdata.ErrUnavailable, err)
	}
	return nil
}

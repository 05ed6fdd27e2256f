package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"wayside/internal/ground/mapdata"
	"wayside/internal/store"
)

// Bounds of a node's use of the database. A URL may set others: pool_max_conns, connect_timeout.
const (
	maxConns       = 16
	connectTimeout = 5 * time.Second

	// A node that is stopped in the middle of a transaction must not hold its locks for long.
	idleInTransaction = "5s"
)

// Config holds the parameters of Open.
type Config struct {
	URL string // postgres://…, with all parameters of libpq; it may contain a password and is never shown

	Now func() time.Time // the clock where a caller passes no time; nil: time.Now
	Log *slog.Logger     // for failures of jobs that are tried again; nil: not logged

	// Migrate brings the schema up to date. Without it, Open does so for an empty database only, and refuses an older one, because an
	// operator decides when to migrate a schema that other nodes use.
	Migrate bool
}

// DB is an open store. Its methods may be called from many goroutines.
type DB struct {
	*store.Scripts

	backend backend
	now     func() time.Time
	logger  *slog.Logger
	pool    *pgxpool.Pool

	maxConns int32 // of the pool
}

// Open connects to the database. It fails with ErrOlder where the schema must be migrated first, and with another error where it was made
// by a newer version, or where the server cannot be reached.
func Open(ctx context.Context, cfg Config) (_ *DB, err error) {
	pool, err := pgxpool.ParseConfig(cfg.URL)
	if err != nil {
		return nil, errURL
	}
	if err := prepare(ctx, cfg); err != nil {
		return nil, err
	}
	db := &DB{now: cfg.Now, logger: cfg.Log}
	if db.now == nil {
		db.now = time.Now
	}
	if db.logger == nil {
		db.logger = slog.New(slog.DiscardHandler)
	}
	if !hasParameter(cfg.URL, "pool_max_conns") {
		pool.MaxConns = maxConns
	}
	setDefaults(pool.ConnConfig)
	dial := pool.ConnConfig.DialFunc
	pool.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &deadlineConn{Conn: conn}, nil
	}
	pool.AfterConnect = durable
	pool.ShouldPing = db.probeIdle
	db.maxConns = pool.MaxConns
	if db.pool, err = pgxpool.NewWithConfig(ctx, pool); err != nil {
		return nil, failure("open database", err)
	}
	db.backend = backend{queries{db.pool}, db}
	db.Scripts = store.New(db.backend, dialect, db.now)
	if err := db.Ping(ctx); err != nil {
		db.pool.Close()
		return nil, err
	}
	return db, nil
}

// Bounds of probing a connection that was idle for some time.
const (
	pingAfter   = time.Second
	pingTimeout = 2 * time.Second
)

// probeIdle probes an idle connection before it is used, and reports whether the pool should ping it; the ping then finds it closed and
// takes another one. Where the server does not answer, because its machine hangs or is cut off, all idle connections are dropped, because
// probing them one by one would take as long for each.
func (db *DB) probeIdle(ctx context.Context, conn pgxpool.ShouldPingParams) bool {
	if conn.IdleDuration <= pingAfter {
		return false
	}
	pinging, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	if err := conn.Conn.Ping(pinging); err != nil && pinging.Err() != nil && ctx.Err() == nil {
		db.logger.Warn("the database does not answer; its idle connections are dropped")
		db.pool.Reset()
	}
	return conn.Conn.IsClosed()
}

// errURL replaces the driver's own error, which quotes parts of the URL.
var errURL = errors.New("database.url is not the URL of a PostgreSQL database")

// setDefaults sets the parameters of a connection that the URL does not set.
func setDefaults(conn *pgx.ConnConfig) {
	if conn.ConnectTimeout == 0 {
		conn.ConnectTimeout = connectTimeout
	}
	if _, ok := conn.RuntimeParams["application_name"]; !ok {
		conn.RuntimeParams["application_name"] = "wayside"
	}
	goesOn := conn.OnPgError
	conn.OnPgError = func(c *pgconn.PgConn, err *pgconn.PgError) bool { return goesOn(c, err) && !isStandby(err.Code) }
	conn.OnNotice = noteUnreplicated
}

// settings makes sure that a returned commit is on the disk, also where the server's default is another, and that a node that stops within
// a transaction does not block others. Stricter settings, such as waiting for a standby, stay. They are not parameters of the connection
// itself, because poolers support only few of those.
const settings = `SELECT
	CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', false) END,
	CASE WHEN current_setting('idle_in_transaction_session_timeout') = '0'
		THEN set_config('idle_in_transaction_session_timeout', '` + idleInTransaction + `', false) END`

func durable(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, settings)
	return err
}

// Close waits for running operations and closes all connections.
func (db *DB) Close() error {
	db.pool.Close()
	return nil
}

// Ping checks that the store can be read and written; otherwise it fails with mapdata.ErrUnavailable.
func (db *DB) Ping(ctx context.Context) error {
	if _, err := db.State(ctx); err != nil {
		return fmt.Errorf("%w: %w", mapdata.ErrUnavailable, err)
	}
	return nil
}

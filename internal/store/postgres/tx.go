package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"wayside/internal/ground/mapdata"
	"wayside/internal/store"
)

// writeTx is a transaction that writes, at the isolation level READ COMMITTED: each statement sees what was committed
// before it began. A transaction that decides by a row therefore locks it first (FOR NO KEY UPDATE), and reads
// dependent rows by another statement.
type writeTx struct {
	queries
	conn *pgxpool.Conn
}

// Exec runs a statement and returns the number of rows that it affected.
func (w *writeTx) Exec(ctx context.Context, query string, args ...any) (affected int64, err error) {
	tag, err := w.conn.Exec(ctx, query, args...)
	return tag.RowsAffected(), err
}

// queries implements store.Querier on the pool, a transaction that reads, or one that writes.
type queries struct{ session }

// session is a *pgxpool.Pool or a *pgxpool.Conn.
type session interface {
	Query(ctx context.Context, query string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}

// Query runs a statement that returns rows.
func (q queries) Query(ctx context.Context, query string, args ...any) (store.Rows, error) {
	return q.session.Query(ctx, query, args...) //nolint:sqlclosecheck // the caller closes the rows
}

// QueryRow runs a statement that returns one row.
func (q queries) QueryRow(ctx context.Context, query string, args ...any) store.Row {
	return q.session.QueryRow(ctx, query, args...)
}

// backend implements store.Backend.
type backend struct {
	queries // of the pool
	db      *DB
}

// Failure implements store.Backend by failure.
func (backend) Failure(operation string, err error) error { return failure(operation, err) }

// Write runs do in a transaction, then the statements that it queued, and commits. When the connection breaks during
// the commit, it is unknown whether it took effect; the error is then mapdata.ErrUnavailable.
func (b backend) Write(ctx context.Context, operation string, do func(*store.Tx) error) (err error) {
	defer func() { err = failure(operation, err) }()
	conn, err := b.db.begin(ctx, "BEGIN")
	if err != nil {
		return err
	}
	defer conn.Release() // a broken connection, or one still within a transaction, is not reused
	resetUnreplicated(conn.Conn().PgConn())
	tx := b.db.NewTx(&writeTx{queries{conn}, conn})
	if err := do(tx); err != nil {
		return errors.Join(err, rollback(ctx, conn))
	}
	if err := commit(ctx, conn, tx.Queued()); err != nil {
		return errors.Join(err, rollback(ctx, conn))
	}
	return nil
}

// begin begins a transaction. It skips idle connections that broke, in a restart of the server, because nothing was
// done on them yet.
func (db *DB) begin(ctx context.Context, statement string) (*pgxpool.Conn, error) {
	for tries := db.maxConns; ; tries-- {
		conn, err := db.pool.Acquire(ctx)
		if err != nil {
			return nil, err
		}
		if _, err = conn.Exec(ctx, statement); err == nil {
			return conn, nil
		}
		broken := conn.Conn().IsClosed()
		conn.Release()
		if !broken || ctx.Err() != nil || tries <= 0 {
			return nil, err
		}
	}
}

// commit sends the queued statements and the commit in one batch. If a statement fails, the server skips the rest.
func commit(ctx context.Context, conn *pgxpool.Conn, queued []store.Statement) error {
	var batch pgx.Batch
	for _, s := range queued {
		batch.Queue(s.Query, s.Args...)
	}
	batch.Queue("COMMIT")
	results := conn.SendBatch(ctx, &batch)
	for range batch.Len() {
		if _, err := results.Exec(); err != nil {
			return errors.Join(err, results.Close())
		}
	}
	return errors.Join(results.Close(), replicated(conn.Conn().PgConn()))
}

// rollbackTimeout is how long a server may take to roll back a transaction; otherwise the connection is closed.
const rollbackTimeout = time.Second

func rollback(ctx context.Context, conn *pgxpool.Conn) error {
	if conn.Conn().IsClosed() {
		return nil
	}
	// Also after the caller's context has ended, because the connection is still usable for others.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
	defer cancel()
	if _, err := conn.Exec(ctx, "ROLLBACK"); err != nil {
		return conn.Conn().Close(ctx)
	}
	return nil
}

// readTx is a transaction that reads: all of its reads see the same moment.
type readTx struct{ queries }

// Read runs do in a transaction that reads.
func (b backend) Read(ctx context.Context, operation string, do func(store.Querier) error) error {
	return b.db.read(ctx, operation, func(r *readTx) error { return do(r) })
}

func (db *DB) read(ctx context.Context, operation string, do func(r *readTx) error) (err error) {
	defer func() { err = failure(operation, err) }()
	conn, err := db.begin(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
	if err != nil {
		return err
	}
	defer conn.Release()
	return errors.Join(do(&readTx{queries{conn}}), rollback(ctx, conn))
}

// yieldEvery is the number of rows after which a long read yields the processor: a reader's request takes some ten
// microseconds, and must not wait for a time slice of ten milliseconds behind thousands of rows.
const yieldEvery = 64

// scan passes each row of a query to take in the binary format, NULL as nil. It is for results of many rows, where
// general conversions would double the cost. The row is valid during the call only.
func scan(ctx context.Context, r *readTx, query string, args []any, take func(row [][]byte) error) error {
	rows, err := r.session.Query(ctx, query, append([]any{pgx.QueryResultFormats{pgx.BinaryFormatCode}}, args...)...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for n := 1; rows.Next(); n++ {
		if err := take(rows.RawValues()); err != nil {
			return err
		}
		if n%yieldEvery == 0 {
			runtime.Gosched()
		}
	}
	return rows.Err()
}

// failure adds the operation to an error and converts the server's codes to kinds.
func failure(operation string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("%s: %w", operation, mapdata.ErrNotFound)
	}
	if text, kind := kindOf(err); kind != nil {
		return fmt.Errorf("%s: %s%w: %w", operation, text, kind, err)
	}
	return fmt.Errorf("%s: %w", operation, err)
}

// kindOf returns the kind of a driver's error for callers; nil: they need not distinguish it.
func kindOf(err error) (text string, kind error) {
	var server *pgconn.PgError
	if errors.As(err, &server) {
		return kindOfCode(server.Code)
	}
	var (
		connect *pgconn.ConnectError
		network net.Error
	)
	switch {
	case errors.As(err, &connect): // also after a timeout of connecting; a caller whose context has ended gets no such error
		return "", mapdata.ErrUnavailable
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "", nil // the caller's own cancellation
	case errors.As(err, &network),
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed), pgconn.SafeToRetry(err):
		return "", mapdata.ErrUnavailable
	}
	return "", nil
}

func kindOfCode(code string) (text string, kind error) {
	switch code {
	case "23505": // unique_violation
		return "", mapdata.ErrConflict
	case "23503": // foreign_key_violation
		return "what it belongs to: ", mapdata.ErrNotFound
	case "22021": // character_not_in_repertoire: no column can contain such a text, so that nothing is stored under it
		return "", mapdata.ErrNotFound
	case "40001", "40P01", // serialization_failure, deadlock_detected
		"55P03", "57014", // lock_not_available, query_canceled by a timeout of the server's
		"25P03": // idle_in_transaction_session_timeout
		return "", mapdata.ErrUnavailable
	}
	if isStandby(code) {
		return "", mapdata.ErrUnavailable
	}
	switch code[:min(len(code), 2)] {
	case "08", "53", "57", "58", "XX": // connections, lack of room, shutting down and starting up, the system, damage
		return "", mapdata.ErrUnavailable
	}
	return "", nil
}

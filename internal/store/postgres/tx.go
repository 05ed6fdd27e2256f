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

	"wayside/internal/mapdata"
	"wayside/internal/store"
)

// writeTx is one transaction that changes something, of the isolation level READ COMMITTED: each statement sees what was
// committed before it began. So a transaction that decides by what it reads locks it first (FOR NO KEY UPDATE), and reads
// what depends on it by another statement.
type writeTx struct {
	queries
	conn *pgxpool.Conn
}

// Exec runs a statement and says how many rows it affected.
func (w *writeTx) Exec(ctx context.Context, query string, args ...any) (affected int64, err error) {
	tag, err := w.conn.Exec(ctx, query, args...)
	return tag.RowsAffected(), err
}

// queries reads in the way of the scripts from the pool, a transaction that reads, or one that writes.
type queries struct{ session }

// session is a *pgxpool.Pool or a *pgxpool.Conn.
type session interface {
	Query(ctx context.Context, query string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}

// Query runs a statement that gives rows.
func (q queries) Query(ctx context.Context, query string, args ...any) (store.Rows, error) {
	return q.session.Query(ctx, query, args...) //nolint:sqlclosecheck // the caller closes the rows
}

// QueryRow runs a statement that gives one row.
func (q queries) QueryRow(ctx context.Context, query string, args ...any) store.Row {
	return q.session.QueryRow(ctx, query, args...)
}

// backend is the database as the scripts use it.
type backend struct {
	queries // of the pool
	db      *DB
}

// Failure is failure.
func (backend) Failure(operation string, err error) error { return failure(operation, err) }

// Write runs do in a transaction, then what do left for the end, and commits. When the connection breaks during the
// commit, it is unknown whether it was made: the error is mapdata.ErrUnavailable.
func (b backend) Write(ctx context.Context, operation string, do func(*store.Tx) error) (err error) {
	defer func() { err = failure(operation, err) }()
	conn, err := b.db.begin(ctx, "BEGIN")
	if err != nil {
		return err
	}
	defer conn.Release() // one that broke, or is still within a transaction, is not used again
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

// begin begins a transaction. Idle connections that broke, in a restart of the server, are passed over:
// nothing was done by them yet.
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

// commit sends what is queued and the commit in one go. If a statement fails, the server passes over the rest.
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

// rollbackTimeout is how long a server may take to drop a transaction; its connection is dropped otherwise.
const rollbackTimeout = time.Second

func rollback(ctx context.Context, conn *pgxpool.Conn) error {
	if conn.Conn().IsClosed() {
		return nil
	}
	// Also where the caller's time is over: the connection is good, and others want it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
	defer cancel()
	if _, err := conn.Exec(ctx, "ROLLBACK"); err != nil {
		return conn.Conn().Close(ctx)
	}
	return nil
}

// readTx is one transaction that reads: all that it reads is of one moment.
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

// yieldEvery is after how many rows a long read lets others run: a reader's request takes some ten microseconds, and must
// not wait for a time slice of ten milliseconds behind rows by the thousand.
const yieldEvery = 64

// scan hands each row of a query to take in the binary format, NULL as nil: for results of many rows, where general
// conversions would cost as much again. What take gets is valid during the call only.
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

// failure adds the operation to an error and turns the server's codes into kinds.
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

// kindOf is what an error of the driver means to callers; nil: nothing that they tell apart.
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
	case errors.As(err, &connect): // also where it took too long: a caller who does not wait gets no such error
		return "", mapdata.ErrUnavailable
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "", nil // the caller's own doing
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
	case "22021": // character_not_in_repertoire: nothing is stored under a text that no column can hold
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

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
)

// row is one row of a result, of pgx.Row or pgx.Rows.
type row interface{ Scan(dest ...any) error }

// writing is one transaction that changes something, of the isolation level READ COMMITTED: each statement sees what was
// committed before it began. So whoever decides by what it reads locks it first (FOR NO KEY UPDATE), and reads what
// hangs on it by another statement.
type writing struct {
	*pgxpool.Conn
	now   int64 // milliseconds
	queue pgx.Batch
}

// last queues a statement for the end of the transaction, where it is sent together with the commit. Whatever moves or
// reads the counter belongs here: see the package's comment.
func (w *writing) last(query string, args ...any) { w.queue.Queue(query, args...) }

// write runs do in a transaction, then what do left for the end, and commits. An error of do is returned as it is wrapped
// by failure, and nothing is changed then. When the connection breaks during the commit, nobody knows whether it was made:
// the error is mapdata.ErrUnavailable.
func (db *DB) write(ctx context.Context, what string, do func(w *writing) error) (err error) {
	defer func() { err = failure(what, err) }()
	conn, err := db.begin(ctx, "BEGIN")
	if err != nil {
		return err
	}
	defer conn.Release() // one that broke, or is still within a transaction, is not used again
	forget(conn.Conn().PgConn())
	w := &writing{Conn: conn, now: db.now().UnixMilli()}
	if err := do(w); err != nil {
		return errors.Join(err, rollback(ctx, conn))
	}
	if err := w.commit(ctx); err != nil {
		return errors.Join(err, rollback(ctx, conn))
	}
	return nil
}

// begin begins a transaction. Connections that broke while nobody used them, in a restart of the server, are passed over:
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
func (w *writing) commit(ctx context.Context) error {
	w.queue.Queue("COMMIT")
	results := w.SendBatch(ctx, &w.queue)
	for range w.queue.Len() {
		if _, err := results.Exec(); err != nil {
			return errors.Join(err, results.Close())
		}
	}
	return errors.Join(results.Close(), replicated(w.Conn.Conn().PgConn()))
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

// reading is one transaction that reads: all that it reads is of one moment.
type reading struct{ *pgxpool.Conn }

func (db *DB) read(ctx context.Context, what string, do func(r *reading) error) (err error) {
	defer func() { err = failure(what, err) }()
	conn, err := db.begin(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
	if err != nil {
		return err
	}
	defer conn.Release()
	return errors.Join(do(&reading{conn}), rollback(ctx, conn))
}

// one runs a statement that must meet a row, or fails with mapdata.ErrNotFound.
func (w *writing) one(ctx context.Context, query string, args ...any) error {
	tag, err := w.Exec(ctx, query, args...)
	if err == nil && tag.RowsAffected() == 0 {
		return mapdata.ErrNotFound
	}
	return err
}

// querier is whatever reads: the pool, a transaction that reads, one that writes.
type querier interface {
	Query(ctx context.Context, query string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}

// list reads a short result.
func list[T any](ctx context.Context, q querier, query string, scan func(row) (T, error), args ...any) ([]T, error) {
	rows, err := q.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

// yieldEvery is after how many rows a long read lets others run: a reader's request takes some ten microseconds, and must
// not wait for a time slice of ten milliseconds behind rows by the thousand.
const yieldEvery = 64

// scan hands each row of a query to take in the binary format, NULL as nil: for results of many rows, where general
// conversions would cost as much again. What take gets is valid during the call only.
func scan(ctx context.Context, q querier, query string, args []any, take func(row [][]byte) error) error {
	rows, err := q.Query(ctx, query, append([]any{pgx.QueryResultFormats{pgx.BinaryFormatCode}}, args...)...)
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

// asItIs is an error of the caller's own, which it gets back unchanged.
type asItIs struct{ error }

// failure adds what was done to an error and turns the server's codes into kinds.
func failure(what string, err error) error {
	if err == nil {
		return nil
	}
	var own asItIs
	if errors.As(err, &own) {
		return own.error
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("%s: %w", what, mapdata.ErrNotFound)
	}
	if text, kind := kindOf(err); kind != nil {
		return fmt.Errorf("%s: %s%w: %w", what, text, kind, err)
	}
	return fmt.Errorf("%s: %w", what, err)
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

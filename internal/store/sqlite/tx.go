package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	modernc "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"wayside/internal/ground/mapdata"
	"wayside/internal/store"

	"wayside/internal/ground/sched"
)

// writeTx is a transaction of the one writer. Each statement must carry ctx: once that is done, the transaction is
// rolled back and nothing more may be written.
type writeTx struct {
	queries
	conn *sql.Conn
}

// Exec runs a statement and returns the number of rows that it affected.
func (w *writeTx) Exec(ctx context.Context, query string, args ...any) (affected int64, err error) {
	result, err := w.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// readTx is a transaction of a reader: all of its reads see the same moment.
type readTx struct {
	queries
	conn *sql.Conn
}

// queries implements store.Querier on a transaction or a pool of connections.
type queries struct{ session }

// session is an *sql.DB or an *sql.Tx.
type session interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// Query runs a statement that returns rows.
func (q queries) Query(ctx context.Context, query string, args ...any) (store.Rows, error) {
	result, err := q.QueryContext(ctx, query, args...) //nolint:rowserrcheck // the caller reads Err
	if err != nil {
		return nil, err
	}
	return rows{result}, nil
}

// QueryRow runs a statement that returns one row.
func (q queries) QueryRow(ctx context.Context, query string, args ...any) store.Row {
	return q.QueryRowContext(ctx, query, args...)
}

type rows struct{ *sql.Rows }

// Close ends the reading; Err returns why it ended.
func (r rows) Close() { r.Rows.Close() } //nolint:errcheck,gosec // Err returns the error

// backend implements store.Backend.
type backend struct {
	queries // of the readers
	db      *DB
}

// Read runs do in a transaction of a reader.
func (b backend) Read(ctx context.Context, operation string, do func(store.Querier) error) error {
	return b.db.read(ctx, operation, func(r *readTx) error { return do(r) })
}

// Failure implements store.Backend by failure.
func (backend) Failure(operation string, err error) error { return failure(operation, err) }

// Write runs do in a transaction that holds the write lock.
func (b backend) Write(ctx context.Context, operation string, do func(*store.Tx) error) (err error) {
	defer func() { err = failure(operation, ended(ctx, err)) }()
	conn, err := b.db.writer.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // returns it to the pool
	own, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer own.Rollback()
	w := &writeTx{queries{own}, conn}
	tx := b.db.NewTx(w)
	if err := do(tx); err != nil {
		return err
	}
	for _, last := range tx.Queued() {
		if _, err := w.ExecContext(ctx, last.Query, last.Args...); err != nil {
			return err
		}
	}
	if err := own.Commit(); err != nil {
		return err
	}
	b.db.written.Store(true)
	if tx.Erases() {
		b.db.erased.Store(true)
	}
	return nil
}

func (db *DB) read(ctx context.Context, operation string, do func(r *readTx) error) (err error) {
	defer func() { err = failure(operation, ended(ctx, err)) }()
	conn, err := db.reader.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // returns it to the pool
	tx, err := conn.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	return do(&readTx{queries{tx}, conn})
}

// ended adds the context's error to an error of a transaction that ended with its context, because the driver's error
// states only that it was rolled back or interrupted. Callers must see that the client went away, and the database did
// not fail.
func ended(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || errors.Is(err, ctx.Err()) {
		return err
	}
	return fmt.Errorf("%w: %w", ctx.Err(), err)
}

// failure adds the operation to an error and converts the driver's codes to kinds.
func failure(operation string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%s: %w", operation, mapdata.ErrNotFound)
	}
	var e *modernc.Error
	if !errors.As(err, &e) {
		return fmt.Errorf("%s: %w", operation, err)
	}
	switch e.Code() {
	case codes.SQLITE_CONSTRAINT_UNIQUE, codes.SQLITE_CONSTRAINT_PRIMARYKEY:
		return fmt.Errorf("%s: %w: %w", operation, mapdata.ErrConflict, err)
	case codes.SQLITE_CONSTRAINT_FOREIGNKEY:
		return fmt.Errorf("%s: what it belongs to: %w: %w", operation, mapdata.ErrNotFound, err)
	case codes.SQLITE_INTERRUPT: // only the end of a context interrupts
		return fmt.Errorf("%s: %w: %w", operation, context.Canceled, err)
	case codes.SQLITE_IOERR_WRITE, codes.SQLITE_IOERR_FSYNC, codes.SQLITE_IOERR_DIR_FSYNC, codes.SQLITE_IOERR_TRUNCATE,
		codes.SQLITE_IOERR_SHMSIZE, codes.SQLITE_IOERR_SHMMAP, codes.SQLITE_IOERR_SHMOPEN:
		return fmt.Errorf("%s: %w: %w", operation, mapdata.ErrUnavailable, err)
	}
	const primary = 0xff
	switch e.Code() & primary {
	case codes.SQLITE_FULL, codes.SQLITE_BUSY:
		return fmt.Errorf("%s: %w: %w", operation, mapdata.ErrUnavailable, err)
	}
	return fmt.Errorf("%s: %w", operation, err)
}

// checkEvery is the number of rows between two checks of the context.
const checkEvery = 1024

// scan passes each row of a query to take, in the driver's types. It is for results of many rows, where database/sql's
// conversions would double the cost. A row's slice is valid during the call only, its values remain valid.
func scan(ctx context.Context, conn *sql.Conn, query string, args []driver.Value, take func(row []driver.Value) error) error {
	return conn.Raw(func(raw any) error {
		queryer, ok := raw.(driver.QueryerContext)
		if !ok {
			return fmt.Errorf("driver connection %T cannot query", raw)
		}
		rows, err := queryer.QueryContext(ctx, query, named(args))
		if err != nil {
			return err
		}
		err = each(ctx, rows, take)
		return errors.Join(err, rows.Close())
	})
}

// yieldEvery is the number of rows after which a long read yields the processor: a reader's request takes some ten
// microseconds, and must not wait for a time slice of ten milliseconds behind thousands of rows.
const yieldEvery = 64

func each(ctx context.Context, rows driver.Rows, take func(row []driver.Value) error) error {
	row := make([]driver.Value, len(rows.Columns()))
	for n := 1; ; n++ {
		if err := rows.Next(row); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if err := take(row); err != nil {
			return err
		}
		if n%yieldEvery == 0 {
			sched.Yield()
		}
		if n%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// named converts parameters to the driver's form.
func named(args []driver.Value) []driver.NamedValue {
	all := make([]driver.NamedValue, len(args))
	for i, arg := range args {
		all[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
	}
	return all
}

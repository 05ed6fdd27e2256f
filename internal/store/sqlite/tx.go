package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"runtime"

	modernc "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"wayside/internal/mapdata"
)

// writing is one transaction of the one writer. Whatever goes through it must carry ctx: once that is done, the
// transaction is rolled back and nothing more may be written.
type writing struct {
	*sql.Tx
	conn *sql.Conn
	now  int64 // milliseconds
}

// write runs do in a transaction that holds the write lock. An error of do is returned as it is wrapped by failure, and
// nothing is changed then.
func (db *DB) write(ctx context.Context, what string, do func(w *writing) error) (err error) {
	defer func() { err = failure(what, err) }()
	conn, err := db.writer.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // gives it back to the pool
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := do(&writing{Tx: tx, conn: conn, now: db.now().UnixMilli()}); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	db.written.Store(true)
	return nil
}

// reading is one transaction of a reader: all that it reads is of one moment.
type reading struct {
	*sql.Tx
	conn *sql.Conn
}

func (db *DB) read(ctx context.Context, what string, do func(r *reading) error) (err error) {
	defer func() { err = failure(what, err) }()
	conn, err := db.reader.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // gives it back to the pool
	tx, err := conn.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	return do(&reading{Tx: tx, conn: conn})
}

// one runs a statement that must meet a row, or fails with mapdata.ErrNotFound.
func (w *writing) one(ctx context.Context, query string, args ...any) error {
	result, err := w.ExecContext(ctx, query, args...)
	if err != nil {
		return err
	}
	met, err := result.RowsAffected()
	if err == nil && met == 0 {
		return mapdata.ErrNotFound
	}
	return err
}

// asItIs is an error of the caller's own, which it gets back unchanged.
type asItIs struct{ error }

// failure adds what was done to an error and turns the driver's codes into kinds.
func failure(what string, err error) error {
	if err == nil {
		return nil
	}
	var own asItIs
	if errors.As(err, &own) {
		return own.error
	}
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%s: %w", what, mapdata.ErrNotFound)
	}
	var e *modernc.Error
	if !errors.As(err, &e) {
		return fmt.Errorf("%s: %w", what, err)
	}
	switch e.Code() {
	case codes.SQLITE_CONSTRAINT_UNIQUE, codes.SQLITE_CONSTRAINT_PRIMARYKEY:
		return fmt.Errorf("%s: %w: %w", what, mapdata.ErrConflict, err)
	case codes.SQLITE_CONSTRAINT_FOREIGNKEY:
		return fmt.Errorf("%s: what it belongs to: %w: %w", what, mapdata.ErrNotFound, err)
	case codes.SQLITE_IOERR_WRITE, codes.SQLITE_IOERR_FSYNC, codes.SQLITE_IOERR_DIR_FSYNC, codes.SQLITE_IOERR_TRUNCATE,
		codes.SQLITE_IOERR_SHMSIZE, codes.SQLITE_IOERR_SHMMAP, codes.SQLITE_IOERR_SHMOPEN:
		return fmt.Errorf("%s: %w: %w", what, mapdata.ErrUnavailable, err)
	}
	const primary = 0xff
	switch e.Code() & primary {
	case codes.SQLITE_FULL, codes.SQLITE_BUSY:
		return fmt.Errorf("%s: %w: %w", what, mapdata.ErrUnavailable, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// checkEvery is how many rows are read between two looks at the context.
const checkEvery = 1024

// scan hands each row of a query to take, as the driver gives it: for results of many rows, where database/sql's
// conversions would cost as much again. A row's slice is valid during the call only, what it holds remains.
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

// yieldEvery is after how many rows a long read lets others run: a reader's request takes some ten microseconds, and must
// not wait for a time slice of ten milliseconds behind rows by the thousand.
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
			runtime.Gosched()
		}
		if n%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// named is how the driver itself takes parameters.
func named(args []driver.Value) []driver.NamedValue {
	all := make([]driver.NamedValue, len(args))
	for i, arg := range args {
		all[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
	}
	return all
}

package postgres

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"wayside/internal/ground/mapdata"
	"wayside/internal/store"
)

// Source is a consistent snapshot of a database of the same schema version. Its values have only the types int64,
// float64, string, []byte, nil.
type Source interface {
	// Tables lists all tables.
	Tables(ctx context.Context) ([]string, error)
	// Count counts a table's rows.
	Count(ctx context.Context, table string) (int64, error)
	// Rows passes each row of a table to take, with the columns in the given order. The row is valid during the call
	// only, its values remain valid.
	Rows(ctx context.Context, table string, columns []string, take func(row []driver.Value) error) error
}

// table is a table to copy.
type table struct {
	name     string
	columns  []string
	types    []string // as PostgreSQL names them
	identity string   // the identity column; empty: none
	after    []string // tables that it references
}

// Copied is the result for one table.
type Copied struct {
	Table string
	Rows  int64 // the number of rows, each of which was compared
}

const (
	// An import takes long, and no node waits for its transaction.
	withoutTimeouts = `SELECT set_config('idle_in_transaction_session_timeout', '0', true), set_config('statement_timeout', '0', true)`
	copyState       = `UPDATE state SET revision = $1, floor = $2 WHERE id = 1`
	isPristine      = `SELECT revision = 0 AND floor = 0 FROM state WHERE id = 1`

	// Generated columns are not copied.
	selectColumns = `SELECT a.attname, t.typname, a.attidentity <> '' FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
		WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' ORDER BY a.attnum`
	selectReferred = `SELECT confrelid::regclass::text FROM pg_constraint WHERE contype = 'f' AND conrelid = to_regclass($1)`
)

// Import copies all tables from the source into an empty database, in one transaction. It creates the schema first if
// necessary. At the end it reads every row again and compares it with the source's. It fails with mapdata.ErrConflict
// where the database contains rows already. The database keeps its own epoch. Import calls watch with its progress;
// each row is counted when it is written and when it is read again.
func Import(ctx context.Context, databaseURL string, from Source, watch func(done, total int64)) (copied []Copied, err error) {
	defer func() { err = failure("copy", err) }()
	if err := prepare(ctx, Config{URL: databaseURL}); err != nil {
		return nil, err
	}
	config, err := connConfig(databaseURL)
	if err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	if err := durable(ctx, conn); err != nil {
		return nil, err
	}
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) (err error) {
		copied, err = (&importing{tx: tx, from: from, watch: watch}).all(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	_, err = conn.Exec(ctx, "ANALYZE") // otherwise the first queries would be planned for empty tables
	return copied, err
}

// importing is one Import in its transaction.
type importing struct {
	tx          pgx.Tx
	from        Source
	watch       func(done, total int64)
	done, total int64
}

func (im *importing) all(ctx context.Context) ([]Copied, error) {
	if _, err := im.tx.Exec(ctx, withoutTimeouts); err != nil {
		return nil, err
	}
	tables, err := im.tables(ctx)
	if err != nil {
		return nil, err
	}
	if err := im.claim(ctx, tables); err != nil {
		return nil, err
	}
	all := make([]Copied, 0, len(tables))
	for _, t := range tables {
		rows, err := im.from.Count(ctx, t.name)
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", t.name, err)
		}
		im.total += 2 * rows
		all = append(all, Copied{t.name, rows})
	}
	for i, t := range tables {
		if err := im.table(ctx, t, all[i].Rows); err != nil {
			return nil, fmt.Errorf("table %s: %w", t.name, withoutRow(err))
		}
	}
	im.watch(im.done, im.total)
	return all, im.state(ctx)
}

// tables returns the source's tables with their layout in the database, each after those that it references, without
// those of the schema itself.
func (im *importing) tables(ctx context.Context) ([]table, error) {
	names, err := im.from.Tables(ctx)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "state" || name == "schema_migrations" })
	var ordered []table
	placed := make(map[string]bool)
	for len(names) > 0 {
		before := len(names)
		for _, name := range slices.Clone(names) {
			t, err := im.layout(ctx, name)
			if err != nil {
				return nil, fmt.Errorf("table %s: %w", name, err)
			}
			if slices.ContainsFunc(t.after, func(other string) bool { return !placed[other] }) {
				continue
			}
			ordered, placed[name] = append(ordered, t), true
			names = slices.DeleteFunc(names, func(n string) bool { return n == name })
		}
		if len(names) == before {
			return nil, fmt.Errorf("tables %v refer to each other", names)
		}
	}
	return ordered, nil
}

// layout reads the layout of a table.
func (im *importing) layout(ctx context.Context, name string) (table, error) {
	t := table{name: name}
	rows, err := im.tx.Query(ctx, selectColumns, name)
	if err != nil {
		return t, err
	}
	var (
		column, kind string
		identity     bool
	)
	_, err = pgx.ForEachRow(rows, []any{&column, &kind, &identity}, func() error {
		t.columns, t.types = append(t.columns, column), append(t.types, kind)
		if identity {
			t.identity = column
		}
		return nil
	})
	if err == nil && len(t.columns) == 0 {
		err = errors.New("the database to copy into has none such")
	}
	if err != nil {
		return t, err
	}
	t.after, err = store.List(ctx, queries{im.tx}, selectReferred, func(r store.Row) (other string, err error) {
		err = r.Scan(&other)
		return other, err
	}, name)
	return t, err
}

// claim locks the tables, and refuses a database that contains rows.
func (im *importing) claim(ctx context.Context, tables []table) error {
	for _, t := range tables {
		var some bool
		if _, err := im.tx.Exec(ctx, "LOCK TABLE "+t.name+" IN EXCLUSIVE MODE"); err != nil {
			return err
		}
		if err := im.tx.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM "+t.name+")").Scan(&some); err != nil {
			return err
		}
		if some {
			return mapdata.Describe(mapdata.ErrConflict, "The database to copy into is not empty: its table "+t.name+" holds rows. Make a new one.")
		}
	}
	var pristine bool
	if err := im.tx.QueryRow(ctx, isPristine).Scan(&pristine); err != nil {
		return err
	}
	if !pristine {
		return mapdata.Describe(mapdata.ErrConflict, "The database to copy into was used before. Make a new one.")
	}
	return nil
}

// progressEvery is the number of rows after which progress is reported.
const progressEvery = 1000

func (im *importing) passed() {
	if im.done++; im.done%progressEvery == 0 {
		im.watch(im.done, im.total)
	}
}

// table copies one table of the given number of rows, reads it again, and compares.
func (im *importing) table(ctx context.Context, t table, want int64) error {
	next, stop := iter.Pull2(im.rows(ctx, t))
	defer stop()
	given := &rowSource{next: next, types: t.types, passed: im.passed}
	written, err := im.tx.CopyFrom(ctx, pgx.Identifier{t.name}, t.columns, given)
	if err != nil {
		return err
	}
	stored, err := im.stored(ctx, t)
	switch {
	case err != nil:
		return err
	case written != want || stored.rows != want:
		return fmt.Errorf("%d rows were there, %d were written and %d arrived", want, written, stored.rows)
	case stored != given.digest:
		return errors.New("what arrived is not what was sent")
	case t.identity == "" || want == 0:
		return nil
	}
	// The table's own numbers continue after the copied ones.
	_, err = im.tx.Exec(ctx, "SELECT setval(pg_get_serial_sequence('"+t.name+"', '"+t.identity+"'), max("+t.identity+")) FROM "+t.name)
	return err
}

// rows yields the source's rows one by one.
func (im *importing) rows(ctx context.Context, t table) iter.Seq2[[]driver.Value, error] {
	return func(yield func([]driver.Value, error) bool) {
		errStopped := errors.New("the reader has stopped")
		err := im.from.Rows(ctx, t.name, t.columns, func(row []driver.Value) error {
			if !yield(row, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	}
}

// stored reads a copied table again and returns its digest.
func (im *importing) stored(ctx context.Context, t table) (d digest, err error) {
	rows, err := im.tx.Query(ctx, "SELECT "+strings.Join(t.columns, ", ")+" FROM "+t.name)
	if err != nil {
		return d, err
	}
	defer rows.Close()
	for rows.Next() {
		row, err := rows.Values()
		if err != nil {
			return d, err
		}
		if err := d.add(row); err != nil {
			return d, err
		}
		im.passed()
	}
	return d, rows.Err()
}

// state copies the revision of the log of changes. The database keeps its own epoch.
func (im *importing) state(ctx context.Context) error {
	var revision, floor driver.Value
	err := im.from.Rows(ctx, "state", []string{"revision", "floor"}, func(row []driver.Value) error {
		revision, floor = row[0], row[1]
		return nil
	})
	if err != nil {
		return err
	}
	_, err = im.tx.Exec(ctx, copyState, revision, floor)
	return err
}

// rowSource implements pgx.CopyFromSource.
type rowSource struct {
	next   func() ([]driver.Value, error, bool)
	types  []string
	passed func()
	row    []any
	err    error
	digest digest
}

// Next advances to the next row; false: there is none, or it cannot be read.
func (s *rowSource) Next() bool {
	row, err, ok := s.next()
	if !ok || err != nil {
		s.err = err
		return false
	}
	s.row = s.row[:0]
	for i, value := range row {
		v, err := columnOf(s.types[i], value)
		if err != nil {
			s.err = fmt.Errorf("row %d: %w", s.digest.rows+1, err)
			return false
		}
		s.row = append(s.row, v)
	}
	s.err = s.digest.add(s.row)
	s.passed()
	return s.err == nil
}

// Values returns the row.
func (s *rowSource) Values() ([]any, error) { return s.row, nil }

// Err returns why there is no next row; nil: all were read.
func (s *rowSource) Err() error { return s.err }

// columnOf converts a source's value to one of a PostgreSQL column: there an id is 16 bytes, a boolean 0 or 1, a list
// of strings a JSON array.
func columnOf(kind string, value driver.Value) (any, error) {
	if value == nil {
		return nil, nil
	}
	switch kind {
	case "uuid":
		if v, ok := value.([]byte); ok && len(v) == 16 {
			return [16]byte(v), nil
		}
	case "bool":
		if v, ok := value.(int64); ok && (v == 0 || v == 1) {
			return v == 1, nil
		}
	case "_text":
		if v, ok := value.(string); ok {
			list := []string{}
			err := json.Unmarshal([]byte(v), &list)
			return list, err
		}
	default:
		return value, nil
	}
	return nil, fmt.Errorf("a column holds what is no %s", kind)
}

// withoutRow removes the parts of a server's error that quote the row, because they may be personal data.
func withoutRow(err error) error {
	var server *pgconn.PgError
	if !errors.As(err, &server) {
		return err
	}
	bare := &pgconn.PgError{Severity: server.Severity, Code: server.Code, Message: server.Message}
	if at, _, ok := strings.Cut(server.Where, ":"); ok || server.Where != "" {
		return fmt.Errorf("%s: %w", at, bare)
	}
	return bare
}

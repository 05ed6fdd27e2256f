package store

import (
	"context"
	"time"

	"wayside/internal/ground/mapdata"
)

// Row is one row of a result.
type Row interface{ Scan(dest ...any) error }

// Rows is a result that is read row by row. After Next has returned false, Err returns the error that ended it, if any.
type Rows interface {
	Row
	Next() bool
	Err() error
	Close()
}

// Querier runs statements that read. Where a row is missing, Scan fails with an error that is sql.ErrNoRows.
type Querier interface {
	Query(ctx context.Context, query string, args ...any) (Rows, error)
	QueryRow(ctx context.Context, query string, args ...any) Row
}

// Conn is a driver's transaction that writes.
type Conn interface {
	Querier
	// Exec runs a statement and returns the number of rows that it affected.
	Exec(ctx context.Context, query string, args ...any) (affected int64, err error)
	// Upsert writes complete entities of a feed, in the order of their external ids.
	Upsert(ctx context.Context, feed mapdata.FeedID, entities []*mapdata.Entity) error
}

// Backend is the part of a driver that the scripts use.
type Backend interface {
	Querier // each statement by itself, outside of transactions

	// Write runs do in a transaction, then the statements that do queued for its end, and commits. Nothing is changed
	// when it fails.
	Write(ctx context.Context, operation string, do func(tx *Tx) error) error
	// Read runs do in a transaction in which all reads see the same moment.
	Read(ctx context.Context, operation string, do func(q Querier) error) error
	// Failure adds the operation to an error of the driver and converts the driver's codes to kinds of mapdata; nil
	// stays nil.
	Failure(operation string, err error) error
}

// Dialect holds the differences between the databases in statements that are otherwise the same.
type Dialect struct {
	// Concurrent means that other transactions write at the same time, so that rows are locked before a decision is
	// based on them. Otherwise the driver holds the one write lock.
	Concurrent bool

	Active            string // condition: a feed is active, in the form that the index of due feeds needs
	State             string // selects epoch, revision and floor
	Notify            string // wakes the followers of other processes; empty: not needed
	LockRegistrations string // prevents other transactions from registering feeds until this one ends; not used unless Concurrent
	LockScope         string // locks a scope ($1) for a key ($2) likewise
	SubjectID         string // expression: e.subject as a UUID, or NULL
	FeedSubject       string // expression: the id of feeds in the form of e.subject
	AppName           string // expression: the name in v.fields, of a version of an app
	OldTallies        string // selects TallyColumns of the stored entities of feeds where changed_at is less than $1
	LiveValues        string // selects place (from 0) and value of those keys of the list $1 that are valid after $2

	OneOf    func(column, list string) string // condition: the column equals an element of the list parameter
	List     func([]string) any               // parameter that is a list of strings; nil: NULL
	ScanList func(to *[]string) any           // destination of a column that is a list of strings
}

// locking adds a locking clause to a SELECT if the dialect is concurrent.
func (d *Dialect) locking(query, clause string) string {
	if !d.Concurrent {
		return query
	}
	return query + " FOR " + clause
}

// bounded is a statement that changes a limited number of rows, so that it holds its locks for a short time only. It
// skips rows that another transaction has locked.
type bounded struct {
	change string // up to the key column
	keys   string // selects the keys
}

func (d *Dialect) bounded(b bounded) string {
	return b.change + " IN (" + d.locking(b.keys, "UPDATE SKIP LOCKED") + ")"
}

// Statement is one statement with its arguments.
type Statement struct {
	Query string
	Args  []any
}

// Tx is one transaction that writes.
type Tx struct {
	Conn
	Now int64 // milliseconds

	dialect *Dialect
	queue   []Statement
	erases  bool
}

// NewTx returns a transaction over a driver's. The driver runs the queued statements, in order, before it commits.
func (db *Scripts) NewTx(conn Conn) *Tx {
	return &Tx{Conn: conn, Now: db.now().UnixMilli(), dialect: &db.dialect}
}

// AtCommit queues a statement for the end of the transaction. Statements that lock the counter of revisions must be
// queued, because every other writer waits for that row.
func (tx *Tx) AtCommit(query string, args ...any) {
	tx.queue = append(tx.queue, Statement{query, args})
}

// erase marks the transaction, so that the data that it deletes or replaces are erased from the database's files
// (D11.11).
func (tx *Tx) erase() { tx.erases = true }

// Erases reports whether traces of what the transaction deleted must be removed from the database's files once it is committed.
func (tx *Tx) Erases() bool { return tx.erases }

// Queued lists the statements to run at the end.
func (tx *Tx) Queued() []Statement { return tx.queue }

// one runs a statement that must affect a row, or fails with mapdata.ErrNotFound.
func (tx *Tx) one(ctx context.Context, query string, args ...any) error {
	affected, err := tx.Exec(ctx, query, args...)
	if err == nil && affected == 0 {
		return mapdata.ErrNotFound
	}
	return err
}

// lock locks the rows that a query selects, and fails with mapdata.ErrNotFound where there is none. It does nothing where
// only one transaction writes at a time.
func (tx *Tx) lock(ctx context.Context, query, clause string, args ...any) error {
	if !tx.dialect.Concurrent {
		return nil
	}
	return tx.one(ctx, tx.dialect.locking(query, clause), args...)
}

// Scripts are the transactions of the use cases. Their methods may be called from many goroutines.
type Scripts struct {
	backend Backend
	dialect Dialect
	now     func() time.Time
	kinds   map[string]mapdata.Kind
}

// New returns the scripts of a database. now is the clock where a caller passes no time.
func New(backend Backend, dialect Dialect, now func() time.Time) *Scripts {
	db := &Scripts{backend: backend, dialect: dialect, now: now, kinds: make(map[string]mapdata.Kind, mapdata.KindCount)}
	for k, info := range mapdata.Kinds() {
		db.kinds[info.ID] = mapdata.Kind(k)
	}
	return db
}

// List reads a whole result.
func List[T any](ctx context.Context, q Querier, query string, scan func(Row) (T, error), args ...any) ([]T, error) {
	var all []T
	if err := each(ctx, q, query, scan, func(one *T) { all = append(all, *one) }, args...); err != nil {
		return nil, err
	}
	return all, nil
}

// each yields the rows of a result one by one. The yielded values are valid only during the call.
func each[T any](ctx context.Context, q Querier, query string, scan func(Row) (T, error), yield func(*T), args ...any) error {
	rows, err := q.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return err
		}
		yield(&one)
	}
	return rows.Err()
}

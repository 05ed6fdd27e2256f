package storetest

import (
	"context"
	"sync"

	"wayside/internal/store"
)

// Recording is a backend that records the statements it ran, for tests of query plans.
type Recording struct {
	store.Backend
	mu     sync.Mutex
	Writes []store.Statement // within transactions that write, under their locks
	Reads  []store.Statement // by other statements
}

func (r *Recording) add(to *[]store.Statement, query string, args []any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*to = append(*to, store.Statement{Query: query, Args: args})
}

// Query reads outside of transactions.
func (r *Recording) Query(ctx context.Context, query string, args ...any) (store.Rows, error) {
	r.add(&r.Reads, query, args)
	return r.Backend.Query(ctx, query, args...)
}

// QueryRow reads one row outside of transactions.
func (r *Recording) QueryRow(ctx context.Context, query string, args ...any) store.Row {
	r.add(&r.Reads, query, args)
	return r.Backend.QueryRow(ctx, query, args...)
}

// Write runs do in a transaction whose statements are recorded, also those that it queues for the commit.
func (r *Recording) Write(ctx context.Context, operation string, do func(*store.Tx) error) error {
	return r.Backend.Write(ctx, operation, func(tx *store.Tx) error {
		tx.Conn = recordingConn{tx.Conn, r}
		err := do(tx)
		for _, s := range tx.Queued() {
			r.add(&r.Writes, s.Query, s.Args)
		}
		return err
	})
}

type recordingConn struct {
	store.Conn
	to *Recording
}

func (c recordingConn) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	c.to.add(&c.to.Writes, query, args)
	return c.Conn.Exec(ctx, query, args...)
}

func (c recordingConn) Query(ctx context.Context, query string, args ...any) (store.Rows, error) {
	c.to.add(&c.to.Writes, query, args)
	return c.Conn.Query(ctx, query, args...)
}

func (c recordingConn) QueryRow(ctx context.Context, query string, args ...any) store.Row {
	c.to.add(&c.to.Writes, query, args)
	return c.Conn.QueryRow(ctx, query, args...)
}

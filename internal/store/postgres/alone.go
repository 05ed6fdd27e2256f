package postgres

import (
	"context"
	"hash/fnv"
)

// scope is what a lock is of, where there may be no row to lock yet.
type scope int32

// The scopes. Their numbers, and the hash below, are the same on every node.
const (
	scopeSignIns  scope = 1 + iota // of an address
	scopePairings                  // of a name
	scopeVotes                     // on a live incident
)

const lockScope = `SELECT pg_advisory_xact_lock($1::integer, $2::integer)`

// alone waits until nobody else is within the scope for this key, and keeps everybody out until the transaction ends. Two
// keys that have a hash in common wait for each other, which does no harm: a transaction takes one such lock at most, and
// before any lock on rows.
func (w *writing) alone(ctx context.Context, s scope, key string) error {
	h := fnv.New32a()
	h.Write([]byte(key))
	_, err := w.Exec(ctx, lockScope, int32(s), int32(h.Sum32()))
	return err
}

package store

import (
	"context"
	"hash/fnv"
)

// scope is the subject of a lock where there may be no row to lock yet.
type scope int32

// The scopes. Their numbers, and the hash below, are the same on every node.
const (
	scopeSignIns     scope = 1 + iota // of an address
	scopePairings                     // of a name
	scopeVotes                        // on a live incident
	scopeNotices                      // of a notice's key
	scopeInvitations                  // of an address
	scopeReports                      // of an account
)

// lockScope waits until no other transaction holds the scope for this key, and holds it until this transaction ends.
// Two keys with the same hash wait for each other, which does no harm: a transaction takes one such lock at most, and
// before any lock on rows.
func (tx *Tx) lockScope(ctx context.Context, s scope, key string) error {
	if !tx.dialect.Concurrent {
		return nil
	}
	h := fnv.New32a()
	h.Write([]byte(key))
	_, err := tx.Exec(ctx, tx.dialect.LockScope, int32(s), int32(h.Sum32()))
	return err
}

// lockRegistrations prevents other transactions from registering feeds, so that the number of feeds and the free slugs
// stay as they were read until this one ends.
func (tx *Tx) lockRegistrations(ctx context.Context) error {
	if !tx.dialect.Concurrent {
		return nil
	}
	_, err := tx.Exec(ctx, tx.dialect.LockRegistrations)
	return err
}

package push

import (
	"sync"
	"time"

	"wayside/internal/mapdata"
)

// What the bodies of pushes may hold in memory of one node (D7.1).
const (
	maxBodiesPerToken = 2         // that are read at once
	maxHeldBytes      = 128 << 20 // by all bodies together
	maxHeldPerAccount = 32 << 20  // by those to the feeds of one account: others always find some room
	bodyBytes         = 192 << 10 // of one body before any row is held: buffers of the connection, the decompression and the text
)

// busyRetryAfter is when a push that found no room may come again: one body at full speed takes less.
const busyRetryAfter = time.Second

// room counts what bodies hold. The zero value is empty.
type room struct {
	mu        sync.Mutex
	reading   map[[32]byte]int // bodies that are read, by token
	byAccount map[mapdata.AccountID]int
	held      int // bytes
}

// enter admits a body, or says why there is no room for it.
func (r *room) enter(token [32]byte, owner mapdata.AccountID) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reading[token] >= maxBodiesPerToken {
		return &mapdata.LimitError{RetryAfter: busyRetryAfter, What: "pushes with this token that are sent at the same time"}
	}
	if err := r.add(owner, bodyBytes); err != nil {
		return err
	}
	if r.reading == nil {
		r.reading = make(map[[32]byte]int)
	}
	r.reading[token]++
	return nil
}

// leave ends the reading of a body.
func (r *room) leave(token [32]byte, owner mapdata.AccountID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reading[token]--; r.reading[token] == 0 {
		delete(r.reading, token)
	}
	r.subtract(owner, bodyBytes)
}

// hold adds bytes that a body is about to hold.
func (r *room) hold(owner mapdata.AccountID, bytes int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.add(owner, bytes)
}

// release takes away what a body held.
func (r *room) release(owner mapdata.AccountID, bytes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.subtract(owner, bytes)
}

func (r *room) add(owner mapdata.AccountID, bytes int) error {
	if r.byAccount[owner]+bytes > maxHeldPerAccount {
		return &mapdata.LimitError{RetryAfter: busyRetryAfter, What: "data that is sent at the same time to the feeds of this account"}
	}
	if r.held+bytes > maxHeldBytes {
		return mapdata.Describe(mapdata.ErrUnavailable, "The service is receiving too many pushes now. Nothing was stored; send the batch again.")
	}
	if r.byAccount == nil {
		r.byAccount = make(map[mapdata.AccountID]int)
	}
	r.byAccount[owner] += bytes
	r.held += bytes
	return nil
}

func (r *room) subtract(owner mapdata.AccountID, bytes int) {
	r.held -= bytes
	if r.byAccount[owner] -= bytes; r.byAccount[owner] == 0 {
		delete(r.byAccount, owner)
	}
}

// heldBytes is what all bodies hold now.
func (r *room) heldBytes() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.held
}

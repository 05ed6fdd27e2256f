package push

import (
	"errors"
	"io"
	"sync"
	"time"

	"wayside/internal/ground/budget"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/ratelimit"
)

// Bounds of the memory of one node for the bodies of pushes (D7.1).
const (
	maxBodiesPerToken = 2         // that are read concurrently
	maxHeldBytes      = 128 << 20 // by all bodies together, without Config.Memory
	maxHeldPerAccount = 32 << 20  // by those to the feeds of one account, so that others always find some room
	bodyBytes         = 192 << 10 // of one body before any row is held: buffers of the connection, the decompression and the text
)

// busyRetryAfter is when a push that found no room may be sent again: one body at full speed takes less.
const busyRetryAfter = time.Second

// Memory returns the part of a budget that bodies may hold.
func Memory(b *budget.Budget, bytes int) *budget.Part { return b.Part(bytes, maxHeldPerAccount) }

// bodies counts the bodies that are being read, by token. The zero value is empty.
type bodies struct {
	mu      sync.Mutex
	reading map[[32]byte]int
}

// enter admits a body, or returns why it may not be read.
func (b *bodies) enter(token [32]byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.reading[token] >= maxBodiesPerToken {
		return &mapdata.LimitError{RetryAfter: busyRetryAfter, What: "pushes with this token that are sent at the same time"}
	}
	if b.reading == nil {
		b.reading = make(map[[32]byte]int)
	}
	b.reading[token]++
	return nil
}

// leave ends the reading of a body.
func (b *bodies) leave(token [32]byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.reading[token]--; b.reading[token] == 0 {
		delete(b.reading, token)
	}
}

// explainRoom returns an error with a remedy for a provider whose push found no room.
func explainRoom(err error) error {
	switch {
	case errors.Is(err, budget.ErrShare):
		return &mapdata.LimitError{RetryAfter: busyRetryAfter, What: "data that is sent at the same time to the feeds of this account"}
	case errors.Is(err, budget.ErrFull):
		return mapdata.Describe(mapdata.ErrBusy, "The service is receiving too many pushes now. Nothing was stored; send the batch again.")
	}
	return err
}

// workingBody is a body whose rows are decoded in turns: it holds a slot except during a read.
type workingBody struct {
	body io.Reader
	take func() (done func(), err error)
	done func() // nil: the slot is free
}

// Read releases the slot while it waits for the client.
func (b *workingBody) Read(p []byte) (int, error) {
	b.rest()
	n, err := b.body.Read(p)
	if n > 0 {
		var failed error
		if b.done, failed = b.take(); failed != nil {
			return 0, failed
		}
	}
	return n, err
}

// rest releases the slot.
func (b *workingBody) rest() {
	if b.done != nil {
		b.done()
		b.done = nil
	}
}

// memoryKey returns the budget's key for the owner of a feed.
func memoryKey(owner mapdata.AccountID) ratelimit.Key {
	return ratelimit.AccountKey(ratelimit.HeldBytes, owner)
}

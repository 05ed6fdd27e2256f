package stream

import (
	"sync"
	"time"
)

// byteBudget bounds the bytes that all streams of one caller send: bytesPerSecond, of which bytesAhead may be sent in one burst.
type byteBudget struct {
	mu   sync.Mutex
	paid time.Time // when the sent bytes are paid for by the rate
}

// spend counts bytes that were sent.
func (b *byteBudget) spend(n int, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.paid.Before(now) {
		b.paid = now
	}
	b.paid = b.paid.Add(time.Duration(n) * time.Second / bytesPerSecond)
}

// pausedUntil returns the time before which the caller's streams do not update.
func (b *byteBudget) pausedUntil() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.paid.Add(-bytesAhead)
}

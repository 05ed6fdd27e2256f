package stream

import (
	"sync"
	"time"
)

// byteBudget bounds what all streams of one caller send: bytesPerSecond, and bytesAhead of it at once.
type byteBudget struct {
	mu   sync.Mutex
	paid time.Time // until when what was sent uses up the rate
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

// pausedUntil is the time before which the caller's streams do not update.
func (b *byteBudget) pausedUntil() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.paid.Add(-bytesAhead)
}

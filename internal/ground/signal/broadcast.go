package signal

import "sync"

// Broadcast is a notification for any number of consumers: each asks for the next one. The zero value is ready to use.
type Broadcast struct {
	mu   sync.Mutex
	next chan struct{} // nil: no consumer has asked since the last notification
}

// Notify wakes all consumers that wait for the next notification.
func (b *Broadcast) Notify() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next != nil {
		close(b.next)
		b.next = nil
	}
}

// Next returns a channel that is closed at the next notification.
func (b *Broadcast) Next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == nil {
		b.next = make(chan struct{})
	}
	return b.next
}

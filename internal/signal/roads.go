package signal

import "sync"

// RoadsChanged says that conditions on roads changed, or the roads themselves. Unlike the other signals it has any number of consumers:
// each asks for the next change. The zero value is ready to use.
type RoadsChanged struct {
	mu   sync.Mutex
	next chan struct{} // nil: nobody has asked since the last change
}

// Notify wakes all who wait for the next change.
func (c *RoadsChanged) Notify() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next != nil {
		close(c.next)
		c.next = nil
	}
}

// Next gives a channel that is closed at the next change.
func (c *RoadsChanged) Next() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil {
		c.next = make(chan struct{})
	}
	return c.next
}

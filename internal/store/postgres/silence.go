package postgres

import (
	"net"
	"sync"
	"time"
)

// silence is how long a server may say nothing while it is waited for: longer than any of our statements takes, and than
// anybody waits for another's. One that is cut off from the network never says that it is.
const silence = 30 * time.Second

// impatient is a connection on which nobody waits longer than silence, unless a deadline of its own is set.
type impatient struct {
	net.Conn
	mu       sync.Mutex // deadlines are set by others while somebody reads
	deadline time.Time
}

// Read reads what the server says.
func (c *impatient) Read(to []byte) (int, error) {
	c.mu.Lock()
	if c.deadline.IsZero() {
		if err := c.Conn.SetReadDeadline(time.Now().Add(silence)); err != nil {
			c.mu.Unlock()
			return 0, err
		}
	}
	c.mu.Unlock()
	return c.Conn.Read(to)
}

// SetDeadline sets when reads and writes give up; zero: silence holds again.
func (c *impatient) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	return c.Conn.SetDeadline(t)
}

// SetReadDeadline does so for reads.
func (c *impatient) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	return c.Conn.SetReadDeadline(t)
}

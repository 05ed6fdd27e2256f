package postgres

import (
	"net"
	"sync"
	"time"
)

// readTimeout is how long a server may send nothing while an answer is awaited: longer than any statement takes, and
// than a statement waits for a lock. It is needed because a server that is cut off from the network never closes the
// connection.
const readTimeout = 30 * time.Second

// deadlineConn is a connection on which each read ends after readTimeout, unless a deadline is set.
type deadlineConn struct {
	net.Conn
	mu       sync.Mutex // deadlines are set by other goroutines during a read
	deadline time.Time
}

// Read reads from the server.
func (c *deadlineConn) Read(to []byte) (int, error) {
	c.mu.Lock()
	if c.deadline.IsZero() {
		if err := c.Conn.SetReadDeadline(time.Now().Add(readTimeout)); err != nil {
			c.mu.Unlock()
			return 0, err
		}
	}
	c.mu.Unlock()
	return c.Conn.Read(to)
}

// SetDeadline sets the deadline of reads and writes; zero restores readTimeout.
func (c *deadlineConn) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	return c.Conn.SetDeadline(t)
}

// SetReadDeadline sets the deadline of reads; zero restores readTimeout.
func (c *deadlineConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	return c.Conn.SetReadDeadline(t)
}

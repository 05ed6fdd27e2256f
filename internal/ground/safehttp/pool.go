package safehttp

import (
	"errors"
	"net"
	"os"
	"slices"
	"sync"
	"time"
)

// link is one connection.
type link struct {
	raw    net.Conn
	stream net.Conn  // TLS over raw, or raw itself
	origin string    // of the URL
	since  time.Time // idle since
}

// Limits of idle connections.
const (
	maxIdle     = 16
	maxIdleTime = 30 * time.Second
	peekTimeout = time.Millisecond // for the read that detects a closed connection
)

// pool keeps idle connections to operators' URLs, to save handshakes. It has no goroutine: connections that were idle for
// too long are closed when the pool is used next, and all of them by close.
type pool struct {
	mu     sync.Mutex
	idle   []*link // oldest first
	closed bool
}

// take returns the most recent idle connection to an origin that is not known to be closed; nil: there is none.
func (p *pool) take(origin string) *link {
	for {
		l := p.remove(origin)
		if l == nil || l.idleAlive() {
			return l
		}
		_ = l.raw.Close()
	}
}

func (p *pool) remove(origin string) *link {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sweep()
	for i, l := range slices.Backward(p.idle) {
		if l.origin == origin {
			p.idle = slices.Delete(p.idle, i, i+1)
			return l
		}
	}
	return nil
}

// put adds a connection, evicting the oldest one if the pool is full; false: the pool is closed.
func (p *pool) put(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.sweep()
	if len(p.idle) == maxIdle {
		p.closeOldest(1)
	}
	l.since = time.Now()
	p.idle = append(p.idle, l)
	return true
}

func (p *pool) sweep() {
	fresh := slices.IndexFunc(p.idle, func(l *link) bool { return time.Since(l.since) < maxIdleTime })
	if fresh < 0 {
		fresh = len(p.idle)
	}
	p.closeOldest(fresh)
}

func (p *pool) closeOldest(n int) {
	for _, l := range p.idle[:n] {
		_ = l.raw.Close()
	}
	p.idle = slices.Delete(p.idle, 0, n)
}

func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.closeOldest(len(p.idle))
}

// idleAlive reports whether the peer neither sent data nor closed the idle connection. Unsolicited data would be taken for the
// next response; usually it is a TLS close_notify.
func (l *link) idleAlive() bool {
	if err := l.raw.SetReadDeadline(time.Now().Add(peekTimeout)); err != nil {
		return false
	}
	n, err := l.stream.Read(make([]byte, 1))
	return n == 0 && errors.Is(err, os.ErrDeadlineExceeded)
}

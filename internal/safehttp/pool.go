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
	origin string    // what it leads to
	since  time.Time // when it became idle
}

// Limits of idle connections.
const (
	maxIdle     = 16
	maxIdleTime = 30 * time.Second
	listening   = time.Millisecond // how long an idle connection is asked for a word
)

// pool keeps connections to operators' URLs between exchanges, so that not each call shakes hands anew. It has no goroutine:
// a connection that was idle for too long is closed when the pool is used next, and all are by close.
type pool struct {
	mu     sync.Mutex
	idle   []*link // the longest idle first
	closed bool
}

// take gives the latest connection to an origin that is still good, as far as can be seen; nil: there is none.
func (p *pool) take(origin string) *link {
	for {
		l := p.remove(origin)
		if l == nil || l.quiet() {
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

// put takes a connection in, in the place of the longest idle one if need be; false: the pool is closed.
func (p *pool) put(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.sweep()
	if len(p.idle) == maxIdle {
		p.drop(1)
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
	p.drop(fresh)
}

func (p *pool) drop(n int) {
	for _, l := range p.idle[:n] {
		_ = l.raw.Close()
	}
	p.idle = slices.Delete(p.idle, 0, n)
}

func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.drop(len(p.idle))
}

// quiet says whether the other side said nothing while the connection was idle. What it said would be taken for the answer
// to the next request, and mostly it is a farewell.
func (l *link) quiet() bool {
	if err := l.raw.SetReadDeadline(time.Now().Add(listening)); err != nil {
		return false
	}
	n, err := l.stream.Read(make([]byte, 1))
	return n == 0 && errors.Is(err, os.ErrDeadlineExceeded)
}

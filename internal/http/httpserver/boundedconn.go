package httpserver

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"
)

// boundedListener is a listener whose connections are members of a set of limited size. They send the start of an answer as
// coalescingConn does.
type boundedListener struct {
	net.Listener
	set *connections
}

// Accept returns the next connection for which there is room. It resets the others.
func (l boundedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		tcp, ok := conn.(*net.TCPConn)
		if err != nil || !ok {
			return conn, err
		}
		c := &boundedConn{coalescingConn: coalescingConn{TCPConn: tcp}, set: l.set}
		c.waiting.Store(time.Now().UnixNano())
		if l.set.admit(c) {
			return c, nil
		}
		_ = tcp.SetLinger(0) // a reset leaves no state in the system
		_ = tcp.Close()
	}
}

// evictedConn is the value of boundedConn.waiting after the connection was closed to make room.
const evictedConn = -1

// boundedConn is a connection of a set. It waits for its client until the header of a request has arrived, while a body is
// read and an answer is written, and after the answer; meanwhile it may be closed to make room.
type boundedConn struct {
	coalescingConn
	waiting atomic.Int64 // since when, in nanoseconds since 1970; 0: it does not wait

	taken atomic.Bool // a handler took the connection over: it never waits for a request again

	set    *connections
	group  netip.Prefix // range whose connections are counted together
	exempt bool         // whether they are not counted

	member         bool // of the set; this, served and its places are guarded by the set's mutex
	served         bool // whether net/http has it
	inAll, inGroup int
}

var errEvicted = errors.New("the connection was closed to make room for others")

// pause marks the connection as waiting for its client.
func (c *boundedConn) pause() {
	for {
		since := c.waiting.Load()
		if since == evictedConn || c.waiting.CompareAndSwap(since, time.Now().UnixNano()) {
			return
		}
	}
}

// resume marks the connection as no longer waiting for its client. It returns false if the connection was closed meanwhile.
func (c *boundedConn) resume() bool {
	for {
		since := c.waiting.Load()
		if since == evictedConn {
			return false
		}
		if c.waiting.CompareAndSwap(since, 0) {
			return true
		}
	}
}

// Write sends p; while a slow client delays it, the connection counts as waiting.
func (c *boundedConn) Write(p []byte) (int, error) {
	if c.waiting.Load() != 0 {
		return c.writeUnasked(p)
	}
	c.pause()
	n, err := c.coalescingConn.Write(p)
	c.resume()
	return n, err
}

// ReadFrom sends the content of r, as Write does.
func (c *boundedConn) ReadFrom(r io.Reader) (int64, error) {
	if c.waiting.Load() != 0 {
		return c.coalescingConn.ReadFrom(r)
	}
	c.pause()
	n, err := c.coalescingConn.ReadFrom(r)
	c.resume()
	return n, err
}

// Close closes the connection and frees its place.
func (c *boundedConn) Close() error {
	c.set.mu.Lock()
	c.set.remove(c)
	c.set.mu.Unlock()
	return c.coalescingConn.Close()
}

// connKey is the key of a request's *boundedConn in its context.
type connKey struct{}

// withConn stores the connection in the context of its requests.
func withConn(ctx context.Context, conn net.Conn) context.Context {
	if c, ok := conn.(*boundedConn); ok {
		return context.WithValue(ctx, connKey{}, c)
	}
	return ctx
}

// awaitedBody is the body of a request; while it is read, the connection counts as waiting for its client.
type awaitedBody struct {
	io.ReadCloser
	conn *boundedConn
}

func (b awaitedBody) Read(p []byte) (int, error) {
	b.conn.pause()
	n, err := b.ReadCloser.Read(p)
	if !b.conn.resume() {
		return n, errEvicted
	}
	return n, err
}

// whileServing calls the handler; the connection does not wait for its client meanwhile, except while the handler reads the
// body or writes.
func (c *boundedConn) whileServing(handler http.Handler, w http.ResponseWriter, r *http.Request) {
	if !c.resume() {
		panic(http.ErrAbortHandler) // the client would get no answer
	}
	defer func() {
		if !c.taken.Load() {
			c.pause() // the rest that package net/http reads and writes depends on the client
		}
	}()
	if r.ContentLength != 0 {
		r.Body = awaitedBody{r.Body, c}
	}
	handler.ServeHTTP(w, r)
}

package httpserver

import (
	"bytes"
	"io"
	"net"
	"strconv"
	"sync"
)

// coalescingListener is a listener whose connections send an answer's header and body in one system call. Package net/http writes
// the header with as much of the body as fits into its buffer, and then the rest: two system calls, two segments and two wake-ups
// of the client, which cost as much as finding a hundred entities.
type coalescingListener struct{ net.Listener }

// Accept returns the next connection.
func (l coalescingListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if tcp, ok := conn.(*net.TCPConn); ok {
		return &coalescingConn{TCPConn: tcp}, err
	}
	return conn, err
}

// serverBuffer is the size of net/http's buffer. If net/http changes it, nothing is coalesced, and nothing breaks.
const serverBuffer = 4 << 10

// coalescingConn holds back a full buffer that starts an answer until the next write, which is certain to come because the answer
// is longer. A buffer that is still held when the connection is closed belongs to an answer that was aborted.
type coalescingConn struct {
	*net.TCPConn
	held   *[serverBuffer]byte // nil: nothing
	pieces [2][]byte           // scratch of Write
	both   net.Buffers         // pieces, which sending cuts
}

// heldBuffers is a pool, because at any time nearly all connections hold nothing.
var heldBuffers = sync.Pool{New: func() any { return new([serverBuffer]byte) }}

// Write sends the held buffer and p, or holds p.
func (c *coalescingConn) Write(p []byte) (int, error) {
	if c.held == nil {
		if len(p) != serverBuffer || !startsLongerResponse(p) {
			return c.TCPConn.Write(p)
		}
		buffer, ok := heldBuffers.Get().(*[serverBuffer]byte)
		if !ok {
			return c.TCPConn.Write(p)
		}
		c.held = buffer
		return copy(buffer[:], p), nil
	}
	c.pieces[0], c.pieces[1] = c.held[:], p
	c.both = c.pieces[:]
	n, err := c.both.WriteTo(c.TCPConn)
	heldBuffers.Put(c.held)
	c.held, c.pieces = nil, [2][]byte{}
	return max(0, int(n)-serverBuffer), err
}

// ReadFrom sends the held buffer, and then the content of r, by sendfile if it is a file.
func (c *coalescingConn) ReadFrom(r io.Reader) (int64, error) {
	if c.held != nil {
		if _, err := c.Write(nil); err != nil {
			return 0, err
		}
	}
	return c.TCPConn.ReadFrom(r)
}

// startsLongerResponse reports whether p is a header and the first part of a body whose Content-Length is longer. An event of
// a stream may fill the buffer as well, and must not be held.
func startsLongerResponse(p []byte) bool {
	header, body, found := bytes.Cut(p, []byte("\r\n\r\n"))
	if !found || len(body) == 0 {
		return false
	}
	_, rest, found := bytes.Cut(header, []byte("\r\nContent-Length: "))
	if !found {
		return false
	}
	length, _, _ := bytes.Cut(rest, []byte("\r\n"))
	n, err := strconv.Atoi(string(length))
	return err == nil && n > len(body)
}

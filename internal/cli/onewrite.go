package cli

import (
	"bytes"
	"io"
	"net"
	"strconv"
	"sync"
)

// oneWrite is a listener whose connections send an answer's header and body by one call of the system. Package net/http
// writes the header with as much of the body as fills its buffer, and then the rest: two calls, two segments, and two times
// that the other side wakes up, which costs as much as finding a hundred entities.
type oneWrite struct{ net.Listener }

// Accept gives the next connection.
func (l oneWrite) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if tcp, ok := conn.(*net.TCPConn); ok {
		return &oneWriteConn{TCPConn: tcp}, err
	}
	return conn, err
}

// serverBuffer is the size of net/http's buffer. Were it another, all would go on as without oneWrite.
const serverBuffer = 4 << 10

// oneWriteConn holds back a full buffer that begins an answer for as long as more of it is certain to come. What it holds
// when it is closed was the begin of an answer that broke off.
type oneWriteConn struct {
	*net.TCPConn
	held   *[serverBuffer]byte // nil: nothing
	pieces [2][]byte           // scratch of Write
	both   net.Buffers         // pieces, which sending cuts
}

// buffers keeps what connections hold back: nearly all hold nothing at a time.
var buffers = sync.Pool{New: func() any { return new([serverBuffer]byte) }}

// Write sends p, behind what is held; or holds it.
func (c *oneWriteConn) Write(p []byte) (int, error) {
	if c.held == nil {
		if len(p) != serverBuffer || !beginsLonger(p) {
			return c.TCPConn.Write(p)
		}
		buffer, ok := buffers.Get().(*[serverBuffer]byte)
		if !ok {
			return c.TCPConn.Write(p)
		}
		c.held = buffer
		return copy(buffer[:], p), nil
	}
	c.pieces[0], c.pieces[1] = c.held[:], p
	c.both = c.pieces[:]
	n, err := c.both.WriteTo(c.TCPConn)
	buffers.Put(c.held)
	c.held, c.pieces = nil, [2][]byte{}
	return max(0, int(n)-serverBuffer), err
}

// ReadFrom sends what is held, and then what r gives, which the system may send from a file by itself.
func (c *oneWriteConn) ReadFrom(r io.Reader) (int64, error) {
	if c.held != nil {
		if _, err := c.Write(nil); err != nil {
			return 0, err
		}
	}
	return c.TCPConn.ReadFrom(r)
}

// beginsLonger says whether p is the header and part of the body of an answer that says that it is longer. An event of a
// stream may fill the buffer as well, and is waited for at once.
func beginsLonger(p []byte) bool {
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

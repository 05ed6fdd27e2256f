package httpserver

import (
	"net"
	"sync"
	"sync/atomic"
)

// firstHeaders is a listener that returns a connection once the header of its first request has arrived. Package net/http keeps 17 KB for
// each connection that it has: two buffers and the stack of a goroutine. Here a connection that is silent, or sends its header slowly,
// takes 3 KB (measured with 10 000 of each).
type firstHeaders struct {
	boundedListener
	admitted func()         // is called for each connection
	ready    chan net.Conn  // connections with a header
	failed   chan error     // temporary errors of the listener, which net/http logs and waits after
	done     chan struct{}  // closed by Close
	closing  sync.Once      // for done
	waiting  atomic.Int64   // connections whose header has not arrived, or that net/http has not counted yet
	group    sync.WaitGroup // of wait
}

func newFirstHeaders(l boundedListener, admitted func()) *firstHeaders {
	return &firstHeaders{boundedListener: l, admitted: admitted, ready: make(chan net.Conn), failed: make(chan error), done: make(chan struct{})}
}

// run accepts connections until the listener fails for good, and returns the error. The connections that it accepted go on waiting.
func (f *firstHeaders) run() error {
	for {
		conn, err := f.boundedListener.Accept()
		if err != nil {
			if temporary, ok := err.(interface{ Temporary() bool }); !ok || !temporary.Temporary() {
				return err
			}
			select {
			case f.failed <- err:
				continue
			case <-f.done:
				return net.ErrClosed
			}
		}
		f.admitted()
		f.waiting.Add(1)
		f.group.Go(func() { f.wait(conn) })
	}
}

// wait passes the connection on when its header has arrived.
func (f *firstHeaders) wait(conn net.Conn) {
	c, ok := conn.(*boundedConn)
	if !ok || awaitHeader(c.TCPConn, headerTimeout) {
		select {
		case f.ready <- conn:
			return
		case <-f.done:
		}
	}
	f.waiting.Add(-1)
	_ = conn.Close() // its client may have closed it
}

// Accept returns the next connection whose header has arrived.
func (f *firstHeaders) Accept() (net.Conn, error) {
	select {
	case conn := <-f.ready:
		return conn, nil
	case err := <-f.failed:
		return nil, err
	case <-f.done:
		return nil, net.ErrClosed
	}
}

// Close ends Accept and closes the connections that still wait. The listener is closed by whoever opened it.
func (f *firstHeaders) Close() error {
	f.closing.Do(func() {
		close(f.done)
		f.set.closeUnserved()
	})
	return nil
}

// count takes a connection off those that wait, because net/http has it.
func (f *firstHeaders) count(conn net.Conn) {
	if c, ok := conn.(*boundedConn); ok {
		f.set.serve(c)
		f.waiting.Add(-1)
	}
}

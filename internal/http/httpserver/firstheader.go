package httpserver

import (
	"net"
	"sync"
	"sync/atomic"
)

// firstHeaders is a listener that returns a connection once the header of its first request has arrived. Package net/http keeps 17 KB for
// each connection that it has: two buffers, and a goroutine whose stack the garbage collector goes through again and again. Here a
// connection that is silent, or sends its header slowly, takes 2 KB (measured: 5 000 take 10 MiB), and no goroutine.
type firstHeaders struct {
	boundedListener
	admitted func()        // is called for each connection
	ready    chan net.Conn // connections with a header
	failed   chan error    // temporary errors of the listener, which net/http logs and waits after
	done     chan struct{} // closed by Close
	closing  sync.Once     // for done
	waiting  atomic.Int64  // connections whose header has not arrived, or that net/http has not counted yet
	poller   *headerPoller
	polling  sync.WaitGroup
}

func newFirstHeaders(l boundedListener, admitted func()) (*firstHeaders, error) {
	f := &firstHeaders{boundedListener: l, admitted: admitted, ready: make(chan net.Conn), failed: make(chan error), done: make(chan struct{})}
	var err error
	f.poller, err = newHeaderPoller(f.pass, f.drop)
	return f, err
}

// run accepts connections until the listener fails for good, and returns the error. The connections that it accepted go on waiting until
// Close.
func (f *firstHeaders) run() error {
	f.polling.Go(f.poller.run)
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
		if c, ok := conn.(*boundedConn); ok {
			f.poller.add(c)
		} else {
			f.pass(conn)
		}
	}
}

// pass gives net/http a connection.
func (f *firstHeaders) pass(conn net.Conn) {
	select {
	case f.ready <- conn:
	case <-f.done:
		f.drop(conn)
	}
}

// drop closes a connection that net/http does not get.
func (f *firstHeaders) drop(conn net.Conn) {
	f.waiting.Add(-1)
	_ = conn.Close() // its client may have closed it, or it made room for another one
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

// Close ends Accept and closes the connections that still wait. Server.Close closes the listener.
func (f *firstHeaders) Close() error {
	var err error
	f.closing.Do(func() {
		close(f.done)
		err = f.poller.close()
		f.polling.Wait()
	})
	return err
}

// count takes a connection off those that wait, because net/http has it.
func (f *firstHeaders) count(conn net.Conn) {
	if c, ok := conn.(*boundedConn); ok {
		f.set.serve(c)
		f.waiting.Add(-1)
	}
}

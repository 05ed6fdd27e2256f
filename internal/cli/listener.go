package cli

import (
	"bytes"
	"context"
	"errors"
	"log"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"time"
)

// Bounds of the public address.
const (
	headerTimeout = 10 * time.Second
	bodyTimeout   = time.Minute     // for a whole request: 16 MiB at 280 KB/s
	answerTimeout = 2 * time.Minute // from the end of a request's header, for a client that reads slowly
	idleTimeout   = 2 * time.Minute
	headerBytes   = 64 << 10
	quietTime     = 500 * time.Millisecond // of a connection that nobody is about to use
	drainTimeout  = 5 * time.Second        // for connections to close by agreement
	finishTimeout = 10 * time.Second       // for what is in flight, draining included (D12.5)
	deadTimeout   = 45 * time.Second       // without a sign that what was sent has arrived
)

// webServer answers at one address.
type webServer struct {
	listener net.Listener
	server   *http.Server
	draining atomic.Bool
	open     atomic.Int64 // connections
	running  atomic.Int64 // requests
	changed  atomic.Int64 // when a connection was last opened, used or closed, in nanoseconds since 1970
}

// listen opens the address. Connections wait until run.
func listen(ctx context.Context, address string, logger *slog.Logger) (*webServer, error) {
	lc := net.ListenConfig{Control: giveUp}
	listener, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	s := &webServer{listener: listener}
	s.server = &http.Server{
		ReadHeaderTimeout: headerTimeout, ReadTimeout: bodyTimeout, WriteTimeout: answerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: headerBytes,
		ErrorLog: log.New(serverLog{logger}, "", 0), ConnState: s.count,
	}
	return s, nil
}

// handle says who answers; it is called once, before run.
func (s *webServer) handle(handler http.Handler) {
	s.server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.running.Add(1)
		defer s.running.Add(-1)
		if s.draining.Load() {
			w.Header().Set("Connection", "close")
		}
		handler.ServeHTTP(w, r)
	})
}

// close gives the address back, also when run was never called.
func (s *webServer) close() error {
	if err := s.listener.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

func (s *webServer) count(_ net.Conn, state http.ConnState) {
	s.changed.Store(time.Now().UnixNano())
	switch state {
	case http.StateNew:
		s.open.Add(1)
	case http.StateClosed, http.StateHijacked:
		s.open.Add(-1)
	}
}

// run answers until ctx ends. Then nobody new is let in, everybody else is told to close after the next answer, and what
// is in flight is finished. Idle connections are closed last: on one closed at once, a request may be under way already.
func (s *webServer) run(ctx context.Context) error {
	served := make(chan error, 1)
	go func() { served <- s.server.Serve(oneWrite{s.listener}) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	late, err := shutDoor(s.listener)
	err = errors.Join(err, unlessClosed(s.listener.Close()))
	s.draining.Store(true) // not before: whoever is told to close would come again by the door that is just being shut
	err = errors.Join(err, unlessClosed(<-served), unlessClosed(s.server.Serve(oneWrite{&queue{s.listener, late}})))
	finish, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	s.drain()
	if shut := s.server.Shutdown(finish); errors.Is(shut, context.DeadlineExceeded) {
		return errors.Join(errors.New("requests were still running after 10 s and were cut off"), s.server.Close())
	}
	return err
}

// unlessClosed is an error other than that a listener is closed, or was shut while somebody waited at it.
func unlessClosed(err error) error {
	if errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.EINVAL) {
		return nil
	}
	return err
}

// queue is a listener of connections that are there already.
type queue struct {
	net.Listener
	conns []net.Conn
}

// Accept gives one after the other.
func (q *queue) Accept() (net.Conn, error) {
	if len(q.conns) == 0 {
		return nil, net.ErrClosed
	}
	conn := q.conns[0]
	q.conns = q.conns[1:]
	return conn, nil
}

// drain waits until every connection is closed, or nobody is about to use one that is left.
func (s *webServer) drain() {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	enough := time.NewTimer(drainTimeout)
	defer enough.Stop()
	for s.open.Load() > 0 {
		select {
		case now := <-tick.C:
			if s.running.Load() == 0 && now.UnixNano()-s.changed.Load() > int64(quietTime) {
				return
			}
		case <-enough.C:
			return
		}
	}
}

// serverLog passes on what the server itself complains of, except what tells a client's address (D13.2).
type serverLog struct{ log *slog.Logger }

func (l serverLog) Write(line []byte) (int, error) {
	if bytes.HasPrefix(line, []byte("http: Accept error")) {
		l.log.Error("cannot accept connections", "error", string(bytes.TrimSpace(line)))
	}
	return len(line), nil
}

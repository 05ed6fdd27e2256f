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
	"time"
)

// Bounds of the public address.
const (
	headerTimeout = 10 * time.Second
	bodyTimeout   = time.Minute     // for a whole request: 16 MiB at 280 KB/s
	answerTimeout = 2 * time.Minute // from the end of a request's header, for a client that reads slowly
	idleTimeout   = 2 * time.Minute
	headerBytes   = 64 << 10
	drainTimeout  = 500 * time.Millisecond // for connections to close by agreement
	finishTimeout = 10 * time.Second       // for what is in flight (D12.5)
)

// webServer answers at one address.
type webServer struct {
	listener net.Listener
	server   *http.Server
	draining atomic.Bool
	open     atomic.Int64  // connections
	closed   chan struct{} // told when a connection closes
}

// listen opens the address. Connections wait until run.
func listen(ctx context.Context, address string, logger *slog.Logger) (*webServer, error) {
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	s := &webServer{listener: listener, closed: make(chan struct{}, 1)}
	s.server = &http.Server{
		ReadHeaderTimeout: headerTimeout, ReadTimeout: bodyTimeout, WriteTimeout: answerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: headerBytes,
		ErrorLog: log.New(serverLog{logger}, "", 0), ConnState: s.count,
	}
	return s, nil
}

// handle says who answers; it is called once, before run.
func (s *webServer) handle(handler http.Handler) {
	s.server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
	switch state {
	case http.StateNew:
		s.open.Add(1)
	case http.StateClosed, http.StateHijacked:
		s.open.Add(-1)
		select {
		case s.closed <- struct{}{}:
		default:
		}
	}
}

// run answers until ctx ends. Then nobody new is let in, everybody else is told to close after the next answer, and what
// is in flight is finished. Idle connections are closed last: on one closed at once, a request may be under way already.
func (s *webServer) run(ctx context.Context) error {
	served := make(chan error, 1)
	go func() { served <- s.server.Serve(s.listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	s.draining.Store(true)
	err := s.listener.Close()
	if ended := <-served; !errors.Is(ended, net.ErrClosed) {
		err = errors.Join(err, ended)
	}
	s.drain()
	finish, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	if shut := s.server.Shutdown(finish); errors.Is(shut, context.DeadlineExceeded) {
		return errors.Join(errors.New("requests were still running after 10 s and were cut off"), s.server.Close())
	}
	return err
}

// drain waits until every connection is closed, or long enough.
func (s *webServer) drain() {
	enough := time.NewTimer(drainTimeout)
	defer enough.Stop()
	for s.open.Load() > 0 {
		select {
		case <-s.closed:
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

// Package httpserver serves HTTP at one address with limits for slow clients, and stops without breaking an answer: every
// connection that was made gets the answers to its requests (D12.5).
package httpserver

import (
	"bytes"
	"context"
	"errors"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Limits of a server.
const (
	headerTimeout   = 10 * time.Second
	bodyTimeout     = time.Minute     // for a whole request: 16 MiB at 280 KB/s
	responseTimeout = 2 * time.Minute // from the end of a request's header to the end of its answer
	idleTimeout     = 2 * time.Minute
	crowdedTimeout  = 30 * time.Second // in place of idleTimeout while more than half of the connections are in use
	headerBytes     = 64 << 10
	quietPeriod     = 500 * time.Millisecond // without traffic, after which an idle connection is closed while stopping
	drainTimeout    = 5 * time.Second        // for clients to close their connections by themselves
	stalledTimeout  = 4 * time.Second        // without progress of a client, after which its connection is closed while stopping
	finishTimeout   = 10 * time.Second       // for requests in flight, drainTimeout included (D12.5)
	unackedTimeout  = 45 * time.Second       // without an acknowledgement of sent data, after which a connection is closed
)

// Server serves HTTP at one address.
type Server struct {
	listener net.Listener
	conns    *connections
	first    *firstHeaders
	log      *slog.Logger
	server   *http.Server
	draining atomic.Bool
	open     atomic.Int64 // connections
	running  atomic.Int64 // requests
	changed  atomic.Int64 // when a connection last changed its state, in nanoseconds since 1970
}

// Listen opens the address. Connections wait in the system's queue until Run.
func Listen(ctx context.Context, address string, limits Limits, logger *slog.Logger) (*Server, error) {
	lc := net.ListenConfig{Control: setUserTimeout}
	listener, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	s := &Server{
		listener: listener, log: logger,
		conns: &connections{limits: limits.withDefaults(), groups: make(map[netip.Prefix][]*boundedConn)},
	}
	if s.first, err = newFirstHeaders(boundedListener{listener, s.conns}, s.touch); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	s.server = &http.Server{
		ReadHeaderTimeout: headerTimeout, ReadTimeout: bodyTimeout, WriteTimeout: responseTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: headerBytes,
		ErrorLog: log.New(errorLog{logger}, "", 0), ConnState: s.count, ConnContext: withConn,
	}
	return s, nil
}

// Addr returns the address that was opened; its port is set also when the given one was 0.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Handle sets the handler. It is called once, before Run.
func (s *Server) Handle(handler http.Handler) {
	s.server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.running.Add(1)
		defer s.running.Add(-1)
		if s.draining.Load() {
			w.Header().Set("Connection", "close")
		}
		if conn, ok := r.Context().Value(connKey{}).(*boundedConn); ok {
			conn.whileServing(handler, w, r)
			return
		}
		handler.ServeHTTP(w, r)
	})
}

// Connections returns how many connections are open.
func (s *Server) Connections() int { return s.conns.len() }

// Crowded returns how many connections were refused or closed since the start because too many were open.
func (s *Server) Crowded() int64 { return s.conns.refused.Load() + s.conns.evicted.Load() }

// Close closes the listener, also if Run was never called.
func (s *Server) Close() error {
	return errors.Join(ignoreClosed(s.listener.Close()), s.first.Close())
}

// touch notes that something happened on a connection.
func (s *Server) touch() { s.changed.Store(time.Now().UnixNano()) }

// count counts the connections that net/http has.
func (s *Server) count(conn net.Conn, state http.ConnState) {
	s.touch()
	if c, ok := conn.(*boundedConn); ok && state == http.StateHijacked {
		c.taken.Store(true)
	}
	switch state {
	case http.StateNew:
		s.open.Add(1)
		s.first.count(conn)
	case http.StateClosed, http.StateHijacked:
		s.open.Add(-1)
	}
}

// Run serves until ctx ends. Then it stops listening, asks clients by "Connection: close" to close after their next answer, and
// finishes requests in flight. It closes idle connections last, because a request may already be on its way on one of them.
func (s *Server) Run(ctx context.Context) error {
	var watch sync.WaitGroup
	watching, stopWatching := context.WithCancel(ctx)
	watch.Go(func() { s.watch(watching) })
	defer watch.Wait()
	defer stopWatching()
	accepting, served := make(chan error, 1), make(chan error, 1)
	go func() { accepting <- s.first.run() }()
	go func() { served <- s.server.Serve(s.first) }()
	select {
	case err := <-accepting: // it failed for good
		return errors.Join(err, s.server.Close(), ignoreClosed(<-served))
	case <-ctx.Done():
	}
	accepted, err := stopListening(s.listener)
	err = errors.Join(err, ignoreClosed(s.listener.Close()), ignoreClosed(<-accepting))
	s.draining.Store(true) // not before: a client that closed would connect again to the listener that is being closed
	err = errors.Join(err, ignoreClosed(s.server.Serve(coalescingListener{&acceptedConns{s.listener, accepted}})))
	finish, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	s.drain()
	s.conns.closeIdle(time.Now().Add(-stalledTimeout)) // nothing is in flight on them: their clients sent half a request, or take no answer
	shut := s.server.Shutdown(finish)
	err = errors.Join(err, ignoreClosed(<-served))
	if errors.Is(shut, context.DeadlineExceeded) {
		return errors.Join(errors.New("requests were still running after 10 s and were cut off"), s.server.Close())
	}
	return err
}

// watch closes idle connections early while more than half of the connections are in use, and logs once a minute if some were
// refused or closed.
func (s *Server) watch(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var logged time.Time
	var before int64
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			if s.conns.crowded() {
				s.conns.closeIdle(now.Add(-crowdedTimeout))
			}
			if n := s.Crowded(); n > before && now.Sub(logged) > time.Minute {
				s.log.Warn("connections were refused or closed, because their clients or all together had too many open",
					"count", n-before, "open", s.conns.len(), "max", s.conns.limits.Total, "max_per_address", s.conns.limits.PerAddress)
				logged, before = now, n
			}
		}
	}
}

// ignoreClosed drops the errors of an Accept on a listener that was closed or shut down.
func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.EINVAL) || errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// acceptedConns is a listener that returns connections that were accepted before.
type acceptedConns struct {
	net.Listener
	conns []net.Conn
}

// Accept returns the next connection, and net.ErrClosed after the last.
func (q *acceptedConns) Accept() (net.Conn, error) {
	if len(q.conns) == 0 {
		return nil, net.ErrClosed
	}
	conn := q.conns[0]
	q.conns = q.conns[1:]
	return conn, nil
}

// drain waits until every connection is closed, or no request runs and the remaining connections have been quiet for
// quietPeriod, or drainTimeout has passed.
func (s *Server) drain() {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	timeout := time.NewTimer(drainTimeout)
	defer timeout.Stop()
	for s.first.waiting.Load()+s.open.Load() > 0 {
		select {
		case now := <-tick.C:
			if s.running.Load() == 0 && now.UnixNano()-s.changed.Load() > int64(quietPeriod) {
				return
			}
		case <-timeout.C:
			return
		}
	}
}

// errorLog passes the errors of net/http on to the log, except those that contain a client's address (D13.2).
type errorLog struct{ log *slog.Logger }

func (l errorLog) Write(line []byte) (int, error) {
	if bytes.HasPrefix(line, []byte("http: Accept error")) {
		l.log.Error("cannot accept connections", "error", string(bytes.TrimSpace(line)))
	}
	return len(line), nil
}

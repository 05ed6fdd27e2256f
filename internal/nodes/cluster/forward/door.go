package forward

import (
	"context"
	"errors"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// Path is the path at which nodes open connections to each other, with the protocol as the Upgrade.
	Path     = "/v2/nodes"
	protocol = "wayside-nodes"
	proofKey = "Wayside-Node"

	handshakeTimeout = 2 * time.Second
	finishTimeout    = 2 * time.Second // for requests of other nodes that are under way while this one stops
	idleTimeout      = 2 * time.Minute
	headerBytes      = 16 << 10

	// maxStreams bounds the concurrent requests on one connection: all drives of a node (20 000) fit on its connections.
	maxStreams = 10_000
	// maxConnections bounds the concurrent connections from this node to each other one.
	maxConnections = 2
	// maxIncoming bounds the connections of other nodes that are served.
	maxIncoming = 256
)

// Config holds the settings of Links.
type Config struct {
	Key []byte // the same on all nodes
	Now func() time.Time
	Log *slog.Logger
}

// Links holds the connections to other nodes and from them. Its methods may be called from many goroutines; Run must run beside
// them.
type Links struct {
	Config
	keys     *keys
	handler  atomic.Pointer[http.Handler]
	incoming *queue
	client   *http.Transport
	stopping context.Context //nolint:containedctx // ends the streams that other nodes send
	stop     context.CancelFunc

	mu   sync.Mutex
	down map[string]time.Time // until when addresses are not asked
}

// New returns Links without connections.
func New(c Config) (*Links, error) {
	k, err := newKeys(c.Key)
	if err != nil {
		return nil, err
	}
	l := &Links{Config: c, keys: k, incoming: newQueue(), down: make(map[string]time.Time)}
	l.stopping, l.stop = context.WithCancel(context.Background())
	l.client = l.newTransport()
	return l, nil
}

// Serve sets the handler for the requests of other nodes. It may be called again while requests are answered.
func (l *Links) Serve(handler http.Handler) { l.handler.Store(&handler) }

// Before returns a handler that takes connections of other nodes, and passes all other requests to next.
func (l *Links) Before(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != Path || r.Header.Get("Upgrade") != protocol || !l.keys.accepts(r.Header.Get(proofKey), l.Now()) {
			next.ServeHTTP(w, r) // next does not know this path
			return
		}
		l.take(w, next, r)
	})
}

// take takes the connection of another node over from the public address.
func (l *Links) take(w http.ResponseWriter, next http.Handler, r *http.Request) {
	if l.incoming.full() {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil { // the request is not HTTP/1.1
		next.ServeHTTP(w, r)
		return
	}
	if buffered.Reader.Buffered() > 0 { // the other end waits for the answer
		_ = conn.Close()
		return
	}
	err = errors.Join(
		conn.SetDeadline(time.Now().Add(handshakeTimeout)),
		writeAll(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "+protocol+"\r\n\r\n"),
		conn.SetDeadline(time.Time{}),
	)
	if err != nil || !l.incoming.put(conn) {
		_ = conn.Close()
	}
}

func writeAll(conn net.Conn, text string) error {
	_, err := io.WriteString(conn, text)
	return err
}

// Run serves other nodes until ctx ends. Then it ends the streams between them, finishes their requests and closes all connections.
func (l *Links) Run(ctx context.Context) error {
	server := &http.Server{
		Handler:   http.HandlerFunc(l.answer),
		TLSConfig: l.keys.config(), ReadHeaderTimeout: handshakeTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: headerBytes,
		HTTP2:    &http.HTTP2Config{MaxConcurrentStreams: maxStreams, SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
		ErrorLog: log.New(io.Discard, "", 0), // its messages contain the other end's address
	}
	served := make(chan error, 1)
	go func() { served <- server.ServeTLS(l.incoming, "", "") }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	l.stop()
	finish, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	if err := server.Shutdown(finish); err != nil {
		_ = server.Close()
	}
	if err := <-served; err != nil && !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
		l.Log.Debug("the door for other nodes ended", "error", err)
	}
	l.client.CloseIdleConnections()
	return nil
}

// answer answers a request of another node with the handler of Serve.
func (l *Links) answer(w http.ResponseWriter, r *http.Request) {
	if handler := l.handler.Load(); handler != nil {
		(*handler).ServeHTTP(w, r)
		return
	}
	w.WriteHeader(http.StatusServiceUnavailable)
}

// queue is a listener of connections that were taken over elsewhere.
type queue struct {
	next   chan net.Conn
	closed chan struct{}
	once   sync.Once
	open   atomic.Int64
}

func newQueue() *queue { return &queue{next: make(chan net.Conn), closed: make(chan struct{})} }

func (q *queue) full() bool { return q.open.Load() >= maxIncoming }

// put passes a connection to Accept; false: nothing accepts it.
func (q *queue) put(conn net.Conn) bool {
	timeout := time.NewTimer(handshakeTimeout)
	defer timeout.Stop()
	select {
	case q.next <- &queuedConn{Conn: conn, queue: q}:
		q.open.Add(1)
		return true
	case <-q.closed:
	case <-timeout.C:
	}
	return false
}

// Accept returns the next connection, and net.ErrClosed after Close.
func (q *queue) Accept() (net.Conn, error) {
	select {
	case conn := <-q.next:
		return conn, nil
	case <-q.closed:
		return nil, net.ErrClosed
	}
}

// Close makes Accept return net.ErrClosed.
func (q *queue) Close() error {
	q.once.Do(func() { close(q.closed) })
	return nil
}

// Addr returns an address that is not one of the network.
func (q *queue) Addr() net.Addr { return &net.UnixAddr{Name: Path} }

// queuedConn counts as open until it is closed.
type queuedConn struct {
	net.Conn
	queue *queue
	once  sync.Once
}

func (c *queuedConn) Close() error {
	c.once.Do(func() { c.queue.open.Add(-1) })
	return c.Conn.Close()
}

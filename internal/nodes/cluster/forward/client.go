package forward

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"
)

const (
	dialTimeout   = time.Second      // for a connection to another machine of the same network
	answerTimeout = 12 * time.Second // until an answer begins: a route may take ten
	pingAfter     = 2 * time.Second  // of silence of a connection with requests …
	// pingTimeout is the time without an answer to a ping after which the other node counts as gone. It is for machines that
	// vanish: a node whose process ended is noticed immediately. With two seconds, a node that was overloaded for that long lost
	// all its streams together.
	pingTimeout = 6 * time.Second
	downFor     = time.Second // how long a node that could not be reached is not asked
	maxDown     = 1024        // addresses that are remembered
	// streamBuffer bounds how much of one answer waits here for its client. Other answers continue meanwhile.
	streamBuffer = 64 << 10
)

// ErrGone means that a node cannot be reached: the contents of its memory are lost.
var ErrGone = errors.New("the other node cannot be reached")

// ErrStopping means that this node stops, or that the other one broke off or did not answer in time. The requested drive may still
// be there.
var ErrStopping = errors.New("the other node does not answer now")

func (l *Links) newTransport() *http.Transport {
	return &http.Transport{
		DialTLSContext: l.dial, ForceAttemptHTTP2: true, MaxConnsPerHost: maxConnections, IdleConnTimeout: idleTimeout,
		ResponseHeaderTimeout: answerTimeout, DisableCompression: true, MaxResponseHeaderBytes: headerBytes,
		HTTP2: &http.HTTP2Config{MaxReceiveBufferPerStream: streamBuffer, SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
	}
}

// Ask sends a request to the node at an address. streams means that the answer continues until ctx ends, or this node stops. The
// caller closes the answer's body.
func (l *Links) Ask(ctx context.Context, to netip.AddrPort, method, path string, header http.Header, body io.Reader, streams bool) (*http.Response, error) {
	address := to.String()
	if l.isDown(address) {
		return nil, ErrGone
	}
	if l.stopping.Err() != nil && streams {
		return nil, ErrStopping
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := func() bool { return true }
	if streams {
		stop = context.AfterFunc(l.stopping, cancel)
	}
	end := func() { stop(); cancel() }
	target := url.URL{Scheme: "https", Host: address, Path: path}
	req, err := http.NewRequestWithContext(ctx, method, target.String(), body)
	if err != nil {
		end()
		return nil, fmt.Errorf("ask another node: %w", err)
	}
	if header != nil {
		req.Header = header
	}
	resp, err := l.client.RoundTrip(req)
	if err != nil {
		err = l.explain(ctx, address, err)
		end()
		return nil, err
	}
	resp.Body = &answerBody{resp.Body, end}
	return resp, nil
}

// explain converts the error of a request to one of this package, without the address that the error contains.
func (l *Links) explain(ctx context.Context, address string, err error) error {
	switch {
	case l.stopping.Err() != nil:
		return ErrStopping
	case ctx.Err() != nil:
		return fmt.Errorf("ask another node: %w", ctx.Err())
	case errors.As(err, new(*unreachable)):
		l.markDown(address)
		return ErrGone
	}
	return ErrStopping // only the request or its connection failed: the next request finds out which
}

// answerBody ends its request when it is closed.
type answerBody struct {
	io.ReadCloser
	end func()
}

func (b *answerBody) Close() error {
	b.end()
	return b.ReadCloser.Close()
}

// unreachable is an error of a connection that could not be made.
type unreachable struct{ cause error }

func (e *unreachable) Error() string { return e.cause.Error() }
func (e *unreachable) Unwrap() error { return e.cause }

// dial opens a connection to another node.
func (l *Links) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialTimeout, KeepAlive: time.Second}
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, &unreachable{err}
	}
	secured, err := l.upgrade(ctx, conn, address)
	if err != nil {
		_ = conn.Close()
		return nil, &unreachable{err}
	}
	return secured, nil
}

// upgrade upgrades a connection to the protocol between nodes.
func (l *Links) upgrade(ctx context.Context, conn net.Conn, address string) (net.Conn, error) {
	if err := conn.SetDeadline(time.Now().Add(handshakeTimeout)); err != nil {
		return nil, err
	}
	err := writeAll(conn, "GET "+Path+" HTTP/1.1\r\nHost: "+address+"\r\nConnection: Upgrade\r\nUpgrade: "+protocol+"\r\n"+proofKey+": "+l.keys.prove(l.Now())+"\r\n\r\n")
	if err != nil {
		return nil, err
	}
	// The other end sends nothing between its answer and the handshake, so that the buffer swallows nothing.
	resp, err := http.ReadResponse(bufio.NewReader(io.LimitReader(conn, headerBytes)), nil)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusSwitchingProtocols || resp.Header.Get("Upgrade") != protocol {
		_ = resp.Body.Close()
		return nil, errStranger
	}
	secured := tls.Client(conn, l.keys.config())
	if err := secured.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	return secured, conn.SetDeadline(time.Time{})
}

// isDown reports whether an address was found unreachable within downFor, because each request to a vanished machine would wait for
// the dial timeout.
func (l *Links) isDown(address string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	until, ok := l.down[address]
	if ok && !time.Now().Before(until) {
		delete(l.down, address)
		return false
	}
	return ok
}

func (l *Links) markDown(address string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.down) >= maxDown {
		clear(l.down)
	}
	l.down[address] = time.Now().Add(downFor)
}

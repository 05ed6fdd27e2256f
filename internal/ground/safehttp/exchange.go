package safehttp

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"wayside/internal/ground/mapdata"
)

// exchange is one request and response over one connection.
type exchange struct {
	caller   context.Context // the caller's context
	ctx      context.Context // caller with the fetch's deadline
	began    time.Time
	deadline time.Time
	link     *link // nil: no connection was made
	head     *headLimit
	incoming *bufio.Reader    // buffers reads of the link
	reuse    func(*link) bool // puts the link into the pool; nil: the link is closed after this exchange
	unwatch  func() bool
	cancel   context.CancelFunc
	release  func()
	closing  sync.Once
}

func newExchange(ctx context.Context, left time.Duration, release func()) *exchange {
	now := time.Now()
	x := &exchange{caller: ctx, began: now, deadline: now.Add(left), release: release}
	x.ctx, x.cancel = context.WithDeadline(ctx, x.deadline)
	return x
}

// close ends the exchange and returns its duration. It may be called more than once.
func (x *exchange) close() time.Duration {
	x.closing.Do(func() {
		untouched := x.unwatch == nil || x.unwatch()
		x.cancel()
		if untouched && x.reuse != nil && x.reuse(x.link) {
			x.link = nil
		}
		x.closeConn()
		x.release()
	})
	return time.Since(x.began)
}

// closeConn closes the connection, if there is one.
func (x *exchange) closeConn() {
	if x.link != nil {
		// Closes TCP without TLS close_notify, which could block on a peer that does not read.
		_ = x.link.raw.Close()
	}
}

// failure returns the error of a step, or the caller's cause if it cancelled, or a timeout if the deadline has passed. The
// deadline is checked by the clock: network errors report timeouts in different ways, and for other delays too.
func (x *exchange) failure(step error) error {
	switch {
	case step == nil:
		return nil
	case x.callerDone():
		return context.Cause(x.caller)
	case !time.Now().Before(x.deadline):
		return timedOut(step)
	}
	return step
}

// callerDone reports whether the caller's context has ended. The network may notice the deadline before the context's timer
// fires; callerDone then waits for the context.
func (x *exchange) callerDone() bool {
	if deadline, ok := x.caller.Deadline(); ok && !time.Now().Before(deadline) {
		<-x.caller.Done()
	}
	return x.caller.Err() != nil
}

// roundTrip connects, sends the request and reads the response's head. It uses an idle connection if there is one. If that
// was stale (no byte was received), it retries once over a new connection.
func (c *Client) roundTrip(x *exchange, u *URL, header http.Header, post []byte) (*http.Response, error) {
	request, err := newRequest(x.ctx, u, header, post)
	if err != nil {
		return nil, err
	}
	if u.operator {
		if x.link = c.pool.take(u.Origin()); x.link != nil {
			answer, err := x.exchangeOver(request)
			if err == nil || x.head.left < maxHeader || x.ctx.Err() != nil {
				return answer, x.failure(err)
			}
			x.unwatch()
			x.closeConn()
			if request, err = newRequest(x.ctx, u, header, post); err != nil { // its body was sent
				return nil, err
			}
		}
	}
	x.link, err = c.connect(x.ctx, u)
	if err != nil {
		return nil, x.failure(err)
	}
	answer, err := x.exchangeOver(request)
	return answer, x.failure(err)
}

// newRequest returns a GET request, or a POST of JSON.
func newRequest(ctx context.Context, u *URL, header http.Header, post []byte) (*http.Request, error) {
	method, body := http.MethodGet, io.Reader(http.NoBody)
	if post != nil {
		method, body = http.MethodPost, bytes.NewReader(post)
		header.Set("Content-Type", "application/json")
	}
	request, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err) // the URL was validated, so this does not happen
	}
	request.Header = header
	return request, nil
}

// exchangeOver sends the request over the link and reads the response's head.
func (x *exchange) exchangeOver(request *http.Request) (*http.Response, error) {
	l := x.link
	x.head = &headLimit{r: l.stream, left: maxHeader}
	x.incoming = bufio.NewReader(x.head)
	x.unwatch = func() bool { return false }
	if err := l.raw.SetDeadline(x.deadline); err != nil {
		return nil, exchangeFailed(err)
	}
	x.unwatch = context.AfterFunc(x.caller, func() { _ = l.raw.SetDeadline(time.Unix(1, 0)) })

	var wire bytes.Buffer
	if err := request.Write(&wire); err != nil {
		return nil, fmt.Errorf("write request: %w", err)
	}
	if _, err := l.stream.Write(wire.Bytes()); err != nil {
		return nil, exchangeFailed(err)
	}
	return x.readHead(request)
}

// headLimit limits the bytes read until it is lifted.
type headLimit struct {
	r    io.Reader
	left int // negative: lifted
}

func (l *headLimit) Read(p []byte) (int, error) {
	if l.left < 0 {
		return l.r.Read(p)
	}
	if l.left == 0 {
		return 0, errHeaderTooLarge
	}
	n, err := l.r.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}

// maxInterim is the number of interim responses (1xx) that are skipped.
const maxInterim = 5

func (x *exchange) readHead(request *http.Request) (*http.Response, error) {
	for range maxInterim + 1 {
		answer, err := http.ReadResponse(x.incoming, request)
		switch {
		case x.head.left == 0 && err != nil:
			return nil, headersTooLarge()
		case err != nil:
			return nil, exchangeFailed(err)
		case answer.StatusCode >= http.StatusOK || answer.StatusCode == http.StatusSwitchingProtocols:
			x.head.left = -1
			return answer, nil
		}
	}
	return nil, exchangeFailed(errors.New("too many interim answers"))
}

// accepting is an answer about to be accepted.
type accepting struct {
	answer      *http.Response
	keep        func(*link) bool // puts the connection into the pool when the body was read to its end; nil: the connection is closed
	url         *URL
	request     *Request
	notModified bool // the answer to a conditional request is 304
}

// accept converts an http.Response to a Response, or closes the exchange.
func (c *Client) accept(x *exchange, a *accepting) (_ *Response, err error) {
	answer, keep := a.answer, a.keep
	defer func() {
		if err != nil {
			x.close()
			err = withConnected(err, true)
		}
	}()
	if !a.request.AnyStatus && !a.notModified && (answer.StatusCode < 200 || answer.StatusCode > 299) {
		return nil, badStatus(answer.StatusCode, answer.Header)
	}
	if answer.Close {
		keep = nil
	}
	b := &body{exchange: x, r: answer.Body, keep: keep, left: c.maxBody}
	if a.request.MaxBody > 0 {
		b.left = a.request.MaxBody
	}
	var sent *wireLimit
	if a.request.MaxWire > 0 {
		sent = &wireLimit{r: answer.Body, left: a.request.MaxWire}
		b.r = sent
	}
	b.limit = b.left
	switch encoding := strings.Join(answer.Header.Values("Content-Encoding"), ","); {
	case strings.EqualFold(encoding, "gzip"):
		unzipped, err := gzip.NewReader(b.r)
		if errors.Is(err, io.EOF) { // empty, which is not a gzip stream
			return nil, badCompression(err)
		}
		if err != nil {
			return nil, b.failure(err)
		}
		b.r = unzipped
	case encoding != "" && !strings.EqualFold(encoding, "identity"):
		return nil, badCompression(nil)
	case answer.ContentLength > b.left:
		return nil, bodyTooLarge(b.limit)
	}
	return &Response{Status: answer.StatusCode, Header: answer.Header, URL: a.url, Body: b, sent: sent}, nil
}

// body is the response's body with its limits.
type body struct {
	exchange *exchange
	r        io.Reader
	keep     func(*link) bool
	left     int64
	limit    int64 // initial value of left
	err      error // result of the last read
}

func (b *body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1] // one byte more than the limit, to detect a larger body
	}
	n, err := b.r.Read(p)
	if int64(n) > b.left {
		n, err = int(b.left), errBodyTooLarge
	}
	b.left -= int64(n)
	switch {
	case errors.Is(err, io.EOF):
		// gzip reads until the end of the stream, so the response ended here too. Bytes beyond it would be taken for the next
		// response.
		if b.exchange.incoming.Buffered() == 0 {
			b.exchange.reuse = b.keep
		}
	case err != nil:
		err = b.failure(err)
	}
	b.err = err
	return n, err
}

// failure classifies an error of reading the body.
func (b *body) failure(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, errBodyTooLarge):
		err = bodyTooLarge(b.limit)
	case errors.Is(err, errWireTooLarge):
		err = wireTooLarge(err)
	case errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.As(err, &corrupt):
		err = badCompression(err)
	default:
		err = b.exchange.failure(exchangeFailed(err))
	}
	return withConnected(err, true)
}

// Close ends the exchange, also if the body was not read to its end.
func (b *body) Close() error {
	b.exchange.close()
	if b.err == nil {
		b.err = failed(mapdata.OutcomeConnectionError, mapdata.ReasonBroken, "The body was closed before it was read.", net.ErrClosed)
	}
	return nil
}

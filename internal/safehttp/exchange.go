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

	"wayside/internal/mapdata"
)

// exchange is one request and one answer over one connection.
type exchange struct {
	caller   context.Context // ends when the caller has enough
	ctx      context.Context // ends with the time too
	began    time.Time
	deadline time.Time
	link     *link // nil: no connection was made
	head     *headLimit
	incoming *bufio.Reader    // what came over the link and was not read yet
	reuse    func(*link) bool // takes the link for another exchange, or refuses it; nil: the link ends with this exchange
	unwatch  func() bool
	cancel   context.CancelFunc
	leave    func()
	closing  sync.Once
}

func newExchange(ctx context.Context, left time.Duration, leave func()) *exchange {
	now := time.Now()
	x := &exchange{caller: ctx, began: now, deadline: now.Add(left), leave: leave}
	x.ctx, x.cancel = context.WithDeadline(ctx, x.deadline)
	return x
}

// close ends the exchange and tells how long it took. It may be called again.
func (x *exchange) close() time.Duration {
	x.closing.Do(func() {
		untouched := x.unwatch == nil || x.unwatch()
		x.cancel()
		if untouched && x.reuse != nil && x.reuse(x.link) {
			x.link = nil
		}
		x.hangUp()
		x.leave()
	})
	return time.Since(x.began)
}

// hangUp ends the connection, if there is one.
func (x *exchange) hangUp() {
	if x.link != nil {
		// The TCP connection alone: a farewell in TLS could wait for a peer that does not read.
		_ = x.link.raw.Close()
	}
}

// failure is the error of a step, unless the step failed because the caller had enough or because time was up. The clock
// decides on the latter: each part of the network has words of its own for it, and some have them for delays of their own.
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

// callerDone says whether the caller had enough. The network hears of a deadline by a clock of its own, which may be the
// first: the context's is waited for then.
func (x *exchange) callerDone() bool {
	if deadline, ok := x.caller.Deadline(); ok && !time.Now().Before(deadline) {
		<-x.caller.Done()
	}
	return x.caller.Err() != nil
}

// ask connects, sends the request and reads the answer's head. It goes over an idle connection where there may be one; if
// that was dead, which shows in not one byte coming back, it goes once more over one of its own.
func (c *Client) ask(x *exchange, u *URL, header http.Header) (*http.Response, error) {
	request, err := http.NewRequestWithContext(x.ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err) // the rules of URLs let pass what is none
	}
	request.Header = header
	if u.operator {
		if x.link = c.pool.take(u.Origin()); x.link != nil {
			answer, err := x.converse(request)
			if err == nil || x.head.left < maxHeader || x.ctx.Err() != nil {
				return answer, x.failure(err)
			}
			x.unwatch()
			x.hangUp()
		}
	}
	x.link, err = c.connect(x.ctx, u)
	if err != nil {
		return nil, x.failure(err)
	}
	answer, err := x.converse(request)
	return answer, x.failure(err)
}

// converse sends the request over the link and reads the answer's head.
func (x *exchange) converse(request *http.Request) (*http.Response, error) {
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

// headLimit lets only so many bytes pass until it is lifted.
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

// maxInterim is how many interim answers (1xx) are passed over.
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

// accept turns an answer into a response, or closes the exchange. keep takes the connection once the body was read to its
// end; nil: nobody does.
func (c *Client) accept(x *exchange, answer *http.Response, keep func(*link) bool) (_ *Response, err error) {
	defer func() {
		if err != nil {
			x.close()
			err = withConnected(err, true)
		}
	}()
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return nil, badStatus(answer.StatusCode)
	}
	if answer.Close {
		keep = nil
	}
	b := &body{exchange: x, r: answer.Body, keep: keep, left: c.maxBody}
	switch encoding := strings.Join(answer.Header.Values("Content-Encoding"), ","); {
	case strings.EqualFold(encoding, "gzip"):
		unzipped, err := gzip.NewReader(answer.Body)
		if errors.Is(err, io.EOF) { // nothing at all came, which is not what gzip makes of nothing
			return nil, badCompression(err)
		}
		if err != nil {
			return nil, b.failure(err)
		}
		b.r = unzipped
	case encoding != "" && !strings.EqualFold(encoding, "identity"):
		return nil, badCompression(nil)
	case answer.ContentLength > c.maxBody:
		return nil, bodyTooLarge()
	}
	return &Response{Status: answer.StatusCode, Header: answer.Header, Body: b}, nil
}

// body is the answer's body within its limits.
type body struct {
	exchange *exchange
	r        io.Reader
	keep     func(*link) bool
	left     int64
	err      error // what reading ended with
}

func (b *body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1] // one more than may be, to tell a full measure from too much
	}
	n, err := b.r.Read(p)
	if int64(n) > b.left {
		n, err = int(b.left), errBodyTooLarge
	}
	b.left -= int64(n)
	switch {
	case errors.Is(err, io.EOF):
		// What was sent ended here too, for gzip looks for more until there is none. What came behind it would be taken for
		// the next answer.
		if b.exchange.incoming.Buffered() == 0 {
			b.exchange.reuse = b.keep
		}
	case err != nil:
		err = b.failure(err)
	}
	b.err = err
	return n, err
}

// failure classifies what went wrong while the body was read.
func (b *body) failure(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, errBodyTooLarge):
		err = bodyTooLarge()
	case errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.As(err, &corrupt):
		err = badCompression(err)
	default:
		err = b.exchange.failure(exchangeFailed(err))
	}
	return withConnected(err, true)
}

// Close ends the exchange, whatever of the body was read.
func (b *body) Close() error {
	b.exchange.close()
	if b.err == nil {
		b.err = failed(mapdata.OutcomeConnectionError, mapdata.ReasonBroken, "The body was closed before it was read.", net.ErrClosed)
	}
	return nil
}

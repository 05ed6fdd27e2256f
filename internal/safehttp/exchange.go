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

// exchange is one connection with one request and one answer.
type exchange struct {
	caller   context.Context // ends when the caller has enough
	ctx      context.Context // ends with the time too
	began    time.Time
	deadline time.Time
	raw      net.Conn // nil: none was made
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
		if x.unwatch != nil {
			x.unwatch()
		}
		x.cancel()
		if x.raw != nil {
			// The TCP connection alone: a farewell in TLS could wait for a peer that does not read.
			_ = x.raw.Close()
		}
		x.leave()
	})
	return time.Since(x.began)
}

// failure is the error of a step, unless the step failed because the caller had enough or because time was up. The clock
// decides on the latter: each part of the network has words of its own for it, and some have them for delays of their own.
func (x *exchange) failure(step error) error {
	switch {
	case step == nil:
		return nil
	case x.caller.Err() != nil:
		return context.Cause(x.caller)
	case !time.Now().Before(x.deadline):
		return timedOut(step)
	}
	return step
}

// ask connects, sends the request and reads the answer's head.
func (c *Client) ask(x *exchange, u *URL, header http.Header) (*http.Response, error) {
	raw, secure, err := c.connect(x.ctx, u)
	x.raw = raw
	if err != nil {
		return nil, x.failure(err)
	}
	if err := raw.SetDeadline(x.deadline); err != nil {
		return nil, exchangeFailed(err)
	}
	x.unwatch = context.AfterFunc(x.caller, func() { _ = raw.SetDeadline(time.Unix(1, 0)) })

	request, err := http.NewRequestWithContext(x.ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err) // CheckURL let pass what is no URL
	}
	request.Header = header
	var wire bytes.Buffer
	if err := request.Write(&wire); err != nil {
		return nil, fmt.Errorf("write request: %w", err)
	}
	if _, err := secure.Write(wire.Bytes()); err != nil {
		return nil, x.failure(exchangeFailed(err))
	}
	answer, err := readHead(secure, request)
	return answer, x.failure(err)
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

func readHead(conn io.Reader, request *http.Request) (*http.Response, error) {
	limit := &headLimit{r: conn, left: maxHeader}
	buffered := bufio.NewReader(limit)
	for range maxInterim + 1 {
		answer, err := http.ReadResponse(buffered, request)
		switch {
		case limit.left == 0 && err != nil:
			return nil, headersTooLarge()
		case err != nil:
			return nil, exchangeFailed(err)
		case answer.StatusCode >= http.StatusOK || answer.StatusCode == http.StatusSwitchingProtocols:
			limit.left = -1
			return answer, nil
		}
	}
	return nil, exchangeFailed(errors.New("too many interim answers"))
}

// accept turns an answer into a response, or closes the exchange.
func (c *Client) accept(x *exchange, answer *http.Response) (_ *Response, err error) {
	defer func() {
		if err != nil {
			x.close()
			err = withConnected(err, true)
		}
	}()
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return nil, badStatus(answer.StatusCode)
	}
	b := &body{exchange: x, r: answer.Body, left: c.maxBody}
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
	if err != nil && !errors.Is(err, io.EOF) {
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
		b.err = failed(mapdata.OutcomeConnectionError, "The body was closed before it was read.", net.ErrClosed)
	}
	return nil
}

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// hostileClient sends requests of a corpus and counts their answers.
type hostileClient struct {
	addr    string
	answers *hostileAnswers
	corpus  *hostileCorpus
}

// Timeouts of a client. A request whose end the service cannot find is not answered before the client closes its side.
const (
	hostileTimeout = time.Minute           // for an answer that must arrive
	unendedTimeout = 50 * time.Millisecond // for an answer that may be missing
)

// send sends count requests, on each connection for as long as it lasts.
func (c *hostileClient) send(ctx context.Context, count int) error {
	var waiting []*hostileRequest
	for sent := 0; sent < count && ctx.Err() == nil; {
		for len(waiting) < hostilePipeline && !(len(waiting) > 0 && waiting[len(waiting)-1].ends) {
			waiting = append(waiting, c.corpus.next())
		}
		gone, err := c.exchange(ctx, waiting)
		if err != nil {
			return err
		}
		sent += gone
		waiting = waiting[gone:] // requests after the end of the connection are sent again
		c.answers.add(gone)
	}
	return nil
}

// exchange sends a batch on a new connection and reads the answers, and returns how many of the requests need not be sent again. It
// fails only if the service no longer listens.
func (c *hostileClient) exchange(ctx context.Context, batch []*hostileRequest) (int, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", c.addr)
	if err != nil && ctx.Err() != nil {
		return 0, nil // it was interrupted
	}
	if err != nil {
		return 0, fmt.Errorf("the service is gone: %w", err)
	}
	defer conn.Close() //nolint:errcheck // nothing is lost
	written := make(chan struct{})
	defer func() { _ = conn.Close(); <-written }() // an answer may have ended the connection before everything was written
	go func() {
		defer close(written)
		for _, r := range batch {
			if _, err := io.WriteString(conn, r.text); err != nil {
				return
			}
		}
		if tcp, ok := conn.(*net.TCPConn); ok && batch[len(batch)-1].half {
			_ = tcp.CloseWrite()
		}
	}()
	in := bufio.NewReader(conn)
	for i, r := range batch {
		wait := hostileTimeout
		if r.ends && !r.half {
			wait = unendedTimeout
		}
		if conn.SetReadDeadline(time.Now().Add(wait)) != nil || !c.read(in, r) {
			return i + 1, nil
		}
	}
	return len(batch), nil
}

// read reads an answer and reports whether another one may follow.
func (c *hostileClient) read(in *bufio.Reader, r *hostileRequest) bool {
	answer, err := http.ReadResponse(in, &http.Request{Method: r.method})
	if err != nil {
		return false
	}
	defer answer.Body.Close() //nolint:errcheck // read only
	if answer.StatusCode == http.StatusContinue {
		return c.read(in, r)
	}
	body := ""
	if isFault(answer.StatusCode, answer.Header.Get("Retry-After")) {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 300))
		body = string(text)
	}
	c.answers.note(r, answer.StatusCode, answer.Header.Get("Retry-After"), body)
	if strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") {
		return false // it does not end
	}
	_, err = io.Copy(io.Discard, answer.Body)
	return err == nil && !answer.Close
}

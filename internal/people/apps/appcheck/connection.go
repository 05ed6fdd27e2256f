package appcheck

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// maxMessage bounds a message of the browser, which may quote text of the app's page.
const maxMessage = 16 << 20

// connection speaks the remote debugging protocol: JSON messages, each ended by a zero byte.
type connection struct {
	out io.Writer

	mu      sync.Mutex
	next    int
	waiting map[int]chan message // calls without an answer, by their number
	closed  error                // why no more answers will come; nil: the browser is running
}

// message is an answer (ID is set) or an event (Method is set).
type message struct {
	ID        int             `json:"id"`
	SessionID string          `json:"sessionId"`
	Method    string          `json:"method"`
	Params    json.RawMessage `json:"params"`
	Result    json.RawMessage `json:"result"`
	Error     *struct {
		Message string `json:"message"`
	} `json:"error"`
}

var errBrowserEnded = errors.New("the browser ended")

func newConnection(out io.Writer) *connection {
	return &connection{out: out, waiting: make(map[int]chan message)}
}

// read hands answers to the calls that wait for them and events to handle, until the browser closes its pipe. handle must not wait
// for answers.
func (c *connection) read(in io.Reader, handle func(message)) error {
	scanner := bufio.NewScanner(in)
	scanner.Buffer(nil, maxMessage)
	scanner.Split(splitAtZero)
	for scanner.Scan() {
		var m message
		if err := json.Unmarshal(scanner.Bytes(), &m); err != nil {
			return c.end(fmt.Errorf("read the browser's message: %w", err))
		}
		if m.Method != "" {
			handle(m)
			continue
		}
		c.mu.Lock()
		answer := c.waiting[m.ID]
		delete(c.waiting, m.ID)
		c.mu.Unlock()
		if answer != nil {
			answer <- m // has room for one
		}
	}
	if err := scanner.Err(); err != nil {
		return c.end(fmt.Errorf("read the browser's messages: %w", err))
	}
	return c.end(errBrowserEnded)
}

// end wakes all calls that wait for an answer.
func (c *connection) end(why error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = why
	for id, answer := range c.waiting {
		delete(c.waiting, id)
		close(answer)
	}
	return why
}

func splitAtZero(data []byte, atEnd bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEnd {
		return len(data), nil, nil
	}
	return 0, nil, nil
}

// send sends a command. Its answer goes to the channel, which has room for it; with a nil channel it is dropped.
func (c *connection) send(session, method string, params any, answer chan message) error {
	if params == nil {
		params = struct{}{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed != nil {
		return c.closed
	}
	c.next++
	text, err := json.Marshal(struct {
		ID        int    `json:"id"`
		SessionID string `json:"sessionId,omitempty"`
		Method    string `json:"method"`
		Params    any    `json:"params"`
	}{c.next, session, method, params})
	if err != nil {
		return err
	}
	if answer != nil {
		c.waiting[c.next] = answer
	}
	if _, err = c.out.Write(append(text, 0)); err != nil {
		return fmt.Errorf("%w: %w", errBrowserEnded, err) // a pipe breaks when nothing reads it any more
	}
	return nil
}

// call sends a command and reads its answer into result, unless that is nil.
func (c *connection) call(ctx context.Context, session, method string, params, result any) error {
	answer := make(chan message, 1)
	if err := c.send(session, method, params, answer); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	select {
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", method, context.Cause(ctx))
	case m, ok := <-answer:
		switch {
		case !ok:
			return fmt.Errorf("%s: %w", method, errBrowserEnded)
		case m.Error != nil:
			return fmt.Errorf("%s: %s", method, m.Error.Message)
		case result == nil:
			return nil
		}
		if err := json.Unmarshal(m.Result, result); err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
		return nil
	}
}

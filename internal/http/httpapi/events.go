package httpapi

import (
	"context"
	"net/http"
	"time"
)

// eventWriter sends server-sent events to a client that may be slow or gone.
type eventWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration // for one chunk
	started bool          // something was written
}

func (a *api) newEventWriter(w http.ResponseWriter) eventWriter {
	return eventWriter{w: w, control: http.NewResponseController(w), timeout: a.StreamWriteTimeout}
}

// setWriteDeadline bounds the next write.
func (e *eventWriter) setWriteDeadline() error {
	return e.setDeadline(time.Now().Add(e.timeout))
}

func (e *eventWriter) setDeadline(deadline time.Time) error {
	return e.control.SetWriteDeadline(deadline)
}

// send writes in chunks with a deadline each, so that the connection of a client that does not read is closed. Between two calls
// there is no deadline, because HTTP/2 ends a stream whose deadline passes even while nothing is being written.
func (e *eventWriter) send(ctx context.Context, body []byte) error {
	if len(body) == 0 {
		return nil
	}
	if !e.started {
		e.started = true
		// The server's read timeout must not end the stream: the client sends nothing more.
		if err := e.control.SetReadDeadline(time.Time{}); err != nil {
			return err
		}
	}
	for len(body) > 0 {
		chunk := body[:min(len(body), streamChunkBytes)]
		body = body[len(chunk):]
		if err := e.setWriteDeadline(); err != nil {
			return err
		}
		if _, err := e.w.Write(chunk); err != nil {
			return err
		}
		if err := e.control.Flush(); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return e.setDeadline(time.Time{})
}

package httpapi

import (
	"context"
	"net/http"
	"time"
)

// Parameters of writing to a stream.
const (
	defaultStreamWriteTimeout = 5 * time.Second // for one chunk to be sent: less than the grace time of a shutdown
	StreamChunkBytes          = 32 << 10        // bytes
)

// EventWriter sends server-sent events to a client that may be slow or gone.
type EventWriter struct {
	w       http.ResponseWriter
	Control *http.ResponseController
	timeout time.Duration // for one chunk
	Started bool          // something was written
}

// NewEventWriter returns a writer to the client of a request.
func (a *API) NewEventWriter(w http.ResponseWriter) EventWriter {
	return EventWriter{w: w, Control: http.NewResponseController(w), timeout: a.StreamWriteTimeout}
}

// SetWriteDeadline bounds the next write.
func (e *EventWriter) SetWriteDeadline() error {
	return e.SetDeadline(time.Now().Add(e.timeout))
}

// SetDeadline sets when what is written must be sent.
func (e *EventWriter) SetDeadline(deadline time.Time) error {
	return e.Control.SetWriteDeadline(deadline)
}

// Send writes in chunks with a deadline each, so that the connection of a client that does not read is closed. Between two calls
// there is no deadline, because HTTP/2 ends a stream whose deadline passes even while nothing is being written.
func (e *EventWriter) Send(ctx context.Context, body []byte) error {
	if len(body) == 0 {
		return nil
	}
	if !e.Started {
		e.Started = true
		// The server's read timeout must not end the stream: the client sends nothing more.
		if err := e.Control.SetReadDeadline(time.Time{}); err != nil {
			return err
		}
	}
	for len(body) > 0 {
		chunk := body[:min(len(body), StreamChunkBytes)]
		body = body[len(chunk):]
		if err := e.SetWriteDeadline(); err != nil {
			return err
		}
		if _, err := e.w.Write(chunk); err != nil {
			return err
		}
		if err := e.Control.Flush(); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return e.SetDeadline(time.Time{})
}

// StreamHeader sets the header of a stream of events.
func (a *API) StreamHeader(h http.Header) {
	h["Vary"] = []string{a.Vary()}
	h["Content-Type"] = []string{"text/event-stream"}
	h["Cache-Control"] = []string{NoStore}
	h["X-Accel-Buffering"] = []string{"no"}
	h["X-Content-Type-Options"] = []string{"nosniff"}
	h["Connection"] = []string{"close"} // the connection is not reused after a stream
}

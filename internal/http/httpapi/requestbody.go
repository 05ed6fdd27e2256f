package httpapi

import (
	"errors"
	"io"
	"net/http"
	"os"
)

// watchedBody is the body of a request, which keeps the first error of reading it. A decoder between the body and the handler may
// change the error, but a body that cannot be read is always the client's fault, and never the service's.
type watchedBody struct {
	io.ReadCloser
	err error
}

// watchBody wraps the body of a request in a watchedBody; nil: it has none.
func watchBody(r *http.Request) *watchedBody {
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	body := &watchedBody{ReadCloser: r.Body}
	r.Body = body
	return body
}

// bodyOf returns the watched body of a request; nil: it has none.
func bodyOf(r *http.Request) *watchedBody {
	body, _ := r.Body.(*watchedBody)
	return body
}

// Read reads the body, and keeps an error that is not its end.
func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) && b.err == nil {
		b.err = err
	}
	return n, err
}

// refusal converts the error of a handler to the one for the client. If the body could not be read, an unknown error becomes
// malformed: broken chunks, lines of chunks that are too long, an end before the announced one. A deadline that has passed becomes
// too-slow, whatever error the handler returned. An error for which the handler has its own reasons stays.
func (b *watchedBody) refusal(err error) error {
	if err == nil || b == nil || b.err == nil {
		return err
	}
	if errors.Is(b.err, os.ErrDeadlineExceeded) {
		var p *Problem
		if errors.As(err, &p) && p.Status == http.StatusRequestTimeout {
			return err
		}
		return TooSlow("The body arrived too slowly.")
	}
	if problemOf(err).Status == http.StatusInternalServerError {
		return &Problem{Type: "malformed", Status: http.StatusBadRequest, Detail: "The body was incomplete, or not sent as its header says."}
	}
	return err
}

// TooSlow returns the problem of a body that did not arrive in time.
func TooSlow(detail string) *Problem {
	return &Problem{Type: "too-slow", Status: http.StatusRequestTimeout, Detail: detail}
}

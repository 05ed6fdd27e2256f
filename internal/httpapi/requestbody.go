package httpapi

import (
	"errors"
	"io"
	"net/http"
	"os"
)

// watchedBody is the body of a request, which keeps the first error of reading it. Whatever reads it, and whatever becomes of the error on
// its way through a decoder: a body that cannot be read is the client's fault, and never the service's.
type watchedBody struct {
	io.ReadCloser
	err error
}

// watchBody has the body of a request watched; nil: it has none.
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

// refusal returns the error of a handler as the client gets it. Where the body could not be read, an unknown error is malformed: broken
// chunks, lines of chunks that are too long, an end before the announced one. A deadline that has passed is too-slow, whatever the handler
// made of it. What a handler refused for reasons of its own stays.
func (b *watchedBody) refusal(err error) error {
	if err == nil || b == nil || b.err == nil {
		return err
	}
	if errors.Is(b.err, os.ErrDeadlineExceeded) {
		var p *problem
		if errors.As(err, &p) && p.Status == http.StatusRequestTimeout {
			return err
		}
		return tooSlow("The body arrived too slowly.")
	}
	if problemOf(err).Status == http.StatusInternalServerError {
		return &problem{Type: "malformed", Status: http.StatusBadRequest, Detail: "The body was incomplete, or not sent as its header says."}
	}
	return err
}

// tooSlow is the problem of a body that did not arrive in time.
func tooSlow(detail string) *problem {
	return &problem{Type: "too-slow", Status: http.StatusRequestTimeout, Detail: detail}
}

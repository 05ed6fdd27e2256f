package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"wayside/internal/ground/mapdata"
)

// TestRefusalOfBodies checks the error for the client by the error of a handler and the end of the body.
func TestRefusalOfBodies(t *testing.T) {
	unknown := errors.New("a decoder's error")
	malformed := mapdata.Describe(mapdata.ErrMalformed, "The body must be one JSON object.")
	for name, tt := range map[string]struct {
		body   error // error of reading it
		err    error // error of the handler
		status int
	}{
		"a whole body":                    {io.EOF, unknown, 500},
		"no error":                        {io.ErrUnexpectedEOF, nil, 0},
		"an unknown error":                {io.ErrUnexpectedEOF, unknown, 400},
		"a broken chunk":                  {errors.New("invalid byte in chunk length"), fmt.Errorf("read: %w", unknown), 400},
		"an error of the client's":        {io.ErrUnexpectedEOF, malformed, 400},
		"a limit":                         {io.ErrUnexpectedEOF, &mapdata.LimitError{What: "reads"}, 429},
		"a full disk":                     {io.ErrUnexpectedEOF, mapdata.ErrUnavailable, 503},
		"a deadline and an unknown error": {os.ErrDeadlineExceeded, unknown, 408},
		"a deadline and an error of the client's": {&os.PathError{Op: "read", Err: os.ErrDeadlineExceeded}, malformed, 408},
		"a slow push": {os.ErrDeadlineExceeded, TooSlow("too slow"), 408},
	} {
		r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/", io.MultiReader(strings.NewReader("{"), failing{tt.body}))
		body := watchBody(r)
		if body != bodyOf(r) {
			t.Fatal("the request has another body")
		}
		_, _ = io.Copy(io.Discard, r.Body)
		err := body.refusal(tt.err)
		if status := 0; err != nil {
			if status = problemOf(err).Status; status != tt.status {
				t.Errorf("%s: %d %v, want %d", name, status, err, tt.status)
			}
		} else if tt.status != 0 {
			t.Errorf("%s: no error, want %d", name, tt.status)
		}
	}
	none := httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/", http.NoBody)
	if body := watchBody(none); body != nil || bodyOf(none) != nil || !errors.Is(body.refusal(unknown), unknown) {
		t.Error("a request without a body has one")
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

package httpapi

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"wayside/internal/ground/mapdata"
)

// Problem is an error as clients read it (RFC 9457).
type Problem struct {
	Type       string         `json:"type"` // a name; written as a link into the documentation
	Title      string         `json:"title"`
	Status     int            `json:"status"`
	Detail     string         `json:"detail,omitempty"`
	Errors     []problemField `json:"errors,omitempty"`           // writeProblem writes at most maxErrors of them
	Truncated  bool           `json:"errors_truncated,omitempty"` // set by writeProblem: there were more errors
	ValidIDs   []string       `json:"valid_ids,omitempty"`        // at most maxValidIDs
	RetryAfter time.Duration  `json:"-"`
	Expected   bool           `json:"-"` // a bound worked as intended: not worth a line in the log
}

// Bounds of a problem document, so that an answer is no larger than a small multiple of its request (D4.4).
const (
	maxErrors   = 20
	maxValidIDs = 1000
)

// add adds an error unless it is there already.
func (p *Problem) add(f problemField) {
	if !slices.Contains(p.Errors, f) {
		p.Errors = append(p.Errors, f)
	}
}

// problemField is one error in a parameter or a field of the body.
type problemField struct {
	Parameter string `json:"parameter,omitempty"`
	Field     string `json:"field,omitempty"`
	Code      string `json:"code"`
	Message   string `json:"message"`
}

// Error returns the sentence for people.
func (p *Problem) Error() string { return p.Detail }

// statuses is the only table from kinds of errors to statuses. An error that is not in it is an internal one.
var statuses = []struct {
	kind   error
	status int
	name   string
	detail string // where the error has no words for people
}{
	{mapdata.ErrNotFound, http.StatusNotFound, "not-found", "Not found, or you do not have access to it."},
	{mapdata.ErrConflict, http.StatusConflict, "conflict", "The current state does not allow this."},
	{mapdata.ErrUnauthenticated, http.StatusUnauthorized, "unauthenticated", "Sign in first."},
	{mapdata.ErrForbidden, http.StatusForbidden, "forbidden", "You may not do this."},
	{mapdata.ErrSignInRequired, http.StatusForbidden, "sign-in-required", "A paired screen may not do this."},
	{mapdata.ErrPasskeyRequired, http.StatusForbidden, "passkey-required", "Use a passkey first."},
	{mapdata.ErrMalformed, http.StatusBadRequest, "malformed", "The body cannot be read."},
	{mapdata.ErrTooLarge, http.StatusRequestEntityTooLarge, "too-large", "The body is too large."},
	{mapdata.ErrUnavailable, http.StatusServiceUnavailable, "unavailable", "The service cannot store this now. Nothing was changed; try again."},
}

// UnavailableRetryAfter is the Retry-After of a 503: a full disk or a busy database rarely recovers sooner.
const UnavailableRetryAfter = 30 * time.Second

// problemOf converts an error to the problem that the client gets. Causes are not part of it; they are logged.
func problemOf(err error) *Problem {
	var (
		p         *Problem
		invalid   *mapdata.InvalidError
		limit     *mapdata.LimitError
		described *mapdata.Described
		changed   *mapdata.ChangedError
	)
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &invalid):
		return invalidProblem(invalid)
	case errors.As(err, &changed):
		return &Problem{Type: "conflict", Status: http.StatusConflict, Detail: changed.Error(), Errors: fieldProblems(changed.Fields)}
	case errors.As(err, &limit):
		return &Problem{
			Type: "rate-limited", Status: http.StatusTooManyRequests, RetryAfter: limit.RetryAfter,
			Detail: "Too many: the limit on " + limit.What + " is reached. Retry-After says when to come back.",
		}
	}
	for _, s := range statuses {
		if !errors.Is(err, s.kind) {
			continue
		}
		p := &Problem{Type: s.name, Status: s.status, Detail: s.detail}
		if errors.As(err, &described) {
			p.Detail = described.Detail
		}
		switch {
		case errors.Is(err, mapdata.ErrBusy):
			p.RetryAfter, p.Expected = busyRetryAfter, true
		case s.status == http.StatusServiceUnavailable:
			p.RetryAfter = UnavailableRetryAfter
		}
		return p
	}
	return internalProblem()
}

// loadingRetryAfter is the Retry-After of reads while the node loads its index: a million entities take about as long.
const loadingRetryAfter = 5 * time.Second

func loadingProblem() *Problem {
	return &Problem{
		Type: "unavailable", Status: http.StatusServiceUnavailable, RetryAfter: loadingRetryAfter,
		Detail: "The service has just started and is still loading. Ask again in a few seconds.",
	}
}

func internalProblem() *Problem {
	return &Problem{
		Type: "internal", Status: http.StatusInternalServerError,
		Detail: "Something went wrong inside the service. It has been logged; try again.",
	}
}

// invalidProblem returns the problem of a well-formed body with invalid fields (D5.3).
func invalidProblem(e *mapdata.InvalidError) *Problem {
	return &Problem{
		Type: "invalid-fields", Status: http.StatusUnprocessableEntity, Detail: "Some fields are not acceptable; errors lists them.",
		Errors: fieldProblems(e.Fields),
	}
}

func fieldProblems(fields []mapdata.FieldError) []problemField {
	var all []problemField
	for _, f := range fields {
		all = append(all, problemField{Field: f.Field, Code: f.Code, Message: f.Message})
	}
	return all
}

// writeProblem writes p; it is the only writer of errors.
func writeProblem(w http.ResponseWriter, _ *http.Request, p *Problem) {
	out := *p
	if len(out.Errors) > maxErrors {
		out.Errors, out.Truncated = out.Errors[:maxErrors], true
	}
	out.Title = http.StatusText(p.Status)
	out.Type = "/docs#problem-" + p.Type
	body, err := json.Marshal(&out)
	if err != nil { // strings and numbers only: cannot fail
		body = []byte(`{"type":"about:blank","status":500}`)
	}
	h := w.Header()
	p.setRetryAfter(h)
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="wayside"`)
	}
	h.Del("Etag")
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(len(body)+1))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	w.WriteHeader(p.Status)
	_, _ = w.Write(append(body, '\n')) // a write error means that the client is gone
}

func (p *Problem) setRetryAfter(h http.Header) {
	if p.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(p.RetryAfter.Seconds()))))
	}
}

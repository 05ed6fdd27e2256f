package mapdata

import (
	"errors"
	"strings"
	"time"
)

// Kinds of failure that callers tell apart with errors.Is; httpapi has the one table from these to a status.
var (
	ErrNotFound        = errors.New("not found")
	ErrConflict        = errors.New("conflict with the current state")
	ErrUnauthenticated = errors.New("not signed in")
	ErrForbidden       = errors.New("not allowed")
	ErrUnavailable     = errors.New("temporarily unavailable") // such as a full disk: nothing was changed, try again later
	ErrMalformed       = errors.New("malformed")
	ErrTooLarge        = errors.New("too large")
	ErrFenced          = errors.New("fenced off by a later edit or lease") // a poll's outcome that is not recorded: see Lease
)

// FieldError is one thing wrong with one field or parameter. Message never repeats a secret.
type FieldError struct {
	Field   string
	Code    string
	Message string // in English
	Limit   int    // that was passed, for who says it in other words; 0: it is about none
}

// InvalidError is well-formed input with bad fields, all of them.
type InvalidError struct{ Fields []FieldError }

func (e *InvalidError) Error() string {
	parts := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		parts[i] = f.Field + ": " + f.Message
	}
	return strings.Join(parts, "; ")
}

// LimitError is a refusal for asking too often or too much.
type LimitError struct {
	RetryAfter time.Duration // when the same request would pass
	What       string        // which limit, for people
}

func (e *LimitError) Error() string { return "limit exceeded: " + e.What }

// Described adds a sentence for people to one of the kinds above; errors.Is finds the kind.
type Described struct {
	Kind   error
	Detail string // in English
	Reason Reason // which sentence of ours it is; empty: only the API says it
}

func (e *Described) Error() string { return e.Detail }
func (e *Described) Unwrap() error { return e.Kind }

// Describe makes a Described.
func Describe(kind error, detail string) error { return &Described{Kind: kind, Detail: detail} }

// Explain makes a Described with a reason, by which the pages say it in other languages.
func Explain(kind error, reason Reason, detail string) error {
	return &Described{Kind: kind, Detail: detail, Reason: reason}
}

package mapdata

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kinds of errors, to be compared with errors.Is; httpapi has the only table that maps them to statuses.
var (
	ErrNotFound        = errors.New("not found")
	ErrConflict        = errors.New("conflict with the current state")
	ErrUnauthenticated = errors.New("not signed in")
	ErrForbidden       = errors.New("not allowed")
	ErrSignInRequired  = errors.New("not allowed to a paired screen") // the person must sign in by e-mail or passkey
	ErrPasskeyRequired = errors.New("a passkey must be used first")
	ErrUnavailable     = errors.New("temporarily unavailable") // such as a full disk: nothing was changed, try again later
	ErrMalformed       = errors.New("malformed")
	ErrTooLarge        = errors.New("too large")
	ErrFenced          = errors.New("fenced off by a later edit or lease") // the outcome of a poll is not recorded: see Lease
)

// ErrBusy is an ErrUnavailable that passes in a few seconds: others hold the memory or the processor that the request needs.
var ErrBusy = fmt.Errorf("%w: busy", ErrUnavailable)

// FieldError is one error in one field or parameter. Message never repeats a secret.
type FieldError struct {
	Field   string
	Code    string
	Message string // in English
	Limit   int    // the exceeded limit, for translated messages; 0: none
}

// InvalidError is well-formed input with invalid fields. It lists all of them.
type InvalidError struct{ Fields []FieldError }

func (e *InvalidError) Error() string {
	parts := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		parts[i] = f.Field + ": " + f.Message
	}
	return strings.Join(parts, "; ")
}

// LimitError is a refusal because of a rate or a quota.
type LimitError struct {
	RetryAfter time.Duration // until the same request would be accepted
	What       string        // name of the limit, for people
}

func (e *LimitError) Error() string { return "limit exceeded: " + e.What }

// Described adds a sentence for people to one of the kinds above; errors.Is finds the kind.
type Described struct {
	Kind   error
	Detail string // in English
	Reason Reason // key of the translated sentence; empty: none
}

func (e *Described) Error() string { return e.Detail }
func (e *Described) Unwrap() error { return e.Kind }

// Describe returns a Described.
func Describe(kind error, detail string) error { return &Described{Kind: kind, Detail: detail} }

// Explain returns a Described with a reason, by which the pages translate it.
func Explain(kind error, reason Reason, detail string) error {
	return &Described{Kind: kind, Detail: detail, Reason: reason}
}

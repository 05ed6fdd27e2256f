package format

import (
	"fmt"
	"io"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// Bounds of a document (D17.12, D17.15).
const (
	MaxItems     = 1_000_000
	MaxItemBytes = 16 << 20
	MaxDepth     = 100 // levels of elements, or of objects and arrays
)

// Reason is the reason why an item became no row (D17.11).
type Reason string

// Reasons, in order of precedence: of several that apply, the first counts.
const (
	NotAnItem  Reason = "not_an_item"
	NoID       Reason = "no_id"
	NotReal    Reason = "not_real"
	NotPublic  Reason = "not_public"
	NotActive  Reason = "not_active"
	Removed    Reason = "removed"
	NoKind     Reason = "no_kind"
	Ended      Reason = "ended"
	NotYet     Reason = "not_yet"
	Schedule   Reason = "schedule"
	Area       Reason = "area"
	NoPosition Reason = "no_position"
	Joined     Reason = "joined"
)

// Reasons lists all reasons in their order.
func Reasons() []Reason {
	return []Reason{
		NotAnItem, NoID, NotReal, NotPublic, NotActive, Removed, NoKind, Ended, NotYet, Schedule, Area, NoPosition, Joined,
	}
}

// Item is the result of a bridge for one foreign item: a row, or the reason why there is none.
type Item struct {
	Row    []byte      // in v1 form, not yet judged; valid until the next item; nil: skipped
	Line   []geo.Point // 2 to MaxLine positions; nil: none
	EndsAt time.Time   // zero: none

	Skip Reason // empty: there is a row
	Word string // the foreign word that decided on the reason; may be empty
	ID   string // the item's own; empty: none
}

// Document is a foreign document, read as a stream, and more than once where the format needs it.
type Document struct {
	Open   func() (io.ReadCloser, error) // from its beginning, each time it is called
	Status func() (io.ReadCloser, error) // of the format's second document (datex2-energy); nil: there is none
}

// Options are the feed's settings for its documents, and the time for which items are judged.
type Options struct {
	Now            time.Time
	Zone           *time.Location // for schedules and for times without an offset; nil: the feed names none
	Mapping        []byte         // of geojson and csv, as checked when the feed was registered
	ChargerNetwork string         // "none", the id of a network, or empty: the operator's name (D17.10)
	Budget         *Budget        // of the conversion's cost; nil: unbounded, for tests of one bridge alone
}

// Summary is what a whole document states beside its items.
type Summary struct {
	Again     time.Time // the earliest start or end after Options.Now, at which the same document is read again (D17.6); zero: none
	NextPage  string    // the URL of the next page, as the document names it; empty: none
	Publisher string
	Licence   string
}

// Convert reads a document and hands each item to yield, in the document's order. It fails with an *Error when the
// document is bad, possibly after it has yielded items, which must not count then. It returns errors of Open, of the
// readers and of yield as they are.
type Convert func(d Document, o *Options, yield func(Item) error) (Summary, error)

// Error states why a whole document is unacceptable, and where (D17.15). It repeats none of the document's text.
type Error struct {
	Fault Fault
	Line  int   // 1 is the first; 0: not known
	Byte  int64 // offset into the unpacked document; 0 with Line 0: not known
}

// Fault is a reason of the outcomes parse_error and too_large.
type Fault string

// Faults of documents.
const (
	BadXML     Fault = "xml"
	BadJSON    Fault = "json"
	BadCSV     Fault = "csv"
	HasDTD     Fault = "dtd"
	TooDeep    Fault = "too_deep"
	BadCharset Fault = "encoding"
	NotFormat  Fault = "format" // well-formed, but not a document of this format
	BadStatus  Fault = "status_code"
	BadPages   Fault = "pages"
	TooLong    Fault = "body"
	TooMany    Fault = "items"
	TooLarge   Fault = "item"
	TooManyRow Fault = "rows"
)

// Large reports whether the document is refused for its size (too_large) and not for its content (parse_error).
func (f Fault) Large() bool { return f == TooLong || f == TooMany || f == TooLarge || f == TooManyRow }

func (e *Error) Error() string {
	switch {
	case e.Line > 0:
		return fmt.Sprintf("%s: line %d", e.Fault, e.Line)
	case e.Byte > 0:
		return fmt.Sprintf("%s: byte %d", e.Fault, e.Byte)
	}
	return string(e.Fault)
}

// Unwrap returns mapdata.ErrMalformed, since the document is bad.
func (e *Error) Unwrap() error { return mapdata.ErrMalformed }

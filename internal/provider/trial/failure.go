package trial

import (
	"errors"
	"fmt"
	"time"

	"wayside/internal/bridge"
	"wayside/internal/format"
	"wayside/internal/ingest"
	"wayside/internal/mapdata"
	"wayside/internal/safehttp"
)

// Failure is a try that failed for a reason that lies with the provider (D6.7).
type Failure struct {
	Outcome   mapdata.Outcome
	Advice    string // for the owner: what failed and what to do (D6.8)
	Reason    mapdata.Reason
	Status    int // of the answer, when Outcome is http_status
	Bytes     int64
	Connected bool

	RetryAfter time.Duration // how long the server asks to be left alone; 0: it does not say
	Line       int           // of a document in another format, where it is bad; 0: not known
	Byte       int64         // likewise
}

func (f *Failure) Error() string { return string(f.Outcome) }

// FetchFailure turns what an error of a fetch says of the provider into a *Failure; an error of this machine stays as it
// is.
func FetchFailure(err error) error {
	var failed *safehttp.Error
	if errors.As(err, &failed) {
		return &Failure{Outcome: failed.Outcome, Reason: failed.Reason, Advice: failed.Advice, Status: failed.Status, Connected: failed.Connected, RetryAfter: failed.RetryAfter}
	}
	var bad *format.Error
	if errors.As(err, &bad) {
		return DecodeFailure(err, 0, "feed")
	}
	return err
}

// DecodeFailure turns what ingest says of a whole body of so many bytes, in a format, into a *Failure; an error of the store stays as it
// is.
func DecodeFailure(err error, size int64, name string) error {
	failed := &Failure{Bytes: size, Connected: true}
	var bad *format.Error
	switch {
	case errors.As(err, &bad):
		failed.Outcome, failed.Reason, failed.Line, failed.Byte = mapdata.OutcomeParseError, mapdata.Reason(bad.Fault), bad.Line, bad.Byte
		if bad.Fault.Large() {
			failed.Outcome = mapdata.OutcomeTooLarge
		}
		failed.Advice = bridge.Explain(err, name)
	case errors.Is(err, ingest.ErrNotArray):
		failed.Outcome = mapdata.OutcomeNotAnArray
		failed.Advice = "The body is JSON, but no array. Publish the rows as a bare array, with nothing around it."
	case errors.Is(err, ingest.ErrTooManyRows):
		failed.Outcome, failed.Reason = mapdata.OutcomeTooLarge, mapdata.ReasonRows
		failed.Advice = fmt.Sprintf("The array has more than %d rows. Publish fewer, or divide them among several feeds.", ingest.MaxSnapshotRows)
	case errors.Is(err, mapdata.ErrMalformed):
		failed.Outcome = mapdata.OutcomeParseError
		failed.Advice = "The body is not one JSON text in UTF-8. Check it with wayside validate or any JSON parser."
	default:
		return err
	}
	return failed
}

package trial

import (
	"errors"
	"fmt"
	"time"

	"wayside/internal/feeds/bridge"
	"wayside/internal/feeds/format"
	"wayside/internal/feeds/ingest"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/safehttp"
)

// Failure is a failed try that is the provider's fault (D6.7).
type Failure struct {
	Outcome   mapdata.Outcome
	Advice    string // for the owner: the failure and its remedy (D6.8)
	Reason    mapdata.Reason
	Status    int // of the answer, when Outcome is http_status
	Bytes     int64
	Connected bool

	RetryAfter time.Duration // the pause that the server requests; 0: none
	Line       int           // of the error, in a document of another format; 0: not known
	Byte       int64         // likewise
}

func (f *Failure) Error() string { return string(f.Outcome) }

// FetchFailure converts an error of a fetch that is the provider's fault to a *Failure; it returns an error of this
// machine as it is.
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

// DecodeFailure converts an error of ingest about a complete body, of the given size and format, to a *Failure; it
// returns an error of the store as it is.
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

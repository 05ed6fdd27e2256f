package trial

import (
	"errors"
	"fmt"

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
}

func (f *Failure) Error() string { return string(f.Outcome) }

// FetchFailure turns what an error of a fetch says of the provider into a *Failure; an error of this machine stays as it
// is.
func FetchFailure(err error) error {
	var failed *safehttp.Error
	if errors.As(err, &failed) {
		return &Failure{Outcome: failed.Outcome, Reason: failed.Reason, Advice: failed.Advice, Status: failed.Status, Connected: failed.Connected}
	}
	return err
}

// DecodeFailure turns what ingest says of a whole body of so many bytes into a *Failure; an error of the store stays as it
// is.
func DecodeFailure(err error, size int64) error {
	failed := &Failure{Bytes: size, Connected: true}
	switch {
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

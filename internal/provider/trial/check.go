package trial

import (
	"context"
	"errors"
	"fmt"
	"time"

	"wayside/internal/ingest"
	"wayside/internal/mapdata"
	"wayside/internal/safehttp"
)

// maxChecks is how many checks run side by side: each may hold 64 MiB of disk, and a processor.
const maxChecks = 2

// Checker tries what a poll would make of a URL or a text, and stores nothing: the same fetch, decoder and rules. Its
// methods may be called from many goroutines.
type Checker struct {
	web   Fetcher
	spool *Spool
	now   func() time.Time
	turns chan struct{}
}

// NewChecker makes a checker. folder is for large bodies; empty: where the system keeps temporary files.
func NewChecker(web Fetcher, folder string, now func() time.Time) *Checker {
	return &Checker{web: web, spool: NewSpool(folder), now: now, turns: make(chan struct{}, maxChecks)}
}

// Result is what a poll would have recorded.
type Result struct {
	Outcome mapdata.Outcome
	Status  int             // HTTP status of the provider, when Outcome is http_status
	Reason  mapdata.Reason  // finer than Outcome; empty: nothing to add
	Advice  string          // what failed and what to do (D6.8); empty: nothing did
	Checked *ingest.Checked // of the rows; nil unless Outcome is ok
	Bytes   int64
	Took    time.Duration // to fetch
}

// URL fetches what the URL publishes, with the auth header if that is not empty, and judges it. It fails with a
// *mapdata.InvalidError that names pull_url or pull_auth_header, and with mapdata.ErrUnavailable where this machine has
// no room or no time for it now. What lies with the provider is no error: the Result tells.
func (c *Checker) URL(ctx context.Context, address, authHeader string) (*Result, error) {
	request, err := requestFor(address, authHeader)
	if err != nil {
		return nil, err
	}
	leave, err := c.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	began := c.now()
	request.Started = func() { began = c.now() }
	got, err := c.spool.Fetch(ctx, c.web, *request)
	took := c.now().Sub(began)
	if err != nil {
		return failedResult(FetchFailure(err), took)
	}
	trial, err := c.judge(got, took)
	return trial, errors.Join(err, got.Close())
}

// Text judges a text as if it had been fetched.
func (c *Checker) Text(text []byte) (*Result, error) {
	leave, err := c.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	return c.judge(&Body{memory: text, Size: int64(len(text))}, 0)
}

// enter takes a turn, or says that others have them all.
func (c *Checker) enter() (leave func(), err error) {
	select {
	case c.turns <- struct{}{}:
		return func() { <-c.turns }, nil
	default:
		return nil, mapdata.Explain(mapdata.ErrUnavailable, "checks_busy", "Others are checking their feeds now. Try again in a few seconds.")
	}
}

// requestFor holds address and header to the rules of a registration.
func requestFor(address, authHeader string) (*safehttp.Request, error) {
	var wrong []mapdata.FieldError
	target, err := safehttp.CheckURL(address)
	if err != nil {
		wrong = append(wrong, fieldError("pull_url", err))
	}
	if authHeader != "" {
		if _, _, err := safehttp.CheckAuthHeader(authHeader); err != nil {
			wrong = append(wrong, fieldError("pull_auth_header", err))
		}
	}
	if len(wrong) > 0 {
		return nil, &mapdata.InvalidError{Fields: wrong}
	}
	return &safehttp.Request{URL: target, AuthHeader: authHeader}, nil
}

func fieldError(field string, err error) mapdata.FieldError {
	e := mapdata.FieldError{Field: field, Code: "invalid", Message: err.Error()}
	var refusal *safehttp.Refusal
	if errors.As(err, &refusal) {
		e.Code = refusal.Code()
	}
	return e
}

func (c *Checker) judge(got *Body, took time.Duration) (_ *Result, err error) {
	from, err := got.Open()
	if err != nil {
		return nil, fmt.Errorf("read what was fetched: %w", err)
	}
	checked, err := ingest.Check(from, c.now())
	if closed := from.Close(); err == nil && closed != nil {
		return nil, fmt.Errorf("read what was fetched: %w", closed)
	}
	if err != nil {
		return failedResult(DecodeFailure(err, got.Size), took)
	}
	return &Result{Outcome: mapdata.OutcomeOK, Checked: checked, Bytes: got.Size, Took: took}, nil
}

// failedResult tells a failure that lies with the provider, and passes on any other.
func failedResult(err error, took time.Duration) (*Result, error) {
	var f *Failure
	if !errors.As(err, &f) {
		return nil, err
	}
	return &Result{Outcome: f.Outcome, Status: f.Status, Reason: f.Reason, Advice: f.Advice, Bytes: f.Bytes, Took: took}, nil
}

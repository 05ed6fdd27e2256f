package trial

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"wayside/internal/ingest"
	"wayside/internal/mapdata"
	"wayside/internal/safehttp"
)

// How many checks run side by side.
const (
	maxFetches = 16 // of URLs: each may hold 64 MiB of disk, for 15 s
	maxJudged  = 2  // texts that are judged: each takes a processor
)

// Checker tries what a poll would make of a URL or a text, and stores nothing: the same fetch, decoder and rules. Its
// methods may be called from many goroutines.
type Checker struct {
	web     Fetcher
	spool   *Spool
	now     func() time.Time
	fetches chan struct{}
	judged  chan struct{}

	mu      sync.Mutex
	callers map[mapdata.AccountID]bool // accounts with a check under way
}

// NewChecker makes a checker. folder is for large bodies; empty: where the system keeps temporary files.
func NewChecker(web Fetcher, folder string, now func() time.Time) *Checker {
	return &Checker{
		web: web, spool: NewSpool(folder), now: now, fetches: make(chan struct{}, maxFetches), judged: make(chan struct{}, maxJudged),
		callers: make(map[mapdata.AccountID]bool),
	}
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
// no room or no time for it now, or the caller has a check under way. What lies with the provider is no error: the Result
// tells. A caller who is no account is the zero id.
func (c *Checker) URL(ctx context.Context, caller mapdata.AccountID, address, authHeader string) (*Result, error) {
	request, err := requestFor(address, authHeader)
	if err != nil {
		return nil, err
	}
	leave, err := c.enter(caller)
	if err != nil {
		return nil, err
	}
	defer leave()
	select {
	case c.fetches <- struct{}{}:
	default:
		return nil, errBusy()
	}
	began := c.now()
	request.Started = func() { began = c.now() }
	got, err := c.spool.Fetch(ctx, c.web, *request)
	<-c.fetches
	took := c.now().Sub(began)
	if err != nil {
		return failedResult(FetchFailure(err), took)
	}
	trial, err := c.judge(ctx, got, took)
	return trial, errors.Join(err, got.Close())
}

// Text judges a text as if it had been fetched. It waits for no URL, and fails as URL does.
func (c *Checker) Text(ctx context.Context, caller mapdata.AccountID, text []byte) (*Result, error) {
	leave, err := c.enter(caller)
	if err != nil {
		return nil, err
	}
	defer leave()
	return c.judge(ctx, &Body{memory: text, Size: int64(len(text))}, 0)
}

// enter begins a check of a caller, who has one at a time. It does not wait.
func (c *Checker) enter(caller mapdata.AccountID) (leave func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.callers[caller] {
		return nil, mapdata.Explain(mapdata.ErrUnavailable, "check_running", "You are checking a feed already. Wait until that has ended, or try again in a few seconds.")
	}
	c.callers[caller] = true
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.callers, caller)
	}, nil
}

func errBusy() error {
	return mapdata.Explain(mapdata.ErrUnavailable, "checks_busy", "Others are checking their feeds now. Try again in a few seconds.")
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

func (c *Checker) judge(ctx context.Context, got *Body, took time.Duration) (_ *Result, err error) {
	select {
	case c.judged <- struct{}{}:
		defer func() { <-c.judged }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
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

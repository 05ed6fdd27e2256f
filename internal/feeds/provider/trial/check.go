package trial

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"wayside/internal/feeds/bridge"
	"wayside/internal/feeds/ingest"
	"wayside/internal/ground/budget"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/ratelimit"
	"wayside/internal/ground/safehttp"
)

// Bounds of concurrent checks.
const (
	maxFetches = 16 // of URLs, until they are judged: each may take 64 MiB of disk
	maxTexts   = 4  // of texts, until they are judged: each holds a form of some MiB
	maxJudged  = 2  // documents that are being judged: each takes a processor, of which at least one is left to readers
	maxLarge   = 1  // large ones among them: with the one that a poll reads they stay within the memory of D6.6
)

// textFactor is how many times the bytes of a form with a text are held: as they are read, decoded, judged and shown again.
const textFactor = 6

// Checker tries a URL or a text as a poll would, and stores nothing: the same fetch, decoder and rules. Its methods may be called from many
// goroutines.
type Checker struct {
	Memory *budget.Part // for texts while they are read and judged; nil: unbounded

	web     Fetcher
	spool   *Spool
	now     func() time.Time
	fetches chan struct{}
	texts   chan struct{}
	judged  chan struct{}
	large   chan struct{}

	mu      sync.Mutex
	callers map[mapdata.AccountID]bool // accounts with a running check
}

// NewChecker returns a checker. folder is for large bodies; empty: the system's temporary directory.
func NewChecker(web Fetcher, folder string, now func() time.Time) *Checker {
	return &Checker{
		web: web, spool: NewSpool(folder), now: now, fetches: make(chan struct{}, maxFetches), texts: make(chan struct{}, maxTexts),
		judged: make(chan struct{}, max(1, min(maxJudged, runtime.GOMAXPROCS(0)-1))), large: make(chan struct{}, maxLarge), callers: make(map[mapdata.AccountID]bool),
	}
}

// Large returns the turn of large documents. A poller in the same process takes it too, so that one is read at a time in all (D6.6).
func (c *Checker) Large() chan struct{} { return c.large }

// Result is the record that a poll would have made.
type Result struct {
	Outcome mapdata.Outcome
	Status  int             // HTTP status of the provider, when Outcome is http_status
	Reason  mapdata.Reason  // more detailed than Outcome; empty: no more detail
	Advice  string          // the failure and its remedy (D6.8); empty: no failure
	Checked *ingest.Checked // of the rows; nil unless Outcome is ok
	Bytes   int64
	Took    time.Duration // to fetch

	// Of a document in another format.
	Reading Reading // empty unless Outcome is ok
	Line    int     // of the error in the document; 0: not known
	Byte    int64   // likewise
}

// Ask is the subject of a check: a feed's URL and settings.
type Ask struct {
	URL        string
	AuthHeader string
	Bridge     mapdata.Bridge // as a feed has it; the zero value: v1 rows
}

// URL fetches the document at the URL, with the auth header if that is not empty, and judges it as v1 rows. It fails as Try does.
func (c *Checker) URL(ctx context.Context, caller mapdata.AccountID, address, authHeader string) (*Result, error) {
	return c.Try(ctx, caller, &Ask{URL: address, AuthHeader: authHeader})
}

// Try fetches the documents of a feed, and judges them. It fails with a *mapdata.InvalidError that names pull_url, status_url or
// pull_auth_header, and with mapdata.ErrUnavailable where this machine has no room or no time for it now, or the caller has a running
// check. A failure of the provider is not an error; the Result describes it. A caller without an account is the zero id.
func (c *Checker) Try(ctx context.Context, caller mapdata.AccountID, ask *Ask) (*Result, error) {
	target, err := ask.target()
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
	defer func() { <-c.fetches }()
	began := c.now()
	target.Started = func() { began = c.now() }
	target.Turn = func(ctx context.Context, b *Body) (func(), error) { return c.turn(ctx, b.Slow()) }
	got, err := c.spool.Fetch(ctx, c.web, target)
	took := c.now().Sub(began)
	if err != nil {
		return failedResult(FetchFailure(err), took)
	}
	trial, err := c.judge(ctx, got, took)
	return trial, errors.Join(err, got.Close())
}

// Hold reserves memory for a form of the given bytes, which contains a text to judge, until release is called. It fails with
// mapdata.ErrUnavailable where others hold too much now.
func (c *Checker) Hold(caller mapdata.AccountID, bytes int64) (release func(), err error) {
	if c.Memory == nil {
		return func() {}, nil
	}
	hold := c.Memory.Begin(ratelimit.AccountKey(ratelimit.HeldBytes, caller))
	if err := hold.Grow(int(bytes) * textFactor); err != nil {
		return nil, errBusy()
	}
	return hold.Release, nil
}

// Text validates a text as if it had been fetched. It does not wait for checks of URLs, and fails as Try does.
func (c *Checker) Text(ctx context.Context, caller mapdata.AccountID, text []byte, b mapdata.Bridge) (*Result, error) {
	documents := &Documents{Bridge: b, Size: int64(len(text)), pages: []*Body{{memory: text, Size: int64(len(text))}}}
	if b.Format != "" {
		var known bool
		if documents.format, known = bridge.Lookup(b.Format); !known {
			return nil, &mapdata.InvalidError{Fields: []mapdata.FieldError{{Field: "format", Code: "unknown_format", Message: "must be a format that this program reads"}}}
		}
	}
	leave, err := c.enter(caller)
	if err != nil {
		return nil, err
	}
	defer leave()
	select {
	case c.texts <- struct{}{}:
	default:
		return nil, errBusy()
	}
	defer func() { <-c.texts }()
	return c.judge(ctx, documents, 0)
}

// enter begins a check of a caller, who may have one at a time. It does not wait.
func (c *Checker) enter(caller mapdata.AccountID) (leave func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.callers[caller] {
		return nil, mapdata.Explain(mapdata.ErrBusy, "check_running", "You are checking a feed already. Wait until that has ended, or try again in a few seconds.")
	}
	c.callers[caller] = true
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.callers, caller)
	}, nil
}

func errBusy() error {
	return mapdata.Explain(mapdata.ErrBusy, "checks_busy", "Others are checking their feeds now. Try again in a few seconds.")
}

// target checks addresses and header by the rules of a registration.
func (a *Ask) target() (*Target, error) {
	var wrong []mapdata.FieldError
	t := &Target{AuthHeader: a.AuthHeader, Bridge: a.Bridge}
	var err error
	if t.URL, err = safehttp.CheckURL(a.URL); err != nil {
		wrong = append(wrong, fieldError("pull_url", err))
	}
	if a.Bridge.StatusURL != "" {
		if t.Status, err = safehttp.CheckURL(a.Bridge.StatusURL); err != nil {
			wrong = append(wrong, fieldError("status_url", err))
		}
	}
	if a.AuthHeader != "" {
		if _, _, err := safehttp.CheckAuthHeader(a.AuthHeader); err != nil {
			wrong = append(wrong, fieldError("pull_auth_header", err))
		}
	}
	if len(wrong) > 0 {
		return nil, &mapdata.InvalidError{Fields: wrong}
	}
	return t, nil
}

func fieldError(field string, err error) mapdata.FieldError {
	e := mapdata.FieldError{Field: field, Code: "invalid", Message: err.Error()}
	var refusal *safehttp.Refusal
	if errors.As(err, &refusal) {
		e.Code = refusal.Code()
	}
	return e
}

// turn waits until a document may be judged. A large one first waits for other large ones, so that it delays no small ones.
func (c *Checker) turn(ctx context.Context, large bool) (leave func(), err error) {
	if large {
		select {
		case c.large <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	select {
	case c.judged <- struct{}{}:
	case <-ctx.Done():
		if large {
			<-c.large
		}
		return nil, ctx.Err()
	}
	return func() {
		<-c.judged
		if large {
			<-c.large
		}
	}, nil
}

func (c *Checker) judge(ctx context.Context, got *Documents, took time.Duration) (_ *Result, err error) {
	leave, err := c.turn(ctx, got.Large())
	if err != nil {
		return nil, err
	}
	defer leave()
	checked, reading, err := got.Check(ctx, c.now())
	if err != nil {
		return failedResult(DecodeFailure(err, got.Size, got.Bridge.FormatName()), took)
	}
	return &Result{Outcome: mapdata.OutcomeOK, Checked: checked, Reading: *reading, Bytes: got.Size, Took: took}, nil
}

// Check validates the rows of the documents as a poll at the given time would.
func (d *Documents) Check(ctx context.Context, now time.Time) (*ingest.Checked, *Reading, error) {
	var reading Reading
	if d.Bridge.Format != "" {
		checked, err := ingest.CheckSource(ctx, d.Source(now, &reading), now)
		return checked, &reading, err
	}
	from, err := d.Open()
	if err != nil {
		return nil, nil, fmt.Errorf("read what was fetched: %w", err)
	}
	checked, err := ingest.Check(from, now)
	if closed := from.Close(); err == nil && closed != nil {
		return nil, nil, fmt.Errorf("read what was fetched: %w", closed)
	}
	return checked, &reading, err
}

// failedResult converts a failure of the provider to a result, and returns any other error.
func failedResult(err error, took time.Duration) (*Result, error) {
	var f *Failure
	if !errors.As(err, &f) {
		return nil, err
	}
	return &Result{Outcome: f.Outcome, Status: f.Status, Reason: f.Reason, Advice: f.Advice, Bytes: f.Bytes, Took: took, Line: f.Line, Byte: f.Byte}, nil
}

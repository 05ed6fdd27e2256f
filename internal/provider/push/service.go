package push

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"wayside/internal/ingest"
	"wayside/internal/mapdata"
	"wayside/internal/ratelimit"
	"wayside/internal/signal"
	"wayside/internal/token"
)

// UnknownPerMinute is how many unknown tokens a client address may try in a minute (D7.5).
const UnknownPerMinute = 60

// Config is what a Service needs.
type Config struct {
	Store        Store
	Ingest       *ingest.Ingester
	Buckets      ratelimit.Buckets
	Now          func() time.Time
	Log          *slog.Logger
	Requests     int                          // with one token in a minute (D7.3); 0: no limit
	Entities     int                          // rows pushed with one token in a minute (D7.3); 0: no limit
	StoreChanged signal.StoreChanged          // notified after a refused push was recorded
	Observe      func(accepted, rejected int) // called with the rows of each stored batch; may be nil
}

// Part says that a batch belongs to a snapshot that is pushed in several batches.
type Part = ingest.Part

// Service is the use case. Its methods may be called from many goroutines.
//
// Tokens are looked up in the store each time (by hash, in some 50 µs beside milliseconds for a durable batch): so a
// rotated token or a deactivated feed is refused at once, on every node, and an unknown token costs what a known one does.
type Service struct {
	Config
	taking sync.Mutex             // makes looking at two buckets and taking from both one step
	later  atomic.Pointer[[2]int] // what SetLimits was called with; nil: it was not
}

// New makes a Service.
func New(c Config) *Service {
	return &Service{Config: c}
}

// SetLimits replaces Requests and Entities for the pushes that begin afterwards.
func (s *Service) SetLimits(requests, entities int) { s.later.Store(&[2]int{requests, entities}) }

// limits are Requests and Entities as they are now.
func (s *Service) limits() (requests, entities int) {
	if later := s.later.Load(); later != nil {
		return later[0], later[1]
	}
	return s.Requests, s.Entities
}

// Push stores a batch for the holder of a token, durably, before it returns. part is the snapshot that the batch belongs to,
// nil: none. body is called once the token is known to
// be good: it reads the whole body, decompressed, and may fail with mapdata.ErrTooLarge or mapdata.ErrMalformed.
//
// It fails, having stored nothing, with mapdata.ErrUnauthenticated for a token that no active push feed has, a
// *mapdata.LimitError, mapdata.ErrMalformed for a body that is no array of at most 5 000 rows, mapdata.ErrTooLarge, and
// mapdata.ErrUnavailable.
func (s *Service) Push(ctx context.Context, pushToken string, client netip.Addr, part *Part, body func() ([]byte, error)) (ingest.Report, error) {
	start := s.Now()
	feed, hash, err := s.feed(ctx, pushToken, client)
	if err != nil {
		return ingest.Report{}, err
	}
	rates := s.rates(hash)
	if err := s.admit(rates, start); err != nil {
		return ingest.Report{}, err
	}
	batch, size, err := decode(body, start)
	if err != nil {
		s.take(rates.requests, 1, s.Now())
		s.recordRefusal(ctx, feed.ID, start, size, err)
		return ingest.Report{}, err
	}
	if err := s.takeBoth(rates, batch.Rows(), s.Now()); err != nil {
		return ingest.Report{}, err
	}
	batch.Part = part
	report, err := s.Ingest.Push(ctx, feed.ID, batch)
	if errors.Is(err, mapdata.ErrNotFound) { // deleted meanwhile
		return ingest.Report{}, errUnknownToken()
	}
	if err != nil {
		return ingest.Report{}, fmt.Errorf("push: %w", err)
	}
	if s.Observe != nil {
		s.Observe(report.Accepted, report.Rejected)
	}
	return report, nil
}

// feed finds the feed of a token. A token whose checksum is wrong is never looked up (D5.1).
func (s *Service) feed(ctx context.Context, pushToken string, client netip.Addr) (*mapdata.Feed, []byte, error) {
	if token.Valid(token.Push, pushToken) {
		hash := token.Hash(pushToken)
		feed, err := s.Store.FeedByPushToken(ctx, hash)
		if err == nil {
			return feed, hash, nil
		}
		if !errors.Is(err, mapdata.ErrNotFound) {
			return nil, nil, fmt.Errorf("find feed: %w", err)
		}
	}
	unknown := bucket{
		ratelimit.ClientKey(ratelimit.UnknownTokens, client), ratelimit.PerMinute(UnknownPerMinute), "unknown push tokens from this address",
	}
	if d := s.take(unknown, 1, s.Now()); !d.OK {
		return nil, nil, unknown.refusal(d)
	}
	return nil, nil, errUnknownToken()
}

// errUnknownToken is the same for an unknown token and for one whose feed is deactivated (D7.4).
func errUnknownToken() error {
	return mapdata.Describe(mapdata.ErrUnauthenticated, "This push token is unknown, was replaced, or belongs to a feed that is not active.")
}

// decode reads the body and its rows.
func decode(body func() ([]byte, error), now time.Time) (_ *ingest.Batch, size int, err error) {
	text, err := body()
	if err != nil {
		return nil, 0, fmt.Errorf("read body: %w", err)
	}
	batch, err := ingest.DecodeBatch(text, now)
	switch {
	case errors.Is(err, ingest.ErrTooManyRows):
		err = mapdata.Explain(err, mapdata.ReasonRows, fmt.Sprintf("A batch has at most %d rows; send it in parts. Nothing was stored.", ingest.MaxBatchRows))
	case errors.Is(err, ingest.ErrNotArray):
		err = mapdata.Describe(err, "The body must be a JSON array of rows, also for one row. Nothing was stored.")
	case errors.Is(err, mapdata.ErrMalformed):
		err = mapdata.Describe(err, "The body must be one JSON text in UTF-8 with nothing after it, an array of rows."+where(text)+" Nothing was stored.")
	}
	return batch, len(text), err
}

// where says where the body stops being JSON, if that is what is wrong.
func where(text []byte) string {
	line, column, known := ingest.Breaks(text)
	if !known {
		return ""
	}
	return fmt.Sprintf(" It breaks in line %d, at character %d.", line, column)
}

// outcomes says which refusals of a body are the provider's to mend, and what their attempts are called. What is not in
// it, such as a body that broke off, was no attempt.
var outcomes = []struct {
	kind    error
	outcome mapdata.Outcome
}{
	{ingest.ErrNotArray, mapdata.OutcomeNotAnArray},
	{ingest.ErrTooManyRows, mapdata.OutcomeTooLarge},
	{mapdata.ErrTooLarge, mapdata.OutcomeTooLarge},
	{mapdata.ErrMalformed, mapdata.OutcomeParseError},
}

// recordRefusal counts a refused body in the feed's health. If the store cannot, the provider still learns what was wrong.
func (s *Service) recordRefusal(ctx context.Context, feed mapdata.FeedID, start time.Time, size int, refusal error) {
	for _, o := range outcomes {
		if !errors.Is(refusal, o.kind) {
			continue
		}
		now := s.Now()
		attempt := mapdata.Attempt{
			At: now.UTC().Truncate(time.Millisecond), Duration: now.Sub(start), Outcome: o.outcome, Bytes: int64(size),
		}
		var told *mapdata.Described
		if errors.As(refusal, &told) {
			attempt.Reason = told.Reason
		}
		if err := s.Store.RecordAttempt(ctx, feed, attempt); err != nil {
			s.Log.Warn("refused push not recorded", "feed", feed.String(), "error", err)
			return
		}
		s.StoreChanged.Notify()
		return
	}
}

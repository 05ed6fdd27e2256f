package push

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"sync/atomic"
	"time"

	"wayside/internal/feeds/ingest"
	"wayside/internal/ground/budget"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/ratelimit"
	"wayside/internal/ground/signal"
	"wayside/internal/ground/token"
)

// UnknownPerMinute is the number of unknown tokens that a client address may try in a minute (D7.5).
const UnknownPerMinute = 60

// Config holds the parameters of a Service.
type Config struct {
	Store        Store
	Ingest       *ingest.Ingester
	Buckets      ratelimit.Buckets
	Now          func() time.Time
	Log          *slog.Logger
	Requests     int                          // with one token in a minute (D7.3); 0: no limit
	Entities     int                          // rows pushed with one token in a minute (D7.3); 0: no limit
	StoreChanged signal.StoreChanged          // notified after a refused push was recorded
	Published    Published                    // nil: answers do not wait
	Observe      func(accepted, rejected int) // called with the rows of each stored batch; may be nil
	Memory       *budget.Part                 // memory for bodies; nil: the service creates its own budget
	Work         *ratelimit.Gate              // where rows wait to be decoded; nil: they do not wait
}

// Part identifies the snapshot, pushed in several batches, to which a batch belongs.
type Part = ingest.Part

// Service accepts pushes. Its methods may be called from many goroutines.
//
// It looks tokens up in the store each time (by hash, in some 50 µs beside milliseconds for a durable batch), so that a
// rotated token or a deactivated feed is refused immediately, on every node, and an unknown token costs the same as a
// known one.
type Service struct {
	Config
	bodies bodies
	later  atomic.Pointer[[2]int] // the arguments of SetLimits; nil: it was not called
}

// New returns a Service.
func New(c Config) *Service {
	if c.Memory == nil {
		c.Memory = Memory(budget.New(maxHeldBytes), maxHeldBytes)
	}
	return &Service{Config: c}
}

// SetLimits replaces Requests and Entities for the pushes that begin afterwards.
func (s *Service) SetLimits(requests, entities int) { s.later.Store(&[2]int{requests, entities}) }

// limits returns the current values of Requests and Entities.
func (s *Service) limits() (requests, entities int) {
	if later := s.later.Load(); later != nil {
		return later[0], later[1]
	}
	return s.Requests, s.Entities
}

// HeldBytes returns the bytes that bodies hold while they are read or stored.
func (s *Service) HeldBytes() int { return s.Memory.Held() }

// Admission is a push whose body may be read. It holds a place among the bodies of its token until Push or Close.
type Admission struct {
	service *Service
	feed    *mapdata.Feed
	token   [sha256.Size]byte
	rates   rates
	start   time.Time
	reading bool
	hold    *budget.Hold
}

// Admit decides on a push before its body is read (D7.1): by its token, the rate of requests and the room for bodies.
// The request counts from then on, unless the service fails. The caller closes the admission.
//
// It fails with mapdata.ErrUnauthenticated for a token that no active push feed has, with a *mapdata.LimitError, and
// with mapdata.ErrUnavailable.
func (s *Service) Admit(ctx context.Context, pushToken string, client netip.Addr) (*Admission, error) {
	start := s.Now()
	feed, hash, err := s.feed(ctx, pushToken, client)
	if err != nil {
		return nil, err
	}
	a := &Admission{service: s, feed: feed, rates: s.rates(hash), start: start}
	copy(a.token[:], hash)
	if err := s.bodies.enter(a.token); err != nil {
		return nil, err
	}
	a.reading, a.hold = true, s.Memory.Begin(memoryKey(feed.Owner))
	if err := a.hold.Grow(bodyBytes); err != nil {
		a.Close()
		return nil, explainRoom(err)
	}
	if err := s.takeRequest(&a.rates, start); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// Close releases the place of the body, and its memory.
func (a *Admission) Close() {
	a.stopReading()
	a.hold.Release()
}

func (a *Admission) stopReading() {
	if a.reading {
		a.reading = false
		a.service.bodies.leave(a.token)
	}
}

func (a *Admission) grow(bytes int) error {
	if err := a.hold.Grow(bytes); err != nil {
		return errNoRoom{explainRoom(err)}
	}
	return nil
}

// errNoRoom marks a refusal for which the body is not the reason.
type errNoRoom struct{ error }

func (e errNoRoom) Unwrap() error { return e.error }

// Push reads the decompressed body row by row and stores the batch, durably, before it returns. part is the snapshot to
// which the batch belongs; nil: none. It returns errors of the body as they are; the body may fail with
// mapdata.ErrTooLarge or mapdata.ErrMalformed.
//
// Push fails, having stored nothing, with mapdata.ErrUnauthenticated if the feed was deleted in the meantime, a
// *mapdata.LimitError, mapdata.ErrMalformed for a body that is not an array of at most 5 000 rows, mapdata.ErrTooLarge,
// and mapdata.ErrUnavailable.
func (a *Admission) Push(ctx context.Context, part *Part, body io.Reader) (ingest.Report, error) {
	s := a.service
	working := &workingBody{body: body, take: func() (func(), error) {
		leave, err := s.Work.Enter(ctx, memoryKey(a.feed.Owner), 1, true)
		if errors.Is(err, ratelimit.ErrBusy) {
			err = errNoRoom{mapdata.Describe(mapdata.ErrBusy, "Too many batches wait to be read now. Try again in a few seconds.")}
		}
		return leave, err
	}}
	batch, size, err := ingest.ReadBatch(working, a.start, a.grow)
	working.rest()
	a.stopReading()
	if err != nil {
		return ingest.Report{}, a.unreadable(ctx, err, size)
	}
	if err := s.takeRows(&a.rates, batch.Rows(), s.Now()); err != nil {
		return ingest.Report{}, err
	}
	batch.Part = part
	report, err := s.Ingest.Push(ctx, a.feed.ID, batch)
	if errors.Is(err, mapdata.ErrNotFound) { // deleted in the meantime
		return ingest.Report{}, errUnknownToken()
	}
	if err != nil {
		s.giveBack(a.rates.requests, 1, s.Now())
		s.giveBack(a.rates.entities, batch.Rows(), s.Now())
		return ingest.Report{}, fmt.Errorf("push: %w", err)
	}
	if s.Observe != nil {
		s.Observe(report.Accepted, report.Rejected)
	}
	if s.Published != nil {
		a.Close() // so that the feed's next batch is stored in the meantime, and the rows are no longer held
		s.Published.Await(ctx)
	}
	return report, nil
}

// unreadable returns the error of a body, and records it in the feed's health unless the service is at fault.
func (a *Admission) unreadable(ctx context.Context, err error, size int64) error {
	var full errNoRoom
	if errors.As(err, &full) {
		if errors.Is(err, mapdata.ErrUnavailable) {
			a.service.giveBack(a.rates.requests, 1, a.service.Now())
		}
		return full.error
	}
	err = explain(err)
	a.service.recordRefusal(ctx, a.feed.ID, a.start, size, err)
	return err
}

// feed finds the feed of a token. It does not look up a token whose checksum is wrong (D5.1).
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
	if err := s.take(unknown, 1, s.Now()); err != nil {
		return nil, nil, err
	}
	return nil, nil, errUnknownToken()
}

// errUnknownToken returns the same error for an unknown token and for one whose feed is deactivated (D7.4).
func errUnknownToken() error {
	return mapdata.Describe(mapdata.ErrUnauthenticated, "This push token is unknown, was replaced, or belongs to a feed that is not active.")
}

// explain adds a remedy for the provider to an error of decoding.
func explain(err error) error {
	var breaks *ingest.SyntaxError
	switch {
	case errors.Is(err, ingest.ErrTooManyRows):
		return mapdata.Explain(err, mapdata.ReasonRows, fmt.Sprintf("A batch has at most %d rows; send it in parts. Nothing was stored.", ingest.MaxBatchRows))
	case errors.Is(err, ingest.ErrNotArray):
		return mapdata.Describe(err, "The body must be a JSON array of rows, also for one row. Nothing was stored.")
	case errors.As(err, &breaks):
		return mapdata.Describe(err, fmt.Sprintf("The body must be one JSON text in UTF-8 with nothing after it, an array of rows."+
			" It breaks in line %d, at character %d. Nothing was stored.", breaks.Line, breaks.Column))
	case errors.Is(err, ingest.ErrMalformed):
		return mapdata.Describe(err, "The body must be one JSON text in UTF-8 with nothing after it, an array of rows. Nothing was stored.")
	}
	return fmt.Errorf("read body: %w", err)
}

// outcomes maps the refusals of a body that the provider can fix to the outcomes of their attempts. Any other refusal,
// such as that of a body that broke off, is not an attempt.
var outcomes = []struct {
	kind    error
	outcome mapdata.Outcome
}{
	{ingest.ErrNotArray, mapdata.OutcomeNotAnArray},
	{ingest.ErrTooManyRows, mapdata.OutcomeTooLarge},
	{mapdata.ErrTooLarge, mapdata.OutcomeTooLarge},
	{mapdata.ErrMalformed, mapdata.OutcomeParseError},
}

// recordRefusal counts a refused body in the feed's health. If the store fails, the provider still gets the reason of
// the refusal.
func (s *Service) recordRefusal(ctx context.Context, feed mapdata.FeedID, start time.Time, size int64, refusal error) {
	for _, o := range outcomes {
		if !errors.Is(refusal, o.kind) {
			continue
		}
		now := s.Now()
		attempt := mapdata.Attempt{
			At: now.UTC().Truncate(time.Millisecond), Duration: now.Sub(start), Outcome: o.outcome, Bytes: size,
		}
		var described *mapdata.Described
		if errors.As(refusal, &described) {
			attempt.Reason = described.Reason
		}
		if err := s.Store.RecordAttempt(ctx, feed, attempt); err != nil {
			s.Log.Warn("refused push not recorded", "feed", feed.String(), "error", err)
			return
		}
		s.StoreChanged.Notify()
		return
	}
}

package drivers

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"wayside/internal/entities/nearby"
	"wayside/internal/entities/votes"
	"wayside/internal/feeds/ingest"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// Store stores reports and the data that bound them.
type Store interface {
	// AdmitReport counts a report, or refuses it.
	AdmitReport(ctx context.Context, a *mapdata.ReportAttempt) error
	// RetractReport removes a report for its author, or fails with mapdata.ErrNotFound.
	RetractReport(ctx context.Context, externalID string, account mapdata.AccountID) error
	Mark(ctx context.Context, feed mapdata.FeedID) (mapdata.Mark, error)
	Voted(ctx context.Context, feed mapdata.FeedID, externalID string, now time.Time) (mapdata.Voted, error)
}

// Revisions waits until readers at this node see a revision of the store.
type Revisions interface {
	WaitFor(ctx context.Context, revision int64)
}

// Feeds finds the feeds that an account may read.
type Feeds interface {
	Feed(id mapdata.FeedID, account mapdata.AccountID) *mapdata.Feed
}

// Config holds the parameters of a Service.
type Config struct {
	Store        Store
	Ingest       *ingest.Ingester
	Nearby       *nearby.Reader
	Votes        *votes.Service
	Feeds        Feeds
	Revisions    Revisions
	StoreChanged interface{ Notify() }
	Now          func() time.Time
	// Street returns the name or number of the road on which a car reports something; "": unknown. nil: there are no roads.
	Street func(ctx context.Context, at geo.Point, heading *float64) string

	PerDay     int           // reports of an account within 24 hours
	TrustAfter time.Duration // how long after its first sign-in an account counts (D17.37); 0: always
	NeedTwo    bool          // every report needs two supporting accounts; otherwise closed roads alone
}

// Service takes drivers' reports. Its methods are safe for concurrent use.
type Service struct{ Config }

// New returns a Service.
func New(c Config) *Service { return &Service{c} }

// Request is one report as it was sent. Lat, Lng and Observed are JSON values; nil: absent.
type Request struct {
	Account            mapdata.AccountID
	Kind               string
	Lat, Lng, Observed []byte
	Heading            *float64 // degrees; nil: absent
}

// Outcome is the result of a report.
type Outcome struct {
	Voted   mapdata.Voted
	Feed    *mapdata.Feed // nil: a live incident
	Counted bool          // it counted as a confirm of an existing entity
	Renewed bool          // it renewed the account's own report
}

const (
	attempts = 20          // how often a report is compared again because another one came between
	maxWait  = time.Second // for readers at this node to see the reports before it
)

// Report handles a report. It fails with *mapdata.InvalidError for a bad or implausible one, with *mapdata.LimitError beyond the account's
// limit for a day, and with mapdata.ErrUnavailable.
func (s *Service) Report(ctx context.Context, q *Request) (*Outcome, error) {
	now := s.Now()
	r, err := s.judge(q, now)
	if err != nil {
		return nil, err
	}
	s.name(ctx, q, r, now)
	attempt := &mapdata.ReportAttempt{Account: q.Account, Point: r.row.Point, At: now, SeenAt: r.row.ObservedAt, PerDay: s.PerDay}
	if err := s.Store.AdmitReport(ctx, attempt); err != nil {
		return nil, fmt.Errorf("count report: %w", err)
	}
	s.Votes.Seen(q.Account, r.row.Point)
	done, err := s.Ingest.Turn(ctx, mapdata.DriversID)
	if err != nil {
		return nil, fmt.Errorf("wait for other reports: %w", err)
	}
	defer done()
	for range attempts {
		outcome, err := s.take(ctx, r)
		if !errors.Is(err, mapdata.ErrConflict) || ctx.Err() != nil {
			return outcome, err
		}
	}
	return nil, fmt.Errorf("%w: other reports came %d times meanwhile", mapdata.ErrUnavailable, attempts)
}

// report is a valid report.
type report struct {
	account mapdata.AccountID
	batch   *ingest.Batch
	row     *ingest.Row
}

// take compares a report with the entities on the map, and stores it. It fails with mapdata.ErrConflict when another report came between.
func (s *Service) take(ctx context.Context, r *report) (*Outcome, error) {
	mark, err := s.Store.Mark(ctx, mapdata.DriversID)
	if errors.Is(err, mapdata.ErrNotFound) {
		return nil, mapdata.Describe(mapdata.ErrUnavailable, "The service has just started and takes no reports yet. Try again in a few seconds.")
	}
	if err != nil {
		return nil, fmt.Errorf("read the state of reports: %w", err)
	}
	s.await(ctx, mark.EntitiesRevision)
	for _, h := range s.Nearby.Matching(ctx, r.row.Point, r.row.Kind) {
		outcome, err := s.count(ctx, r, &h, mark.EntitiesRevision)
		// The entity ended in between, or the account may not vote on it because it belongs to one of the account's feeds.
		if errors.Is(err, mapdata.ErrNotFound) || errors.Is(err, mapdata.ErrForbidden) {
			continue
		}
		return outcome, err
	}
	stored := s.stored(r, r.row.ExternalID, r.row.Kind)
	if err := s.Ingest.AddReport(ctx, mapdata.DriversID, r.batch, stored, mark.EntitiesRevision); err != nil {
		return nil, err
	}
	return s.outcome(ctx, r, r.row.ExternalID)
}

// await waits until readers at this node see a revision. A node that does not catch up in time compares with its current state.
func (s *Service) await(ctx context.Context, revision int64) {
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	s.Revisions.WaitFor(ctx, revision)
}

// count makes the report a confirm of an entity (D17.36), or renews it if it is the account's own report.
func (s *Service) count(ctx context.Context, r *report, h *mapdata.Hit, base int64) (*Outcome, error) {
	externalID := string(h.ExternalID)
	if h.Source == mapdata.Drivers {
		voted, err := s.Store.Voted(ctx, mapdata.DriversID, externalID, s.Now())
		if err != nil {
			return nil, fmt.Errorf("read report: %w", err)
		}
		if voted.Tally.Author == r.account {
			return s.renew(ctx, r, &voted, base)
		}
	}
	voted, feed, err := s.Votes.ConfirmByReport(ctx, mapdata.EntityID(h.Source, externalID), r.account)
	if err != nil {
		return nil, fmt.Errorf("confirm: %w", err)
	}
	return &Outcome{Voted: voted, Feed: feed, Counted: true}, nil
}

// renew extends the account's own report as if it were made now, but not beyond its kind's longest lifetime.
func (s *Service) renew(ctx context.Context, r *report, v *mapdata.Voted, base int64) (*Outcome, error) {
	e := &v.Entity
	if s.Now().Before(e.FirstSeenAt.Add(e.Kind.Info().Longest - e.Lifetime)) {
		if err := s.Ingest.RenewReport(ctx, mapdata.DriversID, s.stored(r, e.ExternalID, e.Kind), base); err != nil {
			return nil, err
		}
	}
	o, err := s.outcome(ctx, r, e.ExternalID)
	if err != nil {
		return nil, err
	}
	o.Counted, o.Renewed = true, true
	return o, nil
}

func (s *Service) stored(r *report, externalID string, kind mapdata.Kind) *mapdata.NewReport {
	return &mapdata.NewReport{
		ExternalID: externalID, Account: r.account, TrustAfter: s.TrustAfter, NeedsTwo: s.NeedTwo || mapdata.ClosureKinds().Has(kind),
	}
}

func (s *Service) outcome(ctx context.Context, r *report, externalID string) (*Outcome, error) {
	voted, err := s.Store.Voted(ctx, mapdata.DriversID, externalID, s.Now())
	if err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	return &Outcome{Voted: voted, Feed: s.Feeds.Feed(mapdata.DriversID, r.account)}, nil
}

// Retract removes the account's own report by its entity's id, or fails with mapdata.ErrNotFound.
func (s *Service) Retract(ctx context.Context, id string, account mapdata.AccountID) error {
	source, externalID, ok := mapdata.ParseEntityID(id)
	if !ok || source != mapdata.Drivers {
		return mapdata.Describe(mapdata.ErrNotFound, "No report of yours, or no longer there.")
	}
	err := s.Store.RetractReport(ctx, externalID, account)
	if errors.Is(err, mapdata.ErrNotFound) {
		return mapdata.Describe(mapdata.ErrNotFound, "No report of yours, or no longer there.")
	}
	if err != nil {
		return fmt.Errorf("retract report: %w", err)
	}
	s.StoreChanged.Notify()
	return nil
}

// newID returns a random external id, which reveals neither the order nor the time of reports.
func newID() string { return rand.Text() }

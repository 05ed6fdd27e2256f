package votes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/signal"
)

// Live finds live incidents. It is declared here so that voting does not depend on upstreams.
type Live interface {
	// Find returns the live incident with the external id, without its votes. It fails with mapdata.ErrNotFound, and with
	// mapdata.ErrUnavailable when the live cache is unreachable.
	Find(ctx context.Context, externalID string) (mapdata.Voted, error)
}

// Feeds finds the feeds that an account may read.
type Feeds interface {
	// Feed returns the feed if the account may read it, otherwise nil.
	Feed(id mapdata.FeedID, account mapdata.AccountID) *mapdata.Feed
}

// Config holds the dependencies of a Service.
type Config struct {
	Store        Store
	Feeds        Feeds
	Live         Live // nil: there are no live incidents
	Now          func() time.Time
	StoreChanged signal.StoreChanged // notified after each vote
	TrustAfter   time.Duration       // how long after its first sign-in an account's votes count towards suppression (D9.8); 0: always
	ReportsTrust time.Duration       // likewise for votes on drivers' reports (D17.37)
	Presence     *Presence           // positions of accounts: votes count only if their accounts are near; nil: not checked
}

// Service records drivers' votes. Its methods are safe for concurrent use.
type Service struct{ Config }

// New creates a Service.
func New(c Config) *Service {
	return &Service{c}
}

// Seen stores for ten minutes a position that an account sent (Presence). A guest's is ignored. It may be called on nil, where voting is
// disabled.
func (s *Service) Seen(account mapdata.AccountID, place geo.Point) {
	if s != nil && s.Presence != nil {
		s.Presence.Seen(account, place)
	}
}

// Cast durably stores v as the account's standing vote on an entity; mapdata.NoVote withdraws it (D9.1). It returns the entity with its
// current votes, and its feed, nil for a live incident. A suppressed entity accepts votes too, because a confirm may end its suppression
// (D9.5).
//
// It fails with mapdata.ErrNotFound for an entity that does not exist, has expired, or that the account may not read, with
// mapdata.ErrForbidden for an entity of the account's own feed (D9.8), and with mapdata.ErrUnavailable.
func (s *Service) Cast(ctx context.Context, id string, account mapdata.AccountID, v mapdata.Vote) (mapdata.Voted, *mapdata.Feed, error) {
	return s.cast(ctx, id, account, v, false)
}

// ConfirmByReport confirms an entity for an account that reported the same event (D17.36), also if it is a report that the account may not
// read. It fails as Cast does.
func (s *Service) ConfirmByReport(ctx context.Context, id string, account mapdata.AccountID) (mapdata.Voted, *mapdata.Feed, error) {
	return s.cast(ctx, id, account, mapdata.Confirm, true)
}

func (s *Service) cast(
	ctx context.Context, id string, account mapdata.AccountID, v mapdata.Vote, reported bool,
) (mapdata.Voted, *mapdata.Feed, error) {
	source, externalID, ok := mapdata.ParseEntityID(id)
	if !ok {
		return mapdata.Voted{}, nil, notFound()
	}
	ballot := &mapdata.Ballot{
		Source: source, ExternalID: externalID, Account: account, Vote: v, At: s.Now().UTC().Truncate(time.Millisecond),
		TrustAfter: s.TrustAfter, Reported: reported,
	}
	if s.Presence != nil {
		ballot.Near = func(e *mapdata.Entity) bool { return s.Presence.Near(account, e) }
	}
	if source == mapdata.Drivers {
		ballot.TrustAfter = s.ReportsTrust
	}
	feed, prior, err := s.resolve(ctx, ballot)
	if err != nil {
		return mapdata.Voted{}, nil, err
	}
	voted, err := s.Store.CastVote(ctx, ballot)
	if errors.Is(err, mapdata.ErrNotFound) {
		return mapdata.Voted{}, nil, notFound()
	}
	if err != nil {
		return mapdata.Voted{}, nil, fmt.Errorf("store vote: %w", err)
	}
	s.StoreChanged.Notify()
	voted.Prior = prior
	return voted, feed, nil
}

// Standing returns the account's standing vote on an entity.
func (s *Service) Standing(ctx context.Context, id string, account mapdata.AccountID) (mapdata.Vote, error) {
	source, externalID, ok := mapdata.ParseEntityID(id)
	if !ok {
		return mapdata.NoVote, nil
	}
	v, err := s.Store.Vote(ctx, source, externalID, account)
	if err != nil {
		return mapdata.NoVote, fmt.Errorf("read vote: %w", err)
	}
	return v, nil
}

// resolve finds the feed of the entity or, for a live incident, sets the ballot's record of it (D9.2) and returns its prior.
func (s *Service) resolve(ctx context.Context, b *mapdata.Ballot) (*mapdata.Feed, float64, error) {
	if id, ok := b.Source.FeedID(); ok {
		feed := s.Feeds.Feed(id, b.Account)
		if feed == nil {
			return nil, 0, notFound()
		}
		if feed.ManagedBy(b.Account) && b.Vote != mapdata.NoVote { // one that was cast before this rule can be withdrawn
			return nil, 0, mapdata.Describe(mapdata.ErrForbidden, "You can't vote on entities of your own feeds.")
		}
		return feed, 0, nil
	}
	if s.Live == nil {
		return nil, 0, notFound()
	}
	live, err := s.Live.Find(ctx, b.ExternalID)
	if errors.Is(err, mapdata.ErrNotFound) {
		return nil, 0, notFound()
	}
	if err != nil {
		return nil, 0, fmt.Errorf("find live incident: %w", err)
	}
	b.Live = &live.Entity
	return nil, live.Prior, nil
}

func notFound() error {
	return mapdata.Describe(mapdata.ErrNotFound, "Unknown entity, or no longer there.")
}

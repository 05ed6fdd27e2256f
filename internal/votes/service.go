package votes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"wayside/internal/mapdata"
	"wayside/internal/signal"
)

// Live knows the live incidents. Declared here so that voting needs nothing of upstreams.
type Live interface {
	// Find gives the live incident with the external id, without its votes. It fails with mapdata.ErrNotFound, and with
	// mapdata.ErrUnavailable when the live cache is out of reach.
	Find(ctx context.Context, externalID string) (mapdata.Voted, error)
}

// Feeds knows the feeds that somebody may read.
type Feeds interface {
	// Feed gives the feed if the account may read it, otherwise nil.
	Feed(id mapdata.FeedID, account mapdata.AccountID) *mapdata.Feed
}

// Config is what a Service needs.
type Config struct {
	Store        Store
	Feeds        Feeds
	Live         Live // nil: there are no live incidents
	Now          func() time.Time
	StoreChanged signal.StoreChanged // notified after each vote
}

// Service takes drivers' votes. Its methods may be called from many goroutines.
type Service struct{ Config }

// New makes a Service.
func New(c Config) *Service {
	return &Service{c}
}

// Cast makes v the account's standing vote on an entity, durably, before it returns; mapdata.NoVote takes it back (D9.1).
// It gives the entity with its votes as they are now, and its feed, nil for a live incident. What votes have hidden can be
// voted on all the same: a confirm brings it back (D9.5).
//
// It fails with mapdata.ErrNotFound for an entity that is not there, has expired, or that the account may not read, and
// with mapdata.ErrUnavailable.
func (s *Service) Cast(ctx context.Context, id string, account mapdata.AccountID, v mapdata.Vote) (mapdata.Voted, *mapdata.Feed, error) {
	source, externalID, ok := mapdata.ParseEntityID(id)
	if !ok {
		return mapdata.Voted{}, nil, notFound()
	}
	ballot := &mapdata.Ballot{
		Source: source, ExternalID: externalID, Account: account, Vote: v, At: s.Now().UTC().Truncate(time.Millisecond),
	}
	feed, prior, err := s.subject(ctx, ballot)
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

// Standing gives the account's standing vote on an entity.
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

// subject finds what is voted on: the feed, or the service's own record of a live incident (D9.2), which it puts into the
// ballot, with its prior.
func (s *Service) subject(ctx context.Context, b *mapdata.Ballot) (*mapdata.Feed, float64, error) {
	if id, ok := b.Source.FeedID(); ok {
		feed := s.Feeds.Feed(id, b.Account)
		if feed == nil {
			return nil, 0, notFound()
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
	return mapdata.Describe(mapdata.ErrNotFound, "There is no such entity, or no longer.")
}

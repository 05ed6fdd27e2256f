package feed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"wayside/internal/ground/mapdata"
)

// History holds a feed's recent attempts, rejections and warnings, for its owner and for curators.
type History struct {
	Attempts   []mapdata.Attempt   // newest first, at most mapdata.TimelineLength of mapdata.TimelineSpan
	Rejections []mapdata.Rejection // newest first
	Warnings   []mapdata.Rejection // likewise, of accepted rows
}

// History reads the recent attempts and rejections of a feed. It fails with mapdata.ErrNotFound for a feed that the actor
// may not see in full.
func (s *Service) History(ctx context.Context, by mapdata.Actor, id mapdata.FeedID) (*History, error) {
	if _, err := s.fullFeed(ctx, by, id); err != nil {
		return nil, err
	}
	after := s.now().Add(-mapdata.TimelineSpan)
	attempts, err := s.Store.Timeline(ctx, id, after, mapdata.TimelineLength)
	if err != nil {
		return nil, fmt.Errorf("read timeline: %w", err)
	}
	all, err := s.Store.Rejections(ctx, id, after)
	if err != nil {
		return nil, fmt.Errorf("read rejections: %w", err)
	}
	h := &History{Attempts: attempts}
	for i := range all {
		if mapdata.IsWarning(all[i].Code) {
			h.Warnings = append(h.Warnings, all[i])
		} else {
			h.Rejections = append(h.Rejections, all[i])
		}
	}
	return h, nil
}

// Contents holds a feed's entities for its owner and curators, whether or not the feed is served.
type Contents struct {
	Feed      *mapdata.Feed
	Entities  []mapdata.Entity // ordered by external id
	Truncated bool             // the feed has more entities than the limit
}

// Contents reads the feed's entities that have not expired, at most limit. It fails with mapdata.ErrNotFound for a feed
// that the actor may not see in full.
func (s *Service) Contents(ctx context.Context, by mapdata.Actor, id mapdata.FeedID, limit int) (*Contents, error) {
	f, err := s.fullFeed(ctx, by, id)
	if err != nil {
		return nil, err
	}
	c := &Contents{Feed: f}
	if id == mapdata.DriversID {
		return c, nil // some are read by their authors alone
	}
	err = s.Store.FeedEntities(ctx, id, s.now(), limit+1, func(e *mapdata.Entity) { c.Entities = append(c.Entities, *e) })
	if err != nil {
		return nil, fmt.Errorf("read entities: %w", err)
	}
	if len(c.Entities) > limit {
		c.Entities, c.Truncated = c.Entities[:limit], true
	}
	return c, nil
}

// fullFeed reads a feed that the actor may see in full.
func (s *Service) fullFeed(ctx context.Context, by mapdata.Actor, id mapdata.FeedID) (*mapdata.Feed, error) {
	f, err := s.Store.Feed(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read feed: %w", err)
	}
	if !readsInFull(by, f) {
		return nil, mapdata.ErrNotFound
	}
	return f, nil
}

// fetchNowInterval is the minimum time between a poll and one that the owner requests. It counts from the last poll in the
// store, scheduled or requested, so that the limit holds across nodes.
const fetchNowInterval = time.Minute

// errDue aborts an edit of a feed that is due already or is being polled.
var errDue = errors.New("due already")

// FetchNow makes one of the actor's pull feeds due immediately; its failure count stays. A feed that is due already, or is
// being polled, is not changed. It fails with mapdata.ErrNotFound for another account's feed, mapdata.ErrConflict for a push feed
// and for one that is not active, and with a *mapdata.LimitError within a minute of the last poll.
func (s *Service) FetchNow(ctx context.Context, by mapdata.Actor, id mapdata.FeedID) error {
	now := s.now()
	_, err := s.Store.UpdateFeed(ctx, id, func(f *mapdata.Feed) (Side, error) {
		if !manages(by, f) {
			return Side{}, mapdata.ErrNotFound
		}
		wait := f.Polling.LastFetchedAt.Add(fetchNowInterval).Sub(now)
		switch {
		case f.Direction != mapdata.Pull:
			return Side{}, mapdata.Explain(mapdata.ErrConflict, "not_fetched", "A push feed is not fetched: it is pushed to.")
		case !f.Active:
			return Side{}, mapdata.Explain(mapdata.ErrConflict, "feed_inactive", "The feed is not active. Resume it first; it is then fetched immediately.")
		case f.Pause.InForce():
			return Side{}, mapdata.Explain(mapdata.ErrConflict, "feed_paused", "A curator or the operator paused the feed. It is not fetched until they resume it.")
		case !f.Polling.NextFetchAt.After(now):
			return Side{}, errDue
		case wait > 0:
			return Side{}, &mapdata.LimitError{RetryAfter: wait, What: "fetches of this feed that are asked for"}
		}
		f.Polling.NextFetchAt = now
		return Side{}, nil
	})
	if errors.Is(err, errDue) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("fetch now: %w", err)
	}
	s.changed(ctx)
	return nil
}

// voteDaysCache is how old votes by days may be.
const voteDaysCache = time.Minute

// VoteDays counts the votes of drivers on the feed's entities by days (UTC) of the last 30, the newest first, without days
// that had none. It fails with mapdata.ErrNotFound for a feed that the actor may not see in full.
func (s *Service) VoteDays(ctx context.Context, by mapdata.Actor, id mapdata.FeedID) ([]mapdata.VoteDay, error) {
	if _, err := s.fullFeed(ctx, by, id); err != nil {
		return nil, err
	}
	now := s.now()
	return s.voteDays.get(ctx, id, now, func() ([]mapdata.VoteDay, time.Time, error) {
		first := now.Truncate(24*time.Hour).AddDate(0, 0, 1-mapdata.VoteDaysKept)
		days, err := s.Store.VoteDays(ctx, id.SourceID(), first, mapdata.VoteDaysKept)
		if err != nil {
			return nil, time.Time{}, fmt.Errorf("count votes: %w", err)
		}
		return days, now.Add(voteDaysCache), nil
	})
}

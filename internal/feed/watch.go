package feed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"wayside/internal/mapdata"
)

// History is how a feed did of late, for its owner and for curators.
type History struct {
	Attempts   []mapdata.Attempt   // newest first, at most mapdata.TimelineLength of mapdata.TimelineSpan
	Rejections []mapdata.Rejection // newest first
}

// History reads how a feed of the actor's did. It fails with mapdata.ErrNotFound for somebody else's feed.
func (s *Service) History(ctx context.Context, by Actor, id mapdata.FeedID) (*History, error) {
	if _, err := s.seen(ctx, by, id); err != nil {
		return nil, err
	}
	after := s.now().Add(-mapdata.TimelineSpan)
	attempts, err := s.Store.Timeline(ctx, id, after, mapdata.TimelineLength)
	if err != nil {
		return nil, fmt.Errorf("read timeline: %w", err)
	}
	rejections, err := s.Store.Rejections(ctx, id, after)
	if err != nil {
		return nil, fmt.Errorf("read rejections: %w", err)
	}
	return &History{attempts, rejections}, nil
}

// Contents is what a feed holds, as its owner and curators see it: pending and private ones too.
type Contents struct {
	Feed      *mapdata.Feed
	Entities  []mapdata.Entity // in the order of their external ids
	Truncated bool             // there are more
}

// Contents reads the feed's entities that have not expired, at most limit. It fails with mapdata.ErrNotFound for somebody
// else's feed.
func (s *Service) Contents(ctx context.Context, by Actor, id mapdata.FeedID, limit int) (*Contents, error) {
	f, err := s.seen(ctx, by, id)
	if err != nil {
		return nil, err
	}
	c := &Contents{Feed: f}
	err = s.Store.FeedEntities(ctx, id, s.now(), limit+1, func(e *mapdata.Entity) { c.Entities = append(c.Entities, *e) })
	if err != nil {
		return nil, fmt.Errorf("read entities: %w", err)
	}
	if len(c.Entities) > limit {
		c.Entities, c.Truncated = c.Entities[:limit], true
	}
	return c, nil
}

// seen reads a feed that the actor may see whole.
func (s *Service) seen(ctx context.Context, by Actor, id mapdata.FeedID) (*mapdata.Feed, error) {
	f, err := s.Store.Feed(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read feed: %w", err)
	}
	if !by.owns(f) && !by.reviews {
		return nil, mapdata.ErrNotFound
	}
	return f, nil
}

// fetchNowEvery is how long an owner waits between two polls that they ask for. It counts from the last poll, whoever
// asked for it: the store knows that, so that it holds across nodes.
const fetchNowEvery = time.Minute

// errDue ends an edit of a feed that is due already, or is being polled.
var errDue = errors.New("due already")

// FetchNow makes a pull feed of the actor's due at once; its failures so far still count. One that is due, or is being
// polled, stays as it is. It fails with mapdata.ErrNotFound for somebody else's feed, mapdata.ErrConflict for a push feed
// and for one that is not active, and with a *mapdata.LimitError within a minute of the last poll.
func (s *Service) FetchNow(ctx context.Context, by Actor, id mapdata.FeedID) error {
	now := s.now()
	_, err := s.Store.UpdateFeed(ctx, id, func(f *mapdata.Feed) (Side, error) {
		if !by.owns(f) {
			return Side{}, mapdata.ErrNotFound
		}
		wait := f.Polling.LastFetchedAt.Add(fetchNowEvery).Sub(now)
		switch {
		case f.Direction != mapdata.Pull:
			return Side{}, mapdata.Explain(mapdata.ErrConflict, "not_fetched", "A push feed is not fetched: it is pushed to.")
		case !f.Active:
			return Side{}, mapdata.Explain(mapdata.ErrConflict, "feed_inactive", "The feed is not active. Resume it first; it is fetched at once then.")
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
	s.changed()
	return nil
}

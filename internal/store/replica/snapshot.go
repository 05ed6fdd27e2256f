package replica

import (
	"context"
	"time"

	"wayside/internal/ground/mapdata"
)

// progressStep is the number of entities between two reports of progress.
const progressStep = 50_000

// snapshot reads the store for the loads of projections.
type snapshot struct {
	store Store
	opts  *Options
	feeds []*mapdata.Feed
}

// openSnapshot reads the feeds, which all projections share.
func openSnapshot(ctx context.Context, store Store, opts *Options) (*snapshot, error) {
	s := &snapshot{store: store, opts: opts}
	err := store.AllFeeds(ctx, func(feed *mapdata.Feed) {
		own := *feed
		s.feeds = append(s.feeds, &own)
	})
	return s, err
}

// Feeds returns every feed.
func (s *snapshot) Feeds() []*mapdata.Feed { return s.feeds }

// Entities yields the entities of one part, and reports progress.
func (s *snapshot) Entities(ctx context.Context, part, parts int, yield func(*mapdata.Entity)) error {
	n := 0
	return s.store.AllEntities(ctx, part, parts, func(e *mapdata.Entity) {
		yield(e)
		if n++; n%progressStep == 0 && s.opts.Progress != nil {
			s.opts.Progress(progressStep)
		}
	})
}

// FeedTallies yields recent tallies, and older ones of stored entities.
func (s *snapshot) FeedTallies(ctx context.Context, since time.Time, yield func(*mapdata.Tally)) error {
	err := s.store.AllTallies(ctx, since, func(t *mapdata.Tally) {
		if t.Source != mapdata.Incidents {
			yield(t)
		}
	})
	if err != nil {
		return err
	}
	return s.store.OldTallies(ctx, since, yield)
}

// LiveTallies yields recent tallies of live incidents of a kind.
func (s *snapshot) LiveTallies(ctx context.Context, kind mapdata.Kind, since time.Time, yield func(*mapdata.Tally)) error {
	return s.store.LiveTallies(ctx, kind, since, yield)
}

// Attempts yields the attempts that are needed for health.
func (s *snapshot) Attempts(ctx context.Context, yield func(*mapdata.FeedAttempt)) error {
	return s.store.RecentAttempts(ctx, s.opts.Now().Add(-mapdata.RecentPushes), yield)
}

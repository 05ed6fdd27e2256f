package feed

import (
	"context"
	"fmt"
	"time"

	"wayside/internal/ground/mapdata"
)

// Counting a feed's entities reads all of them: 0.4 s for 200 000. A slow count is therefore cached for a multiple of its
// duration, so that repeated requests keep the database busy for about 1 % of the time. Fast counts are not cached.
const (
	minCachedCount   = 5 * time.Millisecond // faster counts are not cached
	countCacheFactor = 100                  // a count is cached for this multiple of its duration
)

// count returns how many of the feed's entities have not expired.
func (s *Service) count(ctx context.Context, id mapdata.FeedID) (int, error) {
	begin := s.Now()
	return s.counts.get(ctx, id, begin, func() (int, time.Time, error) {
		n, err := s.Store.CountEntities(ctx, id, s.now())
		if err != nil {
			return 0, time.Time{}, fmt.Errorf("count entities: %w", err)
		}
		end := s.Now()
		took := end.Sub(begin)
		if took < minCachedCount {
			return n, time.Time{}, nil
		}
		return n, end.Add(countCacheFactor * took), nil
	})
}

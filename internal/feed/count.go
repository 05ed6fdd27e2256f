package feed

import (
	"context"
	"fmt"
	"time"

	"wayside/internal/mapdata"
)

// Counting a feed's entities reads all of them: 0.4 s for 200 000. So a count that took long is repeated for a while: a
// caller who asks again and again keeps the database busy for a small share of the time. Counts of small feeds are always
// new.
const (
	slowCount = 5 * time.Millisecond // a quicker one is not kept
	countRest = 100                  // a count is repeated for so many times what it took
)

// count gives how many of the feed's entities have not expired.
func (s *Service) count(ctx context.Context, id mapdata.FeedID) (int, error) {
	begin := s.Now()
	return s.counts.get(ctx, id, begin, func() (int, time.Time, error) {
		n, err := s.Store.CountEntities(ctx, id, s.now())
		if err != nil {
			return 0, time.Time{}, fmt.Errorf("count entities: %w", err)
		}
		end := s.Now()
		took := end.Sub(begin)
		if took < slowCount {
			return n, time.Time{}, nil
		}
		return n, end.Add(countRest * took), nil
	})
}

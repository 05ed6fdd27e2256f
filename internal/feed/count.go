package feed

import (
	"context"
	"fmt"
	"sync"
	"time"

	"wayside/internal/mapdata"
)

// Counting a feed's entities reads all of them: 0.4 s for 200 000. So a count that took long is repeated for a while, and
// whoever asks on and on keeps the database busy for a small share of the time. Counts of small feeds are always new.
const (
	slowCount   = 5 * time.Millisecond // a quicker one is not kept
	countRest   = 100                  // a count is repeated for so many times what it took
	keptCounts  = 1000                 // in each part
	countsParts = 16                   // feeds of different parts are counted side by side
)

// counts keeps the counts that took long. The zero value keeps none.
type counts [countsParts]struct {
	mu     sync.Mutex // held while counting: who wants the same count waits for it
	byFeed map[mapdata.FeedID]count
}

type count struct {
	entities int
	until    time.Time
}

// of counts the feed's entities, or repeats a count.
func (c *counts) of(ctx context.Context, s *Service, id mapdata.FeedID) (int, error) {
	part := &c[id[len(id)-1]%countsParts]
	part.mu.Lock()
	defer part.mu.Unlock()
	begin := s.Now()
	if kept, ok := part.byFeed[id]; ok && begin.Before(kept.until) {
		return kept.entities, nil
	}
	n, err := s.Store.CountEntities(ctx, id, s.now())
	if err != nil {
		return 0, fmt.Errorf("count entities: %w", err)
	}
	delete(part.byFeed, id)
	end := s.Now()
	if took := end.Sub(begin); took >= slowCount {
		if part.byFeed == nil || len(part.byFeed) >= keptCounts {
			part.byFeed = make(map[mapdata.FeedID]count)
		}
		part.byFeed[id] = count{n, end.Add(countRest * took)}
	}
	return n, nil
}

package service

import (
	"context"
	"time"

	"wayside/internal/feeds/ingest"
	"wayside/internal/ground/mapdata"
	"wayside/internal/store/replica"
)

// publishedWait bounds how long the answer to a change waits until this node shows the change. Usually that takes one or two
// milliseconds, and a few more where conditions on roads change.
const publishedWait = 50 * time.Millisecond

// published delays the answer to a change until the next read, route and stream of this node see the change (D3.4, D12.7).
type published struct {
	replica *replica.Follower
	roads   *roads
}

func (s *Service) published() published { return published{s.replica, s.roads} }

// Await waits until this node shows the changes that were committed before the call, for publishedWait at most. The changes are
// stored in any case.
func (p published) Await(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, publishedWait)
	defer cancel()
	p.replica.Await(ctx)
	p.roads.await(ctx)
}

// AwaitRoads waits until routes see the changes that readers of this node see, for publishedWait at most.
func (p published) AwaitRoads(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, publishedWait)
	defer cancel()
	p.roads.await(ctx)
}

// pushFromPage stores rows that a page for people sent.
func (s *Service) pushFromPage(ctx context.Context, feed mapdata.FeedID, rows *ingest.Batch) (ingest.Report, error) {
	report, err := s.ingester.Push(ctx, feed, rows)
	if err == nil {
		s.published().Await(ctx)
	}
	return report, err
}

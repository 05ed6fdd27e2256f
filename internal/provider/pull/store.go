package pull

import (
	"context"
	"time"

	"wayside/internal/mapdata"
)

// Store hands out due feeds and records polls that failed. What a good poll brings goes through ingest.
type Store interface {
	// Claim leases at most limit active pull feeds whose NextFetchAt is not after now and that nobody else holds, oldest
	// due first, to this node until the given time. A node that dies loses its leases then.
	Claim(ctx context.Context, node string, now, until time.Time, limit int) ([]mapdata.Feed, error)
	// Release gives a lease back without a result, so that the feed is due again immediately: the node is shutting down.
	// A lease that no longer matches is left alone, which is no error.
	Release(ctx context.Context, feed mapdata.FeedID, lease mapdata.Lease) error
	// PollFailed records a failed poll and ends the lease. It fails with mapdata.ErrFenced, having changed nothing, when
	// the lease no longer matches: the feed was edited, or another node has claimed it. A feed that is gone is no error.
	PollFailed(ctx context.Context, failed *mapdata.PollFailed) error
}

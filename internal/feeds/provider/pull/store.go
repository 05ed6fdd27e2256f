package pull

import (
	"context"
	"time"

	"wayside/internal/ground/mapdata"
)

// Store leases due feeds and records polls that failed. Good polls are stored by ingest.
type Store interface {
	// Claim leases to this node, until the given time, at most limit active pull feeds whose NextFetchAt is not after
	// now and that no other node holds, oldest due first. A node that dies loses its leases then.
	Claim(ctx context.Context, node string, now, until time.Time, limit int) ([]mapdata.Feed, error)
	// Release releases a lease without a result, so that the feed is due again immediately, because the node is
	// shutting down. A lease that no longer matches is left alone, without an error.
	Release(ctx context.Context, feed mapdata.FeedID, lease mapdata.Lease) error
	// PollFailed records a failed poll and ends the lease. It fails with mapdata.ErrFenced, having changed nothing,
	// when the lease no longer matches: the feed was edited, or another node has claimed it. A feed that no longer
	// exists is not an error.
	PollFailed(ctx context.Context, failed *mapdata.PollFailed) error
}

package push

import (
	"context"

	"wayside/internal/mapdata"
)

// Store knows the feeds that may be pushed to.
type Store interface {
	// FeedByPushToken reads the active push feed whose token has this hash, or fails with mapdata.ErrNotFound.
	FeedByPushToken(ctx context.Context, hash []byte) (*mapdata.Feed, error)
	// RecordAttempt records a push that was refused. It changes no entity. A feed that is gone by now is no error.
	RecordAttempt(ctx context.Context, feed mapdata.FeedID, attempt mapdata.Attempt) error
}

// Published lets the answer to a push wait until the node that gives it shows the rows (D3.4, D12.7).
type Published interface {
	// Await waits until readers of this node see what was committed before the call, for a short time at most.
	Await(ctx context.Context)
}

package push

import (
	"context"

	"wayside/internal/ground/mapdata"
)

// Store stores the feeds that accept pushes.
type Store interface {
	// FeedByPushToken returns the active push feed whose token has this hash, or fails with mapdata.ErrNotFound.
	FeedByPushToken(ctx context.Context, hash []byte) (*mapdata.Feed, error)
	// RecordAttempt records a push that was refused. It changes no entity. A feed that no longer exists is not an
	// error.
	RecordAttempt(ctx context.Context, feed mapdata.FeedID, attempt mapdata.Attempt) error
}

// Published delays the answer to a push until this node shows the rows to readers (D3.4, D12.7).
type Published interface {
	// Await waits until readers of this node see the changes committed before the call, for a short time at most.
	Await(ctx context.Context)
}

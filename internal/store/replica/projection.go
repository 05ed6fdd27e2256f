package replica

import (
	"context"
	"time"

	"wayside/internal/ground/mapdata"
)

// Projection is a view of the store in memory. The follower calls its methods from one goroutine at a time; reads are
// concurrent.
//
// The result of Load or Apply is published before either is called again, or it is discarded, which must have no effect.
// Readers see the earlier state until Publish.
type Projection interface {
	// Load builds a new view from the store, without affecting readers. When it fails, nothing has changed.
	Load(ctx context.Context, from mapdata.StoreSnapshot) (mapdata.Staged, error)
	// Apply builds the next view from the current one and the changes. It does no I/O, so it cannot fail.
	Apply(changes []mapdata.FeedChange) mapdata.Staged
}

// Sweeper is a projection with entries that expire.
type Sweeper interface {
	// Sweep removes entries that had expired at the given time, and returns the entities that the store may remove too. Readers
	// must ignore expired entries already.
	Sweep(before time.Time) []mapdata.Expired
}

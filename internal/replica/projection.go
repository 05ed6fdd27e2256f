package replica

import (
	"context"
	"time"

	"wayside/internal/mapdata"
)

// Projection is a view of the store in memory. The replica calls its methods from one goroutine at a time; any number of
// others read it meanwhile.
//
// What Load and Apply return is published before either is called again, or never: then it must leave no trace. Readers see
// the earlier state until Publish.
type Projection interface {
	// Load builds the whole view anew, beside the one that readers see. When it fails, nothing has changed.
	Load(ctx context.Context, from mapdata.StoreSnapshot) (mapdata.Staged, error)
	// Apply builds the next view from the present one and the changes. It needs nothing but memory, and so cannot fail.
	Apply(changes []mapdata.FeedChange) mapdata.Staged
}

// Sweeper is a projection that holds what expires.
type Sweeper interface {
	// Sweep forgets what had expired at the given time, and names what the store may forget too. Readers must have passed over
	// it already.
	Sweep(before time.Time) []mapdata.Expired
}

package ingest

import (
	"context"

	"wayside/internal/mapdata"
)

// Store is where accepted rows go.
type Store interface {
	// Mark reads the state of a feed to compare against. It fails with mapdata.ErrNotFound for an unknown feed.
	Mark(ctx context.Context, feed mapdata.FeedID) (mapdata.Mark, error)

	// Stored yields what the feed holds under the given external ids, or everything it holds when ids is nil, in no
	// order. It may see changes later than an earlier Mark; Apply then refuses.
	Stored(ctx context.Context, feed mapdata.FeedID, ids []string, yield func(mapdata.Stored)) error

	// Apply stores a change whole, durably, before it returns. It fails with mapdata.ErrConflict, having changed nothing,
	// when the feed's entities moved since the change's Base, with mapdata.ErrFenced when the lease of its snapshot no
	// longer matches, with mapdata.ErrNotFound when the feed is gone, and with mapdata.ErrUnavailable when there is no room.
	Apply(ctx context.Context, change *mapdata.Change) error
}

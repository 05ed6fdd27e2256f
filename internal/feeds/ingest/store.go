package ingest

import (
	"context"

	"wayside/internal/ground/mapdata"
)

// Store stores changes of feeds.
type Store interface {
	// Mark reads the state of a feed to compare against. It fails with mapdata.ErrNotFound for an unknown feed.
	Mark(ctx context.Context, feed mapdata.FeedID) (mapdata.Mark, error)

	// Stored yields the feed's entities with the given external ids, or all of them when ids is nil, in no order. It
	// may see changes later than an earlier Mark; Apply then refuses.
	Stored(ctx context.Context, feed mapdata.FeedID, ids []string, yield func(mapdata.Stored)) error

	// Apply stores a change as a whole, durably, before it returns. It fails, having changed nothing, with
	// mapdata.ErrConflict when the feed's entities changed since the change's Base, with mapdata.ErrFenced when the
	// lease of its snapshot no longer matches, with mapdata.ErrNotFound when the feed is gone, and with
	// mapdata.ErrUnavailable when there is no room.
	Apply(ctx context.Context, change *mapdata.Change) error
}

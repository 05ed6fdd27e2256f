package index

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"wayside/internal/ground/mapdata"
)

// loadParts is the number of parts of the store that are read in parallel, unless readers need the processors.
const loadParts = 2

// Projection loads the content of the store into an index, and follows its changes.
type Projection struct {
	*Index
	Now func() time.Time
}

// Load builds the index from nothing, from the content of the store.
func (p Projection) Load(ctx context.Context, from mapdata.StoreSnapshot) (mapdata.Staged, error) {
	loader := p.Index.Load(from.Feeds(), loadParts)
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(p.atOnce())
	for part := range loadParts {
		group.Go(func() error { return from.Entities(groupCtx, part, loadParts, loader.Part(part).Add) })
	}
	var votes []mapdata.Tally
	group.Go(func() error {
		return from.FeedTallies(groupCtx, mapdata.OldestSuppression(p.Now()), func(t *mapdata.Tally) { votes = append(votes, *t) })
	})
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("load entities: %w", err)
	}
	return loader.Stage(votes), nil
}

// atOnce returns how many reads of the store run in parallel. While there is an index to read from, one processor
// remains free for its readers: otherwise a node of two processors answers less than half of its reads while it reloads
// everything.
func (p Projection) atOnce() int {
	if p.Len() > 0 {
		return max(1, min(runtime.GOMAXPROCS(0)-1, loadParts))
	}
	return loadParts + 1 // and the votes
}

// Apply stages changes of entities, feeds and votes.
func (p Projection) Apply(changes []mapdata.FeedChange) mapdata.Staged {
	return p.Stage(changes)
}

// Sweep removes and returns the entities that had expired at the given time. It also removes the votes on entities that
// are gone, once these could come back without being hidden by them.
func (p Projection) Sweep(before time.Time) []mapdata.Expired {
	expired := p.Index.Sweep(before)
	p.forgetVotes(mapdata.OldestSuppression(before))
	return expired
}

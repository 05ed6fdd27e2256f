package ingest

import (
	"context"
	"sync"

	"wayside/internal/ground/mapdata"
)

// turns serialises the pushes to one feed, because the store would refuse concurrent ones and they would be compared
// again. Pushes to other feeds do not wait. A snapshot needs no turn: a pull feed has no push token, and the lease of
// its poll excludes a second snapshot. The zero value is ready to use.
type turns struct {
	mu     sync.Mutex
	byFeed map[mapdata.FeedID]*turn // of the feeds with a push in progress
}

type turn struct {
	taken chan struct{} // holds one token while a push has the turn
	users int           // pushes that have the turn or wait for it
}

// take waits for the feed's turn. It fails with the error of ctx when that ends first; otherwise the caller ends the
// turn with done.
func (t *turns) take(ctx context.Context, feed mapdata.FeedID) (done func(), err error) {
	t.mu.Lock()
	mine := t.byFeed[feed]
	if mine == nil {
		if t.byFeed == nil {
			t.byFeed = make(map[mapdata.FeedID]*turn)
		}
		mine = &turn{taken: make(chan struct{}, 1)}
		t.byFeed[feed] = mine
	}
	mine.users++
	t.mu.Unlock()
	select {
	case mine.taken <- struct{}{}:
		return func() {
			<-mine.taken
			t.leave(feed, mine)
		}, nil
	case <-ctx.Done():
		t.leave(feed, mine)
		return nil, ctx.Err()
	}
}

// leave removes the feed when no push uses its turn any more.
func (t *turns) leave(feed mapdata.FeedID, mine *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if mine.users--; mine.users == 0 {
		delete(t.byFeed, feed)
	}
}

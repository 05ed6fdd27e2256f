package ingest

import (
	"context"
	"sync"

	"wayside/internal/mapdata"
)

// turns lets the pushes to one feed into the store one after the other: side by side they would refuse each other there and
// be compared again. Pushes to other feeds do not wait. A snapshot needs no turn: a pull feed has no push token, and the
// lease of its poll keeps a second snapshot away. The zero value is ready to use.
type turns struct {
	mu     sync.Mutex
	byFeed map[mapdata.FeedID]*turn // of the feeds that are pushed to now
}

type turn struct {
	taken chan struct{} // holds one token while somebody has the turn
	users int           // pushes that have the turn or wait for it
}

// take waits for the feed's turn. It fails with the error of ctx when that ends first; otherwise the caller ends the turn
// with done.
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

// leave forgets the feed when nobody uses its turn any more.
func (t *turns) leave(feed mapdata.FeedID, mine *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if mine.users--; mine.users == 0 {
		delete(t.byFeed, feed)
	}
}

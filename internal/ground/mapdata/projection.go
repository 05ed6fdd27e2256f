package mapdata

import (
	"context"
	"time"
)

// StoreSnapshot is the content of the store, from which a projection builds its view. Its methods may be called from
// several goroutines. Except for the feeds, yielded values are valid only during the call, and may be newer than the
// feeds; later changes follow as FeedChanges.
type StoreSnapshot interface {
	// Feeds returns every feed. The slice and the feeds are shared and never change.
	Feeds() []*Feed
	// Entities yields every stored entity of part number part of parts (feeds are divided among the parts), so that
	// several parts can be read in parallel.
	Entities(ctx context.Context, part, parts int, yield func(*Entity)) error
	// FeedTallies yields the tallies of entities of feeds: those that changed since the given time, and older ones of
	// stored entities.
	FeedTallies(ctx context.Context, since time.Time, yield func(*Tally)) error
	// LiveTallies yields the tallies of live incidents of the kind that changed since the given time.
	LiveTallies(ctx context.Context, kind Kind, since time.Time, yield func(*Tally)) error
	// Attempts yields the attempts that health counts, in the order of their revisions for each feed.
	Attempts(ctx context.Context, yield func(*FeedAttempt)) error
}

// Staged is the next state of a projection, built beside the one that readers see.
type Staged interface {
	// Publish makes the state visible to readers and returns where it changed. It is quick and does not fail.
	Publish() Touched
}

// FeedAttempt is an attempt with the feed that made it and the revision that recorded it.
type FeedAttempt struct {
	Feed     FeedID
	Revision int64
	Attempt
}

// Expired names entities of one feed that have expired.
type Expired struct {
	Feed        FeedID
	ExternalIDs []string
}

// Merge adds the changes of another projection.
func (t *Touched) Merge(other Touched) {
	t.Everywhere = t.Everywhere || other.Everywhere
	t.Areas = append(t.Areas, other.Areas...)
	t.Returns = append(t.Returns, other.Returns...)
	t.Live = append(t.Live, other.Live...)
	t.Accounts = append(t.Accounts, other.Accounts...)
}

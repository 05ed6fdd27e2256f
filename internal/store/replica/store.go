package replica

import (
	"context"
	"time"

	"wayside/internal/ground/mapdata"
)

// Store is the database that a replica follows.
type Store interface {
	// State returns the state of the log of changes.
	State(ctx context.Context) (mapdata.StoreState, error)
	// AllFeeds yields every feed.
	AllFeeds(ctx context.Context, yield func(*mapdata.Feed)) error
	// AllEntities yields every stored entity of part number part of parts (feeds are divided among the parts), so that
	// parts can load concurrently. Yielded values are valid only during the call.
	AllEntities(ctx context.Context, part, parts int, yield func(*mapdata.Entity)) error
	// AllTallies yields the tallies of entities whose newest vote was cast or withdrawn since the given time, and of
	// those that a curator hides; zero: all, including earlier lives. Yielded values are valid only during the call.
	AllTallies(ctx context.Context, since time.Time, yield func(*mapdata.Tally)) error
	// OldTallies yields the tallies of entities of feeds that are stored, if the newest vote was cast or withdrawn before the
	// given time. Yielded values are valid only during the call.
	OldTallies(ctx context.Context, before time.Time, yield func(*mapdata.Tally)) error
	// LiveTallies yields the tallies of live incidents of the kind that changed since the given time. Yielded values are
	// valid only during the call.
	LiveTallies(ctx context.Context, kind mapdata.Kind, since time.Time, yield func(*mapdata.Tally)) error
	// Changes reads the changes after the given revision, in the order of revisions, at most about limit entities (a
	// revision is never split). Entities have their current state, which may be newer than the revision. A
	// revision of votes carries tallies and no entities.
	Changes(ctx context.Context, after int64, limit int) ([]mapdata.FeedChange, error)
	// RecordedAttempts reads the attempts that were recorded by the revisions after the given one, up to and including upTo, in the
	// order of revisions.
	RecordedAttempts(ctx context.Context, after, upTo int64) ([]mapdata.FeedAttempt, error)
	// RecentAttempts yields each feed's newest mapdata.RecentPolls attempts and those later than since, in the order of
	// revisions. Yielded values are valid only during the call.
	RecentAttempts(ctx context.Context, since time.Time, yield func(*mapdata.FeedAttempt)) error
	// Forget removes those of the given entities of a feed that had expired before the given time, are still expired, and
	// are not kept by a confirm (D9.6). It writes no change to the log.
	Forget(ctx context.Context, feed mapdata.FeedID, externalIDs []string, before time.Time) error
}

package replica

import (
	"context"
	"time"

	"wayside/internal/mapdata"
)

// Store is what a replica follows.
type Store interface {
	// State tells where the log of changes stands.
	State(ctx context.Context) (mapdata.StoreState, error)
	// AllFeeds yields every feed.
	AllFeeds(ctx context.Context, yield func(*mapdata.Feed)) error
	// AllEntities yields every stored entity of part number part of parts (feeds are divided among the parts), so that
	// several can load side by side. What is yielded is valid only during the call.
	AllEntities(ctx context.Context, part, parts int, yield func(*mapdata.Entity)) error
	// AllTallies yields what the votes on each entity add up to that were cast or taken back since then; zero: all, also of
	// lives that are over. What is yielded is valid only during the call.
	AllTallies(ctx context.Context, since time.Time, yield func(*mapdata.Tally)) error
	// OldTallies yields the tallies of entities of feeds that are stored, if the newest vote was cast or taken back before
	// the given time. What is yielded is valid only during the call.
	OldTallies(ctx context.Context, before time.Time, yield func(*mapdata.Tally)) error
	// LiveTallies yields the tallies of live incidents of the kind that changed since the given time. What is yielded is valid
	// only during the call.
	LiveTallies(ctx context.Context, kind mapdata.Kind, since time.Time, yield func(*mapdata.Tally)) error
	// Changes reads what changed after the given revision, in the order of revisions, at most about limit entities (one
	// revision is never divided). Entities come as they are now, which may be newer than the revision says. A
	// revision of votes carries tallies and no entities.
	Changes(ctx context.Context, after int64, limit int) ([]mapdata.FeedChange, error)
	// RecordedAttempts reads the attempts that were recorded by the revisions after the one given, up to and including upTo,
	// in the order of revisions.
	RecordedAttempts(ctx context.Context, after, upTo int64) ([]mapdata.FeedAttempt, error)
	// RecentAttempts yields each feed's newest mapdata.RecentPolls attempts and those later than since, in the order of
	// revisions. What is yielded is valid only during the call.
	RecentAttempts(ctx context.Context, since time.Time, yield func(*mapdata.FeedAttempt)) error
	// Forget removes the named entities of a feed that expired before the given time and still are, and that no confirm
	// keeps (D9.6). It leaves no change in the log.
	Forget(ctx context.Context, feed mapdata.FeedID, externalIDs []string, before time.Time) error
}

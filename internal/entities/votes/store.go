package votes

import (
	"context"
	"time"

	"wayside/internal/ground/mapdata"
)

// Store persists votes.
type Store interface {
	// CastVote durably stores a ballot together with the service's record of the entity, in one transaction (Live
	// incidents, 2; D9.2), and returns the entity with its current votes. Withdrawing a vote that does not exist
	// changes nothing. It fails with mapdata.ErrNotFound for an entity of a feed that is not stored or has expired at
	// b.At, for a live incident without its own record, and for an account that does not exist.
	CastVote(ctx context.Context, b *mapdata.Ballot) (mapdata.Voted, error)
	// Voted returns an entity of a feed that is alive at now, with the votes that count for it, or fails with
	// mapdata.ErrNotFound.
	Voted(ctx context.Context, feed mapdata.FeedID, externalID string, now time.Time) (mapdata.Voted, error)
	// Vote returns the account's standing vote on an entity in the tally's current life: mapdata.NoVote if it has none,
	// withdrew it, or it was anonymized (D9.7).
	Vote(ctx context.Context, source mapdata.SourceID, externalID string, account mapdata.AccountID) (mapdata.Vote, error)
}

package votes

import (
	"context"
	"time"

	"wayside/internal/mapdata"
)

// Store keeps votes.
type Store interface {
	// CastVote stores a ballot together with the service's own record of the entity, in one transaction, durably (Live
	// incidents, 2; D9.2), and gives the entity with its votes as they are now. To take back a vote that does not stand
	// changes nothing. It fails with mapdata.ErrNotFound for an entity of a feed that is not stored or has expired at
	// b.At, for a live incident without a record of its own, and for an account that is gone.
	CastVote(ctx context.Context, b *mapdata.Ballot) (mapdata.Voted, error)
	// Voted reads an entity of a feed that is alive at now, with the votes that count for it, or fails with
	// mapdata.ErrNotFound.
	Voted(ctx context.Context, feed mapdata.FeedID, externalID string, now time.Time) (mapdata.Voted, error)
	// Vote gives the account's standing vote on an entity, of the life that its tally is of: mapdata.NoVote if it has none,
	// or took it back, or was severed from it (D9.7).
	Vote(ctx context.Context, source mapdata.SourceID, externalID string, account mapdata.AccountID) (mapdata.Vote, error)
}

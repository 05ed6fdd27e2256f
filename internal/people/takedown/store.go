package takedown

import (
	"context"
	"time"

	"wayside/internal/ground/mapdata"
)

// Store persists takedowns and complaints. Every method is one transaction.
type Store interface {
	// HidePin stores a decision with its entries and e-mails, and returns the entity. A later decision replaces an earlier one.
	// It fails with mapdata.ErrNotFound for an entity of a feed that is not stored or has expired.
	HidePin(ctx context.Context, p *mapdata.PinTakedown) (mapdata.Voted, error)
	// ShowPin ends a hiding at p.At, or fails with mapdata.ErrNotFound.
	ShowPin(ctx context.Context, p *mapdata.PinTakedown) error
	// HiddenPins lists the hidden pins at now, the newest decision first, at most limit; those of one source, unless it
	// is empty.
	HiddenPins(ctx context.Context, source mapdata.SourceID, now time.Time, limit int) ([]mapdata.HiddenPin, error)
	// Feed reads one feed, or fails with mapdata.ErrNotFound.
	Feed(ctx context.Context, id mapdata.FeedID) (*mapdata.Feed, error)

	// Complain stores a complaint; it replaces the account's open complaint on the source. It fails with a *mapdata.LimitError
	// for an account that complained limit times since the given time.
	Complain(ctx context.Context, c *mapdata.Complaint, since time.Time, limit int) error
	// Complaints lists the open complaints, the oldest first, at most limit, and returns the number of all open ones.
	Complaints(ctx context.Context, limit int) ([]mapdata.Complaint, int, error)
	// CloseComplaint closes an open complaint with the audit entry that entry returns for its source, or fails with
	// mapdata.ErrNotFound.
	CloseComplaint(ctx context.Context, id string, at time.Time, entry func(mapdata.SourceID) mapdata.AuditEntry) error
}

// Live finds live incidents. It is declared here so that takedowns do not depend on upstreams.
type Live interface {
	// Find returns the live incident with the external id, or fails with mapdata.ErrNotFound.
	Find(ctx context.Context, externalID string) (mapdata.Voted, error)
}

// Published delays the answer to a change until this node shows the change (D12.7).
type Published interface {
	// Await waits until readers of this node see the changes committed before the call, for a short time at most.
	Await(ctx context.Context)
}

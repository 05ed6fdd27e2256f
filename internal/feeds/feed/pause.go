package feed

import (
	"context"
	"fmt"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/review"
)

// mayTakeDown checks that the actor may decide on somebody else's feed. Curators must not learn of private feeds that
// do not wait for a review, so that these count as not found.
func mayTakeDown(by mapdata.Actor, f *mapdata.Feed) error {
	public := f.Visibility == mapdata.Public || f.ReviewState == mapdata.Pending || f.Pause.InForce()
	switch {
	case !by.IsOperator() && manages(by, f):
		return mapdata.Explain(mapdata.ErrForbidden, "own_feed", "Another curator has to decide on your own feed.")
	case !by.IsOperator() && !public:
		return mapdata.ErrNotFound
	}
	return nil
}

// Pause stops serving a feed of somebody else until Resume: it remains stored, hidden like a private one, and is
// neither polled nor pushed to. Its owner gets the reason, 1 to 500 characters, in an e-mail and on the feed's page,
// and cannot end the pause. It fails with mapdata.ErrForbidden for an actor who may not review, with
// mapdata.ErrNotFound, and with a *mapdata.InvalidError for the reason.
func (s *Service) Pause(ctx context.Context, by mapdata.Actor, id mapdata.FeedID, reason string) (*View, error) {
	if err := review.CheckCurator(by, "Only curators pause feeds of others."); err != nil {
		return nil, err
	}
	reason, err := mapdata.CleanReason(reason)
	if err != nil {
		return nil, err
	}
	pause := mapdata.Pause{By: mapdata.PausedByCurator, Reason: reason, At: s.now()}
	if by.IsOperator() {
		pause.By = mapdata.PausedByOperator
	}
	return s.setPause(ctx, by, id, mapdata.AuditCuratorPause, mapdata.EmailFeedPaused, func(f *mapdata.Feed) (mapdata.Pause, error) {
		if f.Pause.By == pause.By && f.Pause.Reason == pause.Reason {
			return f.Pause, review.ErrDecided
		}
		return pause, nil
	})
}

// Resume ends a pause: the feed is served again as it was. A feed of a suspended account stays paused until the account is
// resumed. It fails as Pause does, and with mapdata.ErrConflict for a feed that is paused only by its owner's suspension.
func (s *Service) Resume(ctx context.Context, by mapdata.Actor, id mapdata.FeedID) (*View, error) {
	if err := review.CheckCurator(by, "Only curators resume feeds that a curator paused."); err != nil {
		return nil, err
	}
	return s.setPause(ctx, by, id, mapdata.AuditCuratorResume, mapdata.EmailFeedResumed, func(f *mapdata.Feed) (mapdata.Pause, error) {
		switch f.Pause.By {
		case mapdata.PausedByNobody:
			return f.Pause, review.ErrDecided
		case mapdata.PausedBySuspension:
			return f.Pause, mapdata.Explain(mapdata.ErrConflict, "suspended", "The owner's account is suspended: its feeds come back with it.")
		case mapdata.PausedByCurator, mapdata.PausedByOperator:
		}
		// Read while the feed is locked: a suspension waits for the feed, or is visible here.
		owner, err := s.Store.Account(ctx, f.Owner)
		if err != nil {
			return f.Pause, fmt.Errorf("read owner: %w", err)
		}
		if owner.Suspended() {
			return mapdata.Pause{By: mapdata.PausedBySuspension, Reason: owner.Suspension.Reason, At: owner.Suspension.At}, nil
		}
		return mapdata.Pause{}, nil
	})
}

func (s *Service) setPause(
	ctx context.Context, by mapdata.Actor, id mapdata.FeedID, action string, email mapdata.EmailKind, next func(*mapdata.Feed) (mapdata.Pause, error),
) (*View, error) {
	now := s.now()
	f, changed, err := review.Decide(ctx, s.Store.UpdateFeed, id, func(f *mapdata.Feed) (Side, error) {
		if err := mayTakeDown(by, f); err != nil {
			return Side{}, err
		}
		pause, err := next(f)
		if err != nil {
			return Side{}, err
		}
		before := *f
		f.Pause, f.UpdatedAt = pause, now
		reschedule(f, &before, now)
		return Side{
			Audit:  []mapdata.AuditEntry{auditEntry(ctx, by, now, action, f, pause.Reason)},
			Emails: []mapdata.Email{decisionEmail(f, email, pause.Reason, now)},
		}, nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", action, err)
	}
	if !changed {
		return s.Get(ctx, by, id)
	}
	s.changed(ctx)
	return s.full(ctx, by, f)
}

// Remove deletes a feed of somebody else with its layer and its entities. Its owner gets the reason in an e-mail. It
// fails as Pause does.
func (s *Service) Remove(ctx context.Context, by mapdata.Actor, id mapdata.FeedID, reason string) error {
	if err := review.CheckCurator(by, "Only curators remove feeds of others."); err != nil {
		return err
	}
	reason, err := mapdata.CleanReason(reason)
	if err != nil {
		return err
	}
	f, err := s.Store.Feed(ctx, id)
	if err != nil {
		return fmt.Errorf("read feed: %w", err)
	}
	if err := mayTakeDown(by, f); err != nil {
		return err
	}
	if f.Builtin() {
		return errBuiltin()
	}
	now := s.now()
	email := decisionEmail(f, mapdata.EmailFeedRemoved, reason, now)
	delete(email.Data, "feed_id") // its page no longer exists
	if err := s.Store.DeleteFeed(ctx, id, auditEntry(ctx, by, now, mapdata.AuditCuratorRemove, f, f.Name+": "+reason), email); err != nil {
		return fmt.Errorf("remove feed: %w", err)
	}
	s.changed(ctx)
	return nil
}

// decisionEmail returns the e-mail that informs the owner of a decision, with its reason.
func decisionEmail(f *mapdata.Feed, kind mapdata.EmailKind, reason string, at time.Time) mapdata.Email {
	return mapdata.Email{
		Account: f.Owner, Kind: kind, At: at, Due: at,
		Data: map[string]string{"feed_name": f.Name, "feed_id": f.ID.String(), "note": reason},
	}
}

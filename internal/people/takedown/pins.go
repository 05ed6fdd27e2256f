package takedown

import (
	"context"
	"errors"
	"fmt"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/review"
	"wayside/internal/ground/signal"
)

// Config holds the dependencies of a Service.
type Config struct {
	Store   Store
	Live    Live // nil: there are no live incidents here, such as on the command line
	Now     func() time.Time
	Signals signal.Set
	// Published delays answers until this node shows the change; nil: no delay.
	Published Published
}

// Service implements the use cases. Its methods are safe for concurrent use.
type Service struct{ Config }

// New creates a Service.
func New(c Config) *Service { return &Service{c} }

func (s *Service) now() time.Time { return s.Now().UTC().Truncate(time.Millisecond) }

// MaxListed is the number of pins or complaints in one answer.
const MaxListed = 200

// LongestHiding bounds a hiding that has an end.
const LongestHiding = 366 * 24 * time.Hour

// Order is a curator's request to hide a pin.
type Order struct {
	Reason string
	Until  time.Time // zero: permanently
}

// Hide hides a pin from all readers but its provider and curators, regardless of later rows of its source. The provider
// gets an e-mail with the reason. Hiding it again replaces reason and end. It fails with mapdata.ErrForbidden for an
// actor who may not review, with mapdata.ErrNotFound for a pin that does not exist, and with a *mapdata.InvalidError.
func (s *Service) Hide(ctx context.Context, by mapdata.Actor, id string, o Order) (*mapdata.HiddenPin, error) {
	if err := review.CheckCurator(by, "Only curators hide pins."); err != nil {
		return nil, err
	}
	p, f, err := s.target(ctx, by, id)
	if err != nil {
		return nil, err
	}
	if p.Hiding, err = s.check(o, f == nil, p.At); err != nil {
		return nil, err
	}
	if f == nil {
		if p.Live, err = s.findLive(ctx, p.ExternalID); err != nil {
			return nil, err
		}
	}
	s.describe(ctx, p, by, f, id, mapdata.AuditPinHide, mapdata.EmailPinHidden)
	voted, err := s.Store.HidePin(ctx, p)
	if errors.Is(err, mapdata.ErrNotFound) {
		return nil, noPin()
	}
	if err != nil {
		return nil, fmt.Errorf("hide pin: %w", err)
	}
	s.changed(ctx)
	return &mapdata.HiddenPin{Source: p.Source, ExternalID: p.ExternalID, Kind: voted.Entity.Kind, HiddenAt: p.At, Hiding: p.Hiding}, nil
}

// Show ends the hiding of a pin. It fails as Hide does, and with mapdata.ErrConflict for a pin that is not hidden.
func (s *Service) Show(ctx context.Context, by mapdata.Actor, id string) error {
	if err := review.CheckCurator(by, "Only curators show pins again."); err != nil {
		return err
	}
	p, f, err := s.target(ctx, by, id)
	if err != nil {
		return err
	}
	s.describe(ctx, p, by, f, id, mapdata.AuditPinShow, mapdata.EmailPinShown)
	err = s.Store.ShowPin(ctx, p)
	if errors.Is(err, mapdata.ErrNotFound) {
		return mapdata.Explain(mapdata.ErrConflict, "not_hidden", "This pin is not hidden.")
	}
	if err != nil {
		return fmt.Errorf("show pin: %w", err)
	}
	s.changed(ctx)
	return nil
}

// Hidden lists the hidden pins, the newest decision first, at most MaxListed: all for curators; those of a feed (id not
// zero) for its owner and curators. It fails with mapdata.ErrForbidden or mapdata.ErrNotFound.
func (s *Service) Hidden(ctx context.Context, by mapdata.Actor, id mapdata.FeedID) ([]mapdata.HiddenPin, error) {
	source := mapdata.SourceID("")
	if id.IsZero() {
		if err := review.CheckCurator(by, "Only curators see what is hidden."); err != nil {
			return nil, err
		}
	} else {
		f, err := s.Store.Feed(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("read feed: %w", err)
		}
		if !by.MayReview() && !f.ManagedBy(by.Account()) {
			return nil, mapdata.ErrNotFound
		}
		source = id.SourceID()
	}
	all, err := s.Store.HiddenPins(ctx, source, s.now(), MaxListed)
	if err != nil {
		return nil, fmt.Errorf("list hidden pins: %w", err)
	}
	return all, nil
}

// target returns the pin of an id and its feed, or nil for a live incident. Curators must not learn of private feeds
// that do not wait for a review, and must not decide on their own feeds.
func (s *Service) target(ctx context.Context, by mapdata.Actor, id string) (*mapdata.PinTakedown, *mapdata.Feed, error) {
	source, externalID, ok := mapdata.ParseEntityID(id)
	if !ok {
		return nil, nil, noPin()
	}
	p := &mapdata.PinTakedown{Source: source, ExternalID: externalID, At: s.now()}
	feedID, ofFeed := source.FeedID()
	if !ofFeed {
		return p, nil, nil
	}
	f, err := s.Store.Feed(ctx, feedID)
	if errors.Is(err, mapdata.ErrNotFound) {
		return nil, nil, noPin()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read feed: %w", err)
	}
	switch {
	case by.IsOperator():
	case f.ManagedBy(by.Account()):
		return nil, nil, mapdata.Explain(mapdata.ErrForbidden, "own_feed", "Another curator has to decide on your own feed.")
	case f.Visibility != mapdata.Public && f.ReviewState != mapdata.Pending:
		return nil, nil, noPin()
	}
	return p, f, nil
}

func noPin() error {
	return mapdata.Describe(mapdata.ErrNotFound, "Unknown entity, or no longer there.")
}

// check validates reason and end.
func (s *Service) check(o Order, live bool, now time.Time) (mapdata.Hiding, error) {
	h := mapdata.Hiding{Until: o.Until.UTC().Truncate(time.Millisecond)}
	var fields []mapdata.FieldError
	reason, err := mapdata.CleanReason(o.Reason)
	var invalid *mapdata.InvalidError
	if errors.As(err, &invalid) {
		fields = invalid.Fields
	}
	h.Reason = reason
	longest := LongestHiding
	if live {
		longest = mapdata.LongestLiveHiding
	}
	switch {
	case o.Until.IsZero() && live:
		fields = append(fields, mapdata.FieldError{
			Field: "until", Code: "missing", Message: "is required for a live incident: at most 7 days from now",
		})
	case o.Until.IsZero():
		h.Until = mapdata.ForGood()
	case !h.Until.After(now), h.Until.After(now.Add(longest)):
		fields = append(fields, mapdata.FieldError{
			Field: "until", Code: "out_of_range", Message: fmt.Sprintf("must lie in the future, at most %d days from now", int(longest.Hours()/24)),
		})
	}
	if fields != nil {
		return h, &mapdata.InvalidError{Fields: fields}
	}
	return h, nil
}

func (s *Service) findLive(ctx context.Context, externalID string) (*mapdata.Entity, error) {
	if s.Live == nil {
		return nil, mapdata.Describe(mapdata.ErrConflict, "Live incidents are known to the running service only: hide this one on its page or through its API.")
	}
	found, err := s.Live.Find(ctx, externalID)
	if errors.Is(err, mapdata.ErrNotFound) {
		return nil, noPin()
	}
	if err != nil {
		return nil, fmt.Errorf("find live incident: %w", err)
	}
	return &found.Entity, nil
}

// describe adds the entry of the audit log and, for a pin of a feed, the e-mail to its owner.
func (s *Service) describe(
	ctx context.Context, p *mapdata.PinTakedown, by mapdata.Actor, f *mapdata.Feed, id, action string, email mapdata.EmailKind,
) {
	entry := mapdata.AuditEntry{At: p.At, Actor: by.Account(), Via: mapdata.ViaOf(ctx), Action: action, Subject: id, Note: p.Reason}
	if f != nil {
		entry.Owner = f.Owner
		data := map[string]string{"feed_name": f.Name, "feed_id": f.ID.String(), "external_id": p.ExternalID, "note": p.Reason}
		if p.Until.After(p.At) && p.Until.Before(mapdata.ForGood()) {
			data["until"] = p.Until.Format("2006-01-02 15:04") + " UTC"
		}
		p.Emails = []mapdata.Email{{Account: f.Owner, Kind: email, At: p.At, Due: p.At, Data: data}}
	}
	p.Audit = []mapdata.AuditEntry{entry}
}

// changed notifies the consumers of a stored change, and waits until this node shows it.
func (s *Service) changed(ctx context.Context) {
	s.Signals.StoreChanged.Notify()
	s.Signals.MailQueued.Notify()
	if s.Published != nil {
		s.Published.Await(ctx)
	}
}

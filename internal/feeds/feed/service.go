package feed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/signal"
	"wayside/internal/ground/token"
)

// DefaultLimit is the number of feeds that an account may have unless the operator configures another one (D5.9).
const DefaultLimit = 20

// Config holds the parameters of a Service.
type Config struct {
	Store Store
	Now   func() time.Time
	Limit int // feeds of one account; 0: DefaultLimit
	// Storage bounds the usage of feeds, as ingest enforces it; it is used to show how full they are.
	Storage mapdata.StorageLimits

	// CheckURL validates a pull URL (D6.5) and returns it normalized. Its error's message is shown to the owner. It is
	// injected because the allowed ports and names belong to the package that makes the requests.
	CheckURL func(text string) (string, error)
	// CheckAuthHeader validates a pull feed's auth header (D5.2). Its error never repeats the header.
	CheckAuthHeader func(header string) error
	// Formats are those of bridges, beside v1, in the order in which they are listed (D17.1).
	Formats []Format
	// CheckMapping validates a mapping of a format; fields name the path within it.
	CheckMapping func(format string, mapping []byte) []mapdata.FieldError
	// Seal encrypts an auth header for one feed (D5.2).
	Seal func(plain []byte, feed mapdata.FeedID) ([]byte, error)
	// Apps means that curators review apps, too, which the same e-mails list.
	Apps bool
	// Signals are notified after each stored change: the feed may be due for a poll, and a decision queues an e-mail.
	Signals signal.Set
	// Published delays answers until this node shows the change; nil: no delay.
	Published Published
}

// Service implements the use cases. Its methods are safe for concurrent use. Errors that are not of mapdata's kinds come from the store.
type Service struct {
	Config
	counts   cache[int]
	sketches cache[*Sketch]
	later    atomic.Int64                          // the argument of SetLimit; 0: it was not called
	storage  atomic.Pointer[mapdata.StorageLimits] // the argument of SetStorage; nil: it was not called

	voteDays    cache[[]mapdata.VoteDay]
	reviewTimes cache[ReviewTime] // of all feeds, under the zero id
}

// New creates a Service.
func New(c Config) *Service {
	return &Service{Config: c}
}

// SetLimit replaces Limit for the feeds that are registered afterwards.
func (s *Service) SetLimit(feeds int) { s.later.Store(int64(feeds)) }

// SetStorage replaces Storage.
func (s *Service) SetStorage(l mapdata.StorageLimits) { s.storage.Store(&l) }

// mayHold returns the feed's bounds of storage in force.
func (s *Service) mayHold(f *mapdata.Feed) mapdata.Usage {
	return s.bounds().OfFeed(f.ApprovedOnce)
}

// bounds returns the bounds in force: a reload may have replaced the first ones.
func (s *Service) bounds() mapdata.StorageLimits {
	if later := s.storage.Load(); later != nil {
		return *later
	}
	return s.Storage
}

// changed notifies the consumers of a stored change, and waits until this node shows it.
func (s *Service) changed(ctx context.Context) {
	s.Signals.StoreChanged.Notify()
	s.Signals.FeedDue.Notify()
	s.Signals.MailQueued.Notify()
	s.Signals.ReviewQueued.Notify()
	if s.Published != nil {
		s.Published.Await(ctx)
	}
}

// limit returns the number of feeds that an account may have.
func (s *Service) limit() int { return cmp.Or(int(s.later.Load()), s.Limit, DefaultLimit) }

// now returns the time as it is stored: UTC, to the millisecond.
func (s *Service) now() time.Time { return s.Now().UTC().Truncate(time.Millisecond) }

// manages reports whether the actor manages the feed: as its owner, or as one of its maintainers, who may do everything but delete it,
// transfer it and invite others.
func manages(by mapdata.Actor, f *mapdata.Feed) bool { return f.ManagedBy(by.Account()) }

// checkOwns refuses operations of the owner alone: to maintainers with mapdata.ErrForbidden, to others with mapdata.ErrNotFound.
func checkOwns(by mapdata.Actor, f *mapdata.Feed) error {
	switch {
	case !manages(by, f):
		return mapdata.ErrNotFound
	case by.Account() != f.Owner:
		return mapdata.Explain(mapdata.ErrForbidden, "owner_only", "Only the owner of the feed may do this, not its maintainers.")
	}
	return nil
}

// readsInFull reports whether the actor sees all of a feed. A curator sees a private feed only while it waits for review (D11.9).
func readsInFull(by mapdata.Actor, f *mapdata.Feed) bool {
	return by.IsOperator() || manages(by, f) || by.MayReview() && (f.Visibility == mapdata.Public || f.ReviewState == mapdata.Pending)
}

// View is a feed as the actor may see it (D5.4).
type View struct {
	mapdata.Feed
	Full     bool          // false: only public fields may be shown, and Entities was not counted
	Entities int           // number of unexpired entities; of a large feed up to a minute old
	MayHold  mapdata.Usage // bound (D5.10), the largest number where there is none; Feed.Holds is the usage
	WholeURL bool          // the actor may see the query of the pull URL
}

// ShownURL returns the pull URL as the actor may see it.
func (v *View) ShownURL() string {
	if v.WholeURL {
		return v.PullURL
	}
	return MaskQuery(v.PullURL)
}

// ShownStatusURL returns the status URL as the actor may see it.
func (v *View) ShownStatusURL() string {
	if v.WholeURL {
		return v.Bridge.StatusURL
	}
	return MaskQuery(v.Bridge.StatusURL)
}

// MaskQuery hides the query of a pull URL, because it may contain a key of the provider's.
func MaskQuery(address string) string {
	if before, _, found := strings.Cut(address, "?"); found {
		return before + "?…"
	}
	return address
}

// View returns the feed as its owner and curators see it, with the given number of unexpired entities; wholeURL includes the query of its
// pull URL.
func (s *Service) View(f *mapdata.Feed, entities int, wholeURL bool) View {
	return View{Feed: *f, Full: true, Entities: entities, MayHold: s.mayHold(f), WholeURL: wholeURL}
}

// Register stores a new feed of the actor, with its own layer, pending review. It returns a push feed's token, of which only the hash is
// stored; a pull feed is due for its first poll immediately (D6.1). It fails with a *mapdata.InvalidError that lists every invalid field,
// and with mapdata.ErrConflict when the account has reached its limit of feeds (D5.9).
func (s *Service) Register(ctx context.Context, by mapdata.Actor, r *Registration) (_ *View, pushToken string, err error) {
	if by.Account().IsZero() {
		return nil, "", mapdata.ErrForbidden
	}
	f, err := s.newFeed(by, r)
	if err != nil {
		return nil, "", err
	}
	if f.Direction == mapdata.Push {
		pushToken = token.New(token.Push)
		f.PushTokenHash = token.Hash(pushToken)
	}
	limit := s.limit()
	if err := s.Store.CreateFeed(ctx, f, limit, auditEntry(ctx, by, f.CreatedAt, mapdata.AuditFeedRegister, f, secretsOf(f))); err != nil {
		if errors.Is(err, mapdata.ErrConflict) {
			return nil, "", mapdata.Describe(mapdata.ErrConflict,
				fmt.Sprintf("An account has at most %d feeds. Delete one first.", limit))
		}
		return nil, "", fmt.Errorf("register feed: %w", err)
	}
	s.changed(ctx)
	view := s.View(f, 0, true)
	return &view, pushToken, nil
}

// secretsOf names the secrets that a feed was registered with, for the audit log (D11.8).
func secretsOf(f *mapdata.Feed) string {
	switch {
	case f.PushTokenHash != nil:
		return "push token"
	case f.PullAuthSealed != nil:
		return "auth header"
	}
	return ""
}

// CheckRegistration validates a registration as Register does, without storing it.
func (s *Service) CheckRegistration(r *Registration) error {
	_, err := s.applyRegistration(new(mapdata.Feed), r)
	return err
}

func (s *Service) newFeed(by mapdata.Actor, r *Registration) (*mapdata.Feed, error) {
	id, err := mapdata.NewFeedID()
	if err != nil {
		return nil, fmt.Errorf("make feed id: %w", err)
	}
	layer, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("make layer id: %w", err)
	}
	now := s.now()
	f := &mapdata.Feed{
		ID: id, Owner: by.Account(), Layer: mapdata.Layer{ID: layer.String()}, Visibility: mapdata.Private, Active: true,
		ReviewState: mapdata.Pending, CreatedAt: now, UpdatedAt: now,
	}
	header, err := s.applyRegistration(f, r)
	if err != nil {
		return nil, err
	}
	if header != "" {
		if f.PullAuthSealed, err = s.Seal([]byte(header), id); err != nil {
			return nil, fmt.Errorf("seal auth header: %w", err)
		}
	}
	if f.Direction == mapdata.Pull {
		f.Polling.NextFetchAt = now
	}
	return f, nil
}

// List returns the feeds that the actor owns or maintains in full, then the public catalogue in brief, each oldest first; an operator gets every
// feed in full.
func (s *Service) List(ctx context.Context, by mapdata.Actor) ([]View, error) {
	if by.Account().IsZero() && !by.IsOperator() {
		return nil, mapdata.ErrForbidden
	}
	feeds, err := s.Store.Feeds(ctx, by.Account(), !by.IsOperator())
	if err != nil {
		return nil, fmt.Errorf("list feeds: %w", err)
	}
	own, public := make([]View, 0, len(feeds)), []View(nil)
	for i := range feeds {
		f := &feeds[i]
		switch {
		case by.IsOperator() || manages(by, f):
			v, err := s.full(ctx, by, f)
			if err != nil {
				return nil, err
			}
			own = append(own, *v)
		case f.Listed() && !f.Builtin():
			public = append(public, View{Feed: *f, Full: by.MayReview(), MayHold: s.mayHold(f)})
		}
	}
	return append(own, public...), nil
}

func (s *Service) full(ctx context.Context, by mapdata.Actor, f *mapdata.Feed) (*View, error) {
	n, err := s.count(ctx, f.ID)
	if err != nil {
		return nil, err
	}
	view := s.View(f, n, by.IsOperator() || manages(by, f))
	return &view, nil
}

// Get returns one feed: in full to its owner, curators and operators, in brief to others when it is listed in the public
// catalogue. Otherwise it fails with mapdata.ErrNotFound.
func (s *Service) Get(ctx context.Context, by mapdata.Actor, id mapdata.FeedID) (*View, error) {
	f, err := s.Store.Feed(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read feed: %w", err)
	}
	switch {
	case readsInFull(by, f):
		return s.full(ctx, by, f)
	case f.Listed() && !f.Builtin():
		return &View{Feed: *f}, nil
	}
	return nil, mapdata.ErrNotFound
}

// errBuiltin returns the refusal to delete a built-in source.
func errBuiltin() error {
	return mapdata.Explain(mapdata.ErrConflict, "built_in", "A built-in source goes with its region: import the region without it, or pause the source.")
}

// RotateToken replaces the token of one of the actor's push feeds; the old one is rejected from then on. It
// fails with mapdata.ErrNotFound for another account's feed and mapdata.ErrConflict for a pull feed (D5.3).
func (s *Service) RotateToken(ctx context.Context, by mapdata.Actor, id mapdata.FeedID) (pushToken string, err error) {
	pushToken = token.New(token.Push)
	now := s.now()
	_, err = s.Store.UpdateFeed(ctx, id, func(f *mapdata.Feed) (Side, error) {
		if !manages(by, f) {
			return Side{}, mapdata.ErrNotFound
		}
		if f.Direction != mapdata.Push {
			return Side{}, mapdata.Explain(mapdata.ErrConflict, "no_push_token", "A pull feed has no push token.")
		}
		f.PushTokenHash, f.UpdatedAt = token.Hash(pushToken), now
		return Side{Audit: []mapdata.AuditEntry{auditEntry(ctx, by, now, mapdata.AuditFeedRotate, f, "")}}, nil
	})
	if err != nil {
		return "", fmt.Errorf("rotate token: %w", err)
	}
	s.changed(ctx)
	return pushToken, nil
}

// Delete removes one of the actor's feeds, and for an operator any feed, with its layer and its entities (D5.6), or fails
// with mapdata.ErrNotFound.
func (s *Service) Delete(ctx context.Context, by mapdata.Actor, id mapdata.FeedID) error {
	f, err := s.Store.Feed(ctx, id)
	if err != nil {
		return fmt.Errorf("read feed: %w", err)
	}
	if !by.IsOperator() {
		if err := checkOwns(by, f); err != nil {
			return err
		}
	}
	if f.Builtin() {
		return errBuiltin()
	}
	if err := s.Store.DeleteFeed(ctx, id, auditEntry(ctx, by, s.now(), mapdata.AuditFeedDelete, f, f.Name)); err != nil {
		return fmt.Errorf("delete feed: %w", err)
	}
	s.changed(ctx)
	return nil
}

func auditEntry(ctx context.Context, by mapdata.Actor, at time.Time, action string, f *mapdata.Feed, note string) mapdata.AuditEntry {
	return mapdata.AuditEntry{
		At: at, Actor: by.Account(), Via: mapdata.ViaOf(ctx), Action: action, Subject: f.ID.String(), Owner: f.Owner, Note: note,
	}
}

package apps

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/signal"
)

// Limits of accounts: D16.10 for installs, docs/decisions/0018-apps.md for the others.
const (
	maxVersions  = 20  // of an app; the oldest that are neither pending nor approved are dropped
	maxPerDriver = 12  // installed apps
	maxListed    = 100 // apps in a list of the curators' page
)

// limits returns the bounds of the apps that developers store.
func limits() mapdata.AppLimits {
	return mapdata.AppLimits{PerOwner: 20, Waiting: 500, WaitingPerOwner: 10}
}

// Config holds the dependencies and settings of a Service.
type Config struct {
	Store Store
	Rules Rules
	Now   func() time.Time
	Log   *slog.Logger

	// ProofKey makes the proofs that developers publish on their pages.
	ProofKey []byte
	// Look fetches a page or file of an app once (D16.2). Its error is an *UnreachableError where the page or its network is at
	// fault. nil: pages are not fetched, because the command line runs beside a service.
	Look func(ctx context.Context, address string) (*Page, error)
	// Seal encrypts the config of an install, and Open decrypts it.
	Seal func(plain []byte, account mapdata.AccountID, app mapdata.AppID) []byte
	Open func(sealed []byte, account mapdata.AccountID, app mapdata.AppID) ([]byte, error)
	// MailQueued is notified when an e-mail was stored.
	MailQueued signal.MailQueued
	// ReviewQueued is notified when a version starts to wait for curators.
	ReviewQueued signal.ReviewQueued
	// AppsChanged delivers when the catalogue in the store may be newer, whichever node changed it.
	AppsChanged signal.AppsChanged
	// Tell is called with the revision of a new catalogue and the apps whose version or mark changed or that are gone; nil: nothing
	// is called. It must not block.
	Tell func(revision int64, changed []mapdata.AppID)
}

// Service implements the use cases. Its methods are safe for concurrent use. Errors that are none of mapdata's kinds come from
// the store.
type Service struct {
	Config
	loading   sync.Mutex // held while the catalogue is read
	catalogue atomic.Pointer[catalogue]

	mu   sync.Mutex
	next chan struct{} // closed when the catalogue changes
}

// New creates a Service. The catalogue is empty until Run or Load has read it.
func New(c Config) *Service {
	s := &Service{Config: c, next: make(chan struct{})}
	s.catalogue.Store(&catalogue{})
	return s
}

// now returns the time as it is stored: UTC, to the millisecond.
func (s *Service) now() time.Time { return s.Now().UTC().Truncate(time.Millisecond) }

// changed notifies the sender of e-mails and reads the catalogue after a change, so that this node shows the change before the
// request is answered. If the served apps stayed the same it reads only their revision.
func (s *Service) changed(ctx context.Context) {
	s.MailQueued.Notify()
	if err := s.Poll(context.WithoutCancel(ctx)); err != nil {
		s.Log.Warn("cannot read the catalogue of apps; it is tried again", "error", err)
	}
}

// Submit stores a new app of the actor with its first version, pending review. It fails with a *mapdata.InvalidError that lists
// every invalid member, with mapdata.ErrConflict when the account has as many apps, or as many waiting versions, as it may have,
// and with mapdata.ErrUnavailable when the versions of all accounts that wait have reached their bound.
func (s *Service) Submit(ctx context.Context, by mapdata.Actor, members map[string]jsontext.Value) (*mapdata.App, error) {
	if by.Account().IsZero() {
		return nil, mapdata.ErrForbidden
	}
	if err := s.Store.CheckWaitingApps(ctx, by.Account(), limits()); err != nil { // before the page is fetched
		return nil, fmt.Errorf("submit app: %w", err)
	}
	v, icon, err := s.submitted(ctx, by, nil, members)
	if err != nil {
		return nil, err
	}
	id, err := mapdata.NewAppID()
	if err != nil {
		return nil, fmt.Errorf("make app id: %w", err)
	}
	v.Number = 1
	a := &mapdata.App{
		ID: id, Slug: slugOf(v.Fields.Name), Owner: by.Account(), CreatedAt: v.SubmittedAt, UpdatedAt: v.SubmittedAt,
		Versions: []mapdata.AppVersion{*v}, NewIcon: icon,
	}
	side := mapdata.Side{Audit: []mapdata.AuditEntry{entry(ctx, by, a, v.SubmittedAt, mapdata.AuditAppSubmit, v, "")}}
	if err := s.Store.CreateApp(ctx, a, limits(), side); err != nil {
		return nil, fmt.Errorf("submit app: %w", err)
	}
	s.changed(ctx)
	s.ReviewQueued.Notify()
	return s.Store.App(ctx, id)
}

// Resubmit stores a new version of one of the actor's apps, which replaces a pending one. It fails as Submit does, with
// mapdata.ErrNotFound for an app of another account, and with a *mapdata.InvalidError for a version that is not compatible with the
// approved one (D16.6).
func (s *Service) Resubmit(ctx context.Context, by mapdata.Actor, id mapdata.AppID, members map[string]jsontext.Value) (*mapdata.App, *mapdata.AppVersion, error) {
	before, err := s.owned(ctx, by, id)
	if err != nil {
		return nil, nil, err
	}
	if before.Version(mapdata.AppPending) == nil { // otherwise it replaces the one that waits
		if err := s.Store.CheckWaitingApps(ctx, by.Account(), limits()); err != nil {
			return nil, nil, fmt.Errorf("resubmit app: %w", err)
		}
	}
	v, icon, err := s.submitted(ctx, by, before, members)
	if err != nil {
		return nil, nil, err
	}
	a, err := s.Store.ResubmitApp(ctx, id, limits(), func(a *mapdata.App) (mapdata.Side, error) {
		if a.Owner != by.Account() {
			return mapdata.Side{}, mapdata.ErrNotFound
		}
		if approved := a.Version(mapdata.AppApproved); approved != nil {
			var bad mapdata.FieldErrors
			CheckCompatible("config_schema", approved.Fields.ConfigSchema, v.Fields.ConfigSchema, &bad)
			if err := bad.Err(); err != nil {
				return mapdata.Side{}, err
			}
		}
		if waiting := a.Version(mapdata.AppPending); waiting != nil {
			waiting.State, waiting.DecidedAt = mapdata.AppWithdrawn, v.SubmittedAt
		}
		v.Number = a.Versions[len(a.Versions)-1].Number + 1
		a.Versions = forgetOldest(append(a.Versions, *v))
		a.UpdatedAt, a.NewIcon = v.SubmittedAt, icon
		return mapdata.Side{Audit: []mapdata.AuditEntry{entry(ctx, by, a, v.SubmittedAt, mapdata.AuditAppSubmit, v, "")}}, nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("resubmit app: %w", err)
	}
	s.changed(ctx)
	s.ReviewQueued.Notify()
	return a, v, nil
}

// forgetOldest drops the oldest versions beyond maxVersions, except the approved and the pending one.
func forgetOldest(versions []mapdata.AppVersion) []mapdata.AppVersion {
	for len(versions) > maxVersions {
		i := slices.IndexFunc(versions, func(v mapdata.AppVersion) bool {
			return v.State != mapdata.AppApproved && v.State != mapdata.AppPending
		})
		versions = slices.Delete(versions, i, i+1)
	}
	return versions
}

// submitted checks a submission and makes a pending version of it, with its icon if there is a new one. app is the app that gets
// another version; nil: a new app.
func (s *Service) submitted(
	ctx context.Context, by mapdata.Actor, app *mapdata.App, members map[string]jsontext.Value,
) (*mapdata.AppVersion, *mapdata.AppIcon, error) {
	var (
		bad    mapdata.FieldErrors
		report []byte
	)
	if given, ok := members["report"]; ok && given.Kind() != 'n' {
		report = ParseReport("report", given, &bad)
	}
	delete(members, "report")
	_, given := members["icon"]
	icon, kept := parseIcon(members, &bad)
	if !given && app != nil {
		kept = app.Versions[len(app.Versions)-1].Fields.Icon
	}
	if kept != "" && !hasIcon(app, kept) {
		bad.Add("icon", "invalid", "must be the icon_url of an icon that this app has")
	}
	fields := s.Rules.ParseSubmission(members, &bad)
	if fields.Icon = kept; icon != nil {
		fields.Icon = icon.Name
	}
	if err := s.checkFeeds(ctx, by.Account(), fields.FeedIDs, false, &bad); err != nil {
		return nil, nil, err
	}
	if err := bad.Err(); err != nil {
		return nil, nil, err
	}
	if _, err := s.checkPage(ctx, by.Account(), fields, &bad); err != nil {
		return nil, nil, err
	}
	if err := bad.Err(); err != nil {
		return nil, nil, err
	}
	return &mapdata.AppVersion{State: mapdata.AppPending, Fields: *fields, Report: string(report), SubmittedAt: s.now()}, icon, nil
}

// hasIcon reports whether a version of an app has an icon of this name.
func hasIcon(app *mapdata.App, name string) bool {
	return app != nil && slices.ContainsFunc(app.Versions, func(v mapdata.AppVersion) bool { return v.Fields.Icon == name })
}

// checkFeeds checks that an app's feeds belong to its owner, and when listed is set, that readers see those feeds (D16.1).
func (s *Service) checkFeeds(ctx context.Context, owner mapdata.AccountID, ids []string, listed bool, bad *mapdata.FieldErrors) error {
	for i, text := range ids {
		id, ok := mapdata.ParseFeedID(text)
		if !ok {
			continue // reported
		}
		at := fmt.Sprintf("feed_ids[%d]", i)
		f, err := s.Store.Feed(ctx, id)
		switch {
		case errors.Is(err, mapdata.ErrNotFound), err == nil && f.Owner != owner:
			bad.Add(at, "unknown_feed", "is no feed of this account")
		case err != nil:
			return fmt.Errorf("read feed: %w", err)
		case f.Visibility != mapdata.Public:
			bad.Add(at, "not_allowed", "must be a public feed")
		case listed && !f.Listed():
			bad.Add(at, "not_allowed", "must be approved before the app")
		}
	}
	return nil
}

// owned reads an app of the actor, or fails with mapdata.ErrNotFound.
func (s *Service) owned(ctx context.Context, by mapdata.Actor, id mapdata.AppID) (*mapdata.App, error) {
	a, err := s.Store.App(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read app: %w", err)
	}
	if a.Owner.IsZero() || a.Owner != by.Account() {
		return nil, mapdata.ErrNotFound
	}
	return a, nil
}

// ListOwn lists the actor's apps, the oldest first, of each the versions that wait and are served and the newest, without reports.
func (s *Service) ListOwn(ctx context.Context, by mapdata.Actor) ([]mapdata.App, error) {
	all, err := s.Store.ListAppsOf(ctx, by.Account())
	if err != nil {
		return nil, fmt.Errorf("list apps of an account: %w", err)
	}
	return all, nil
}

// Own lists the actor's apps with all of their versions, the oldest first.
func (s *Service) Own(ctx context.Context, by mapdata.Actor) ([]mapdata.App, error) {
	all, err := s.Store.AppsOf(ctx, by.Account())
	if err != nil {
		return nil, fmt.Errorf("list apps of an account: %w", err)
	}
	return all, nil
}

// Versions reads an app with its versions for its owner, curators and operators; for others it fails with mapdata.ErrNotFound.
func (s *Service) Versions(ctx context.Context, by mapdata.Actor, id mapdata.AppID) (*mapdata.App, error) {
	if !by.MayReview() {
		return s.owned(ctx, by, id)
	}
	a, err := s.Store.App(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read app: %w", err)
	}
	return a, nil
}

// Withdraw withdraws a pending version of one of the actor's apps. It fails with mapdata.ErrConflict for a version in another
// state.
func (s *Service) Withdraw(ctx context.Context, by mapdata.Actor, id mapdata.AppID, number int) (*mapdata.App, *mapdata.AppVersion, error) {
	now := s.now()
	a, err := s.Store.UpdateApp(ctx, id, func(a *mapdata.App) (mapdata.Side, error) {
		if a.Owner.IsZero() || a.Owner != by.Account() {
			return mapdata.Side{}, mapdata.ErrNotFound
		}
		v, err := numbered(a, number)
		if err != nil {
			return mapdata.Side{}, err
		}
		if v.State != mapdata.AppPending {
			return mapdata.Side{}, decidedAlready(v)
		}
		v.State, v.DecidedAt, a.UpdatedAt = mapdata.AppWithdrawn, now, now
		return mapdata.Side{Audit: []mapdata.AuditEntry{entry(ctx, by, a, now, mapdata.AuditAppWithdraw, v, "")}}, nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("withdraw version: %w", err)
	}
	s.changed(ctx)
	v, err := numbered(a, number)
	return a, v, err
}

// numbered returns the version with a number, or mapdata.ErrNotFound.
func numbered(a *mapdata.App, number int) (*mapdata.AppVersion, error) {
	for i := range a.Versions {
		if a.Versions[i].Number == number {
			return &a.Versions[i], nil
		}
	}
	return nil, mapdata.Describe(mapdata.ErrNotFound, "This app has no such version.")
}

func decidedAlready(v *mapdata.AppVersion) error {
	return mapdata.Explain(mapdata.ErrConflict, "not_pending", "This version is "+string(v.State)+", not pending.")
}

// entry returns an entry of the audit log about an app, with the number of the version and a curator's note. It never contains a
// config.
func entry(ctx context.Context, by mapdata.Actor, a *mapdata.App, at time.Time, action string, v *mapdata.AppVersion, note string) mapdata.AuditEntry {
	if v != nil {
		text := fmt.Sprintf("version %d", v.Number)
		if note != "" {
			text += ": " + note
		}
		note = text
	}
	return mapdata.AuditEntry{
		At: at, Actor: by.Account(), Via: mapdata.ViaOf(ctx), Action: action, Subject: a.ID.String(), Owner: a.Owner, Note: note,
	}
}

// OriginOf returns the origin of an address, as browsers write it: in lower case, and without the scheme's own port. Empty: it has
// none.
func OriginOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	host := strings.ToLower(u.Host)
	if port := u.Port(); port != "" && port == portOf(u.Scheme, "") {
		host = strings.TrimSuffix(host, ":"+port)
	}
	return u.Scheme + "://" + host
}

package apps

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"wayside/internal/ground/mapdata"
)

// retryAfter is how long Run waits before it reads a catalogue again that it could not read.
const retryAfter = time.Second

// Listed is an app as the catalogue shows it.
type Listed struct {
	*mapdata.App
	Version   *mapdata.AppVersion // the served version
	Developer string              // the owner's public name, or else a host of the app's
	Dev       bool                // its page is at an origin for developing apps (D16.2)
	Changed   bool                // its page differs from the reviewed one, for longer than its developer may leave it so
}

// HasKind reports whether the app is of one of the kinds; no kinds select all.
func (l *Listed) HasKind(kinds []mapdata.AppKind) bool {
	return len(kinds) == 0 || slices.ContainsFunc(l.Version.Fields.Kinds, func(k mapdata.AppKind) bool { return slices.Contains(kinds, k) })
}

// catalogue is the served catalogue at one revision. It is immutable. It does not contain versions that wait for a review.
type catalogue struct {
	loaded   bool
	revision int64
	listed   []*Listed
	byID     map[mapdata.AppID]*Listed
	entries  map[mapdata.AppID]*entryOf
}

// entryOf is an app of the catalogue as it was read at one revision.
type entryOf struct {
	revision int64
	listed   *Listed          // nil: the operator took its origin from apps.dev_origins
	icon     *mapdata.AppIcon // nil: it has none
}

// Load reads the apps that changed in the catalogue.
func (s *Service) Load(ctx context.Context) error {
	s.loading.Lock()
	defer s.loading.Unlock()
	before := s.catalogue.Load().entries
	known := make(map[mapdata.AppID]int64, len(before))
	for id, e := range before {
		known[id] = e.revision
	}
	all, revision, err := s.Store.ServedApps(ctx, known)
	if err != nil {
		return err
	}
	next := &catalogue{
		loaded: true, revision: revision,
		byID: make(map[mapdata.AppID]*Listed, len(all)), entries: make(map[mapdata.AppID]*entryOf, len(all)),
	}
	for i := range all {
		e := before[all[i].ID]
		if all[i].App != nil {
			if e, err = s.entry(ctx, &all[i], e); err != nil {
				return err
			}
		}
		next.entries[all[i].ID] = e
		if e.listed != nil {
			next.listed = append(next.listed, e.listed)
			next.byID[all[i].ID] = e.listed
		}
	}
	s.publish(next)
	return nil
}

// entry makes the entry of an app that changed. It reads the icon only if the app has another one than before.
func (s *Service) entry(ctx context.Context, a *mapdata.ServedApp, before *entryOf) (*entryOf, error) {
	l := s.Describe(a.App, a.App.Version(mapdata.AppApproved))
	e := &entryOf{revision: a.Revision}
	if Framed(l.Version.Fields.Kinds) && !s.Rules.mayServe(l.Version.Fields.WidgetURL) {
		return e, nil
	}
	e.listed = l
	name := l.Version.Fields.Icon
	switch {
	case name == "":
		return e, nil
	case before != nil && before.icon != nil && before.icon.Name == name:
		e.icon = before.icon
		return e, nil
	}
	icon, err := s.Store.AppIcon(ctx, a.ID, name)
	if err != nil && !errors.Is(err, mapdata.ErrNotFound) { // not found: it was replaced meanwhile, and is read at the next revision
		return nil, fmt.Errorf("read icon: %w", err)
	}
	if err == nil {
		e.icon = icon
	}
	return e, nil
}

// mayServe reports whether an approved address still satisfies the rules that need no network.
func (r *Rules) mayServe(address string) bool {
	var bad mapdata.FieldErrors
	r.checkWidgetURL(address, &bad)
	return len(bad) == 0
}

// Describe returns an app as the catalogue would show it with the given version.
func (s *Service) Describe(a *mapdata.App, v *mapdata.AppVersion) *Listed {
	l := &Listed{App: a, Version: v, Developer: a.OwnerName, Changed: ChangedSinceReview(v.Page, s.Now())}
	for _, address := range []string{v.Fields.WebsiteURL, v.Fields.WidgetURL} {
		if u, err := url.Parse(address); err == nil && l.Developer == "" {
			l.Developer = u.Hostname()
		}
	}
	if u, err := url.Parse(v.Fields.WidgetURL); err == nil && u.Host != "" {
		l.Dev = s.Rules.Exempt(u)
	}
	return l
}

// Run keeps the catalogue up to date until ctx ends. It reads the store once, and then only after the log of changes reported a
// change. It retries a store that fails; the catalogue stays as it was.
func (s *Service) Run(ctx context.Context) error {
	timer := time.NewTimer(0) // fires immediately, for changes between Load and now
	defer timer.Stop()
	poll := true
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.AppsChanged.C():
			poll = true
		case <-timer.C:
		}
		if poll {
			err := s.Poll(ctx)
			if ctx.Err() != nil {
				return nil
			}
			if err != nil {
				s.Log.Warn("cannot read the catalogue of apps; it is tried again", "error", err)
				timer.Reset(retryAfter)
				continue
			}
			poll = false
		}
		s.Mark()
		timer.Reset(s.nextMark())
	}
}

// Poll reads the catalogue again if the store has a newer one.
func (s *Service) Poll(ctx context.Context) error {
	revision, err := s.Store.AppRevision(ctx)
	if err != nil {
		return err
	}
	if current := s.catalogue.Load(); current.loaded && current.revision == revision {
		return nil
	}
	return s.Load(ctx)
}

// Snapshot is the catalogue at one moment. Two snapshots of the same content may be equal; two with a change between them never
// are.
type Snapshot struct{ current *catalogue }

// Snapshot returns the served catalogue.
func (s *Service) Snapshot() Snapshot { return Snapshot{s.catalogue.Load()} }

// Apps lists the apps of the given kinds, the oldest first; no kinds select all.
func (s Snapshot) Apps(kinds []mapdata.AppKind) []*Listed {
	var all []*Listed
	for _, l := range s.current.listed {
		if l.HasKind(kinds) {
			all = append(all, l)
		}
	}
	return all
}

// Catalogue lists the apps of the given kinds that are served, the oldest first; no kinds select all. It reads only memory.
func (s *Service) Catalogue(kinds []mapdata.AppKind) []*Listed { return s.Snapshot().Apps(kinds) }

// App returns an app of the catalogue, or fails with mapdata.ErrNotFound. It reads only memory.
func (s *Service) App(id mapdata.AppID) (*Listed, error) {
	if l := s.catalogue.Load().byID[id]; l != nil {
		return l, nil
	}
	return nil, mapdata.ErrNotFound
}

// BySlug returns an app of the catalogue, or fails with mapdata.ErrNotFound. It reads only memory.
func (s *Service) BySlug(slug string) (*Listed, error) {
	for _, l := range s.catalogue.Load().listed {
		if l.Slug == slug {
			return l, nil
		}
	}
	return nil, mapdata.ErrNotFound
}

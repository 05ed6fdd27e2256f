package apps

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/review"
)

// Waiting is an app in the curators' queue.
type Waiting struct {
	App      mapdata.App
	Pending  *mapdata.AppVersion
	Approved *mapdata.AppVersion // the served version; nil: nothing was approved yet
	Owner    *mapdata.Account
}

// Queue lists the first apps that wait for a curator, the longest waiting first, without reports, and counts all. It fails with
// mapdata.ErrForbidden if the actor may not review.
func (s *Service) Queue(ctx context.Context, by mapdata.Actor) (all []Waiting, count int, err error) {
	if err := review.CheckCurator(by, "Only curators see which apps wait."); err != nil {
		return nil, 0, err
	}
	pending, count, err := s.Store.PendingApps(ctx, maxListed)
	if err != nil {
		return nil, 0, fmt.Errorf("list pending apps: %w", err)
	}
	all = make([]Waiting, len(pending))
	for i := range pending {
		w := &all[i]
		w.App = pending[i]
		w.Pending, w.Approved = w.App.Version(mapdata.AppPending), w.App.Version(mapdata.AppApproved)
		if w.Owner, err = s.Store.Account(ctx, w.App.Owner); err != nil && !errors.Is(err, mapdata.ErrNotFound) {
			return nil, 0, fmt.Errorf("read owner: %w", err)
		}
	}
	return all, count, nil
}

// Suspended lists the suspended apps, the last one first, without reports. It fails with mapdata.ErrForbidden if the actor may not
// review.
func (s *Service) Suspended(ctx context.Context, by mapdata.Actor) ([]mapdata.App, error) {
	if err := review.CheckCurator(by, "Only curators see which apps are suspended."); err != nil {
		return nil, err
	}
	all, err := s.Store.SuspendedApps(ctx, maxListed)
	if err != nil {
		return nil, fmt.Errorf("list suspended apps: %w", err)
	}
	return all, nil
}

// Changed lists the apps of the catalogue whose page differs from the approved one, those that changed first at the beginning. It
// reads only memory. It fails with mapdata.ErrForbidden if the actor may not review.
func (s *Service) Changed(by mapdata.Actor) ([]*Listed, error) {
	if err := review.CheckCurator(by, "Only curators see which pages changed."); err != nil {
		return nil, err
	}
	var all []*Listed
	for _, l := range s.Catalogue(nil) {
		if !l.Version.Page.ChangedAt.IsZero() {
			all = append(all, l)
		}
	}
	slices.SortStableFunc(all, func(a, b *Listed) int { return a.Version.Page.ChangedAt.Compare(b.Version.Page.ChangedAt) })
	return all[:min(len(all), maxListed)], nil
}

// All lists every app with all of its versions, the oldest first. It fails with mapdata.ErrForbidden if the actor may not review.
func (s *Service) All(ctx context.Context, by mapdata.Actor) ([]mapdata.App, error) {
	if err := review.CheckCurator(by, "Only curators list all apps."); err != nil {
		return nil, err
	}
	all, err := s.Store.Apps(ctx)
	if err != nil {
		return nil, fmt.Errorf("list apps: %w", err)
	}
	return all, nil
}

// Approve approves a pending version, which is served from then on in place of the one before. It fetches the app's page once more,
// and the app's feeds must be public and approved. A version that is approved already stays so. It fails with mapdata.ErrForbidden
// if the actor may not review or owns the app, with mapdata.ErrNotFound, with mapdata.ErrConflict for a version that is not
// pending, and with a *mapdata.InvalidError for one that must not be served.
func (s *Service) Approve(ctx context.Context, by mapdata.Actor, id mapdata.AppID, number int) (*mapdata.App, *mapdata.AppVersion, error) {
	a, v, err := s.reviewed(ctx, by, id, number)
	if err != nil {
		return nil, nil, err
	}
	var page mapdata.AppPage
	if v.State == mapdata.AppPending {
		var bad mapdata.FieldErrors
		s.Rules.checkParts(&v.Fields, &bad) // the configuration may have changed
		if err := s.checkFeeds(ctx, a.Owner, v.Fields.FeedIDs, true, &bad); err != nil {
			return nil, nil, err
		}
		if err := bad.Err(); err != nil {
			return nil, nil, err
		}
		if page.Digest, err = s.checkPage(ctx, a.Owner, &v.Fields, &bad); err != nil {
			return nil, nil, err
		}
		if err := bad.Err(); err != nil {
			return nil, nil, err
		}
	}
	return s.decide(ctx, by, id, number, decision{state: mapdata.AppApproved, page: page})
}

// Reject rejects a pending version with a note of 1 to 2000 characters for its developer. It fails as Approve does, and with a
// *mapdata.InvalidError for the note.
func (s *Service) Reject(ctx context.Context, by mapdata.Actor, id mapdata.AppID, number int, note string) (*mapdata.App, *mapdata.AppVersion, error) {
	if _, _, err := s.reviewed(ctx, by, id, number); err != nil {
		return nil, nil, err
	}
	note, err := cleanNote(note)
	if err != nil {
		return nil, nil, err
	}
	return s.decide(ctx, by, id, number, decision{state: mapdata.AppRejected, note: note})
}

// cleanNote checks a curator's note to a developer.
func cleanNote(note string) (string, error) {
	note, err := review.CleanNote(note)
	var bad *mapdata.InvalidError
	if errors.As(err, &bad) {
		for i := range bad.Fields {
			bad.Fields[i].Code = strings.TrimSuffix(bad.Fields[i].Code, "_characters")
		}
	}
	return note, err
}

// reviewed reads the version that an actor decides on.
func (s *Service) reviewed(ctx context.Context, by mapdata.Actor, id mapdata.AppID, number int) (*mapdata.App, *mapdata.AppVersion, error) {
	if err := review.CheckCurator(by, "Only curators approve and reject apps."); err != nil {
		return nil, nil, err
	}
	a, err := s.Store.App(ctx, id)
	if err != nil {
		return nil, nil, fmt.Errorf("read app: %w", err)
	}
	if err := mayDecide(by, a); err != nil {
		return nil, nil, err
	}
	v, err := numbered(a, number)
	return a, v, err
}

// mayDecide refuses decisions on the actor's own app, except from the command line (D11.9), and on an app whose owner is gone.
func mayDecide(by mapdata.Actor, a *mapdata.App) error {
	switch {
	case a.Owner.IsZero():
		return mapdata.Explain(mapdata.ErrConflict, "no_owner", "The account of this app's developer was deleted.")
	case !by.IsOperator() && a.Owner == by.Account():
		return mapdata.Explain(mapdata.ErrForbidden, "own_app", "Another curator decides on your own app.")
	}
	return nil
}

// decision is a curator's decision on a version.
type decision struct {
	state mapdata.AppState
	note  string
	page  mapdata.AppPage // as it was approved
}

// decide sets the state of a pending version.
func (s *Service) decide(ctx context.Context, by mapdata.Actor, id mapdata.AppID, number int, d decision) (*mapdata.App, *mapdata.AppVersion, error) {
	now, state, note := s.now(), d.state, d.note
	action, email := mapdata.AuditAppApprove, mapdata.EmailAppApproved
	if state == mapdata.AppRejected {
		action, email = mapdata.AuditAppReject, mapdata.EmailAppRejected
	}
	a, changed, err := review.Decide(ctx, s.Store.UpdateApp, id, func(a *mapdata.App) (mapdata.Side, error) {
		v, err := numbered(a, number)
		if err == nil {
			err = mayDecide(by, a)
		}
		switch {
		case err != nil:
			return mapdata.Side{}, err
		case v.State == state && v.Note == note:
			return mapdata.Side{}, review.ErrDecided
		case v.State != mapdata.AppPending:
			return mapdata.Side{}, decidedAlready(v)
		}
		if before := a.Version(mapdata.AppApproved); before != nil && state == mapdata.AppApproved {
			before.State = mapdata.AppSuperseded
		}
		v.State, v.Note, v.DecidedAt, v.Page, a.UpdatedAt = state, note, now, d.page, now
		return side(ctx, by, a, now, action, email, v, note), nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", action, err)
	}
	if changed {
		s.changed(ctx)
	}
	v, err := numbered(a, number)
	return a, v, err
}

// side returns the entry of the audit log and the e-mail to the developer of a decision.
func side(
	ctx context.Context, by mapdata.Actor, a *mapdata.App, at time.Time, action string, email mapdata.EmailKind, v *mapdata.AppVersion, note string,
) mapdata.Side {
	shown := v
	if shown == nil {
		shown = Latest(a)
	}
	return mapdata.Side{
		Audit: []mapdata.AuditEntry{entry(ctx, by, a, at, action, v, note)},
		Emails: []mapdata.Email{{
			Account: a.Owner, Kind: email, At: at, Due: at,
			Data: map[string]string{"app_name": shown.Fields.Name, "app_id": a.ID.String(), "note": note},
		}},
	}
}

// Latest returns the version that describes an app best: the approved one, or else the newest.
func Latest(a *mapdata.App) *mapdata.AppVersion {
	if v := a.Version(mapdata.AppApproved); v != nil {
		return v
	}
	return &a.Versions[len(a.Versions)-1]
}

// Suspend takes an app out of the catalogue and out of cars immediately, until Resume. Its developer reads the note, 1 to 2000 characters,
// in an e-mail. It fails as Reject does.
func (s *Service) Suspend(ctx context.Context, by mapdata.Actor, id mapdata.AppID, note string) (*mapdata.App, error) {
	if err := review.CheckCurator(by, "Only curators suspend apps."); err != nil {
		return nil, err
	}
	note, err := cleanNote(note)
	if err != nil {
		return nil, err
	}
	return s.setSuspension(ctx, by, id, s.now(), note)
}

// Resume ends a suspension. It fails as Suspend does.
func (s *Service) Resume(ctx context.Context, by mapdata.Actor, id mapdata.AppID) (*mapdata.App, error) {
	if err := review.CheckCurator(by, "Only curators resume apps."); err != nil {
		return nil, err
	}
	return s.setSuspension(ctx, by, id, time.Time{}, "")
}

// setSuspension suspends an app from a time on, or with the zero time resumes it.
func (s *Service) setSuspension(ctx context.Context, by mapdata.Actor, id mapdata.AppID, since time.Time, note string) (*mapdata.App, error) {
	action, email := mapdata.AuditAppSuspend, mapdata.EmailAppSuspended
	if since.IsZero() {
		action, email = mapdata.AuditAppResume, mapdata.EmailAppResumed
	}
	now := s.now()
	a, changed, err := review.Decide(ctx, s.Store.UpdateApp, id, func(a *mapdata.App) (mapdata.Side, error) {
		if err := mayDecide(by, a); err != nil {
			return mapdata.Side{}, err
		}
		if a.SuspendedAt.IsZero() == since.IsZero() && a.SuspendedNote == note {
			return mapdata.Side{}, review.ErrDecided
		}
		a.SuspendedAt, a.SuspendedNote, a.UpdatedAt = since, note, now
		return side(ctx, by, a, now, action, email, nil, note), nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", action, err)
	}
	if changed {
		s.changed(ctx)
	}
	return a, nil
}

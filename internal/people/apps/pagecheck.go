package apps

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"wayside/internal/ground/mapdata"
)

// Times of the checks of pages. Each page is checked about once a day, by one of the nodes.
const (
	checkEvery  = 22 * time.Hour   // between two checks of a page, and
	checkJitter = 4 * time.Hour    // up to this longer, so that checks spread over the day
	checkStart  = 10 * time.Minute // within which a node first tries each page that it learns of
	checkLease  = 10 * time.Minute // for which a node holds a check: longer than a fetch takes

	// warnAfter is how long developers have to submit a changed page before drivers are warned.
	warnAfter = 7 * 24 * time.Hour
)

// ChangedSinceReview reports whether drivers are warned that the page of a version differs from the one that the curator approved.
// For seven days its developer may submit it as a version. A version that waits for review does not end the warning, because until
// it is approved drivers get a page that nobody has reviewed.
func ChangedSinceReview(page mapdata.AppPage, now time.Time) bool {
	return !page.ChangedAt.IsZero() && !now.Before(page.ChangedAt.Add(warnAfter))
}

// SeenPage returns the state of a page after a check that found the given digest. A version that was approved before pages were
// checked has no digest: the first check stores it.
func SeenPage(page mapdata.AppPage, digest string, now time.Time) mapdata.AppPage {
	switch {
	case page.Digest == "" || page.Digest == digest:
		return mapdata.AppPage{Digest: digest}
	case page.ChangedAt.IsZero():
		page.ChangedAt = now
	}
	return page
}

// pageKey identifies a version whose page is checked.
type pageKey struct {
	app     mapdata.AppID
	version int
}

// RunPageChecks checks the pages of the catalogue, one after the other, until ctx ends, and stores which differ from the approved
// ones. The time of the next check is kept in memory, and in the store for all nodes: a node asks the store about a page only when
// its check may be due.
func (s *Service) RunPageChecks(ctx context.Context) error {
	due := make(map[pageKey]time.Time)
	for {
		listed, changed := s.catalogueAndNext()
		next := s.planChecks(due, listed)
		timer := time.NewTimer(next.Sub(s.Now()))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-changed:
			timer.Stop()
		case <-timer.C:
			s.checkDue(ctx, due, listed)
		}
	}
}

// planChecks adds the pages that are new to due, drops those that are gone, and returns when the next one is due.
func (s *Service) planChecks(due map[pageKey]time.Time, listed []*Listed) (next time.Time) {
	now := s.Now()
	next = now.Add(checkEvery)
	gone := make(map[pageKey]bool, len(due))
	for key := range due {
		gone[key] = true
	}
	for _, l := range listed {
		if l.Version.Fields.WidgetURL == "" || l.Dev { // a page under development changes
			continue
		}
		key := pageKey{l.ID, l.Version.Number}
		delete(gone, key)
		if _, known := due[key]; !known {
			due[key] = now.Add(rand.N(checkStart)) //nolint:gosec // it spreads load
		}
		if due[key].Before(next) {
			next = due[key]
		}
	}
	for key := range gone {
		delete(due, key)
	}
	return next
}

// checkDue checks the pages that are due.
func (s *Service) checkDue(ctx context.Context, due map[pageKey]time.Time, listed []*Listed) {
	for _, l := range listed {
		key := pageKey{l.ID, l.Version.Number}
		if at, known := due[key]; !known || at.After(s.Now()) {
			continue
		}
		next, err := s.checkAgain(ctx, l)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.Log.Warn("cannot check the page of an app; it is tried again", "app", l.ID.String(), "error", err)
			next = s.Now().Add(checkLease)
		case next.IsZero(): // the version is not approved any more, and leaves the catalogue soon
			next = s.Now().Add(checkEvery)
		}
		due[key] = next
	}
}

// checkAgain checks the page of a listed app, if that is due and no other node does it, and returns when the next check is due. A
// page that cannot be read, or answers with an error, counts as unchanged: drivers see the failure themselves.
func (s *Service) checkAgain(ctx context.Context, l *Listed) (next time.Time, err error) {
	now := s.now()
	claimed, next, err := s.Store.ClaimAppPage(ctx, l.ID, l.Version.Number, now, now.Add(checkLease))
	if err != nil || !claimed {
		return next, err
	}
	page, err := s.Look(ctx, l.Version.Fields.WidgetURL)
	var unreachable *UnreachableError
	if err != nil && !errors.As(err, &unreachable) {
		return time.Time{}, err
	}
	next = now.Add(checkEvery + rand.N(checkJitter)).Truncate(time.Millisecond) //nolint:gosec // it spreads load
	known := l.Version.Page
	if err == nil && page.Status >= 200 && page.Status <= 299 {
		known = SeenPage(known, page.Digest, now)
	}
	if err := s.Store.RecordAppPage(ctx, l.ID, l.Version.Number, known, next); err != nil {
		return time.Time{}, err
	}
	if known != l.Version.Page {
		s.changed(ctx)
	}
	return next, nil
}

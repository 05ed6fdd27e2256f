package feed

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"wayside/internal/mapdata"
)

// Patch is what an owner changes. nil means that a field stays as it is.
type Patch struct {
	Settings
	Active          *bool
	ClearAuthHeader bool // takes the auth header away; PullAuthHeader must be nil then
}

// NoteOrigin tells the owner of an approved feed why it is pending again (D5.5). It stands where curators' notes do; pages
// say it in the reader's language.
const NoteOrigin = "Back to review: pull_url leads to another origin than the one that was approved."

// Patch changes a feed of the actor's (D5.5). Going from private to public, or moving an approved public feed's pull_url
// to another origin, puts it back to pending; so does any change of a rejected feed (D5.7). A pull feed that becomes
// active again, or that is given another address or auth header, is polled at once with its failures forgotten (D6.1).
// It fails with mapdata.ErrNotFound for somebody else's feed and a *mapdata.InvalidError that lists every bad field.
func (s *Service) Patch(ctx context.Context, by Actor, id mapdata.FeedID, p *Patch) (*View, error) {
	now := s.now()
	f, err := s.Store.UpdateFeed(ctx, id, func(f *mapdata.Feed) (Side, error) {
		if !by.owns(f) {
			return Side{}, mapdata.ErrNotFound
		}
		return s.edit(ctx, f, by, p, now)
	})
	if err != nil {
		return nil, fmt.Errorf("change feed: %w", err)
	}
	s.changed()
	return s.full(ctx, f)
}

// CheckPatch says what is wrong with a change, as Patch would, and stores nothing.
func (s *Service) CheckPatch(ctx context.Context, by Actor, id mapdata.FeedID, p *Patch) error {
	f, err := s.Store.Feed(ctx, id)
	if err != nil {
		return fmt.Errorf("read feed: %w", err)
	}
	if !by.owns(f) {
		return mapdata.ErrNotFound
	}
	_, err = s.takePatch(f, p)
	return err
}

// takePatch takes a change's settings over into the feed, and gives the auth header to be sealed.
func (s *Service) takePatch(f *mapdata.Feed, p *Patch) (header string, err error) {
	var w wrong
	header = s.take(f, &p.Settings, &w)
	w.notForPush("pull_auth_header", p.ClearAuthHeader && f.Direction == mapdata.Push)
	return header, w.err()
}

func (s *Service) edit(ctx context.Context, f *mapdata.Feed, by Actor, p *Patch, now time.Time) (Side, error) {
	before := *f
	header, err := s.takePatch(f, p)
	if err != nil {
		return Side{}, err
	}
	var side Side
	if header != "" || p.ClearAuthHeader && f.PullAuthSealed != nil {
		note := "removed"
		f.PullAuthSealed = nil
		if header != "" {
			note = "set"
			if f.PullAuthSealed, err = s.Seal([]byte(header), f.ID); err != nil {
				return Side{}, fmt.Errorf("seal auth header: %w", err)
			}
		}
		side.Audit = append(side.Audit, by.did(ctx, now, mapdata.AuditFeedHeader, f, note))
	}
	if p.Active != nil {
		f.Active = *p.Active
	}
	reschedule(f, &before, now)
	review(f, &before)
	f.UpdatedAt = now
	for _, c := range told(f, &before) {
		side.Audit = append(side.Audit, by.did(ctx, now, c.action, f, c.note))
	}
	return side, nil
}

// act is an entry for the audit log.
type act struct{ action, note string }

// told says what of an edit the audit log is told.
func told(f, before *mapdata.Feed) []act {
	var all []act
	if f.PullURL != before.PullURL {
		from, to := Origin(before.PullURL), Origin(f.PullURL)
		note := from + ", other path or query"
		if from != to {
			note = from + " to " + to
		}
		all = append(all, act{mapdata.AuditFeedURL, note})
	}
	var names []string
	r, was := f.Reviewed(), before.Reviewed()
	for _, c := range r.Since(&was) {
		if c.Field != "pull_url" {
			names = append(names, c.Field)
		}
	}
	if names != nil {
		all = append(all, act{mapdata.AuditFeedEdit, strings.Join(names, ", ")})
	}
	switch {
	case f.Active && !before.Active:
		all = append(all, act{mapdata.AuditFeedResume, ""})
	case !f.Active && before.Active:
		all = append(all, act{mapdata.AuditFeedPause, ""})
	}
	if f.ReviewState == mapdata.Pending && before.ReviewState != mapdata.Pending {
		all = append(all, act{mapdata.AuditFeedReviewAgain, string(before.ReviewState)})
	}
	return all
}

// reschedule sets when a pull feed is polled next, if the change says anything about it.
func reschedule(f, before *mapdata.Feed, now time.Time) {
	if f.Direction != mapdata.Pull {
		return
	}
	again := f.Active && !before.Active
	elsewhere := f.PullURL != before.PullURL || !bytes.Equal(f.PullAuthSealed, before.PullAuthSealed)
	switch {
	case !f.Active:
		f.Polling.NextFetchAt = time.Time{}
		if elsewhere {
			f.Polling.ConsecutiveFailures = 0
		}
	case again, elsewhere:
		f.Polling.NextFetchAt, f.Polling.ConsecutiveFailures = now, 0
	case f.PullInterval < before.PullInterval && f.Polling.NextFetchAt.After(now.Add(f.PullInterval)):
		f.Polling.NextFetchAt = now.Add(f.PullInterval)
	}
}

// review says what a change means for what curators said.
func review(f, before *mapdata.Feed) {
	switch {
	case before.ReviewState == mapdata.Rejected,
		before.Visibility == mapdata.Private && f.Visibility == mapdata.Public:
		f.ReviewState, f.ReviewNote = mapdata.Pending, ""
	case before.Served() && f.Direction == mapdata.Pull && !sameOrigin(f.PullURL, before.PullURL):
		f.ReviewState, f.ReviewNote = mapdata.Pending, NoteOrigin
	}
}

// Origin is scheme, host and port of a checked pull URL: what a review binds to, and what may be told of a URL whose rest
// may be a secret. Empty: there is no URL.
func Origin(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	if port(u) == "443" {
		return u.Scheme + "://" + u.Hostname()
	}
	return u.Scheme + "://" + u.Host
}

// sameOrigin compares scheme, host and port of two checked URLs, which is what a review binds to.
func sameOrigin(a, b string) bool {
	u, errU := url.Parse(a)
	v, errV := url.Parse(b)
	return errU == nil && errV == nil && u.Scheme == v.Scheme && u.Hostname() == v.Hostname() && port(u) == port(v)
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return "443" // every pull URL is https
}

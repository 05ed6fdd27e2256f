package feed

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"wayside/internal/ground/mapdata"
)

// Patch is an owner's change of a feed. A nil field stays unchanged.
type Patch struct {
	Settings
	Active          *bool
	ClearAuthHeader bool // removes the auth header; PullAuthHeader must be nil then
}

// NoteOrigin is the review note of an approved feed that is pending again because its origin changed (D5.5). Pages
// translate it.
const NoteOrigin = "Back to review: pull_url leads to another origin than the one that was approved."

// Patch changes one of the feeds that the actor owns or maintains (D5.5). Going from private to public, or moving an approved public feed's
// pull_url to another origin or changing its format, mapping or status_url, puts it back to pending; so does any change of a rejected feed
// (D5.7). Changed words of a published feed wait for a review while readers see the previous ones (Proposed). A pull feed that becomes
// active again, or whose URL or auth header changes, is due immediately and its failure count is reset (D6.1). Patch fails with
// mapdata.ErrNotFound for another account's feed and a *mapdata.InvalidError that lists every bad field.
func (s *Service) Patch(ctx context.Context, by mapdata.Actor, id mapdata.FeedID, p *Patch) (*View, error) {
	now := s.now()
	f, err := s.Store.UpdateFeed(ctx, id, func(f *mapdata.Feed) (Side, error) {
		if !manages(by, f) {
			return Side{}, mapdata.ErrNotFound
		}
		return s.edit(ctx, f, by, p, now)
	})
	if err != nil {
		return nil, fmt.Errorf("change feed: %w", err)
	}
	s.changed(ctx)
	return s.full(ctx, by, f)
}

// CheckPatch validates a change as Patch does, without storing it.
func (s *Service) CheckPatch(ctx context.Context, by mapdata.Actor, id mapdata.FeedID, p *Patch) error {
	f, err := s.Store.Feed(ctx, id)
	if err != nil {
		return fmt.Errorf("read feed: %w", err)
	}
	if !manages(by, f) {
		return mapdata.ErrNotFound
	}
	_, err = s.applyPatch(f, p)
	return err
}

// applyPatch copies the patch's settings into the feed and returns the auth header in clear, for sealing.
func (s *Service) applyPatch(f *mapdata.Feed, p *Patch) (header string, err error) {
	var w mapdata.FieldErrors
	header = s.applySettings(f, &p.Settings, &w)
	notForPush(&w, "pull_auth_header", p.ClearAuthHeader && f.Direction == mapdata.Push)
	return header, w.Err()
}

func (s *Service) edit(ctx context.Context, f *mapdata.Feed, by mapdata.Actor, p *Patch, now time.Time) (Side, error) {
	before := *f
	*f = *f.Edited()
	header, err := s.applyPatch(f, p)
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
		side.Audit = append(side.Audit, auditEntry(ctx, by, now, mapdata.AuditFeedHeader, f, note))
	}
	if p.Active != nil {
		if f.Active = *p.Active; !f.Active {
			f.Deactivate()
		}
	}
	reschedule(f, &before, now)
	resetReview(f, &before)
	holdWords(f, &before)
	f.UpdatedAt = now
	for _, c := range auditActions(f, &before) {
		side.Audit = append(side.Audit, auditEntry(ctx, by, now, c.action, f, c.note))
	}
	return side, nil
}

// auditAction is the action and note of an audit entry.
type auditAction struct{ action, note string }

// auditActions lists what the audit log records about an edit.
func auditActions(f, before *mapdata.Feed) []auditAction {
	var all []auditAction
	if f.PullURL != before.PullURL {
		from, to := Origin(before.PullURL), Origin(f.PullURL)
		note := from + ", other path or query"
		if from != to {
			note = from + " to " + to
		}
		all = append(all, auditAction{mapdata.AuditFeedURL, note})
	}
	var names []string
	r, was := f.Reviewed(), before.Reviewed()
	for _, c := range r.Since(&was) {
		if c.Field != "pull_url" {
			names = append(names, c.Field)
		}
	}
	if names != nil {
		all = append(all, auditAction{mapdata.AuditFeedEdit, strings.Join(names, ", ")})
	}
	switch {
	case f.Active && !before.Active:
		all = append(all, auditAction{mapdata.AuditFeedResume, ""})
	case !f.Active && before.Active:
		all = append(all, auditAction{mapdata.AuditFeedPause, ""})
	}
	if f.ReviewState == mapdata.Pending && before.ReviewState != mapdata.Pending || f.Proposed != nil && before.Proposed == nil {
		all = append(all, auditAction{mapdata.AuditFeedReviewAgain, string(before.ReviewState)})
	}
	return all
}

// reschedule updates a pull feed's next poll after a change of its activity, URL, auth header or interval.
func reschedule(f, before *mapdata.Feed, now time.Time) {
	if f.Direction != mapdata.Pull {
		return
	}
	running := f.Active && !f.Pause.InForce()
	resumed := running && !(before.Active && !before.Pause.InForce())
	targetChanged := f.PullURL != before.PullURL || f.Bridge != before.Bridge || !bytes.Equal(f.PullAuthSealed, before.PullAuthSealed)
	switch {
	case !running:
		f.Polling.NextFetchAt = time.Time{} // failures are retained until it is active again: they are the reason why it is not
	case resumed, targetChanged:
		f.Polling.NextFetchAt, f.Polling.ConsecutiveFailures = now, 0
	case f.PullInterval < before.PullInterval && f.Polling.NextFetchAt.After(now.Add(f.PullInterval)):
		f.Polling.NextFetchAt = now.Add(f.PullInterval)
	}
}

// resetReview puts a feed back to pending if the change needs another review.
func resetReview(f, before *mapdata.Feed) {
	switch {
	case before.ReviewState == mapdata.Rejected,
		before.Visibility == mapdata.Private && f.Visibility == mapdata.Public:
		f.ReviewState, f.ReviewNote = mapdata.Pending, ""
	case before.Published() && f.Direction == mapdata.Pull && !sameOrigin(f.PullURL, before.PullURL):
		f.ReviewState, f.ReviewNote = mapdata.Pending, NoteOrigin
	case before.Published() && readDifferently(f, before):
		f.ReviewState, f.ReviewNote = mapdata.Pending, NoteFormat
	}
}

// holdWords makes changed words of a published feed wait for a review, so that readers see the approved ones until then (D5.5).
func holdWords(f, before *mapdata.Feed) {
	if !before.Published() || !f.Published() {
		return // only the owner sees it: it is reviewed as a whole
	}
	edited, approved := f.Words(), before.Words()
	f.SetWords(&approved)
	if edited == approved {
		return
	}
	f.Proposed = &edited
	if before.Proposed == nil || *before.Proposed != edited {
		f.ReviewNote = "" // the note was about an earlier change
	}
}

// Origin returns scheme, host and port of a validated pull URL: a review is bound to them, and they may be logged while the
// rest of the URL may be a secret. It is empty for a feed without a URL.
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

// sameOrigin compares scheme, host and port of two validated URLs, to which a review is bound.
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

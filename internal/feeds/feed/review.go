package feed

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/review"
)

// Lengths of the parts of a version. A version identifies the state of a feed that a curator reviewed, in hexadecimal digits: 16 bytes of a
// hash of all reviewed fields, 4 bytes of a hash of the review's state, and 2 bytes per field, which only identify the fields that differ.
// An owner can find two texts that collide in 2 bytes, but not in 16.
const (
	allBytes   = 16
	stateBytes = 4
	fieldBytes = 2
)

// Version returns the version of the feed's current state, for Approve and Reject.
func Version(f *mapdata.Feed) string {
	seen := SeenOf(f)
	return seen.Version()
}

// Seen is the state that a version identifies.
type Seen struct {
	Reviewed mapdata.Reviewed
	State    mapdata.ReviewState
	Note     string // for the owner
}

// SeenOf returns the current state of the feed.
func SeenOf(f *mapdata.Feed) Seen { return Seen{f.Reviewed(), f.ReviewState, f.ReviewNote} }

// Since lists the differences from an earlier state: the reviewed fields, then review_state and review_note.
func (s *Seen) Since(earlier *Seen) []mapdata.FieldChange {
	all := s.Reviewed.Since(&earlier.Reviewed)
	for _, c := range []mapdata.FieldChange{
		{Field: "review_state", Was: string(earlier.State), Is: string(s.State)}, {Field: "review_note", Was: earlier.Note, Is: s.Note},
	} {
		if c.Was != c.Is {
			all = append(all, c)
		}
	}
	return all
}

// Version returns the state's version. A client that presents a state with its matching version has seen that state, since a
// collision of the hash cannot be found.
func (s *Seen) Version() string {
	all := sha256.New()
	var parts []byte
	for _, field := range s.Reviewed.Fields() {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(field.Value)))
		all.Write(length[:])
		all.Write([]byte(field.Value))
		sum := sha256.Sum256([]byte(field.Value))
		parts = append(parts, sum[:fieldBytes]...)
	}
	state := sha256.Sum256([]byte(string(s.State) + "\n" + s.Note))
	version := append(all.Sum(nil)[:allBytes:allBytes], state[:stateBytes]...)
	return hex.EncodeToString(append(version, parts...))
}

// changed compares a version with the feed. It returns whether the reviewed fields are the same, and a *mapdata.ChangedError
// that lists the fields that differ, including the review's state. It fails with a *mapdata.InvalidError for a malformed
// version.
func changed(f *mapdata.Feed, version string) (same bool, err error) {
	now := Version(f)
	if version == now {
		return true, nil
	}
	const fields, state = 2 * (allBytes + stateBytes), 2 * allBytes
	if _, err := hex.DecodeString(version); err != nil || len(version) != len(now) {
		return false, &mapdata.InvalidError{Fields: []mapdata.FieldError{
			{Field: "version", Code: "invalid_version", Message: "must be the review_version of the feed, as it was shown"},
		}}
	}
	var differs mapdata.ChangedError
	r := f.Reviewed()
	for i, field := range r.Fields() {
		from := fields + 2*fieldBytes*i
		if version[from:from+2*fieldBytes] != now[from:from+2*fieldBytes] {
			value := field.Value
			if field.Name == "pull_url" || field.Name == "status_url" {
				value = MaskQuery(value)
			}
			differs.Fields = append(differs.Fields, mapdata.FieldError{Field: field.Name, Code: "changed", Message: "is now «" + value + "»"})
		}
	}
	if version[state:fields] != now[state:fields] {
		differs.Fields = append(differs.Fields, mapdata.FieldError{Field: "review_state", Code: "changed", Message: "is now «" + string(f.ReviewState) + "»"})
	}
	return version[:state] == now[:state], &differs
}

// Approve approves a feed: a public one is listed and served from now on (States). The owner gets an e-mail. A feed that is approved
// already stays unchanged, without another e-mail. It fails with mapdata.ErrForbidden for an actor who may not review or owns the feed
// (D11.9), with mapdata.ErrNotFound for one that the actor may not see and, if a version is given, with a *mapdata.ChangedError for a feed
// that has changed since that version.
func (s *Service) Approve(ctx context.Context, by mapdata.Actor, id mapdata.FeedID, version string) (*View, error) {
	return s.decide(ctx, by, id, version, &decision{mapdata.Approved, "", mapdata.AuditFeedApprove, mapdata.EmailApproved})
}

// Reject rejects a feed with a note of 1 to 2000 characters, which the owner gets in an e-mail and on the feed's page (D5.7). It fails as
// Approve does, and with a *mapdata.InvalidError for an invalid note.
func (s *Service) Reject(ctx context.Context, by mapdata.Actor, id mapdata.FeedID, version, note string) (*View, error) {
	note, err := review.CleanNote(note)
	if err != nil && by.MayReview() {
		return nil, err
	}
	return s.decide(ctx, by, id, version, &decision{mapdata.Rejected, note, mapdata.AuditFeedReject, mapdata.EmailRejected})
}

type decision struct {
	state  mapdata.ReviewState
	note   string
	action string
	email  mapdata.EmailKind
}

// matches reports whether the decision was made already.
func (d *decision) matches(f *mapdata.Feed) bool {
	if f.Proposed != nil {
		return false
	}
	return f.ReviewState == d.state && (f.ReviewNote == d.note || d.state == mapdata.Approved)
}

// apply applies the decision to the feed. A decision on changed words of a published feed leaves the feed approved: rejected ones are
// dropped, and readers continue to see the approved ones.
func (d *decision) apply(f *mapdata.Feed, now time.Time) (email mapdata.EmailKind) {
	email = d.email
	switch {
	case f.Proposed == nil:
		f.ReviewState = d.state
	case d.state == mapdata.Approved:
		*f = *f.Edited()
	default:
		f.Proposed, email = nil, mapdata.EmailChangeRejected
	}
	f.ReviewNote, f.UpdatedAt = d.note, now
	return email
}

func (s *Service) decide(ctx context.Context, by mapdata.Actor, id mapdata.FeedID, version string, d *decision) (*View, error) {
	if err := review.CheckCurator(by, "Only curators approve and reject feeds."); err != nil {
		return nil, err
	}
	now := s.now()
	f, changed, err := review.Decide(ctx, s.Store.UpdateFeed, id, func(f *mapdata.Feed) (Side, error) {
		if manages(by, f) {
			return Side{}, mapdata.Explain(mapdata.ErrForbidden, "own_feed", "Another curator decides on your own feed.")
		}
		if err := checkVersion(by, f, version, d); err != nil {
			return Side{}, err
		}
		if d.matches(f) {
			return Side{}, review.ErrDecided
		}
		reviewed := f.Reviewed()
		email := d.apply(f, now)
		entry := auditEntry(ctx, by, now, d.action, f, d.note)
		entry.Reviewed = &reviewed
		return Side{
			Audit:  []mapdata.AuditEntry{entry},
			Emails: []mapdata.Email{decisionEmail(f, email, d.note, now)},
		}, nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.action, err)
	}
	if changed {
		s.changed(ctx)
	}
	return s.full(ctx, by, f)
}

// checkVersion fails if the feed has changed since the version, or the actor may not see the feed. Sending the same form twice, or agreeing
// with another curator, is not a conflict: a curator who names the version has seen the feed while it waited.
func checkVersion(by mapdata.Actor, f *mapdata.Feed, version string, d *decision) error {
	same := false
	if version != "" {
		var err error
		if same, err = changed(f, version); err != nil && !(same && d.matches(f)) && (same || readsInFull(by, f)) {
			return err
		}
	}
	if !same && !readsInFull(by, f) {
		return mapdata.ErrNotFound
	}
	return nil
}

// Queue lists the feeds that wait for a curator, the longest waiting first. It fails with
// mapdata.ErrForbidden for an actor who may not review.
func (s *Service) Queue(ctx context.Context, by mapdata.Actor) ([]mapdata.PendingFeed, error) {
	if err := review.CheckCurator(by, "Only curators see which feeds wait."); err != nil {
		return nil, err
	}
	all, err := s.Store.PendingFeeds(ctx)
	if err != nil {
		return nil, fmt.Errorf("list pending feeds: %w", err)
	}
	return all, nil
}

// Review holds all data that a curator needs for a decision.
type Review struct {
	View
	Version  string
	Proposes bool // changed words of a published feed wait; Feed contains them
	Owner    *mapdata.Account
	Others   []mapdata.Feed // of the same owner that the actor may see, oldest first
	Account  AccountStorage
	Since    time.Time // when the feed was registered, or put back to pending
	Approval *mapdata.AuditRecord
	Changes  []mapdata.FieldChange // since Approval; nil if there was none
	Log      []mapdata.AuditRecord // of the feed, newest first

	served mapdata.Reviewed // the content that readers see
}

// AccountStorage is the number of bytes of rows that all feeds of an account hold together, and may hold (D5.10).
type AccountStorage struct {
	Holds, MayHold int64 // MayHold is the largest number if there is no bound
}

// maxReviewLog is the number of entries of a feed's log in a review.
const maxReviewLog = 50

// Review returns the data for a decision, except entities and attempts (see Contents, History). It fails with mapdata.ErrForbidden for an
// actor who may not review.
func (s *Service) Review(ctx context.Context, by mapdata.Actor, id mapdata.FeedID) (*Review, error) {
	if err := review.CheckCurator(by, "Only curators review feeds."); err != nil {
		return nil, err
	}
	view, err := s.Get(ctx, by, id)
	if err != nil {
		return nil, err
	}
	r := &Review{View: *view, Version: Version(&view.Feed), Since: view.CreatedAt}
	r.Proposes = r.Proposed != nil
	served := r.Feed
	served.Proposed = nil
	r.served, r.Feed = served.Reviewed(), *r.Edited()
	if r.Owner, err = s.Store.Account(ctx, view.Owner); err != nil {
		return nil, fmt.Errorf("read owner: %w", err)
	}
	feeds, err := s.Store.Feeds(ctx, view.Owner, false)
	if err != nil {
		return nil, fmt.Errorf("list feeds of the owner: %w", err)
	}
	r.Account.MayHold = s.bounds().OfAccount()
	for i := range feeds {
		r.Account.Holds += feeds[i].Holds.Bytes
		if feeds[i].ID != id && readsInFull(by, &feeds[i]) {
			r.Others = append(r.Others, feeds[i])
		}
	}
	if r.Log, err = s.Store.Audit(ctx, &mapdata.AuditQuery{Subject: id.String(), Limit: maxReviewLog}); err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	return r, s.sinceApproval(ctx, r)
}

// sinceApproval finds the last approval, the changes since then, and since when the feed has been pending.
func (s *Service) sinceApproval(ctx context.Context, r *Review) error {
	newest := func(action string) (*mapdata.AuditRecord, error) {
		all, err := s.Store.Audit(ctx, &mapdata.AuditQuery{Actions: []string{action}, Subject: r.ID.String(), Limit: 1})
		if err != nil || len(all) == 0 {
			return nil, err
		}
		return &all[0], nil
	}
	again, err := newest(mapdata.AuditFeedReviewAgain)
	if err != nil {
		return fmt.Errorf("read since when it waits: %w", err)
	}
	if again != nil {
		r.Since = again.At
	}
	if r.Approval, err = newest(mapdata.AuditFeedApprove); err != nil {
		return fmt.Errorf("read last approval: %w", err)
	}
	now := r.Reviewed()
	switch {
	case r.Proposes:
		r.Changes = now.Since(&r.served)
	case r.Approval != nil && r.Approval.Reviewed != nil:
		r.Changes = now.Since(r.Approval.Reviewed)
	}
	return nil
}

package feed

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"wayside/internal/mapdata"
)

// A version names what a curator looked at: 16 bytes of a hash of all that is reviewed, 4 of one of the review's state,
// and 2 for each field, which only tell which of them differs; in hexadecimal digits. An owner can make two texts that
// agree in the 2 bytes, none that agree in the 16.
const (
	allBytes   = 16
	stateBytes = 4
	fieldBytes = 2
)

// Version names the feed as it is now, for Approve and Reject.
func Version(f *mapdata.Feed) string {
	seen := SeenOf(f)
	return seen.Version()
}

// Seen is all that a version names.
type Seen struct {
	Reviewed mapdata.Reviewed
	State    mapdata.ReviewState
	Note     string // the owner's to read
}

// SeenOf gives it of the feed as it is now.
func SeenOf(f *mapdata.Feed) Seen { return Seen{f.Reviewed(), f.ReviewState, f.ReviewNote} }

// Since lists what differs from what was seen earlier: what is reviewed, then review_state and review_note.
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

// Version names it. Whoever hands in what they saw together with its version has seen that: nobody makes another text of the
// same version.
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

// changed compares a version with the feed: whether what is reviewed is the same, and a *mapdata.ChangedError that lists
// what is otherwise now, the review's state among it. It fails with a *mapdata.InvalidError for what is no version.
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
			differs.Fields = append(differs.Fields, mapdata.FieldError{Field: field.Name, Code: "changed", Message: "is now «" + field.Value + "»"})
		}
	}
	if version[state:fields] != now[state:fields] {
		differs.Fields = append(differs.Fields, mapdata.FieldError{Field: "review_state", Code: "changed", Message: "is now «" + string(f.ReviewState) + "»"})
	}
	return version[:state] == now[:state], &differs
}

// Approve lets a feed in: a public one is listed and served from now on (States). The owner gets a letter. A feed that is
// approved already stays as it is, without another letter. It fails with mapdata.ErrForbidden for who may not review. Where
// a version is given, it fails with a *mapdata.ChangedError for a feed that is not as it was then.
func (s *Service) Approve(ctx context.Context, by Actor, id mapdata.FeedID, version string) (*View, error) {
	return s.decide(ctx, by, id, version, &decision{mapdata.Approved, "", mapdata.AuditFeedApprove, mapdata.LetterApproved})
}

// Reject turns a feed away, with a note of 1 to 2000 characters that the owner reads in a letter and on the feed (D5.7).
// It fails as Approve does, and with a *mapdata.InvalidError without a good note.
func (s *Service) Reject(ctx context.Context, by Actor, id mapdata.FeedID, version, note string) (*View, error) {
	var w wrong
	note = cleanLines(note)
	checkLines(&w, "note", note, 1, maxNote)
	if err := w.err(); err != nil && by.reviews {
		return nil, err
	}
	return s.decide(ctx, by, id, version, &decision{mapdata.Rejected, note, mapdata.AuditFeedReject, mapdata.LetterRejected})
}

type decision struct {
	state  mapdata.ReviewState
	note   string
	action string
	letter mapdata.LetterKind
}

func (d *decision) made(f *mapdata.Feed) bool {
	return f.ReviewState == d.state && f.ReviewNote == d.note
}

// errDecided ends an edit that would change nothing.
var errDecided = errors.New("decided already")

func (s *Service) decide(ctx context.Context, by Actor, id mapdata.FeedID, version string, d *decision) (*View, error) {
	if !by.reviews {
		return nil, mapdata.Describe(mapdata.ErrForbidden, "Only curators approve and reject feeds.")
	}
	now := s.now()
	f, err := s.Store.UpdateFeed(ctx, id, func(f *mapdata.Feed) (Side, error) {
		if version != "" {
			// Whoever sends the same form twice, or agrees with another curator, is not told of a conflict.
			if same, err := changed(f, version); err != nil && !(same && d.made(f)) {
				return Side{}, err
			}
		}
		if d.made(f) {
			return Side{}, errDecided
		}
		reviewed := f.Reviewed()
		f.ReviewState, f.ReviewNote, f.UpdatedAt = d.state, d.note, now
		entry := by.did(ctx, now, d.action, f, d.note)
		entry.Reviewed = &reviewed
		return Side{
			Audit: []mapdata.AuditEntry{entry},
			Letters: []mapdata.Letter{{
				Account: f.Owner, Kind: d.letter, At: now, Due: now,
				Data: map[string]string{"feed_name": f.Name, "feed_id": id.String(), "note": d.note},
			}},
		}, nil
	})
	if errors.Is(err, errDecided) {
		return s.Get(ctx, by, id)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.action, err)
	}
	s.changed()
	return s.full(ctx, f)
}

// Queue lists the feeds that wait for a curator, the longest waiting first. It fails with mapdata.ErrForbidden.
func (s *Service) Queue(ctx context.Context, by Actor) ([]mapdata.PendingFeed, error) {
	if !by.reviews {
		return nil, mapdata.Describe(mapdata.ErrForbidden, "Only curators see which feeds wait.")
	}
	all, err := s.Store.PendingFeeds(ctx)
	if err != nil {
		return nil, fmt.Errorf("list pending feeds: %w", err)
	}
	return all, nil
}

// Review is what a curator decides by.
type Review struct {
	View
	Version  string
	Owner    *mapdata.Account
	Others   []mapdata.Feed // of the same owner, oldest first
	Since    time.Time      // when it was registered, or put back to pending
	Approval *mapdata.AuditRecord
	Changes  []mapdata.FieldChange // since Approval; none where it is nil
	Log      []mapdata.AuditRecord // of the feed, newest first
}

// reviewLog is how many entries of a feed's log a review shows.
const reviewLog = 50

// Review gathers what a decision needs, but for entities and attempts (Contents, History). It fails with
// mapdata.ErrForbidden for who may not review.
func (s *Service) Review(ctx context.Context, by Actor, id mapdata.FeedID) (*Review, error) {
	if !by.reviews {
		return nil, mapdata.Describe(mapdata.ErrForbidden, "Only curators review feeds.")
	}
	view, err := s.Get(ctx, by, id)
	if err != nil {
		return nil, err
	}
	r := &Review{View: *view, Version: Version(&view.Feed), Since: view.CreatedAt}
	if r.Owner, err = s.Store.Account(ctx, view.Owner); err != nil {
		return nil, fmt.Errorf("read owner: %w", err)
	}
	feeds, err := s.Store.Feeds(ctx, view.Owner, false)
	if err != nil {
		return nil, fmt.Errorf("list feeds of the owner: %w", err)
	}
	for i := range feeds {
		if feeds[i].ID != id {
			r.Others = append(r.Others, feeds[i])
		}
	}
	if r.Log, err = s.Store.Audit(ctx, &mapdata.AuditQuery{Subject: id.String(), Limit: reviewLog}); err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	return r, s.sinceApproval(ctx, r)
}

// sinceApproval finds the last approval, what changed since, and since when the feed waits.
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
	if r.Approval != nil && r.Approval.Reviewed != nil {
		now := r.Reviewed()
		r.Changes = now.Since(r.Approval.Reviewed)
	}
	return nil
}

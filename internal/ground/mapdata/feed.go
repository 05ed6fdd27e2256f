package mapdata

import (
	"bytes"
	"time"
)

// Direction states who initiates the transfer of a feed's rows.
type Direction string

// The directions of a feed.
const (
	Pull Direction = "pull"
	Push Direction = "push"
)

// Visibility states who may see a feed.
type Visibility string

// The visibilities of a feed.
const (
	Private Visibility = "private"
	Public  Visibility = "public"
)

// ReviewState is the state of a feed's review by curators (D5.4).
type ReviewState string

// The review states of a feed.
const (
	Pending  ReviewState = "pending"
	Approved ReviewState = "approved"
	Rejected ReviewState = "rejected"
)

// Layer is the named group of entities that a feed owns.
type Layer struct {
	ID   string // UUIDv7
	Slug string // [a-z0-9-], unique, immutable (D5.8)
	Name string
}

// Feed is a provider's data set with its settings and its state.
type Feed struct {
	ID          FeedID
	Owner       AccountID
	Maintainers []AccountID // accounts that manage it beside the owner, ordered by id
	Layer       Layer
	Name        string
	Description string
	Attribution string
	Licence     string // of the data: an SPDX identifier, or any name; empty: not stated
	SpecURL     string
	Direction   Direction
	Visibility  Visibility
	Active      bool
	ReviewState ReviewState
	ReviewNote  string
	Pause       Pause // by a curator or an operator, independent of Active, which the owner sets
	CreatedAt   time.Time
	UpdatedAt   time.Time
	Proposed    *Words // the owner's edit of a published feed's words, which waits for a review (D5.5); nil: none

	PushTokenHash  []byte // SHA-256 of the push token; nil for a pull feed
	PullURL        string
	PullAuthSealed []byte // the auth header, encrypted with the feed's id as associated data; nil: none
	PullInterval   time.Duration
	Bridge         Bridge // of a pull feed

	Polling          Polling
	LastPushAt       time.Time // zero: never
	SnapshotAt       time.Time // time of the last good snapshot: "last seen" of rows without their own time
	Snapshot         int64     // number of good snapshots so far
	EntitiesRevision int64     // revision of the last change to the feed's entities
	Holds            Usage     // stored usage of the feed; maintained by the store
	ApprovedOnce     bool      // by a curator (D5.10); maintained by the store
	Generation       int64     // raised by the store with each edit for which PollChanged returns true
}

// Words are the texts of a feed that people read. A change of a published feed's words waits for a review (D5.5).
type Words struct {
	Name        string
	Description string
	Attribution string
	Licence     string
	LayerName   string
	SpecURL     string
}

// Words returns the feed's words as readers see them.
func (f *Feed) Words() Words {
	return Words{f.Name, f.Description, f.Attribution, f.Licence, f.Layer.Name, f.SpecURL}
}

// SetWords replaces the words that readers see.
func (f *Feed) SetWords(w *Words) {
	f.Name, f.Description, f.Attribution, f.Licence, f.Layer.Name, f.SpecURL = w.Name, w.Description, w.Attribution, w.Licence, w.LayerName, w.SpecURL
}

// Edited returns the feed as its owner edited it, including words that wait for a review.
func (f *Feed) Edited() *Feed {
	edited := *f
	if edited.Proposed = nil; f.Proposed != nil {
		edited.SetWords(f.Proposed)
	}
	return &edited
}

// Lease is a node's claim on a feed for one poll. An outcome of the poll is recorded only while the feed is still leased
// to the same node and has the same generation. The zero Lease matches a feed that no node has claimed and whose polls no
// edit has changed.
type Lease struct {
	Node       string // the node that claimed the feed
	Generation int64  // Feed.Generation when it was claimed
}

// bridgedLease is the additional duration of the lease of a bridged feed, because fetching its documents may take two minutes (D17.12).
const bridgedLease = 2 * time.Minute

// LeaseEnd returns the end of a claim of the feed; until is the end for feeds of v1 rows.
func (f *Feed) LeaseEnd(until time.Time) time.Time {
	if f.Bridged() {
		return until.Add(bridgedLease)
	}
	return until
}

// PollChanged reports whether an edit changed what a poll of the feed requests or leads to. The outcome of a poll that began before such an
// edit does not apply to the current feed.
func (f *Feed) PollChanged(before *Feed) bool {
	return f.PullURL != before.PullURL || !bytes.Equal(f.PullAuthSealed, before.PullAuthSealed) ||
		f.PullInterval != before.PullInterval || f.Bridge != before.Bridge || f.Active != before.Active || f.Pause.By != before.Pause.By
}

// Polling is the state of a pull feed's schedule.
type Polling struct {
	NextFetchAt         time.Time // zero: not scheduled
	LastFetchedAt       time.Time // zero: never
	LastOutcome         Outcome   // empty: never polled
	LastError           string    // the failure and its remedy, for the owner (D6.8)
	LastRows            int
	LastRejected        int
	LastSkipped         int    // items of the last good document that became no row; Skips has the reasons
	Skips               []Skip // nil: none
	ConsecutiveFailures int
	Shrank              bool   // the last good snapshot had fewer than half the rows of the one before (D6.9)
	BodyHash            []byte // of the last good snapshot; nil: the next one must be compared row by row
	Validators          Validators
}

// Approved reports whether a curator approved the feed.
func (f *Feed) Approved() bool { return f.ReviewState == Approved }

// MaxFailures is the number of consecutive failed polls after which the service deactivates a feed.
const MaxFailures = 20

// maxPersistence is how long after the last success the persistent entities of a feed that failures deactivated are shown (D4.16).
const maxPersistence = 7 * 24 * time.Hour

// Deactivate deactivates the feed by a person's decision, which hides it (D4.16), even if it failed before.
func (f *Feed) Deactivate() {
	if f.Active = false; f.Polling.ConsecutiveFailures >= MaxFailures {
		f.Polling.ConsecutiveFailures = 0
	}
}

// DeactivatedByFailures reports whether the service deactivated the feed because its polls failed. It stays readable (D4.16).
func (f *Feed) DeactivatedByFailures() bool {
	return !f.Active && f.Polling.ConsecutiveFailures >= MaxFailures
}

// Published reports whether the feed is public and approved, active or not.
func (f *Feed) Published() bool { return f.Visibility == Public && f.Approved() }

// Served reports whether everybody may read the feed's entities: published, not deactivated by a person (D4.16), and not paused by a
// curator.
func (f *Feed) Served() bool {
	return f.Published() && (f.Active || f.DeactivatedByFailures()) && !f.Pause.InForce()
}

// Listed reports whether the feed is in the list of sources: served and active.
func (f *Feed) Listed() bool { return f.Served() && f.Active }

// PersistentUntil returns when the feed's persistent entities are hidden from everybody but its owner (D4.16), or zero for never.
func (f *Feed) PersistentUntil() time.Time {
	if !f.DeactivatedByFailures() {
		return time.Time{}
	}
	return lastSuccess(f).Add(maxPersistence)
}

// Outcome is the result of a poll (D6.7).
type Outcome string

// The outcomes of a poll.
const (
	OutcomeOK              Outcome = "ok"
	OutcomeTimeout         Outcome = "timeout"
	OutcomeHTTPStatus      Outcome = "http_status"
	OutcomeParseError      Outcome = "parse_error"
	OutcomeNotAnArray      Outcome = "not_an_array"
	OutcomeTooLarge        Outcome = "too_large"
	OutcomeDNSError        Outcome = "dns_error"
	OutcomeConnectionError Outcome = "connection_error"
	OutcomeTLSError        Outcome = "tls_error"
	OutcomeBlockedAddress  Outcome = "blocked_address"
	OutcomeRedirectError   Outcome = "redirect_error"
)

// Attempt is one poll or push of a feed, for its timeline and its health.
type Attempt struct {
	At       time.Time
	Duration time.Duration
	OK       bool
	Outcome  Outcome // of a poll; for a push "ok" or the class of the refusal
	Rows     int     // rows received
	Rejected int     // rows refused
	Skipped  int     // items that became no row, of a bridged feed
	Bytes    int64   // of the body, decompressed

	Unchanged int    // accepted rows that changed nothing
	Retired   int    // entities that this attempt retired
	Status    int    // the provider's HTTP status, when Outcome is http_status; 0: otherwise
	Reason    Reason // of a failure, in more detail than Outcome: one of Reasons or the code of an address rule; empty: no more detail
}

// Accepted returns the number of accepted rows.
func (a *Attempt) Accepted() int { return a.Rows - a.Rejected }

// Retention of a feed's history for its owner: no more than a page shows.
const (
	TimelineLength = 100                // attempts of one feed
	TimelineSpan   = 7 * 24 * time.Hour // older attempts are pruned
	MaxExamples    = 3                  // rejected rows of one code
	MaxValue       = 64                 // bytes of RejectedRow.Value
)

// Rejection is one reason for which rows of a feed were recently rejected, or a warning about accepted ones (IsWarning).
type Rejection struct {
	At       time.Time // of the newest attempt that had such rows
	Code     string    // as in the answer to a push (D3.10)
	Rows     int       // such rows in that attempt
	Examples []RejectedRow
}

// RejectedRow is an example of a Rejection: its position, and the rejected value.
type RejectedRow struct {
	Index      int    // of the row in its array, from 0
	ExternalID string // cut to 256 bytes; empty: it is missing, or not a string
	Field      string // empty: the row as a whole
	Message    string // in English
	Reason     Reason // more detailed than the code; empty: no more detail
	Value      string // of the field, as JSON, cut to MaxValue bytes; empty: it is missing, or not helpful
}

// Side is stored together with a change of a feed, in the same transaction.
type Side struct {
	Audit  []AuditEntry
	Emails []Email
}

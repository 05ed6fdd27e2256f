package mapdata

import (
	"bytes"
	"time"
)

// Direction says who starts the transfer of a feed's rows.
type Direction string

// The directions of a feed.
const (
	Pull Direction = "pull"
	Push Direction = "push"
)

// Visibility says for whom a feed is meant.
type Visibility string

// The visibilities of a feed.
const (
	Private Visibility = "private"
	Public  Visibility = "public"
)

// ReviewState is what curators have said of a feed (D5.4).
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
	Slug string // [a-z0-9-], unique, never changed (D5.8)
	Name string
}

// Feed is a provider's data set and all that the service knows of it.
type Feed struct {
	ID          FeedID
	Owner       AccountID
	Layer       Layer
	Name        string
	Description string
	Attribution string
	Licence     string // under which the data may be used: an SPDX identifier, or any name; empty: not stated
	SpecURL     string
	Direction   Direction
	Visibility  Visibility
	Active      bool
	ReviewState ReviewState
	ReviewNote  string
	CreatedAt   time.Time
	UpdatedAt   time.Time

	PushTokenHash  []byte // SHA-256 of the push token; nil for a pull feed
	PullURL        string
	PullAuthSealed []byte // the auth header, encrypted with the feed's id as associated data; nil: none
	PullInterval   time.Duration

	Polling          Polling
	LastPushAt       time.Time // zero: never
	SnapshotAt       time.Time // when the last good snapshot was taken: what rows without a time of their own were last seen at
	Snapshot         int64     // number of good snapshots so far
	EntitiesRevision int64     // revision of the last change to the feed's entities
	Generation       int64     // raised by the store with each edit for which PollChanged is true
}

// Lease is a node's claim on a feed for one poll. An outcome of the poll is recorded only while the feed is still leased
// to the same node and has the same generation. The zero Lease matches a feed that no node has claimed and whose polls no
// edit has changed.
type Lease struct {
	Node       string // that claimed the feed
	Generation int64  // Feed.Generation when it was claimed
}

// PollChanged says whether an edit changed what a poll of the feed asks for or leads to. The outcome of a poll that began
// before such an edit tells nothing about the feed as it is now.
func (f *Feed) PollChanged(before *Feed) bool {
	return f.PullURL != before.PullURL || !bytes.Equal(f.PullAuthSealed, before.PullAuthSealed) ||
		f.PullInterval != before.PullInterval || f.Active != before.Active
}

// Polling is where a pull feed stands in its schedule.
type Polling struct {
	NextFetchAt         time.Time // zero: not scheduled
	LastFetchedAt       time.Time // zero: never
	LastOutcome         Outcome   // empty: never polled
	LastError           string    // what failed and what to do, for the owner (D6.8)
	LastRows            int
	LastRejected        int
	ConsecutiveFailures int
	Shrank              bool   // the last good snapshot had fewer than half the rows of the one before (D6.9)
	BodyHash            []byte // of the last good snapshot's body; nil: the next one must be compared row by row
}

// Approved says that a curator let the feed in.
func (f *Feed) Approved() bool { return f.ReviewState == Approved }

// Served says whether everybody may read the feed's entities: public and approved. A deactivated feed's entities stay
// until they expire; its source is shown as offline (D4.15).
func (f *Feed) Served() bool { return f.Visibility == Public && f.Approved() }

// Listed says whether the feed stands in the catalogue of sources: served and active.
func (f *Feed) Listed() bool { return f.Served() && f.Active }

// Outcome is how a poll ended (D6.7).
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

// Attempt is one poll or push of a feed, as its timeline and its health show it.
type Attempt struct {
	At       time.Time
	Duration time.Duration
	OK       bool
	Outcome  Outcome // of a poll; for a push "ok" or the class of the refusal
	Rows     int     // rows received
	Rejected int     // rows refused
	Bytes    int64   // of the body, decompressed

	Unchanged int    // accepted rows that changed nothing
	Retired   int    // entities that this attempt ended
	Status    int    // the provider's HTTP status, when Outcome is http_status; 0: otherwise
	Reason    Reason // of a failure: finer than Outcome, one of Reasons or the code of a rule of addresses; empty: nothing to add
}

// Accepted is how many rows were taken.
func (a *Attempt) Accepted() int { return a.Rows - a.Rejected }

// What is kept of a feed's past for its owner: never more than a page shows.
const (
	TimelineLength = 100                // attempts of one feed
	TimelineSpan   = 7 * 24 * time.Hour // older ones go
	MaxExamples    = 3                  // rejected rows of one code
	MaxValue       = 64                 // bytes of RejectedRow.Value
)

// Rejection is one reason for which rows of a feed were rejected of late.
type Rejection struct {
	At       time.Time // of the newest attempt that had such rows
	Code     string    // as in the answer to a push (D3.10)
	Rows     int       // such rows in that attempt
	Examples []RejectedRow
}

// RejectedRow is an example of a Rejection: where it stood, and the value that was refused.
type RejectedRow struct {
	Index      int    // of the row in its array, from 0
	ExternalID string // cut to 256 bytes; empty: it is missing, or no string
	Field      string // empty: the row as a whole
	Message    string // in English
	Reason     Reason // finer than the code; empty: nothing to add
	Value      string // of the field, as JSON, cut to MaxValue bytes; empty: it is missing, or would tell nothing
}

// Side is what is stored beside a change of a feed, in the same transaction.
type Side struct {
	Audit   []AuditEntry
	Letters []Letter
}

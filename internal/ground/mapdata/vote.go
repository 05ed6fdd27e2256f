package mapdata

import (
	"math"
	"time"
)

// Vote is an account's standing vote on an entity (D9.1).
type Vote int8

// The votes.
const (
	Dispute Vote = -1
	NoVote  Vote = 0 // none, or withdrawn
	Confirm Vote = 1
)

// Standing is the consensus of drivers' votes on an entity (D4.9).
type Standing string

// The standings of an entity.
const (
	Reported  Standing = "reported" // no consensus
	Confirmed Standing = "confirmed"
	Disputed  Standing = "disputed"
)

// Rules of the consensus (D9).
const (
	minConfirms                = 2
	DefaultPrior               = 0.5 // of a source without a stated reliability
	priorWeight                = 2   // number of votes that the prior counts as
	suppressMargin             = 3   // disputes minus confirms
	suppressDuration           = 30 * time.Minute
	suppressMarginPersistent   = 5 // of persistent kinds
	suppressDurationPersistent = 7 * 24 * time.Hour
	suppressMarginReport       = 1 // of drivers' reports (D17.37)
	keepDivisor                = 2 // a confirm keeps an entity for the kind's default lifetime divided by this
	liveVotesMin               = 7 * 24 * time.Hour
	liveVotesPersistent        = 180 * 24 * time.Hour // of persistent kinds
)

// StandingOf derives the consensus from numbers of votes (D9.3).
func StandingOf(confirms, disputes int) Standing {
	switch {
	case confirms >= minConfirms && confirms > disputes:
		return Confirmed
	case disputes >= 1 && disputes >= confirms:
		return Disputed
	}
	return Reported
}

// ConfidenceOf returns the confidence, 0 to 1 in steps of 0.01 (D9.4, D4.9). prior is the reliability of the source before any vote, 0 to
// 1.
func ConfidenceOf(confirms, disputes int, prior float64) float64 {
	c := (float64(confirms) + priorWeight*prior) / float64(confirms+disputes+priorWeight)
	return math.Round(c*100) / 100
}

// Tally is the sum of the votes on one entity.
type Tally struct {
	Source     SourceID
	ExternalID string

	Confirms, Disputes int // standing votes, including those that are no longer linked to their accounts
	// Those of Confirms and Disputes that do not count towards suppression: at the time of the vote, the account was too new (D9.8) or not
	// near, or another account of the same person counted.
	UntrustedConfirms, UntrustedDisputes int

	LastDisputeAt time.Time // of the standing disputes that count towards suppression; zero: none
	KeptUntil     time.Time // minimum expiry of a feed's decaying entity because of a confirm (D9.6); zero: none
	ChangedAt     time.Time // of the newest vote or withdrawal
	LifeAt        time.Time // FirstSeenAt of the life to which the votes apply; zero: all lives, as for live incidents
	Kind          Kind      // of a live incident at its first vote; not set for an entity of a feed
	Hidden        *Hiding   // by a curator, regardless of the votes and the life; nil: never

	Report // of a driver's report; otherwise zero
}

// DisputedUntil returns when the suppression by votes ends, or zero if there is none (D9.5).
func (t *Tally) DisputedUntil(k Kind) time.Time {
	at, span := suppressMargin, suppressDuration
	switch {
	case t.Source == Drivers:
		at = suppressMarginReport
	case k.Persistent():
		at, span = suppressMarginPersistent, suppressDurationPersistent
	}
	if (t.Disputes-t.UntrustedDisputes)-(t.Confirms-t.UntrustedConfirms) < at {
		return time.Time{}
	}
	return t.LastDisputeAt.Add(span)
}

// OldestSuppression returns the earliest time of the newest vote on an entity that votes still hide at now, whatever its kind, with a
// margin of a day for clocks that differ.
func OldestSuppression(now time.Time) time.Time {
	return now.Add(-suppressDurationPersistent - 24*time.Hour)
}

// OldestLiveVote returns the earliest time of the newest vote on a live incident of the kind that may still be shown at now. Its votes
// count for as long as it is shown (Live incidents, 2), which may be longer than its kind's lifetime.
func OldestLiveVote(k Kind, now time.Time) time.Time {
	if k.Persistent() {
		return now.Add(-liveVotesPersistent)
	}
	return now.Add(-max(k.Info().Longest, liveVotesMin))
}

// Suppressed reports whether the votes hide an entity of the kind at now (D9.5).
func (t *Tally) Suppressed(k Kind, now time.Time) bool { return now.Before(t.DisputedUntil(k)) }

// Returned returns when the entity became visible again after votes or a curator had hidden it, or zero if it was not hidden, or still is.
// A suppression ends by time alone, unless a vote changes the margin.
func (t *Tally) Returned(k Kind, now time.Time) time.Time {
	if until := t.WithheldUntil(k); !until.After(now) {
		return until
	}
	return time.Time{}
}

// Counts reports whether the votes are about the current life of the entity: an entity that reappears after it expired or was retired is a
// new one (D3.6), but a suppression stays in force.
func (t *Tally) Counts(k Kind, firstSeen, now time.Time) bool {
	return t.LifeAt.IsZero() || !firstSeen.After(t.LifeAt) || t.Suppressed(k, now)
}

// CountedVote is a vote as a tally counts it.
type CountedVote struct {
	Vote      Vote
	Untrusted bool // it does not count towards suppression (D9.8)
}

// Trusted reports whether the votes that an account casts at now count towards suppression: it first signed in at least after before
// (D9.8). firstSignIn is zero for an account that has never signed in; after is 0 where every vote counts.
func Trusted(firstSignIn, now time.Time, after time.Duration) bool {
	return after <= 0 || !firstSignIn.IsZero() && !now.Before(firstSignIn.Add(after))
}

// Cast returns the tally after one account's vote on e changed from before to after; before is zero if that vote was about an earlier life.
// LastDisputeAt is wrong after a dispute was withdrawn; the store finds the newest remaining one.
func (t *Tally) Cast(e *Entity, before, after CountedVote, now time.Time) Tally {
	if !t.Counts(e.Kind, e.FirstSeenAt, now) {
		return t.begin(e, after, now)
	}
	next := *t
	if t.LifeAt.IsZero() && !e.Feed.IsZero() {
		next.LifeAt = e.FirstSeenAt
	}
	if t.ChangedAt.IsZero() && e.Feed.IsZero() {
		next.Kind = e.Kind
	}
	next.count(before, -1)
	next.addVote(e, after, now)
	if !next.Counts(e.Kind, e.FirstSeenAt, now) {
		return t.begin(e, after, now) // the vote ended a suppression of an earlier life, so that it counts for this one
	}
	return next
}

// begin returns the tally of a new life after its first vote.
func (t *Tally) begin(e *Entity, first CountedVote, now time.Time) Tally {
	next := Tally{Source: t.Source, ExternalID: t.ExternalID, LifeAt: e.FirstSeenAt, Hidden: t.Hidden, Report: t.Report}
	next.addVote(e, first, now)
	return next
}

// addVote counts a vote.
func (t *Tally) addVote(e *Entity, v CountedVote, now time.Time) {
	t.count(v, 1)
	t.ChangedAt = now
	if v.Vote == Dispute && !v.Untrusted {
		t.LastDisputeAt = now
	}
	// A report that waits for two supporters is not kept by votes that do not count, which its author could cast from accounts made for it
	// (D17.37).
	if v.Vote == Confirm && e.Lifetime > 0 && !e.Feed.IsZero() && !(t.NeedsTwo && v.Untrusted) {
		t.keep(e, now)
	}
}

func (t *Tally) count(v CountedVote, by int) {
	untrusted := 0
	if v.Untrusted {
		untrusted = by
	}
	switch v.Vote {
	case Confirm:
		t.Confirms += by
		t.UntrustedConfirms += untrusted
	case Dispute:
		t.Disputes += by
		t.UntrustedDisputes += untrusted
	case NoVote:
	}
}

// keep extends the expiry of a confirmed entity (D9.6), no further than its end (D17.3). It does not apply to a persistent kind with a ttl,
// which has no default lifetime to take a share of.
func (t *Tally) keep(e *Entity, now time.Time) {
	info := e.Kind.Info()
	until := now.Add(info.Default / keepDivisor)
	if last := e.FirstSeenAt.Add(info.Longest); until.After(last) {
		until = last
	}
	until = noLater(until, e.EndsAt)
	if info.Default > 0 && until.After(t.KeptUntil) {
		t.KeptUntil = until
	}
}

// Ballot is one vote to be stored.
type Ballot struct {
	Source     SourceID
	ExternalID string
	Account    AccountID
	Vote       Vote // NoVote withdraws the standing vote
	At         time.Time
	TrustAfter time.Duration // how long after its account's first sign-in a vote counts towards suppression (D9.8); 0: always

	// Near reports whether the account is near the entity, as far as the node that takes the vote knows: only such a vote counts towards
	// suppression, and towards closing a road. nil: not checked.
	Near func(*Entity) bool

	// Reported means that the account reported the same event again (D17.36), so that it supports a report that it may not read.
	Reported bool

	// Live is the service's own record of a live incident (D9.2); its Feed is zero. It is nil for an entity of a feed, which is in the
	// store.
	Live *Entity
}

// Voted is an entity with its tally.
type Voted struct {
	Entity     Entity
	SnapshotAt time.Time // of its feed; zero for a live incident
	Tally      Tally     // zero except for its ids if there are no votes
	Prior      float64   // reliability of its source before any vote (D9.4); 0 for a feed, whose prior is SourceID.Prior
}

// ExpiresAt returns when the entity expires, confirms included (D9.6), and false for a persistent one.
func (v *Voted) ExpiresAt(now time.Time) (time.Time, bool) {
	at, ok := v.Entity.ExpiresAt(v.SnapshotAt)
	if ok && v.Tally.KeptUntil.After(at) && v.Tally.Counts(v.Entity.Kind, v.Entity.FirstSeenAt, now) {
		at = noLater(v.Tally.KeptUntil, v.Entity.EndsAt) // the end may have moved since the confirm
	}
	return at, ok
}

// VoteDaysKept is the number of past days for which the owner of a feed sees votes.
const VoteDaysKept = 30

// VoteDay is the number of drivers' votes on the entities of a source on one day.
type VoteDay struct {
	Day      time.Time // its beginning, in UTC
	Confirms int
	Disputes int
}

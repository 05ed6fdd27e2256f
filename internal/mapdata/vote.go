package mapdata

import (
	"math"
	"time"
)

// Vote is what one account says of an entity: its standing vote (D9.1).
type Vote int8

// The votes.
const (
	Dispute Vote = -1
	NoVote  Vote = 0 // none, or taken back
	Confirm Vote = 1
)

// Standing is what drivers' votes make of an entity (D4.9).
type Standing string

// The standings of an entity.
const (
	Reported  Standing = "reported" // no consensus
	Confirmed Standing = "confirmed"
	Disputed  Standing = "disputed"
)

// Rules of the consensus (D9).
const (
	enoughConfirms   = 2
	DefaultPrior     = 0.5 // of a source that says nothing of its reliability
	priorWeight      = 2   // votes that the prior counts for
	suppressAt       = 3   // more disputes than confirms
	suppressFor      = 30 * time.Minute
	suppressFixedAt  = 5 // of persistent kinds
	suppressFixedFor = 7 * 24 * time.Hour
	keepShare        = 2 // a confirm keeps an entity for the kind's default lifetime divided by this
)

// StandingOf judges counts of votes (D9.3).
func StandingOf(confirms, disputes int) Standing {
	switch {
	case confirms >= enoughConfirms && confirms > disputes:
		return Confirmed
	case disputes >= 1 && disputes >= confirms:
		return Disputed
	}
	return Reported
}

// ConfidenceOf is 0 to 1 in steps of a hundredth (D9.4, D4.9). prior is what is thought of the source before anybody
// voted, 0 to 1.
func ConfidenceOf(confirms, disputes int, prior float64) float64 {
	c := (float64(confirms) + priorWeight*prior) / float64(confirms+disputes+priorWeight)
	return math.Round(c*100) / 100
}

// Tally is what the votes on one entity add up to.
type Tally struct {
	Source     SourceID
	ExternalID string

	Confirms, Disputes int       // standing votes, those severed from their accounts included
	LastDisputeAt      time.Time // of the standing disputes; zero: none
	KeptUntil          time.Time // a confirm keeps a feed's decaying entity at least so long (D9.6); zero: not at all
	ChangedAt          time.Time // of the newest vote, or of its being taken back
	LifeAt             time.Time // FirstSeenAt of the life that the votes were about; zero: all lives, as of live incidents
}

// DisputedUntil is when a suppression ends that the votes make, and zero when they make none (D9.5).
func (t *Tally) DisputedUntil(k Kind) time.Time {
	at, span := suppressAt, suppressFor
	if k.Persistent() {
		at, span = suppressFixedAt, suppressFixedFor
	}
	if t.Disputes-t.Confirms < at {
		return time.Time{}
	}
	return t.LastDisputeAt.Add(span)
}

// OldestSuppression is when the newest vote on an entity was at the earliest if its votes still hide it at now, whatever its
// kind, with a day to spare for clocks that differ.
func OldestSuppression(now time.Time) time.Time { return now.Add(-suppressFixedFor - 24*time.Hour) }

// Suppressed says whether the votes hide an entity of the kind at now (D9.5).
func (t *Tally) Suppressed(k Kind, now time.Time) bool { return now.Before(t.DisputedUntil(k)) }

// Returned is when the votes ceased to hide the entity, and zero when they do not, or still do: until a vote moves the
// difference, it shows again by the clock alone.
func (t *Tally) Returned(k Kind, now time.Time) time.Time {
	if until := t.DisputedUntil(k); !until.After(now) {
		return until
	}
	return time.Time{}
}

// Counts says whether the votes are about the entity that is there at now: one that came back after it had expired or was
// retired is new (D3.6), but does not leave a suppression behind by that.
func (t *Tally) Counts(k Kind, firstSeen, now time.Time) bool {
	return t.LifeAt.IsZero() || !firstSeen.After(t.LifeAt) || t.Suppressed(k, now)
}

// Cast is the tally after one account's vote on e turned from before into after, and what before counted for: NoVote if it
// was about an earlier life. LastDisputeAt is wrong after a dispute went away; the store finds the newest that is left.
func (t *Tally) Cast(e *Entity, before, after Vote, now time.Time) Tally {
	if !t.Counts(e.Kind, e.FirstSeenAt, now) {
		return t.begin(e, after, now)
	}
	next := *t
	if t.LifeAt.IsZero() && !e.Feed.IsZero() {
		next.LifeAt = e.FirstSeenAt
	}
	next.count(before, -1)
	next.take(e, after, now)
	if !next.Counts(e.Kind, e.FirstSeenAt, now) {
		return t.begin(e, after, now) // it ended what an earlier life had left behind, and is about this one
	}
	return next
}

// begin is the tally of a new life after its first vote.
func (t *Tally) begin(e *Entity, first Vote, now time.Time) Tally {
	next := Tally{Source: t.Source, ExternalID: t.ExternalID, LifeAt: e.FirstSeenAt}
	next.take(e, first, now)
	return next
}

// take counts a vote in.
func (t *Tally) take(e *Entity, v Vote, now time.Time) {
	t.count(v, 1)
	t.ChangedAt = now
	if v == Dispute {
		t.LastDisputeAt = now
	}
	if v == Confirm && e.Lifetime > 0 && !e.Feed.IsZero() {
		t.keep(e, now)
	}
}

func (t *Tally) count(v Vote, by int) {
	switch v {
	case Confirm:
		t.Confirms += by
	case Dispute:
		t.Disputes += by
	case NoVote:
	}
}

// keep moves the expiry of a confirmed entity (D9.6). A persistent kind that was given a ttl has no default to take a
// share of: it keeps its own time.
func (t *Tally) keep(e *Entity, now time.Time) {
	info := e.Kind.Info()
	until := now.Add(info.Default / keepShare)
	if last := e.FirstSeenAt.Add(info.Longest); until.After(last) {
		until = last
	}
	if info.Default > 0 && until.After(t.KeptUntil) {
		t.KeptUntil = until
	}
}

// Ballot is one vote to be stored.
type Ballot struct {
	Source     SourceID
	ExternalID string
	Account    AccountID
	Vote       Vote // NoVote takes the standing vote back
	At         time.Time

	// Live is the service's own record of a live incident (D9.2); its Feed is zero. nil for an entity of a feed, whose
	// record the store holds itself.
	Live *Entity
}

// Voted is an entity with what its votes add up to.
type Voted struct {
	Entity     Entity
	SnapshotAt time.Time // of its feed; zero for a live incident
	Tally      Tally     // zero but for its names: nobody voted
	Prior      float64   // what is thought of its source before anybody votes (D9.4); 0 for a feed, which stands for DefaultPrior
}

// ExpiresAt is when the entity goes, its confirms counted in (D9.6), and false for one that persists.
func (v *Voted) ExpiresAt(now time.Time) (time.Time, bool) {
	at, ok := v.Entity.ExpiresAt(v.SnapshotAt)
	if ok && v.Tally.KeptUntil.After(at) && v.Tally.Counts(v.Entity.Kind, v.Entity.FirstSeenAt, now) {
		at = v.Tally.KeptUntil
	}
	return at, ok
}

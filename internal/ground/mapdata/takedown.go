package mapdata

import "time"

// Hiding is a curator's decision to hide one entity from readers, regardless of later rows of its source. It is bound
// to the source and the external id, so that it outlives snapshots, pushes and lives of the entity. The provider and
// curators still see the entity, with the reason.
type Hiding struct {
	Until  time.Time // ForGood: without an end
	Reason string    // for the provider
}

// LongestLiveHiding is the longest time for which a live incident can be hidden: votes and hidings of live incidents
// are deleted after that time, because nothing states that an incident is over.
const LongestLiveHiding = liveVotesMin

// ForGood returns the end of a permanent hiding. It is an ordinary time, so that no comparison needs a special case.
func ForGood() time.Time { return time.UnixMilli(253_402_300_799_000).UTC() } // the last second of the year 9999

// HiddenUntil returns when the curator's hiding ends or ended, or zero if there was none.
func (t *Tally) HiddenUntil() time.Time {
	if t.Hidden == nil {
		return time.Time{}
	}
	return t.Hidden.Until
}

// HiddenAt returns the hiding that is in force at now, or nil.
func (t *Tally) HiddenAt(now time.Time) *Hiding {
	if t.Hidden == nil || !now.Before(t.Hidden.Until) {
		return nil
	}
	return t.Hidden
}

// WithheldUntil returns when votes and a curator cease to hide an entity of the kind, or zero if neither hides it.
func (t *Tally) WithheldUntil(k Kind) time.Time {
	disputed, hidden := t.DisputedUntil(k), t.HiddenUntil()
	if hidden.After(disputed) {
		return hidden
	}
	return disputed
}

// PinTakedown is a curator's decision on one entity, to be stored.
type PinTakedown struct {
	Source     SourceID
	ExternalID string
	Hiding
	At   time.Time
	Live *Entity // the service's own record of a live incident, as in Ballot; nil for an entity of a feed
	Side
}

// HiddenPin is an entity that a curator hides.
type HiddenPin struct {
	Source     SourceID
	ExternalID string
	Kind       Kind
	HiddenAt   time.Time
	Hiding
}

// Pause is a decision of a curator or an operator to stop serving a feed: it remains stored, but is hidden, and is
// neither polled nor pushed to. Its owner cannot end the pause. The zero Pause is none.
type Pause struct {
	By     PausedBy
	Reason string // for the owner
	At     time.Time
}

// PausedBy is the origin of a feed's pause.
type PausedBy string

// The origins of pauses.
const (
	PausedByNobody     PausedBy = ""
	PausedByCurator    PausedBy = "curator"
	PausedByOperator   PausedBy = "operator"
	PausedBySuspension PausedBy = "suspension" // of the owner's account; ends with it
)

// InForce reports whether the feed is paused.
func (p *Pause) InForce() bool { return p.By != PausedByNobody }

// Suspension is an operator's decision to block an account until the decision is lifted. The zero Suspension is none.
type Suspension struct {
	At     time.Time
	Reason string // for the account's holder
}

// Suspended reports whether the account is suspended.
func (a *Account) Suspended() bool { return !a.Suspension.At.IsZero() }

// Complaint is a driver's statement that a source is wrong, for curators.
type Complaint struct {
	ID         string
	Source     SourceID
	SourceName string // current name of the feed; empty for live incidents
	ExternalID string // of the pin from whose card the complaint was sent
	Account    AccountID
	Email      string // of the account; empty: it was deleted
	Text       string
	At         time.Time
}

// Rules of complaints. They bound what accounts can store.
const (
	ComplaintsPerDay  = 10 // of one account
	MaxComplaintText  = 500
	ComplaintKept     = 90 * 24 * time.Hour // after which an open complaint is closed
	MaxTakedownReason = 500
)

// CleanReason validates the reason of a takedown, a pause or a suspension, which its addressee reads: 1 to 500 characters.
func CleanReason(text string) (string, error) {
	var e FieldErrors
	text = e.Lines("reason", text, 1, MaxTakedownReason)
	return text, e.Err()
}

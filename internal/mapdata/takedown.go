package mapdata

import "time"

// Hiding is a curator's decision that readers do not see one entity, whatever its source says of it next: it is bound to
// source and external id, so that it outlives snapshots, pushes and lives of the entity. The provider and curators still
// see the entity, with the reason.
type Hiding struct {
	Until  time.Time // ForGood: without an end
	Reason string    // for the provider
}

// LongestLiveHiding is for how long a live incident can be hidden: votes and hidings of live incidents are forgotten after
// that time, because nothing tells that an incident is over.
const LongestLiveHiding = liveVotesMin

// ForGood is the end of what has none. It is a time like any other, so that no comparison has a special case.
func ForGood() time.Time { return time.UnixMilli(253_402_300_799_000).UTC() } // the last second of the year 9999

// HiddenUntil is when the curator's hiding ends or ended; zero: there was none.
func (t *Tally) HiddenUntil() time.Time {
	if t.Hidden == nil {
		return time.Time{}
	}
	return t.Hidden.Until
}

// HiddenAt is the hiding that is in force at now; nil: none.
func (t *Tally) HiddenAt(now time.Time) *Hiding {
	if t.Hidden == nil || !now.Before(t.Hidden.Until) {
		return nil
	}
	return t.Hidden
}

// WithheldUntil is when votes and a curator cease to hide an entity of the kind; zero: neither does.
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

// Pause is a decision of a curator or an operator that a feed is not served: it stays, hidden, and is neither polled nor
// pushed to. Its owner cannot end it. The zero Pause is none.
type Pause struct {
	By     PausedBy
	Reason string // for the owner
	At     time.Time
}

// PausedBy says who paused a feed.
type PausedBy string

// Who pauses feeds.
const (
	PausedByNobody     PausedBy = ""
	PausedByCurator    PausedBy = "curator"
	PausedByOperator   PausedBy = "operator"
	PausedBySuspension PausedBy = "suspension" // of the owner's account; ends with it
)

// InForce says whether the feed is paused.
func (p *Pause) InForce() bool { return p.By != PausedByNobody }

// Suspension is an operator's decision that an account may do nothing until it is lifted. The zero Suspension is none.
type Suspension struct {
	At     time.Time
	Reason string // for the account's holder
}

// Suspended says whether the account is suspended.
func (a *Account) Suspended() bool { return !a.Suspension.At.IsZero() }

// Complaint is a driver's statement that a source is wrong, for curators.
type Complaint struct {
	ID         string
	Source     SourceID
	SourceName string // current name of the feed; empty for live incidents
	ExternalID string // of the pin from whose card it came
	Account    AccountID
	Email      string // of the account; empty: it was deleted
	Text       string
	At         time.Time
}

// Rules of complaints. They bound what accounts can store.
const (
	ComplaintsPerDay  = 10 // of one account
	MaxComplaintText  = 500
	ComplaintKept     = 90 * 24 * time.Hour // a complaint that nobody closed ends then
	MaxTakedownReason = 500
)

// CleanReason validates the reason of a takedown, a pause or a suspension, which its addressee reads: 1 to 500 characters.
func CleanReason(text string) (string, error) {
	var e FieldErrors
	text = e.Lines("reason", text, 1, MaxTakedownReason)
	return text, e.Err()
}

package mapdata

import (
	"strings"
	"time"

	"wayside/internal/ground/geo"
)

// ReportKinds returns the kinds that drivers can report: alerts and jams (D17.35).
func ReportKinds() KindSet { return IncidentKinds() }

// Rules of drivers' reports (D17.37).
const (
	ReportPrior          = 0.3              // reliability of a report before any vote
	reportLifetimeShare  = 2                // an unconfirmed report lives for the kind's default lifetime divided by this
	reportSupporters     = 2                // accounts that must support a report before everybody reads it, if it needs them
	ReportFirstDay       = 24 * time.Hour   // after an account's first sign-in, during which it may make fewer reports
	ReportsOnFirstDay    = 10               // reports that it may make on that day
	reportReach          = 2_000            // metres between two reports of an account that are always plausible
	reportSpeed          = 300_000.0 / 3600 // metres a second that an account can travel beyond that
	ReportObservedWithin = 10 * time.Minute // how old the observation may be (D17.35)
)

// ReportPlaceKept is how long the position of an account's last report is stored: in that time the account may have travelled to any place.
const ReportPlaceKept = time.Duration(20_040_000/reportSpeed) * time.Second

// Report is the part of a tally that describes a driver's report.
type Report struct {
	Author        AccountID // zero: none, or no longer linked (D17.38)
	AuthorTrusted bool      // the author's account counted when it reported (D17.37)
	NeedsTwo      bool      // only its author reads it until two counted accounts support it (D17.37)
}

// Waits reports whether only the author may read the entity, because too few counted accounts support it.
func (t *Tally) Waits() bool {
	if !t.NeedsTwo {
		return false
	}
	supporters := t.Confirms - t.UntrustedConfirms
	if t.AuthorTrusted {
		supporters++
	}
	return supporters < reportSupporters
}

// WaitsFor reports whether the account, zero for a guest, may not read the entity because it waits.
func (t *Tally) WaitsFor(account AccountID) bool {
	return t.Waits() && (account.IsZero() || account != t.Author)
}

// Shown returns the numbers of votes that readers see, and that decide on the entity's standing. For a report that needs two counted
// accounts, these are only the counted votes, so that a crowd of new accounts changes nothing that drivers see of a closed road.
func (t *Tally) Shown() (confirms, disputes int32) {
	confirms, disputes = int32(t.Confirms), int32(t.Disputes)
	if t.NeedsTwo {
		return t.Counted()
	}
	return confirms, disputes
}

// Counted returns the numbers of counted votes: without those of new accounts, of accounts that were not near, and of accounts that always
// act together with another one.
func (t *Tally) Counted() (confirms, disputes int32) {
	return int32(t.Confirms - t.UntrustedConfirms), int32(t.Disputes - t.UntrustedDisputes)
}

// Discount makes one of the counted votes of type v uncounted.
func (t *Tally) Discount(v Vote) {
	t.count(CountedVote{Vote: v}, -1)
	t.count(CountedVote{Vote: v, Untrusted: true}, 1)
}

// NewReport is a driver's report as it is stored with its row.
type NewReport struct {
	ExternalID string
	Account    AccountID
	TrustAfter time.Duration // how long after its first sign-in an account counts; 0: always
	NeedsTwo   bool
}

// ReportAttempt is an account's attempt to report. The store refuses it beyond the limits, and otherwise counts it.
type ReportAttempt struct {
	Account AccountID
	Point   geo.Point
	At      time.Time // of the request, by which reports are counted
	SeenAt  time.Time // of the observation, for the check of the travelled distance: a car without a connection reports late; zero: At
	PerDay  int       // reports within 24 hours; on an account's first day ReportsOnFirstDay, if that is less
}

// Plausible reports whether an account that was at one place can be at another one after the given time (D17.37).
func Plausible(from, to geo.Point, after time.Duration) bool {
	return geo.Distance(from, to) <= reportReach+reach(after)
}

// reach returns how far an account can travel in the given time, in metres.
func reach(after time.Duration) float64 { return reportSpeed * max(0, after.Seconds()) }

// ReportLifetime returns how long an unconfirmed report of the kind lives.
func ReportLifetime(k Kind) time.Duration { return k.Info().Default / reportLifetimeShare }

// OwnReport is a report that is still linked to its author's account, for the account's export.
type OwnReport struct {
	ExternalID string
	Kind       Kind
	Point      geo.Point
	Properties []byte
	At         time.Time
}

// Matching returns the kinds of entities that may describe the same event as an entity of kind k: the kind, its parent and its subtypes
// (D10.2).
func (k Kind) Matching() KindSet {
	return kindsWhere(func(o Kind) bool {
		a, b := catalogue[k].ID, catalogue[o].ID
		return catalogue[o].MergeDistance > 0 && (a == b || strings.HasPrefix(a, b+".") || strings.HasPrefix(b, a+"."))
	})
}

// Prior returns the reliability, before any vote, of a source that is a feed (D9.4).
func (s SourceID) Prior() float32 {
	if s == Drivers {
		return ReportPrior
	}
	return DefaultPrior
}

// Rank returns the order of sources that are feeds where several entities are one event: the built-in one comes first (D10.3).
func (s SourceID) Rank() int32 {
	if s == Drivers {
		return RankOfFeeds - 1
	}
	return RankOfFeeds
}

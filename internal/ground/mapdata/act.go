package mapdata

import (
	"time"

	"wayside/internal/ground/geo"
)

// Rules for counting votes and reports towards hiding a pin and towards closing a road.
const (
	// NearEntity is how close to an entity, in metres, an account must have been in the last PresenceKept.
	NearEntity = 5_000
	// PresenceKept is how long a position of an account counts and is stored.
	PresenceKept = 10 * time.Minute

	ActsCompared  = 20 // the newest acts of each of two accounts that are compared
	ActorsAtMost  = 10 // other accounts with the same vote that an account is compared with
	MinActDays    = 3  // days (UTC) on which an account must have acted to count beside another one
	minOwnActs    = 3  // acts without the other one that it needs
	maxSharedPart = 80 // percent of an account's acts that the other one may share
)

// Act is a vote or a report of an account that counts: evidence of where the account was.
type Act struct {
	Place geo.Point
	At    time.Time
}

// AfterAct reports whether an account that acted can have been near a place at the given time, at 300 km/h (D17.37).
// Both entities may lie NearEntity away from the driver.
func (a *Act) AfterAct(place geo.Point, at time.Time) bool {
	return geo.Distance(a.Place, place) <= 2*NearEntity+reach(at.Sub(a.At))
}

// Record summarises the acts of an account in comparison with another account.
type Record struct {
	Days int // on which the account acted (UTC); counted up to MinActDays
	Acts int // the newest acts, at most ActsCompared
	Own  int // those of Acts on entities that the other account did not act on
}

// Independent reports whether the account acts independently of the other one. Two accounts are two people only if each
// is independent of the other: accounts that always act together count as one, and so does an account that has no other
// acts.
func (r Record) Independent() bool {
	return r.Days >= MinActDays && r.Own >= minOwnActs && 100*(r.Acts-r.Own) < maxSharedPart*r.Acts
}

// NearPlace reports whether a position is within NearEntity of an entity: of its point, or of its line.
func (e *Entity) NearPlace(p geo.Point) bool {
	if geo.Distance(p, e.Point) <= NearEntity {
		return true
	}
	for i := 1; i < len(e.Line); i++ {
		if geo.Distance(p, geo.NearestOnSegment(p, e.Line[i-1], e.Line[i])) <= NearEntity {
			return true
		}
	}
	return false
}

// minDoubters is the number of counted votes that must dispute a closure before routes lead through it: as many as the
// accounts that close a road by a report.
const minDoubters = reportSupporters

// RoadDisputed reports whether the counted votes dispute a closure, so that it delays and does not close (D15.13).
func RoadDisputed(confirms, disputes int) bool {
	return disputes >= minDoubters && StandingOf(confirms, disputes) == Disputed
}

package traffic

import (
	"math"

	"wayside/internal/ground/mapdata"
	"wayside/internal/roads/graph"
)

// Effect is what a condition does to the arcs that it is on.
type Effect uint8

// The effects of D15.14.
const (
	Nothing Effect = iota
	Closes
	Slows
	Delays
)

// String returns the effect's name in responses.
func (e Effect) String() string { return [...]string{"none", "closed", "slower", "delay"}[e] }

// The figures of D15.13 and D15.14.
const (
	worksFactor     = 0.8
	wetOrIcyFactor  = 0.5
	jamFactor       = 1.0 / 3
	slowestJamKmh   = 3
	accidentDelay   = 90_000  // ms
	disputedClosure = 300_000 // ms
)

// Type is the sort of event that an entity reports.
type Type uint8

// The types.
const (
	Closure Type = iota
	Works
	Jam
	Slippery
	Accident
)

// typeOf returns the type of a kind that affects roads.
func (r *rules) typeOf(kind mapdata.Kind) Type {
	switch {
	case r.works.Has(kind):
		return Works
	case r.jams.Has(kind):
		return Jam
	case r.slippery.Has(kind):
		return Slippery
	case r.accidents.Has(kind):
		return Accident
	}
	return Closure
}

// Impact is the effect of an entity, independent of the arcs that it lies on.
type Impact struct {
	Effect   Effect
	Factor   float64 // of the usual speed, if Effect is Slows and SpeedKmh is 0
	SpeedKmh float64 // of the traffic, if known
	Delay    uint32  // ms, if Effect is Delays
}

// rules are the sets of kinds that affect roads (D15.14).
type rules struct{ closures, works, jams, slippery, accidents mapdata.KindSet }

func newRules() rules {
	return rules{mapdata.ClosureKinds(), mapdata.WorksKinds(), mapdata.JamKinds(), mapdata.SlipperyKinds(), mapdata.AccidentKinds()}
}

// all returns the kinds of all rules.
func (r *rules) all() mapdata.KindSet {
	return r.closures | r.works | r.jams | r.slippery | r.accidents
}

// impactOf returns the impact of an entity of a kind. A disputed closure becomes a delay (D15.13).
func (r *rules) impactOf(kind mapdata.Kind, p *effect, disputed bool) Impact {
	switch {
	case r.closures.Has(kind), r.works.Has(kind) && p.closed:
		if disputed {
			return Impact{Effect: Delays, Delay: disputedClosure}
		}
		return Impact{Effect: Closes}
	case r.works.Has(kind):
		return Impact{Effect: Slows, Factor: worksFactor}
	case r.jams.Has(kind):
		if p.hasSpeed {
			return Impact{Effect: Slows, SpeedKmh: math.Max(slowestJamKmh, p.speed)}
		}
		return Impact{Effect: Slows, Factor: jamFactor}
	case r.slippery.Has(kind):
		return Impact{Effect: Slows, Factor: wetOrIcyFactor}
	case r.accidents.Has(kind):
		return Impact{Effect: Delays, Delay: accidentDelay}
	}
	return Impact{}
}

// factorOn returns the share of the usual speed that is left on an arc, at most 1.
func (i Impact) factorOn(a *graph.Arc, lengthMM uint32) float64 {
	if i.SpeedKmh == 0 {
		return i.Factor
	}
	usual := float64(lengthMM) / float64(max(a.Duration, 1)) * 3.6 // millimetres per millisecond are metres per second
	return math.Min(1, i.SpeedKmh/math.Max(usual, 1e-3))
}

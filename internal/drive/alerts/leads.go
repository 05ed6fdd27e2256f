package alerts

import (
	"math"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// leadRule is the distance at which a class of kinds is announced: the distance that the car drives in the given
// seconds, within bounds.
type leadRule struct {
	seconds  float64
	min, max float64 // metres
}

// The leads. A closure or a jam is announced while a driver can still take another road. The bounds of the others keep
// their seconds unchanged between 12.5 m/s and 50 m/s.
var (
	cameraLead   = leadRule{seconds: 12, min: 150, max: 600}
	ordinaryLead = leadRule{seconds: 15, min: 150, max: 750}
	detourLead   = leadRule{seconds: 60, min: 150, max: DetourRange}
)

// Ranges of the list.
const (
	Range       = 2000.0 // metres: pins farther away are not listed, except closures and jams, which a driver may drive around
	DetourRange = 3000.0 // metres: the range of closures and jams
)

// The second stage.
const (
	nearCameraShare   = 0.4   // of the lead
	minNearCamera     = 100.0 // metres: at least five seconds in city traffic
	minFirstDistance  = 250.0 // metres: a second stage follows only an announcement from farther away …
	minSecondsBetween = 10.0  // … that is at least this long ago …
	minSecondsLeft    = 4.0   // … while the driver still has this long to react
	kmhPerMetreSecond = 3.6
)

// maxOppositeAngle is the largest angle in degrees between the heading and the bearing of a pin that concerns the
// driver. It is the same angle as in the rule that matches pins to roads (D15.15), because the road may still bend
// before the pin.
const maxOppositeAngle = 60.0

func (r leadRule) at(speed float64) float64 { return math.Max(r.min, math.Min(r.max, r.seconds*speed)) }

// Lead returns the distance in metres at which a pin of a kind is announced at a speed in m/s.
func Lead(k mapdata.Kind, speed float64) float64 {
	switch {
	case k.Camera():
		return cameraLead.at(speed)
	case k.Detour():
		return detourLead.at(speed)
	}
	return ordinaryLead.at(speed)
}

// rangeOf returns the distance in metres up to which a kind is listed.
func rangeOf(k mapdata.Kind) float64 {
	if k.Detour() {
		return DetourRange
	}
	return Range
}

// NearOf returns the distance in metres at which the second stage of a pin begins at a speed in m/s, or 0 if it has
// none.
func NearOf(p *Pin, speed float64) float64 {
	switch {
	case p.Zone > 0:
		return 0 // a second stage would reveal where in the zone the camera is
	case p.Kind.Camera():
		return math.Max(minNearCamera, nearCameraShare*cameraLead.at(speed))
	case p.Kind.Detour():
		return ordinaryLead.at(speed)
	}
	return 0
}

// Details are the properties of a pin on which its announcement depends.
type Details struct {
	Bearing  float64 // of the traffic that the pin concerns, degrees clockwise from north; meaningless unless Directed
	Directed bool    // the pin concerns one direction only
	MaxSpeed float64 // km/h: the limit that a camera enforces; 0: unknown
}

// mayAnnounce reports whether a pin at a place and in a stage should be announced, unless its details forbid it.
func (c *Car) mayAnnounce(p *Pin, at seen, stage Stage) bool {
	if !c.Directed || c.Speed < MinSpeed || at.reached || p.Kind.Charger() || at.distance > Lead(p.Kind, c.Speed) {
		return false
	}
	// The near distance varies with the speed: after the near stage, the early one must not be announced.
	return !p.Announced.Near && (stage == Near || !p.Announced.Early)
}

// isNarrowlyAhead reports whether a pin is near or in the narrow cone, because from far away most pins beside the
// heading lie on other roads.
func (c *Car) isNarrowlyAhead(p *Pin, at seen) bool {
	return at.distance <= ordinaryLead.at(c.Speed) || c.inCorridor(p, at, farConeHalfAngle)
}

// announces reports whether a pin for which mayAnnounce is true is announced, given its details.
func (c *Car) announces(p *Pin, distance float64, d *Details) bool {
	if d.Directed && geo.AngleBetween(c.Heading, d.Bearing) > maxOppositeAngle {
		return false
	}
	return !p.Announced.Early || c.repeats(p, distance, d)
}

// repeats reports whether an announced pin is announced a second time, now that it is near: if the first announcement
// was early enough to be forgotten, or if the car is too fast for a camera.
func (c *Car) repeats(p *Pin, distance float64, d *Details) bool {
	if p.Kind.Camera() && d.MaxSpeed > 0 && c.Speed*kmhPerMetreSecond > d.MaxSpeed {
		return true
	}
	first, ago := p.Announced.Distance, p.Announced.Ago
	if !p.Announced.Measured {
		// An older client sends no figures: assume that it announced the pin at the lead, and has driven at this speed
		// since.
		first = Lead(p.Kind, c.Speed)
		ago = (first - distance) / c.Speed
	}
	return first > minFirstDistance && ago >= minSecondsBetween && distance >= minSecondsLeft*c.Speed
}

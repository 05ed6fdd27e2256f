package alerts

import (
	"math"
	"slices"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// Geometry of the corridor, the union of a cone and a strip in front of the car:
//
//   - The cone is for bends. A pin on a road of radius r, at a distance d along it, appears at an angle of d/2r. Roads are
//     built so that their bends suit their speed: within 12 seconds 24° on a country road (25 m/s, r 350 m), 17° on a motorway.
//     The rest of the cone's half angle allows for a heading error of some degrees, and for street corners.
//   - Beyond the ordinary lead the cone of announcements is narrow: at 800 m, the wide one would hold four blocks of a city.
//   - The strip is for close pins: 60 m allow for the road's width, a position error of 15 m, and a pin that was reported
//     while driving past.
//   - Pins beyond 75° are never listed: with a heading error of 10° they would be beside or behind the car.
const (
	MaxListed            = 20   // maximum number listed
	coneHalfAngle        = 30.0 // degrees to each side
	farConeHalfAngle     = 15.0 // degrees to each side
	stripHalfWidth       = 60.0 // metres to each side
	maxAngle             = 75.0 // degrees to each side
	minDirectionDistance = 1.0  // metres: a bearing to a nearer pin is meaningless; the pin is reached
	lineWidth            = 30.0 // metres: a car that is nearer to a pin's line is on it
)

const (
	// MinSpeed is the speed in m/s below which nothing is announced, the heading is ignored and no time is given: position
	// errors of a standing car look like such a speed.
	MinSpeed = 2.0

	// MinPause is the minimum number of seconds between two announcements. The client enforces it, because only the client
	// knows when it made the last one.
	MinPause = 5
)

// Stage is the distance class of a pin.
type Stage string

// The stages. Only cameras, closures and jams have two.
const (
	Early Stage = "ahead"
	Near  Stage = "near"
)

// Car is a driver's position, heading and speed.
type Car struct {
	At       geo.Point
	Heading  float64 // degrees clockwise from north; meaningless unless Directed
	Directed bool    // the heading is known
	Speed    float64 // m/s, 0 or more
}

// Pin is an entity that may lie ahead.
type Pin struct {
	At        geo.Point
	Line      []geo.Point // its line, to which its distance counts; nil: At
	Kind      mapdata.Kind
	Zone      float64 // metres: the width of the zone around At; 0: the exact position
	Announced Announced
}

// Alert is a listed pin.
type Alert struct {
	Pin      int     // its index among the pins
	Distance float64 // metres; to the edge of a zone, 0 inside; to the nearest point ahead of a line, 0 on it
	Bearing  float64 // degrees clockwise from north, [0, 360)
	Stage    Stage
	Due      bool // it should be announced, unless the caller suppresses it
	Match    Match
}

// Match is how a pin was found to lie ahead.
type Match string

// The values of Match.
const (
	ByCone Match = "cone" // the pin lies in the corridor
	ByRoad Match = "road" // the roads lead to the pin
)

// Ahead is a pin's place along the roads.
type Ahead struct {
	Match    Match   // empty: the roads lead elsewhere; ByCone: List must use the corridor
	Distance float64 // metres along the road; to the beginning of a zone or line
	Reached  bool    // the car is on the pin's line or in its zone
	Unsure   bool    // the driver may well take another road before the pin: the pin is listed, but not announced yet
}

// List returns the pins ahead, nearest first, at most MaxListed; at equal distances in the order of the pins. If there
// are more, it keeps the nearest that are due and then the nearest others. Without a heading it returns the pins around,
// and none is due. List calls details, which returns the details of the pin with an index, only for pins that may be
// due.
func (c *Car) List(pins []Pin, details func(int) Details) []Alert {
	return c.ListAlong(nil, pins, nil, details)
}

// ListAlong is like List, but uses a place along the roads for each pin. If ahead is nil, the corridor decides for all
// pins. The rules of leads and stages are the same. ListAlong appends to all.
func (c *Car) ListAlong(all []Alert, pins []Pin, ahead []Ahead, details func(int) Details) []Alert {
	due := 0
	for i := range pins {
		where := Ahead{Match: ByCone}
		if ahead != nil {
			where = ahead[i]
		}
		s, ok := c.alert(&pins[i], where, i, details)
		if !ok {
			continue
		}
		all = append(all, s)
		if s.Due {
			due++
		}
	}
	slices.SortStableFunc(all, func(a, b Alert) int {
		switch {
		case a.Distance < b.Distance:
			return -1
		case a.Distance > b.Distance:
			return 1
		}
		return 0
	})
	return shortened(all, min(due, MaxListed))
}

// shortened keeps MaxListed alerts in their order: those that are due, which are due in number, and the first others.
func shortened(all []Alert, due int) []Alert {
	if len(all) <= MaxListed {
		return all
	}
	others := MaxListed - due
	kept := all[:0]
	for _, s := range all {
		left := &others
		if s.Due {
			left = &due
		}
		if *left > 0 {
			*left--
			kept = append(kept, s)
		}
	}
	return kept
}

// seen is a pin's place as seen from the car.
type seen struct {
	distance float64 // metres; to the edge of a zone, 0 inside
	middle   float64 // metres to the pin's position, or to the point of its line
	bearing  float64 // degrees clockwise from north
	reached  bool    // the car is on the pin's line
}

// alert computes the alert of the pin with index i, and reports whether the pin is listed.
func (c *Car) alert(p *Pin, where Ahead, i int, details func(int) Details) (Alert, bool) {
	at, ok := seen{}, false
	switch where.Match {
	case ByCone:
		at, ok = c.see(p)
	case ByRoad:
		at, ok = c.seePoint(p.At), true
		at.distance, at.reached = where.Distance, where.Reached && p.Zone == 0
	}
	if !ok || at.distance > rangeOf(p.Kind) {
		return Alert{}, false
	}
	s := Alert{Pin: i, Distance: at.distance, Bearing: at.bearing, Match: where.Match}
	s.Stage = Early
	if near := NearOf(p, c.Speed); near > 0 && at.distance <= near {
		s.Stage = Near
	}
	s.Due = c.mayAnnounce(p, at, s.Stage) && !where.Unsure && (where.Match == ByRoad || c.isNarrowlyAhead(p, at))
	if s.Due {
		d := details(i)
		d.Directed = d.Directed && where.Match == ByCone // along the roads, the direction was already compared at the pin
		s.Due = c.announces(p, at.distance, &d)
	}
	return s, true
}

// see returns a pin's place relative to the car, and false if the pin is not ahead.
func (c *Car) see(p *Pin) (seen, bool) {
	if len(p.Line) > 1 {
		return c.seeLine(p)
	}
	at := c.seePoint(p.At)
	at.distance = math.Max(0, at.middle-p.Zone/2)
	return at, !c.Directed || c.inCorridor(p, at, coneHalfAngle)
}

func (c *Car) seePoint(p geo.Point) seen {
	metres := geo.Distance(c.At, p)
	return seen{distance: metres, middle: metres, bearing: geo.Bearing(c.At, p)}
}

// seeLine finds the nearest point of a pin's line that lies ahead. It considers the nearest point of each segment.
func (c *Car) seeLine(p *Pin) (best seen, found bool) {
	for i := 1; i < len(p.Line); i++ {
		at := c.seePoint(geo.NearestOnSegment(c.At, p.Line[i-1], p.Line[i]))
		if at.middle <= lineWidth {
			return seen{middle: at.middle, bearing: at.bearing, reached: true}, true
		}
		if (!found || at.middle < best.middle) && (!c.Directed || c.inCorridor(p, at, coneHalfAngle)) {
			best, found = at, true
		}
	}
	return best, found
}

// inCorridor reports whether a pin is in the corridor with a cone of the given half angle. Half the width of a zone
// widens the strip.
func (c *Car) inCorridor(p *Pin, at seen, halfAngle float64) bool {
	half := p.Zone / 2
	if half > 0 && at.middle <= half {
		return true // inside the zone
	}
	if at.middle < minDirectionDistance {
		return false
	}
	off := geo.AngleBetween(c.Heading, at.bearing)
	return off <= halfAngle || off <= maxAngle && at.middle*math.Sin(off*(math.Pi/180)) <= stripHalfWidth+half
}

// Seconds returns the travel time for a distance in metres at a speed in m/s, and false below MinSpeed.
func Seconds(distance, speed float64) (float64, bool) {
	if speed < MinSpeed {
		return 0, false
	}
	return distance / speed, true
}

package alerts

import (
	"math"
	"slices"
	"strings"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
)

// Geometry of the corridor, the union of a cone and a strip in front of the car:
//
//   - The cone is for bends. A pin on a road of radius r, at a distance d along it, appears at an angle of d/2r. Roads are
//     built so that their bends suit their speed: 24° at the lead on a country road (25 m/s, r 350 m), 17° on a motorway.
//     The rest of the cone's half angle allows for a heading error of some degrees, and for street corners.
//   - The strip is for close pins: 60 m allow for the road's width, a position error of 15 m, and a pin that was reported
//     while driving past.
//   - Pins beyond 75° are never listed: with a heading error of 10° they would be beside or behind the car.
const (
	Range                = 2000.0 // metres: pins farther away are not listed
	MaxListed            = 20     // maximum number listed, the nearest
	coneHalfAngle        = 30.0   // degrees to each side
	stripHalfWidth       = 60.0   // metres to each side
	maxAngle             = 75.0   // degrees to each side
	minDirectionDistance = 1.0    // metres: a bearing to a nearer pin is meaningless; the pin is reached
)

// Distances of announcements (issue: the car screen, 2).
const (
	leadSeconds = 12.0
	minLead     = 150.0 // metres
	maxLead     = 600.0 // metres

	nearLeadShare = 0.4   // of the lead
	minNear       = 100.0 // metres: at least five seconds in city traffic

	// MinSpeed is the speed in m/s below which nothing is announced, the heading is ignored and no time is given: position
	// errors of a standing car look like such a speed.
	MinSpeed = 2.0

	// MinPause is the minimum number of seconds between two announcements. The client enforces it, because only the client
	// knows when it made the last one.
	MinPause = 5
)

// Stage is the distance class of a pin.
type Stage string

// The stages. Only cameras have two.
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
	Kind      mapdata.Kind
	Zone      float64 // metres: the width of the zone around At; 0: the exact position
	Announced Announced
}

// Announced holds the stages of a pin that have been announced.
type Announced struct{ Early, Near bool }

// Alert is a pin that is listed.
type Alert struct {
	Pin      int     // its index among the pins
	Distance float64 // metres; of a zone, to its edge, and 0 inside
	Bearing  float64 // degrees clockwise from north, [0, 360)
	Stage    Stage
	Due      bool // to be announced, unless the caller suppresses it
}

// Lead is the distance in metres at which a pin is announced at a speed in m/s.
func Lead(speed float64) float64 {
	return math.Max(minLead, math.Min(maxLead, leadSeconds*speed))
}

// NearOf is the distance in metres at which a camera is announced a second time, for a lead in metres.
func NearOf(lead float64) float64 { return math.Max(minNear, nearLeadShare*lead) }

// List returns the pins ahead, nearest first, at most MaxListed; at equal distances in the order of the pins. Without a
// heading it returns the pins around, and none is due.
func (c *Car) List(pins []Pin) []Alert {
	var all []Alert
	for i := range pins {
		if s, ok := c.alert(&pins[i]); ok {
			s.Pin = i
			all = append(all, s)
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
	return all[:min(len(all), MaxListed)]
}

// alert computes the alert of a pin, and whether it is listed.
func (c *Car) alert(p *Pin) (Alert, bool) {
	middle, half := geo.Distance(c.At, p.At), p.Zone/2
	s := Alert{Distance: math.Max(0, middle-half), Bearing: geo.Bearing(c.At, p.At)}
	if s.Distance > Range || c.Directed && !c.inCorridor(middle, half, s.Bearing) {
		return Alert{}, false
	}
	s.Stage, s.Due = c.judge(p, s.Distance)
	return s, true
}

// inCorridor reports whether a point at a distance and bearing is in the corridor; half the width of a zone widens the strip.
func (c *Car) inCorridor(distance, half, bearing float64) bool {
	if half > 0 && distance <= half {
		return true // inside the zone
	}
	if distance < minDirectionDistance {
		return false
	}
	off := geo.AngleBetween(c.Heading, bearing)
	return off <= coneHalfAngle || off <= maxAngle && distance*math.Sin(off*(math.Pi/180)) <= stripHalfWidth+half
}

// judge returns the stage, and whether the pin is to be announced.
func (c *Car) judge(p *Pin, distance float64) (Stage, bool) {
	lead := Lead(c.Speed)
	announces := c.Directed && c.Speed >= MinSpeed && distance <= lead && !p.Kind.Charger()
	// A zone has one stage: a second one would reveal where in it the camera is.
	if p.Kind.Camera() && p.Zone == 0 && distance <= NearOf(lead) {
		return Near, announces && !p.Announced.Near
	}
	// The near distance varies with the speed: after the near stage, the early one is not announced any more.
	return Early, announces && !p.Announced.Early && !p.Announced.Near
}

// First returns the index of the alert to announce, the nearest that is due and not silent; -1 if there is none. silent is
// called with indexes, and only until the first match.
func First(alerts []Alert, silent func(int) bool) int {
	for i := range alerts {
		if alerts[i].Due && !silent(i) {
			return i
		}
	}
	return -1
}

// Seconds is the travel time for a distance in metres at a speed in m/s; false below MinSpeed.
func Seconds(distance, speed float64) (float64, bool) {
	if speed < MinSpeed {
		return 0, false
	}
	return distance / speed, true
}

// nearSuffix ends the key of a camera's second stage. It needs no escape in a query, and no id contains it.
const nearSuffix = "~near"

// Key is the key by which a client reports an announcement that it made.
func Key(id string, s Stage) string {
	if s == Near {
		return id + nearSuffix
	}
	return id
}

// Announcements holds the announcements that a client reported, by id.
type Announcements map[string]Announced

// ParseAnnouncements parses keys. Unknown ids are ignored.
func ParseAnnouncements(keys []string) Announcements {
	seen := make(Announcements, len(keys))
	for _, key := range keys {
		id, near := strings.CutSuffix(key, nearSuffix)
		t := seen[id]
		t.Near = t.Near || near
		t.Early = t.Early || !near
		seen[id] = t
	}
	return seen
}

// Of returns the stages announced for a pin under any of its ids: which of several merged pins is shown may change.
func (s Announcements) Of(ids ...string) (t Announced) {
	for _, id := range ids {
		announced := s[id]
		t.Early, t.Near = t.Early || announced.Early, t.Near || announced.Near
	}
	return t
}

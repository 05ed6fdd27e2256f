package alerts

import (
	"math"
	"slices"
	"strings"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
)

// What is listed. The corridor is the union of a cone and a strip, both in front of the car:
//
//   - The cone is for bends. A pin on a road of radius r, at a distance d along it, appears at an angle of d/2r. Roads are
//     built so that their bends suit their speed: 24° at the lead on a country road (25 m/s, r 350 m), 17° on a motorway.
//     The rest of the cone's half angle is for a heading that is some degrees off, and for the corner of a town's street.
//   - The strip is for what is close: 60 m are the road's width, a fix that is 15 m off, and a pin that its reporter put
//     down while driving past.
//   - Nothing beyond 75° counts, however close: with a heading that is 10° off it would be beside the car or behind it.
const (
	Range                = 2000.0 // metres: pins farther away are not listed
	MaxListed            = 20     // listed at once, the nearest
	coneHalfAngle        = 30.0   // degrees to each side
	stripHalfWidth       = 60.0   // metres to each side
	maxAngle             = 75.0   // degrees to each side
	minDirectionDistance = 1.0    // metres: nearer, a direction means nothing, and the pin is reached
)

// When it is announced (issue: the car screen, 2).
const (
	leadSeconds = 12.0
	minLead     = 150.0 // metres
	maxLead     = 600.0 // metres

	nearLeadShare = 0.4   // of the lead
	minNear       = 100.0 // metres: five seconds and more in a town

	// MinSpeed is the speed in m/s below which nothing is announced, a heading means nothing and no time is given: the errors
	// of a standing car's fixes look like such a speed.
	MinSpeed = 2.0

	// MinPause is how many seconds lie between two announcements at least. The client keeps it: only the client knows when it
	// last made one.
	MinPause = 5
)

// Stage is how near a pin is.
type Stage string

// The stages. Only cameras have two.
const (
	Early Stage = "ahead"
	Near  Stage = "near"
)

// Car is where a driver is and where the driver goes.
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
	Zone      float64 // metres: the width of the zone of which At is the middle; 0: the pin is at At
	Announced Announced
}

// Announced is which stages of a pin have been announced already.
type Announced struct{ Early, Near bool }

// Alert is a pin that is listed.
type Alert struct {
	Pin      int     // its index among the pins
	Distance float64 // metres; of a zone, to its edge, and 0 inside
	Bearing  float64 // degrees clockwise from north, [0, 360)
	Stage    Stage
	Due      bool // it is to be announced, unless the caller knows a reason against it
}

// Lead is the distance in metres at which a pin is announced at a speed in m/s.
func Lead(speed float64) float64 {
	return math.Max(minLead, math.Min(maxLead, leadSeconds*speed))
}

// NearOf is the distance in metres at which a camera is announced for the second time, with the lead in metres.
func NearOf(lead float64) float64 { return math.Max(minNear, nearLeadShare*lead) }

// List gives what lies ahead, nearest first, at most MaxListed; at equal distances in the order of the pins. Without a
// heading it gives what is around, and nothing is due.
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

// alert says how a pin lies, and whether it is listed.
func (c *Car) alert(p *Pin) (Alert, bool) {
	middle, half := geo.Distance(c.At, p.At), p.Zone/2
	s := Alert{Distance: math.Max(0, middle-half), Bearing: geo.Bearing(c.At, p.At)}
	if s.Distance > Range || c.Directed && !c.inCorridor(middle, half, s.Bearing) {
		return Alert{}, false
	}
	s.Stage, s.Due = c.judge(p, s.Distance)
	return s, true
}

// inCorridor says whether the corridor holds a place at a distance and bearing; half the width of a zone widens the strip.
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

// judge gives the stage, and whether it is to be announced.
func (c *Car) judge(p *Pin, distance float64) (Stage, bool) {
	lead := Lead(c.Speed)
	announces := c.Directed && c.Speed >= MinSpeed && distance <= lead && !p.Kind.Charger()
	// A zone has one stage: a second one would tell where in it the camera is.
	if p.Kind.Camera() && p.Zone == 0 && distance <= NearOf(lead) {
		return Near, announces && !p.Announced.Near
	}
	// The near stage grows and shrinks with the speed: after the second stage, the first is not announced any more.
	return Early, announces && !p.Announced.Early && !p.Announced.Near
}

// First gives the index of the alert to announce, the nearest that is due and not silent; -1 if there is none. silent is
// called with indexes, for as few alerts as possible.
func First(alerts []Alert, silent func(int) bool) int {
	for i := range alerts {
		if alerts[i].Due && !silent(i) {
			return i
		}
	}
	return -1
}

// Seconds is the time to a distance in metres at a speed in m/s; false below MinSpeed, where it means nothing.
func Seconds(distance, speed float64) (float64, bool) {
	if speed < MinSpeed {
		return 0, false
	}
	return distance / speed, true
}

// nearSuffix ends the key of a camera's second stage. It needs no escape in a query, and no id contains it.
const nearSuffix = "~near"

// Key is how a client names an announcement that it made.
func Key(id string, s Stage) string {
	if s == Near {
		return id + nearSuffix
	}
	return id
}

// Announcements are what a client says it announced, by id.
type Announcements map[string]Announced

// ParseAnnouncements reads keys. Unknown ids do no harm.
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

// Of gives what was announced of a pin under any of its ids: which of several merged pins is shown may change on the way.
func (s Announcements) Of(ids ...string) (t Announced) {
	for _, id := range ids {
		announced := s[id]
		t.Early, t.Near = t.Early || announced.Early, t.Near || announced.Near
	}
	return t
}

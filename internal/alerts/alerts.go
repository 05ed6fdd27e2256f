package alerts

import (
	"math"
	"slices"
	"strings"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
)

// What is listed. The shape of the corridor is the union of a cone and a strip, both in front:
//
//   - The cone is for bends. A road of radius r brings a pin that is d away along it into view at an angle of d/2r. Roads
//     are built so that their bends suit their speed: 24° at the lead on a country road (25 m/s, r 350 m), 17° on a motorway.
//     The rest of the cone's half angle is for a heading that is some degrees off, and for the corner of a town's street.
//   - The strip is for what is close: 60 m are the road's width, a fix that is 15 m off, and a pin that its reporter put
//     down while driving past.
//   - Nothing beyond 75° counts, however close: with a heading that is 10° off it would be beside the car or behind it.
const (
	Range     = 2000.0 // metres: what is farther is not listed
	MostPins  = 20     // listed at once, the nearest
	cone      = 30.0   // degrees to each side
	strip     = 60.0   // metres to each side
	widest    = 75.0   // degrees to each side
	arrivedAt = 1.0    // metres: nearer, a direction means nothing, and the pin is reached
)

// When it is announced (issue: the car screen, 2).
const (
	leadSeconds  = 12.0
	shortestLead = 150.0 // metres
	longestLead  = 600.0 // metres

	nearShare    = 0.4   // of the lead
	shortestNear = 100.0 // metres: five seconds and more in a town

	// SlowestSpeed is the speed in m/s below which nothing is announced, a heading means nothing and no time can be told: a
	// car that stands moves as much as this by the errors of its fixes.
	SlowestSpeed = 2.0

	// Pause is how many seconds lie between two announcements, at least. Keeping it is the client's business, which knows
	// when it last spoke.
	Pause = 5
)

// Stage is how near a pin is.
type Stage string

// The stages. Only cameras have two.
const (
	Early Stage = "ahead"
	Near  Stage = "near"
)

// Car is where a driver is and goes.
type Car struct {
	At       geo.Point
	Heading  float64 // degrees clockwise from north; without a meaning unless Directed
	Directed bool    // the heading is known
	Speed    float64 // m/s, 0 or more
}

// Pin is what may lie ahead.
type Pin struct {
	At   geo.Point
	Kind mapdata.Kind
	Zone float64 // metres: the width of the zone of which At is the middle; 0: the pin is at At
	Told Told
}

// Told is what the driver has been told of a pin already.
type Told struct{ Early, Near bool }

// Sight is a pin that is listed.
type Sight struct {
	Pin      int     // its place among the pins
	Distance float64 // metres; of a zone, to its edge, and 0 inside
	Bearing  float64 // degrees clockwise from north, [0, 360)
	Stage    Stage
	Due      bool // it is to be announced, if nothing else speaks against it
}

// Lead is the distance in metres at which a pin is announced at a speed in m/s.
func Lead(speed float64) float64 {
	return math.Max(shortestLead, math.Min(longestLead, leadSeconds*speed))
}

// NearOf is the distance in metres at which a camera is announced for the second time, with the lead in metres.
func NearOf(lead float64) float64 { return math.Max(shortestNear, nearShare*lead) }

// Look lists what lies ahead, nearest first, at most MostPins; of those at one distance, the first among the pins first.
// Without a heading it lists what is around, and nothing is due.
func (c *Car) Look(pins []Pin) []Sight {
	var all []Sight
	for i := range pins {
		if s, ok := c.sight(&pins[i]); ok {
			s.Pin = i
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b Sight) int {
		switch {
		case a.Distance < b.Distance:
			return -1
		case a.Distance > b.Distance:
			return 1
		}
		return 0
	})
	return all[:min(len(all), MostPins)]
}

// sight says how a pin lies, and whether it is listed.
func (c *Car) sight(p *Pin) (Sight, bool) {
	middle, half := geo.Distance(c.At, p.At), p.Zone/2
	s := Sight{Distance: math.Max(0, middle-half), Bearing: geo.Bearing(c.At, p.At)}
	if s.Distance > Range || c.Directed && !c.within(middle, half, s.Bearing) {
		return Sight{}, false
	}
	s.Stage, s.Due = c.judge(p, s.Distance)
	return s, true
}

// within says whether the corridor leads to what is so far away; half the width of a zone widens the strip.
func (c *Car) within(distance, half, bearing float64) bool {
	if half > 0 && distance <= half {
		return true // inside the zone
	}
	if distance < arrivedAt {
		return false
	}
	off := geo.AngleBetween(c.Heading, bearing)
	return off <= cone || off <= widest && distance*math.Sin(off*(math.Pi/180)) <= strip+half
}

// judge gives the stage, and whether it is to be announced.
func (c *Car) judge(p *Pin, distance float64) (Stage, bool) {
	lead := Lead(c.Speed)
	speaks := c.Directed && c.Speed >= SlowestSpeed && distance <= lead && !p.Kind.Charger()
	// A zone has one stage: a second one would tell where in it the camera is.
	if p.Kind.Camera() && p.Zone == 0 && distance <= NearOf(lead) {
		return Near, speaks && !p.Told.Near
	}
	// The near stage grows and shrinks with the speed: who has been told of the second is not told of the first.
	return Early, speaks && !p.Told.Early && !p.Told.Near
}

// First gives the place of the one that is announced, the nearest of those that are due and that nothing silences; -1 if
// there is none. silent is asked for as few as may be, by their places among the sights.
func First(sights []Sight, silent func(int) bool) int {
	for i := range sights {
		if sights[i].Due && !silent(i) {
			return i
		}
	}
	return -1
}

// Seconds is the time to a distance in metres at a speed in m/s; false below SlowestSpeed, where nobody can tell.
func Seconds(distance, speed float64) (float64, bool) {
	if speed < SlowestSpeed {
		return 0, false
	}
	return distance / speed, true
}

// nearMark ends the key of a camera's second stage. It stands in a query as it is, and in no id.
const nearMark = "~near"

// Key is how a client names an announcement that it has made.
func Key(id string, s Stage) string {
	if s == Near {
		return id + nearMark
	}
	return id
}

// Seen is what a client says it has announced, by id.
type Seen map[string]Told

// ReadSeen reads keys; those of nothing do no harm.
func ReadSeen(keys []string) Seen {
	seen := make(Seen, len(keys))
	for _, key := range keys {
		id, near := strings.CutSuffix(key, nearMark)
		t := seen[id]
		t.Near = t.Near || near
		t.Early = t.Early || !near
		seen[id] = t
	}
	return seen
}

// Of says what has been told of a pin under any of its ids: which of several merged pins is shown may change on the way.
func (s Seen) Of(ids ...string) (t Told) {
	for _, id := range ids {
		told := s[id]
		t.Early, t.Near = t.Early || told.Early, t.Near || told.Near
	}
	return t
}

package guide

import (
	"math"
	"strings"
)

// Announcement is what a driver hears when so many metres are left of a step.
type Announcement struct {
	At   float64
	Text string
	SSML string
}

// When things are announced, in metres before a maneuver. In towns that is where the last words can be said without haste; on faster roads
// of towns and in the country it is later by as much as one drives faster; fast roads have distances of their own.
const (
	townSeconds, townMin, townMax    = 14.4, 200.0, 400.0 // how far it is
	finalSeconds, finalMin, finalMax = 5.8, 80.0, 200.0   // what to do
	aloneSeconds, aloneMax           = 9.0, 300.0         // what to do, where nothing else was said on the step
	nowSeconds, nowMin, nowMax       = 2.5, 15.0, 40.0    // what to do, in as few words as possible
	nowPause                         = 3.0                // seconds between what to do and that
	fastSpeed                        = 20.0               // metres a second
	openingSeconds                   = 120.0              // a step that takes longer is told where it begins,
	openingMin, openingMax           = 600.0, 3000.0      // or that is as long
	arriveSeconds, arriveMax         = 3.0, 50.0
	arriveMin                        = 15.0
	thenSeconds                      = 12.0      // what follows within is told together
	slowest, fastest                 = 3.0, 40.0 // metres a second that are believed
)

// fastDistances are where it is said how far it is on fast roads.
var fastDistances = [...]float64{2000, 1000, 400}

// round makes of a distance one that is easily said, and not larger than it is.
func (t *Teller) round(metres float64) float64 {
	if t.Imperial {
		for _, miles := range [...]float64{1, 0.5, 0.25} {
			if metres >= 0.95*miles*metresPerMile {
				return min(metres, miles*metresPerMile)
			}
		}
		return metres
	}
	switch {
	case metres >= 300:
		return math.Floor(metres/100) * 100
	case metres >= 100:
		return math.Floor(metres/50) * 50
	}
	return metres
}

// speedOf is the usual speed on a step in metres a second.
func speedOf(s *Step) float64 {
	if s.Duration == 0 {
		return 10
	}
	return min(max(s.Distance/(float64(s.Duration)/1000), slowest), fastest)
}

// before is how long before a maneuver something is told.
func before(speed, seconds, least, most float64) float64 {
	return min(max(speed*seconds, least), most)
}

// Announcements appends what is heard on a step of a leg. On the last one, the arrival, nothing is.
func (t *Teller) Announcements(to []Announcement, steps []Step, i int) []Announcement {
	if i+1 >= len(steps) {
		return to
	}
	s, next := &steps[i], &steps[i+1]
	speed := speedOf(s)
	alone := min(before(speed, aloneSeconds, finalMin, aloneMax), s.Distance)
	left := s.Distance // up to where nothing was told yet
	if s.Kind == Depart || s.Distance > before(speed, openingSeconds, openingMin, openingMax) {
		to = append(to, t.say(s.Distance, t.opening(s, next, s.Distance < 2*alone)))
		if s.Kind == Depart && s.Distance <= alone {
			return to // all was said
		}
		left = s.Distance - 8*speed // as long as it takes to say it
	}
	count := len(to)
	for _, metres := range t.distances(speed) {
		if left > metres {
			to = append(to, t.say(metres, t.ahead(metres, next)))
			left = metres
		}
	}
	final := alone
	if len(to) > count {
		final = before(speed, finalSeconds, finalMin, finalMax)
	}
	if next.Kind == Arrive {
		final = min(final, before(speed, arriveSeconds, arriveMin, arriveMax))
	}
	final = min(final, s.Distance)
	text := t.now(steps, i+1)
	to = append(to, t.say(final, text))
	if at := before(speed, nowSeconds, nowMin, nowMax); speed < fastSpeed && next.isTurn() && final-at >= nowPause*speed {
		if brief := t.order(next); brief != t.Sentence(next, false) {
			to = append(to, t.say(at, brief))
		}
	}
	return to
}

// distances are where it is said how far a maneuver is, at a speed.
func (t *Teller) distances(speed float64) []float64 {
	if speed < fastSpeed {
		return []float64{t.round(before(speed, townSeconds, townMin, townMax))}
	}
	all := make([]float64, len(fastDistances))
	for i, metres := range fastDistances {
		all[i] = t.round(metres)
	}
	return all
}

// isTurn says whether a driver has to steer to a side at one place.
func (s *Step) isTurn() bool {
	switch s.Kind {
	case Turn, EndOfRoad, Continue:
		return s.Direction != Straight && s.Direction != NoDirection
	default:
		return false
	}
}

// order is what to do at a turn, without the names of roads.
func (t *Teller) order(s *Step) string {
	var v values
	if dir := s.Direction; dir.IsLeft() || dir.IsRight() {
		v[directionBlank] = t.Words.plain("direction." + keyOf(dir))
	}
	return t.Words.text(t.keyOfStep(s, false), &v)
}

// opening is what is said where a step begins.
func (t *Teller) opening(s, next *Step, brief bool) string {
	if s.Kind == Depart {
		text := t.Sentence(s, false)
		if brief {
			return t.Words.text("then", &values{sentenceBlank: text, nextBlank: t.Sentence(next, true)})
		}
		return text
	}
	return t.Words.text("along", &values{nameBlank: t.nameOf(s.Arc), lengthBlank: t.distance("length", s.Distance)})
}

// ahead announces a maneuver that comes in so many metres.
func (t *Teller) ahead(metres float64, next *Step) string {
	key := "soon"
	if next.Kind == Arrive {
		key = "soon.arrive" // a statement, and in some languages another order of words than a request
	}
	return t.Words.text(key, &values{distanceBlank: t.distance("distance", metres), sentenceBlank: t.Sentence(next, true)})
}

// now tells a maneuver, and the one behind it if that follows at once.
func (t *Teller) now(steps []Step, i int) string {
	text := t.Sentence(&steps[i], false)
	if i+1 < len(steps) && steps[i].Distance < thenSeconds*speedOf(&steps[i]) && !steps[i].Kind.entersCircle() {
		text = t.Words.text("then", &values{sentenceBlank: text, nextBlank: t.Sentence(&steps[i+1], true)})
	}
	return text
}

func (t *Teller) say(at float64, text string) Announcement {
	text = capital(text)
	return Announcement{At: math.Round(at*10) / 10, Text: text, SSML: "<speak>" + escapeXML(text) + "</speak>"}
}

// escapeXML escapes what has a meaning in XML: names are other people's text.
func escapeXML(text string) string {
	if !strings.ContainsAny(text, `<>&"'`) {
		return text
	}
	return strings.NewReplacer("<", "&lt;", ">", "&gt;", "&", "&amp;", `"`, "&quot;", "'", "&apos;").Replace(text)
}

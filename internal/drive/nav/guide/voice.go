package guide

import (
	"math"
	"strings"

	"wayside/internal/roads/graph"
)

// Announcement is spoken when At metres of a step are left.
type Announcement struct {
	At   float64
	Text string
	SSML string
}

// When announcements are made, in metres before a maneuver. In towns the times leave room to say the last words without
// haste; on faster roads in towns and in the country the distances grow with the speed; fast roads have their own
// distances.
const (
	townSeconds, townMin, townMax    = 14.4, 200.0, 400.0 // the first announcement, with the distance
	finalSeconds, finalMin, finalMax = 5.8, 80.0, 200.0   // the instruction
	aloneSeconds, aloneMax           = 9.0, 300.0         // the instruction, if it is the only announcement of the step
	nowSeconds, nowMin, nowMax       = 2.5, 15.0, 40.0    // the instruction in as few words as possible
	nowPause                         = 3.0                // seconds between the instruction and its short form
	fastSpeed                        = 20.0               // metres a second
	openingSeconds                   = 120.0              // a step that takes longer is announced at its beginning …
	openingMin, openingMax           = 600.0, 3000.0      // … as is one of at least this length
	arriveSeconds, arriveMax         = 3.0, 50.0
	arriveMin                        = 15.0
	thenSeconds                      = 12.0      // a maneuver that follows within this time is announced together with the one before
	slowest, fastest                 = 3.0, 40.0 // limits in metres per second of plausible speeds
)

// fastDistances are the distances at which maneuvers on fast roads are announced.
var fastDistances = [...]float64{2000, 1000, 400}

// round returns a distance that is easy to say and not larger than the given one.
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

// speedOf returns the usual speed on a step in metres per second.
func speedOf(s *Step) float64 {
	if s.Duration == 0 {
		return 10
	}
	return min(max(s.Distance/(float64(s.Duration)/1000), slowest), fastest)
}

// before returns the distance before a maneuver at which an announcement is made.
func before(speed, seconds, least, most float64) float64 {
	return min(max(speed*seconds, least), most)
}

// Announcements appends the announcements of a step of a leg. The last step, the arrival, has none.
func (t *Teller) Announcements(to []Announcement, steps []Step, i int) []Announcement {
	if i+1 >= len(steps) {
		return to
	}
	s, next := &steps[i], &steps[i+1]
	speed := speedOf(s)
	if s.Flags&graph.Ferry != 0 {
		return t.aboard(to, steps, i)
	}
	alone := min(before(speed, aloneSeconds, finalMin, aloneMax), s.Distance)
	left := s.Distance // distance up to which nothing has been announced
	if s.Kind == Depart || s.Distance > before(speed, openingSeconds, openingMin, openingMax) {
		to = append(to, t.say(s.Distance, t.opening(s, next, s.Distance < 2*alone)))
		if s.Kind == Depart && s.Distance <= alone {
			return to // everything was announced
		}
		left = s.Distance - 8*speed // the time that the announcement takes
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

// aboard appends the announcements of a step on a ferry: only the instruction at its end, because passengers do not
// drive and a distance over water is of no use to them.
func (t *Teller) aboard(to []Announcement, steps []Step, i int) []Announcement {
	s := &steps[i]
	if s.Kind == Depart {
		to = append(to, t.say(s.Distance, t.Sentence(s, false)))
	}
	return append(to, t.say(min(finalMin, s.Distance), t.now(steps, i+1)))
}

// distances returns the distances at which a maneuver is announced, at a speed.
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

// isTurn reports whether the driver must steer to a side at one place.
func (s *Step) isTurn() bool {
	switch s.Kind {
	case Turn, EndOfRoad, Continue:
		return s.Direction != Straight && s.Direction != NoDirection
	default:
		return false
	}
}

// order returns the instruction for a turn, without the names of roads.
func (t *Teller) order(s *Step) string {
	var v values
	if dir := s.Direction; dir.IsLeft() || dir.IsRight() {
		v[directionBlank] = t.Words.plain("direction." + keyOf(dir))
	}
	return t.Words.text(t.keyOfStep(s, false), &v)
}

// opening returns the announcement at the beginning of a step.
func (t *Teller) opening(s, next *Step, brief bool) string {
	if s.Kind == Depart {
		text := t.Sentence(s, false)
		if brief {
			return t.Words.text("then", &values{sentenceBlank: text, nextBlank: t.sentence(next, s, true)})
		}
		return text
	}
	return t.Words.text("along", &values{nameBlank: t.nameOf(s.Arc), lengthBlank: t.distance("length", s.Distance)})
}

// ahead returns the announcement of a maneuver at a distance.
func (t *Teller) ahead(metres float64, next *Step) string {
	key := "soon"
	if next.Kind == Arrive {
		key = "soon.arrive" // a statement, which in some languages has another word order than a request
	}
	return t.Words.text(key, &values{distanceBlank: t.distance("distance", metres), sentenceBlank: t.Sentence(next, true)})
}

// now returns the instruction for a maneuver, and the one after it if that follows closely.
func (t *Teller) now(steps []Step, i int) string {
	text := t.Sentence(&steps[i], false)
	if i+1 < len(steps) && steps[i].Distance < thenSeconds*speedOf(&steps[i]) && !steps[i].Kind.entersCircle() {
		text = t.Words.text("then", &values{sentenceBlank: text, nextBlank: t.sentence(&steps[i+1], &steps[i], true)})
	}
	return text
}

func (t *Teller) say(at float64, text string) Announcement {
	text = capital(text)
	return Announcement{At: math.Round(at*10) / 10, Text: text, SSML: "<speak>" + escapeXML(text) + "</speak>"}
}

// escapeXML escapes characters with a meaning in XML, because names may contain any text.
func escapeXML(text string) string {
	if !strings.ContainsAny(text, `<>&"'`) {
		return text
	}
	return strings.NewReplacer("<", "&lt;", ">", "&gt;", "&", "&amp;", `"`, "&quot;", "'", "&apos;").Replace(text)
}

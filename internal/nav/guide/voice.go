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

// When things are announced: so many seconds before a maneuver at the speed of the step, within limits in metres.
const (
	finalSeconds, finalLeast, finalMost = 9.0, 30.0, 300.0
	soonSeconds, soonLeast, soonMost    = 40.0, 200.0, 1000.0
	farMetres, farSpeed                 = 2000.0, 20.0 // on fast roads also two kilometers before
	arriveSeconds, arriveMost           = 3.0, 50.0
	thenSeconds                         = 12.0      // what follows within is told together
	slowest, fastest                    = 3.0, 40.0 // metres a second that are believed
)

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
	final := before(speed, finalSeconds, finalLeast, finalMost)
	if next.Kind == Arrive {
		final = min(final, before(speed, arriveSeconds, finalLeast/2, arriveMost))
	}
	soon := t.round(before(speed, soonSeconds, soonLeast, soonMost))
	far := t.round(farMetres)
	left := s.Distance // up to where nothing was told yet
	if s.Kind == Depart || s.Distance > 3*soon {
		to = append(to, t.say(s.Distance, t.opening(s, next, s.Distance < 2*final)))
		if s.Kind == Depart && s.Distance <= final {
			return to // all was said
		}
		left = s.Distance - 8*speed // as long as it takes to say it
	}
	if speed >= farSpeed && left > far+soon/2 {
		to = append(to, t.say(far, t.ahead(far, next)))
	}
	if left > soon {
		to = append(to, t.say(soon, t.ahead(soon, next)))
	}
	return append(to, t.say(min(final, s.Distance), t.now(steps, i+1)))
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

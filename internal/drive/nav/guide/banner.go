package guide

import (
	"strings"

	"wayside/internal/roads/car"
	"wayside/internal/roads/graph"
)

// Banner is shown from the place where At metres of a step are left.
type Banner struct {
	At             float64
	Primary        Line
	Secondary, Sub Line // no components: absent
}

// Line is a line of a banner.
type Line struct {
	Text       string
	Components []Component
	Kind       Kind
	Direction  Direction
	Degrees    int // of a roundabout: 180 is straight on; 0: not a roundabout
	DriveLeft  bool
}

// Component is a part of a line.
type Component struct {
	Type, Text string
	Lane       *Lane // of a lane
}

// When the lanes of a maneuver, or the maneuver after it, are shown: subSeconds before it, within bounds in metres.
const (
	subSeconds, subMin, subMax = 30.0, 150.0, 1000.0
)

// Banners appends the banners of a step of a leg, which show the maneuver at its end. The arrival has none.
func (t *Teller) Banners(to []Banner, steps []Step, i int) []Banner {
	if i+1 >= len(steps) {
		return to
	}
	s, next := &steps[i], &steps[i+1]
	b := Banner{At: s.Distance}
	b.Primary, b.Secondary = t.lines(next)
	sub := t.lanes(next)
	if len(sub.Components) == 0 {
		sub = t.following(steps, i+1)
	}
	if len(sub.Components) == 0 {
		return append(to, b)
	}
	if at := before(speedOf(s), subSeconds, subMin, subMax); at < s.Distance {
		to = append(to, b)
		b.At = at
	}
	b.Sub = sub
	return append(to, b)
}

// line returns an empty line about a maneuver.
func (t *Teller) line(s *Step) Line {
	return Line{Kind: s.Kind, Direction: s.Direction, Degrees: s.Degrees, DriveLeft: s.Flags&graph.DriveLeft != 0}
}

// lines returns the two lines about a maneuver: where it leads.
func (t *Teller) lines(s *Step) (primary, secondary Line) {
	primary, secondary = t.line(s), t.line(s)
	if s.Kind == Arrive {
		key := "banner.arrive"
		if !t.Last {
			key += ".via"
		}
		primary.add("text", t.Words.plain(key))
		if name := t.nameOf(s.Arc); name != "" {
			secondary.add("text", name)
		}
		return primary, secondary
	}
	way := t.wayOf(s.Arc)
	signs := t.Graph.SignsOf(way)
	if exit := t.exitOf(s); s.Kind == OffRamp && exit != "" {
		primary.add("exit", t.Words.plain("banner.exit"))
		primary.add("exit-number", exit)
	}
	name, ref := spoken(t.Graph.Text(way.Name)), t.Graph.Text(way.Ref)
	destination := strings.ReplaceAll(t.Graph.Text(signs.Destination), ";", ", ")
	switch {
	case destination != "" && (s.Kind == OnRamp || s.Kind == OffRamp || s.Kind == Fork || s.Kind == Merge || name == "" && ref == ""):
		refs, places, both := strings.Cut(destination, ": ")
		primary.list(refs, ", ")
		if both {
			secondary.list(places, ", ")
		} else if name != "" {
			secondary.add("text", name)
		}
	case name != "":
		primary.add("text", name)
		secondary.list(ref, ";")
	case ref != "":
		primary.list(ref, ";")
	}
	if len(primary.Components) == 0 {
		primary.add("text", capital(t.Sentence(s, false)))
	}
	return primary, secondary
}

// following returns the line about the maneuver after the one at the end of a step, if it follows closely.
func (t *Teller) following(steps []Step, i int) Line {
	if i+1 >= len(steps) || steps[i].Distance >= thenSeconds*speedOf(&steps[i]) || steps[i].Kind.entersCircle() {
		return Line{}
	}
	line, _ := t.lines(&steps[i+1])
	return line
}

// lanes returns the line of the lanes before a maneuver.
func (t *Teller) lanes(s *Step) Line {
	if len(s.Intersections) == 0 || len(s.Intersections[0].Lanes) == 0 {
		return Line{}
	}
	line := t.line(s)
	lanes := s.Intersections[0].Lanes
	for i := range lanes {
		line.Components = append(line.Components, Component{Type: "lane", Lane: &lanes[i]})
	}
	return line
}

// add adds a component to a line.
func (l *Line) add(kind, text string) {
	if text == "" {
		return
	}
	if l.Text != "" {
		l.Text += " "
	}
	l.Text += text
	l.Components = append(l.Components, Component{Type: kind, Text: text})
}

// list adds the parts of a list, with / between them.
func (l *Line) list(text, separator string) {
	first := true
	for part := range strings.SplitSeq(text, separator) {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		if !first {
			l.add("delimiter", "/")
		}
		l.add("text", part)
		first = false
	}
}

// Arrow returns the name of the direction of a lane's arrow, or "" if there is none.
func Arrow(mark car.Lane) (name string) {
	if mark != 0 {
		Indications(mark, func(n string) { name = n })
	}
	return name
}

package guide

import (
	"math"
	"strconv"
	"strings"

	"wayside/internal/roads/graph"
)

// Teller puts the steps of a leg into words.
type Teller struct {
	Graph    *graph.Graph
	Words    *Language
	Imperial bool
	Last     bool // the leg ends at the destination, and not at a stop
}

// nameOf returns the name of a road, or else its number.
func (t *Teller) nameOf(arc uint32) string {
	way := t.wayOf(arc)
	if way.Name.Length > 0 {
		return t.Graph.Text(way.Name)
	}
	return spaced(t.Graph.Text(way.Ref))
}

func (t *Teller) wayOf(arc uint32) *graph.Way {
	return &t.Graph.Ways[t.Graph.Pieces[t.Graph.Arcs[arc].Piece].Way]
}

// Sentence returns the instruction for a step, beginning in lower case. soon means that it follows «in 200 meters».
func (t *Teller) Sentence(s *Step, soon bool) string {
	v := values{}
	signs := t.Graph.SignsOf(t.wayOf(s.Arc))
	destination := strings.Replace(t.Graph.Text(signs.Destination), ": ", ", ", 1)
	switch s.Kind {
	case OnRamp, OffRamp, Fork, Merge:
		v[destinationBlank] = destination
	}
	if v[destinationBlank] == "" {
		v[nameBlank] = t.nameOf(s.Arc)
	}
	if v[nameBlank] == "" {
		v[destinationBlank] = destination
	}
	if s.Kind == OffRamp {
		v[exitBlank] = t.exitOf(s)
	}
	if s.Rotary != nil {
		v[rotaryBlank] = t.Graph.Text(s.Rotary.Name)
	}
	if s.Exit > 0 {
		v[nthBlank] = t.ordinal(s.Exit)
	}
	v[compassBlank] = t.Words.plain("compass." + strconv.Itoa(int(math.Round(float64(s.After)/45))%8))
	if dir := s.Direction; dir.IsLeft() || dir.IsRight() {
		v[directionBlank] = t.Words.plain("direction." + keyOf(dir))
	}
	key := t.keyOfStep(s, soon)
	if v[exitBlank] != "" {
		key = bySide("off.number", s.Direction)
	}
	return t.Words.text(key, &v)
}

// exitOf returns the numbers of an exit.
func (t *Teller) exitOf(s *Step) string {
	if exit := t.Graph.SignsOf(t.wayOf(s.Arc)).Exit; exit.Length > 0 {
		return t.Graph.Text(exit)
	}
	return t.Graph.Text(s.Exits)
}

func (t *Teller) ordinal(n int) string {
	if word := t.Words.plain("nth." + strconv.Itoa(n)); word != "" {
		return word
	}
	return t.Words.text("nth.other", &values{numberBlank: strconv.Itoa(n)})
}

// keyOf returns the word for a direction in keys.
func keyOf(d Direction) string {
	return [...]string{"", "uturn", "sharp_left", "left", "slight_left", "straight", "slight_right", "right", "sharp_right"}[d]
}

// bySide adds the side to a key.
func bySide(key string, d Direction) string {
	switch {
	case d.IsLeft():
		return key + ".left"
	case d.IsRight():
		return key + ".right"
	}
	return key
}

// byTurn adds to a key whether the route goes straight on or turns back.
func byTurn(key string, d Direction) string {
	switch d {
	case UTurn:
		return key + ".uturn"
	case Straight, NoDirection:
		return key + ".straight"
	}
	return key
}

// keyOfStep returns the key of the sentence for a step.
func (t *Teller) keyOfStep(s *Step, soon bool) string {
	switch s.Kind {
	case Depart:
		return "depart"
	case Arrive:
		key := "arrive"
		if soon {
			key += ".soon"
		}
		if !t.Last {
			key += ".via"
		}
		return bySide(key, s.Direction)
	case Continue:
		return byTurn("continue", s.Direction)
	case NewName:
		return "new"
	case Merge:
		return bySide("merge", s.Direction) // to a side, however much the road turns
	case OnRamp:
		return bySide("on", s.Direction)
	case OffRamp:
		return bySide("off", s.Direction)
	case Fork:
		return bySide("fork", s.Direction)
	case EndOfRoad:
		return byTurn("end", s.Direction)
	case UseLane:
		return "lane"
	case Notification:
		if s.Flags&graph.Ferry != 0 {
			return "ferry"
		}
		return "ashore"
	case Roundabout, Rotary:
		return circleKey(s)
	case RoundaboutTurn:
		return byTurn("circle", s.Direction)
	case ExitRoundabout, ExitRotary:
		return "leave"
	case Silent, Turn:
	}
	return byTurn("turn", s.Direction)
}

func circleKey(s *Step) string {
	key := "roundabout"
	if s.Rotary != nil {
		key = "rotary"
	}
	if s.Exit == 0 {
		key += ".within"
	}
	return key
}

const (
	metresPerMile = 1609.344
	feetPerMetre  = 3.28084
)

// distance returns a distance in its spoken form. kind is "distance" (after «in») or "length" (after «for»).
func (t *Teller) distance(kind string, metres float64) string {
	number := func(key string, n float64) string {
		text := strconv.FormatFloat(n, 'f', -1, 64)
		if whole := math.Trunc(n); whole != n {
			text = strconv.Itoa(int(whole)) + t.Words.plain("decimal") + "5"
		}
		return t.Words.text(kind+"."+key, &values{numberBlank: text})
	}
	if t.Imperial {
		miles := metres / metresPerMile
		switch {
		case metres*feetPerMetre < 975:
			return number("feet", max(50, math.Round(metres*feetPerMetre/50)*50))
		case miles < 0.375:
			return number("quarter", 0)
		case miles < 0.75:
			return number("half", 0)
		}
		return many(number, "mile", "miles", miles)
	}
	switch {
	case metres < 95:
		return number("meters", max(10, math.Round(metres/10)*10))
	case metres < 975:
		return number("meters", math.Round(metres/50)*50)
	}
	return many(number, "kilometer", "kilometers", metres/1000)
}

// many returns a number of units in words: in halves up to three, whole beyond.
func many(number func(key string, n float64) string, one, other string, n float64) string {
	if n < 3 {
		n = math.Round(n*2) / 2
	} else {
		n = math.Round(n)
	}
	if n <= 1 {
		return number(one, 1)
	}
	return number(other, n)
}

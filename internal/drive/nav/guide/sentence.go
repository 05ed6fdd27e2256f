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

// nameOf returns the name of a road as it is said, or else its number.
func (t *Teller) nameOf(arc uint32) string {
	way := t.wayOf(arc)
	if way.Name.Length > 0 {
		return spoken(t.Graph.Text(way.Name))
	}
	return spoken(t.Graph.Text(way.Ref))
}

func (t *Teller) wayOf(arc uint32) *graph.Way {
	return &t.Graph.Ways[t.Graph.Pieces[t.Graph.Arcs[arc].Piece].Way]
}

// whereTo returns the name of the road that a step leads onto, or the destination on its signs. One of them is empty.
func (t *Teller) whereTo(s *Step) (name, destination string) {
	destination = spoken(strings.Replace(t.Graph.Text(t.Graph.SignsOf(t.wayOf(s.Arc)).Destination), ": ", ", ", 1))
	switch s.Kind {
	case OnRamp, OffRamp, Fork, Merge:
		if destination != "" {
			return "", destination
		}
	}
	if name = t.nameOf(s.Arc); name != "" {
		return name, ""
	}
	return "", destination
}

// Sentence returns the instruction for a step, beginning in lower case. soon means that it follows «in 200 meters».
func (t *Teller) Sentence(s *Step, soon bool) string { return t.sentence(s, nil, soon) }

// sentence returns the instruction for a step. If it continues a sentence about the step before, it leaves out the road
// or the destination that this sentence names already.
func (t *Teller) sentence(s, before *Step, soon bool) string {
	v := values{}
	v[nameBlank], v[destinationBlank] = t.whereTo(s)
	if s.Rotary != nil {
		v[rotaryBlank] = spoken(t.Graph.Text(s.Rotary.Name))
		if v[rotaryBlank] == v[nameBlank] {
			v[nameBlank] = ""
		}
	}
	if before != nil {
		name, destination := t.whereTo(before)
		for part := range strings.SplitSeq(name, ", ") { // each of its names
			if equalRef([]byte(v[nameBlank]), []byte(part)) {
				v[nameBlank] = ""
			}
		}
		if v[nameBlank] == name {
			v[nameBlank] = ""
		}
		if v[rotaryBlank] == name {
			v[rotaryBlank] = ""
		}
		if v[destinationBlank] == destination {
			v[destinationBlank] = ""
		}
	}
	if s.Kind == OffRamp {
		v[exitBlank] = t.exitOf(s)
	}
	if s.Exit > 0 {
		v[nthBlank] = t.ordinal(s.Exit)
	}
	v[compassBlank] = t.Words.plain("compass." + strconv.Itoa(int(math.Round(float64(s.After)/45))%8))
	if dir := s.Direction; dir.IsLeft() || dir.IsRight() {
		v[directionBlank] = t.Words.plain("direction." + keyOf(dir))
	}
	key := t.keyOfStep(s, soon)
	switch {
	case v[exitBlank] != "":
		key = bySide("off.number", s.Direction)
	case v[rotaryBlank] != "" && strings.HasPrefix(key, "roundabout"):
		key = "rotary" + strings.TrimPrefix(key, "roundabout")
	}
	return t.Words.text(key, &v)
}

// exitOf returns the numbers of an exit.
func (t *Teller) exitOf(s *Step) string {
	if exit := t.Graph.SignsOf(t.wayOf(s.Arc)).Exit; exit.Length > 0 {
		return spoken(t.Graph.Text(exit))
	}
	return spoken(t.Graph.Text(s.Exits))
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
		if s.Exit > 0 { // there was no entry, so the driver has not heard of a roundabout yet
			return circleKey(s)
		}
		return "leave"
	case Silent, Turn:
	}
	return byTurn("turn", s.Direction)
}

func circleKey(s *Step) string {
	if s.Exit == 0 {
		return "roundabout.within"
	}
	return "roundabout"
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

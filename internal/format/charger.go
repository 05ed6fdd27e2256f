package format

import (
	"math"
	"slices"
	"strings"

	"wayside/internal/mapdata"
)

// fastKW is the power from which on a site is a fast charger (D17.10).
const fastKW = 50

// NoNetwork is the value of Options.ChargerNetwork that gives chargers no network: everybody sees them (D4.7).
const NoNetwork = "none"

// Site gathers what a document tells of one charging site (D17.10). The zero Site is one of which nothing is known.
type Site struct {
	Charging Charging // names and address; Finish adds the rest
	Told     bool     // the document tells the status of points: what is not told of one is unknown

	kw                                         float64
	direct                                     bool
	available, occupied, outOfOrder, uncertain int
}

// Points is how many charging points are counted.
func (s *Site) Points() int { return s.available + s.occupied + s.outOfOrder + s.uncertain }

// Point counts a charging point by its status; empty: the document does not tell. It is false for a point that is gone, which does not
// count, and whose power and plugs do not count either.
func (s *Site) Point(status string) bool {
	status = strings.ToUpper(strings.TrimSpace(status))
	words := &Vocabulary().EVSEStatus
	switch {
	case slices.Contains(words.Gone, status):
		return false
	case slices.Contains(words.Available, status):
		s.available++
	case slices.Contains(words.Occupied, status):
		s.occupied++
	case slices.Contains(words.OutOfOrder, status):
		s.outOfOrder++
	default:
		s.uncertain++
	}
	s.Told = s.Told || status != ""
	return true
}

// Power meets the power of a point in kilowatts; the largest counts. What is no power above 0 is not known.
func (s *Site) Power(kw float64) {
	if kw = math.Round(kw*10) / 10; kw > s.kw && !math.IsInf(kw, 0) {
		s.kw = kw
	}
}

// DirectCurrent notes that a point gives direct current.
func (s *Site) DirectCurrent() { s.direct = true }

// Plug adds the plug that a foreign word means in one of the tables of plugs.
func (s *Site) Plug(table map[string]string, word string) {
	if word == "" {
		return
	}
	plug, known := table[word]
	if !known {
		plug = Vocabulary().Plugs.Else
	}
	at, has := slices.BinarySearch(s.Charging.Plugs, plug)
	if !has {
		s.Charging.Plugs = slices.Insert(s.Charging.Plugs, at, plug)
	}
}

// Finish gives the kind of the site and what a row tells of it. network is Options.ChargerNetwork.
func (s *Site) Finish(network string) (kind string, c *Charging) {
	c = &s.Charging
	if n := s.Points(); n > 0 {
		c.EVSEs = Whole(float64(n))
		if s.Told {
			c.Available, c.Occupied = Whole(float64(s.available)), Whole(float64(s.occupied))
			c.OutOfOrder, c.Unknown = Whole(float64(s.outOfOrder)), Whole(float64(s.uncertain))
		}
	}
	if s.kw > 0 {
		c.MaxKW = Num(s.kw)
	}
	c.Network = NetworkOf(network, c.Operator)
	if s.kw >= fastKW || s.kw == 0 && s.direct {
		return mapdata.FastCharger.ID(), c
	}
	return mapdata.SlowCharger.ID(), c
}

// NetworkOf is the network that a site belongs to: what the feed says, otherwise its operator's name as an id.
func NetworkOf(option, operator string) string {
	switch option {
	case "":
		return slug(Text(operator))
	case NoNetwork:
		return ""
	}
	return option
}

// slug is a name in lower case, with each run of characters other than a-z and 0-9 as one hyphen, and none at the ends.
func slug(name string) string {
	var b strings.Builder
	hyphen := false
	for _, r := range strings.ToLower(name) {
		if r < '0' || r > '9' && r < 'a' || r > 'z' {
			hyphen = b.Len() > 0
			continue
		}
		if hyphen {
			b.WriteByte('-')
			hyphen = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

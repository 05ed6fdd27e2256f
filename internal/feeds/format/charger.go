package format

import (
	"math"
	"slices"
	"strings"

	"wayside/internal/ground/mapdata"
)

// fastKW is the power from which on a site is a fast charger (D17.10).
const fastKW = 50

// NoNetwork is the value of Options.ChargerNetwork that gives chargers no network, so that every driver sees them
// (D4.7).
const NoNetwork = "none"

// Site gathers what a document states about one charging site (D17.10). The zero Site is one about which nothing is
// known.
type Site struct {
	Charging Charging // names and address; Finish adds the rest
	Told     bool     // the document states the status of points; a point without one counts as unknown

	kw                                         float64
	direct                                     bool
	available, occupied, outOfOrder, uncertain int
}

// Points returns the number of charging points that are counted.
func (s *Site) Points() int { return s.available + s.occupied + s.outOfOrder + s.uncertain }

// Point counts a charging point by its status; empty means that the document states none. It returns false for a point
// that is gone, which is not counted, and whose power and plugs must not be counted either.
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

// Power records the power of a point in kilowatts; the largest counts. A value that is not a finite power above 0
// is ignored.
func (s *Site) Power(kw float64) {
	if kw = math.Round(kw*10) / 10; kw > s.kw && !math.IsInf(kw, 0) {
		s.kw = kw
	}
}

// DirectCurrent records that a point supplies direct current.
func (s *Site) DirectCurrent() { s.direct = true }

// Plug adds the plug that a foreign word means, from one of the tables of plugs.
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

// Finish returns the kind of the site and the charging properties of its row. network is Options.ChargerNetwork.
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

// NetworkOf returns the network of a site: that of the feed's option, otherwise the operator's name as an id.
func NetworkOf(option, operator string) string {
	switch option {
	case "":
		return slug(Text(operator))
	case NoNetwork:
		return ""
	}
	return option
}

// slug returns a name in lower case, with a hyphen for each run of characters other than a-z and 0-9, and none at the
// ends.
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

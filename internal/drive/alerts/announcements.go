package alerts

import (
	"math"
	"strconv"
	"strings"
)

// Announced holds the stages of a pin that have been announced.
type Announced struct {
	Early, Near bool

	// Of the early stage, if Measured.
	Measured bool
	Distance float64 // metres to the pin when it was announced
	Ago      float64 // seconds since then
}

// First returns the index of the alert to announce, the nearest that is due and not silent; -1 if there is none. silent is
// called with indexes, and only until the first match.
func First(alerts []Alert, silent func(int) bool) int {
	for i := range alerts {
		if alerts[i].Due && !silent(i) {
			return i
		}
	}
	return -1
}

const (
	// keySeparator ends the id in a key. It needs no escape in a query, and no id contains it.
	keySeparator = "~"
	nearSuffix   = "near"
)

// Announcements holds the announcements that a client reported, by id.
type Announcements map[string]Announced

// ParseAnnouncements parses the keys by which a client reports its announcements: an entity's id for the first stage,
// which may be followed by ~ and the metres and ~ and the seconds since then; and its id and ~near for the second stage.
// Unknown ids are ignored. Figures that are not numbers of at least 0 are ignored.
func ParseAnnouncements(keys []string) Announcements {
	seen := make(Announcements, len(keys))
	for _, key := range keys {
		id, rest, _ := strings.Cut(key, keySeparator)
		t := seen[id]
		if rest == nearSuffix {
			t.Near = true
		} else {
			t.Early = true
			metres, seconds, _ := strings.Cut(rest, keySeparator)
			distance, isDistance := parseFigure(metres)
			ago, isAgo := parseFigure(seconds)
			if isDistance && isAgo {
				t.Measured, t.Distance, t.Ago = true, distance, ago
			}
		}
		seen[id] = t
	}
	return seen
}

func parseFigure(text string) (float64, bool) {
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil && v >= 0 && !math.IsInf(v, 1)
}

// Of returns the stages announced for a pin under any of its ids, because the one of several merged pins that is shown
// may change. The figures are those of the latest announcement.
func (s Announcements) Of(ids ...string) (t Announced) {
	for _, id := range ids {
		announced := s[id]
		if announced.Measured && (!t.Measured || announced.Ago < t.Ago) {
			t.Measured, t.Distance, t.Ago = true, announced.Distance, announced.Ago
		}
		t.Early, t.Near = t.Early || announced.Early, t.Near || announced.Near
	}
	return t
}

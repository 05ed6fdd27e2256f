// Package hours parses the opening hours of OpenStreetMap, as far as they are the same each week: "Mo-Fr 08:00-20:00; Sa
// 09:00-13:00; Su off". Everything else is refused as a whole, because half of what is written may be the wrong half:
// seasons, single days, sunset, open ends, comments, appointments.
//
// Rules for public holidays are read and left out: the result is a week without any.
package hours

import (
	"cmp"
	"slices"
	"strings"
)

// Bounds of a text.
const (
	maxText  = 255 // bytes, as OpenStreetMap allows
	maxRules = 20
	maxSpans = 8 // times of a rule
)

// Numbers of minutes.
const (
	hour = 60
	day  = 24 * hour
	// Minutes of a week.
	Minutes = 7 * day
)

// Span is a time in which something is open: minutes from the beginning of Monday, in local time. A span that goes on in
// the next week ends after Minutes.
type Span struct{ From, To int }

// Text returns a text of opening hours as it is kept: without blanks around it, and empty if Parse refuses it.
func Text(text string) string {
	text = strings.TrimSpace(text)
	if _, ok := Parse(text); !ok {
		return ""
	}
	return text
}

// Parse returns the spans of a week, sorted, none of which touch. It returns false for everything that it does not
// understand.
func Parse(text string) (week []Span, ok bool) {
	if len(text) > maxText {
		return nil, false
	}
	var days [7][]Span
	rules := strings.Split(strings.ReplaceAll(text, "–", "-"), ";")
	if len(rules) > maxRules {
		return nil, false
	}
	seen := false
	for i, rule := range rules {
		if strings.TrimSpace(rule) == "" && i > 0 && i == len(rules)-1 {
			continue // a semicolon at the end
		}
		p := parser{rest: rule}
		if !p.rule(&days, &seen) {
			return nil, false
		}
	}
	if !seen {
		return nil, false
	}
	for d := range days {
		for _, s := range days[d] {
			week = append(week, Span{d*day + s.From, d*day + s.To})
		}
	}
	return joined(week), true
}

// joined returns sorted spans, with those that touch as one.
func joined(week []Span) []Span {
	slices.SortFunc(week, func(a, b Span) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	kept := week[:0]
	for _, s := range week {
		if n := len(kept); n > 0 && s.From <= kept[n-1].To {
			kept[n-1].To = max(kept[n-1].To, s.To)
		} else {
			kept = append(kept, s)
		}
	}
	// What goes on after Sunday swallows what begins on Monday before its end.
	for len(kept) > 1 && kept[0].From+Minutes <= kept[len(kept)-1].To {
		kept[len(kept)-1].To = max(kept[len(kept)-1].To, kept[0].To+Minutes)
		kept = kept[1:]
	}
	if len(kept) == 1 && kept[0].To-kept[0].From >= Minutes {
		kept[0] = Span{0, Minutes}
	}
	return kept
}

// parser reads a rule.
type parser struct{ rest string }

func (p *parser) blanks() { p.rest = strings.TrimLeft(p.rest, " \t") }

// take reads a text if the rest begins with it.
func (p *parser) take(text string) bool {
	rest, ok := strings.CutPrefix(p.rest, text)
	if ok {
		p.rest = rest
	}
	return ok
}

// rule reads days and times, several times if they are separated by commas: "Mo-Fr 09:00-12:00, Sa 09:00-10:00". The
// first part replaces what was said of its days before, others add to it.
func (p *parser) rule(days *[7][]Span, seen *bool) bool {
	for adds := false; ; adds = true {
		p.blanks()
		if p.take("24/7") {
			*seen = true
			for d := range days {
				days[d] = []Span{{0, day}}
			}
			p.blanks()
			return p.rest == ""
		}
		on, named, ok := p.days()
		if !ok {
			return false
		}
		p.blanks()
		var times []Span
		if !p.take("off") && !p.take("closed") {
			if times, ok = p.times(); !ok {
				return false
			}
		}
		for d := range days {
			if named && !on[d] {
				continue
			}
			*seen = true
			if !adds || times == nil {
				days[d] = nil
			}
			days[d] = append(days[d], times...)
		}
		if p.blanks(); p.rest == "" {
			return true
		}
		if !p.take(",") {
			return false
		}
	}
}

// days reads a list of days. named reports whether there is one: without, a rule is of all days. Public holidays are read,
// but are no day of the week.
func (p *parser) days() (on [7]bool, named, ok bool) {
	for {
		p.blanks()
		if p.take("PH") {
			named = true
		} else if first := p.weekday(); first >= 0 {
			named = true
			last := first
			if before := p.rest; p.dash() {
				if last = p.weekday(); last < 0 {
					p.rest = before
					return on, named, false
				}
			}
			for d := first; ; d = (d + 1) % 7 {
				on[d] = true
				if d == last {
					break
				}
			}
		} else {
			return on, named, !named
		}
		before := p.rest
		p.blanks()
		if !p.take(",") {
			p.rest = before
			p.take(":") // "Mo-Fr: 08:00-12:00"
			return on, named, true
		}
	}
}

func (p *parser) dash() bool {
	before := p.rest
	if p.blanks(); p.take("-") {
		p.blanks()
		return true
	}
	p.rest = before
	return false
}

// weekday reads a day and returns its number from Monday on, or -1.
func (p *parser) weekday() int {
	for d, name := range [...]string{"Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"} {
		if rest, ok := strings.CutPrefix(p.rest, name); ok && (rest == "" || !isLetter(rest[0]) && rest[0] != '[') {
			p.rest = rest
			return d
		}
	}
	return -1
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// times reads a list of times. It stops before a comma that other days follow.
func (p *parser) times() (spans []Span, ok bool) {
	for {
		p.blanks()
		from, ok := p.clock()
		if !ok || from >= day || !p.dash() {
			return nil, false
		}
		to, ok := p.clock()
		if !ok || to > 2*day {
			return nil, false
		}
		if to <= from {
			to += day
		}
		if to-from > day || len(spans) == maxSpans {
			return nil, false
		}
		spans = append(spans, Span{from, to})
		before := p.rest
		if p.blanks(); !p.take(",") {
			return spans, true
		}
		if p.blanks(); p.rest == "" || p.rest[0] < '0' || p.rest[0] > '9' {
			p.rest = before
			return spans, true
		}
	}
}

// clock reads hours and minutes.
func (p *parser) clock() (minutes int, ok bool) {
	hours, digits := p.number()
	if digits == 0 || digits > 2 || !p.take(":") {
		return 0, false
	}
	minutes, digits = p.number()
	return hours*hour + minutes, digits == 2 && minutes < hour
}

// number reads digits.
func (p *parser) number() (value, digits int) {
	for digits < len(p.rest) && digits < 3 && p.rest[digits] >= '0' && p.rest[digits] <= '9' {
		value = 10*value + int(p.rest[digits]-'0')
		digits++
	}
	p.rest = p.rest[digits:]
	return value, digits
}

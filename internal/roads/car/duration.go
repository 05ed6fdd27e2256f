package car

import "strings"

// Bounds of the duration of a ferry, in seconds. A longer duration is ignored as a mistake; a shorter one counts as the
// minimum.
const (
	minDuration = 1
	maxDuration = 14 * 24 * 3600
)

// duration parses hh:mm, hh:mm:ss, minutes or an ISO 8601 duration, and returns seconds.
func duration(value string) (float64, bool) {
	if value == "" {
		return 0, false
	}
	var seconds float64
	var ok bool
	if period, iso := strings.CutPrefix(value, "P"); iso {
		seconds, ok = isoPeriod(period)
	} else {
		seconds, ok = clock(value, 1)
	}
	if !ok || seconds > maxDuration {
		return 0, false
	}
	return max(seconds, minDuration), true
}

// clock parses hh:mm:ss and hh:mm with at least the given number of parts. A single part is minutes.
func clock(value string, least int) (float64, bool) {
	seconds, unit, parts := 0.0, 3600.0, 0
	if !strings.Contains(value, ":") {
		unit = 60
	}
	for part := range strings.SplitSeq(value, ":") {
		n, ok := leadingDigits(part)
		if !ok || !isDigit(part[len(part)-1]) || strings.ContainsFunc(part, notDigit) || parts == 3 {
			return 0, false
		}
		seconds += n * unit
		unit /= 60
		parts++
	}
	return seconds, parts >= least
}

func notDigit(r rune) bool { return r < '0' || r > '9' }

// isoPeriod parses the part of an ISO 8601 duration after the P: weeks, or days and a time. It refuses years and months,
// because they have no fixed length.
func isoPeriod(period string) (float64, bool) {
	date, time, timed := strings.Cut(period, "T")
	days, dateParts, ok := isoParts(date, "WD", []float64{7 * 24 * 3600, 24 * 3600})
	if !ok {
		return 0, false
	}
	if !timed {
		return days, dateParts > 0
	}
	if strings.Contains(time, ":") { // the extended form, such as PT01:30:00
		seconds, ok := clock(time, 3)
		return days + seconds, ok
	}
	seconds, timeParts, ok := isoParts(time, "HMS", []float64{3600, 60, 1})
	return days + seconds, ok && timeParts > 0
}

// isoParts parses numbers that are each followed by one of the designators, in their order, and returns their sum and
// count.
func isoParts(text, designators string, units []float64) (sum float64, count int, ok bool) {
	next := 0
	for text != "" {
		if !isDigit(text[0]) {
			return 0, 0, false
		}
		n, rest, ok := decimal(text)
		if !ok || rest == "" {
			return 0, 0, false
		}
		at := strings.IndexByte(designators[next:], rest[0]&^0x20) // in upper or lower case
		if at < 0 {
			return 0, 0, false
		}
		sum += n * units[next+at]
		next += at + 1
		text = rest[1:]
		count++
	}
	return sum, count, true
}

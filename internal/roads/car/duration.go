package car

import "strings"

// Durations of ferries, in seconds. A longer one is a mistake; a shorter one than the least counts as the least.
const (
	minDuration = 1
	maxDuration = 14 * 24 * 3600
)

// duration reads hh:mm, hh:mm:ss, minutes or ISO 8601, in seconds.
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

// clock reads hh:mm:ss and hh:mm with as many parts as least or more. A single part is minutes.
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

// isoPeriod reads what follows the P of ISO 8601: weeks, or days and a time. Years and months have no fixed length, so a
// period with them is unreadable.
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

// isoParts reads numbers that are each followed by one of the designators, in their order, and gives their sum and count.
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

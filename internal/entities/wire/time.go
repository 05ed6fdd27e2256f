package wire

const (
	msPerSecond = 1000
	msPerMinute = 60 * msPerSecond
	msPerDay    = 24 * 60 * msPerMinute
)

// TimeLayout formats every time: RFC 3339 in UTC with milliseconds (D4.14).
const TimeLayout = "2006-01-02T15:04:05.000Z"

// timeLength is the length of a time as a JSON string in TimeLayout.
const timeLength = len(`"2006-01-02T15:04:05.000Z"`)

// Calendar formats times and keeps the text of the last one's minute. An answer has three times per entity, most of them within a
// few polls or batches, and formatting each of them would dominate the cost of the answer. The zero value is ready to use.
type Calendar struct {
	made   bool  // text holds a time
	day    int64 // of text: its begin, in milliseconds since 1970
	minute int64 // of text: its begin, in milliseconds since 1970
	text   [timeLength]byte
}

// Append appends milliseconds since 1970 as a JSON string in TimeLayout, null for 0.
func (c *Calendar) Append(dst []byte, ms int64) []byte {
	if ms == 0 {
		return append(dst, "null"...)
	}
	if rest := ms - c.day; !c.made || uint64(rest) >= msPerDay {
		c.setDay(ms)
	}
	// Digits are written after the copy, into both: loading bytes that were just stored in smaller pieces stalls the processor.
	dst = append(dst, c.text[:]...)
	text := (*[timeLength]byte)(dst[len(dst)-timeLength:])
	rest := ms - c.minute
	if uint64(rest) >= msPerMinute {
		minutes := uint32(ms-c.day) / msPerMinute
		hour, minute := minutes/60, minutes%60
		putTwo(text[12:], hour)
		putTwo(text[15:], minute)
		putTwo(c.text[12:], hour)
		putTwo(c.text[15:], minute)
		c.minute = c.day + int64(minutes)*msPerMinute
		rest = ms - c.minute
	}
	second, milli := uint32(rest)/msPerSecond, uint32(rest)%msPerSecond
	putTwo(text[18:], second)
	text[21] = byte('0' + milli/100)
	putTwo(text[22:], milli%100)
	return dst
}

// setDay makes the text of the first minute of another day.
func (c *Calendar) setDay(ms int64) {
	day := ms / msPerDay
	if ms%msPerDay < 0 {
		day--
	}
	year, month, dayOfMonth := civil(day)
	copy(c.text[:], `"0000-00-00T00:00:00.000Z"`)
	putTwo(c.text[1:], uint32(year/100))
	putTwo(c.text[3:], uint32(year%100))
	putTwo(c.text[6:], uint32(month))
	putTwo(c.text[9:], uint32(dayOfMonth))
	c.made, c.day = true, day*msPerDay
	c.minute = c.day
}

// putTwo writes a number below 100 with two digits.
func putTwo(dst []byte, n uint32) {
	_ = dst[1]
	dst[0], dst[1] = byte('0'+n/10), byte('0'+n%10)
}

// AppendTime appends one time; see Calendar.
func AppendTime(dst []byte, ms int64) []byte {
	var c Calendar
	return c.Append(dst, ms)
}

// civil converts days since 1970 to a date of the Gregorian calendar. Counting years from March puts the leap day last, and an era
// of 400 years has a fixed number of days.
func civil(days int64) (year, month, day int64) {
	const (
		daysToEpoch = 719468 // from 0000-03-01 to 1970-01-01
		daysPerEra  = 146097
	)
	days += daysToEpoch
	era := days / daysPerEra
	if days < 0 {
		era = (days - daysPerEra + 1) / daysPerEra
	}
	dayOfEra := days - era*daysPerEra
	yearOfEra := (dayOfEra - dayOfEra/1460 + dayOfEra/36524 - dayOfEra/146096) / 365
	dayOfYear := dayOfEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	shifted := (5*dayOfYear + 2) / 153
	day = dayOfYear - (153*shifted+2)/5 + 1
	month = shifted + 3
	if month > 12 {
		month -= 12
	}
	year = yearOfEra + era*400
	if month <= 2 {
		year++
	}
	return year, month, day
}

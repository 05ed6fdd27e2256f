package wire

import (
	"encoding/base64"
	"encoding/binary"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
)

// hasLine flags a prepared text that contains a line: the length of a position never uses this bit.
const hasLine = 0x80

// EncodeEntity appends the parts of an entity's JSON that do not change between reads. Layout: one byte with the length of the
// position's text and the flag hasLine, the position, the line's length in four bytes and the line if there is one, and the
// properties. The index and the live cache store this form.
func EncodeEntity(dst []byte, e *mapdata.Entity) []byte {
	at := len(dst)
	dst = append(dst, 0)
	dst = appendPosition(dst, e.Point)
	dst[at] = byte(len(dst) - at - 1)
	if e.Line != nil {
		dst[at] |= hasLine
		start := len(dst)
		dst = append(dst, 0, 0, 0, 0)
		dst = appendLine(dst, e.Line)
		binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	}
	return append(dst, e.Properties...)
}

// Split returns the three texts that EncodeEntity joined; line is nil if there is none.
func Split(prepared []byte) (position, line, properties []byte) {
	length := int(prepared[0] &^ hasLine)
	position, properties = prepared[1:1+length], prepared[1+length:]
	if prepared[0]&hasLine != 0 {
		length := binary.LittleEndian.Uint32(properties)
		line, properties = properties[4:4+length], properties[4+length:]
	}
	return position, line, properties
}

// appendPosition appends a GeoJSON position without its brackets: at most 2 × 25 characters.
func appendPosition(dst []byte, p geo.Point) []byte {
	dst = strconv.AppendFloat(dst, p.Lng, 'f', -1, 64)
	dst = append(dst, ',')
	return strconv.AppendFloat(dst, p.Lat, 'f', -1, 64)
}

// appendLine appends a GeoJSON LineString.
func appendLine(dst []byte, line []geo.Point) []byte {
	dst = append(dst, `{"type":"LineString","coordinates":[`...)
	for i, p := range line {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '[')
		dst = appendPosition(dst, p)
		dst = append(dst, ']')
	}
	return append(dst, `]}`...)
}

// AppendHit appends an entity in its read shape (Entity, read shape). days are calendars for its three times, reused from
// hit to hit.
func AppendHit(dst []byte, h *mapdata.Hit, days *[3]Calendar) []byte {
	position, line, properties := Split(h.Prepared)
	dst = append(dst, `{"id":"`...)
	dst = AppendEntityID(dst, h.Source, h.ExternalID)
	dst = append(dst, `","layer_slug":"`...)
	dst = append(dst, h.Layer...)
	dst = append(dst, `","kind_id":"`...)
	dst = append(dst, h.Kind.ID()...)
	dst = append(dst, `","external_id":"`...)
	dst = appendPlain(dst, h.ExternalID)
	dst = append(dst, `","geom":{"type":"Point","coordinates":[`...)
	dst = append(dst, position...)
	if line == nil {
		dst = append(dst, `]},"geom_line":null,"first_seen_at":`...)
	} else {
		dst = append(dst, `]},"geom_line":`...)
		dst = append(dst, line...)
		dst = append(dst, `,"first_seen_at":`...)
	}
	dst = days[0].Append(dst, h.FirstSeenAt)
	dst = append(dst, `,"last_seen_at":`...)
	dst = days[1].Append(dst, h.LastSeenAt)
	dst = append(dst, `,"expires_at":`...)
	dst = days[2].Append(dst, h.ExpiresAt)
	dst = appendConsensus(dst, h)
	dst = AppendProperties(dst, h, properties)
	return append(dst, '}')
}

// AppendEntityID appends an entity's id (D4.10).
func AppendEntityID(dst []byte, source mapdata.SourceID, externalID []byte) []byte {
	if source == mapdata.Incidents {
		dst = append(dst, mapdata.EntityIDPrefix(source)...)
	} else {
		dst = append(dst, source...)
		dst = append(dst, `:v1:`...)
	}
	return base64.RawURLEncoding.AppendEncode(dst, externalID)
}

// appendConsensus appends what drivers make of the entity (D9.3, D9.4), and the name of the properties, which follow. Nearly
// none is voted on, and for those it is one text.
func appendConsensus(dst []byte, h *mapdata.Hit) []byte {
	if h.Confirms == 0 && h.Disputes == 0 && h.Prior == mapdata.DefaultPrior {
		return append(dst, `,"status":"reported","confidence":0.5,"confirm_count":0,"dispute_count":0,"properties":`...)
	}
	confirms, disputes := int(h.Confirms), int(h.Disputes)
	dst = append(dst, `,"status":"`...)
	dst = append(dst, mapdata.StandingOf(confirms, disputes)...)
	dst = append(dst, `","confidence":`...)
	dst = strconv.AppendFloat(dst, mapdata.ConfidenceOf(confirms, disputes, float64(h.Prior)), 'f', -1, 64)
	dst = append(dst, `,"confirm_count":`...)
	dst = strconv.AppendInt(dst, int64(confirms), 10)
	dst = append(dst, `,"dispute_count":`...)
	dst = strconv.AppendInt(dst, int64(disputes), 10)
	return append(dst, `,"properties":`...)
}

// AppendProperties appends the provider's properties with those that are the service's own (D9.5, D10.3); a provider's
// under these names were removed when the row came (D3.3).
func AppendProperties(dst []byte, h *mapdata.Hit, properties []byte) []byte {
	if h.DisputedUntil == 0 && len(h.Merged) == 0 {
		return append(dst, properties...)
	}
	dst = append(dst, properties[:len(properties)-1]...)
	more := len(properties) > len("{}")
	if h.DisputedUntil != 0 {
		dst = AppendComma(dst, more)
		more = true
		dst = append(dst, `"disputed_until":`...)
		dst = AppendTime(dst, h.DisputedUntil)
	}
	if len(h.Merged) > 0 {
		dst = AppendComma(dst, more)
		dst = append(dst, `"merged_from":[`...)
		for i := range h.Merged {
			m := &h.Merged[i]
			dst = AppendComma(dst, i > 0)
			dst = append(dst, `{"source":"`...)
			dst = append(dst, m.Source...)
			dst = append(dst, `","id":"`...)
			dst = AppendEntityID(dst, m.Source, m.ExternalID)
			dst = append(dst, `"}`...)
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// AppendComma appends the comma before a further member or element, if one is needed.
func AppendComma(dst []byte, needed bool) []byte {
	if needed {
		return append(dst, ',')
	}
	return dst
}

// appendPlain appends text that is valid UTF-8 without control characters (D3.1) as the inside of a JSON string.
func appendPlain(dst, text []byte) []byte {
	from := 0
	for at, c := range text {
		if c == '"' || c == '\\' {
			dst = append(dst, text[from:at]...)
			dst = append(dst, '\\')
			from = at
		}
	}
	return append(dst, text[from:]...)
}

// AppendString appends any text as a JSON string.
func AppendString(dst []byte, text string) []byte {
	dst, _ = jsontext.AppendQuote(dst, text) // its error speaks of invalid UTF-8, which it has replaced
	return dst
}

const (
	msPerSecond = 1000
	msPerMinute = 60 * msPerSecond
	msPerDay    = 24 * 60 * msPerMinute
)

// TimeLayout formats every time: RFC 3339 in UTC with milliseconds (D4.14).
const TimeLayout = "2006-01-02T15:04:05.000Z"

// timeLength is the length of a time as a JSON string in TimeLayout.
const timeLength = len(`"2006-01-02T15:04:05.000Z"`)

// Calendar formats times and caches the text of the last one's minute. An answer has three times an entity, most of them
// moments of a few polls or batches; formatting them dominates its cost. The zero value is ready to use.
type Calendar struct {
	made   bool  // text holds a time
	day    int64 // of text, since 1970
	minute int64 // of text: its begin, in milliseconds since 1970
	text   [timeLength]byte
}

// Append appends milliseconds since 1970 as a JSON string in TimeLayout, null for 0.
func (c *Calendar) Append(dst []byte, ms int64) []byte {
	if ms == 0 {
		return append(dst, "null"...)
	}
	if rest := ms - c.minute; !c.made || rest < 0 || rest >= msPerMinute {
		c.turn(ms)
	}
	rest := uint32(ms - c.minute)
	second, milli := rest/msPerSecond, rest%msPerSecond
	// Digits are written after the copy: loading bytes that were just stored in smaller pieces stalls the processor.
	dst = append(dst, c.text[:]...)
	text := (*[timeLength]byte)(dst[len(dst)-timeLength:])
	text[18], text[19] = byte('0'+second/10), byte('0'+second%10)
	text[21], text[22], text[23] = byte('0'+milli/100), byte('0'+milli/10%10), byte('0'+milli%10)
	return dst
}

// turn makes the text of another minute.
func (c *Calendar) turn(ms int64) {
	day, rest := ms/msPerDay, ms%msPerDay
	if rest < 0 {
		day, rest = day-1, rest+msPerDay
	}
	if !c.made || c.day != day {
		year, month, dayOfMonth := civil(day)
		copy(c.text[:], `"0000-00-00T00:00:00.000Z"`)
		putTwo(c.text[1:], year/100)
		putTwo(c.text[3:], year%100)
		putTwo(c.text[6:], month)
		putTwo(c.text[9:], dayOfMonth)
		c.made, c.day = true, day
	}
	minute := rest / msPerMinute
	putTwo(c.text[12:], minute/60)
	putTwo(c.text[15:], minute%60)
	c.minute = day*msPerDay + minute*msPerMinute
}

// putTwo writes a number below 100 with two digits.
func putTwo(dst []byte, n int64) { dst[0], dst[1] = byte('0'+n/10), byte('0'+n%10) }

// AppendTime appends one time; see Calendar.
func AppendTime(dst []byte, ms int64) []byte {
	var c Calendar
	return c.Append(dst, ms)
}

// civil turns days since 1970 into a date of the Gregorian calendar. Counting years from March puts the leap day last,
// and an era of 400 years has a fixed number of days.
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

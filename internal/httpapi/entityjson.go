package httpapi

import (
	"encoding/base64"
	"encoding/binary"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
)

// hasLine marks a prepared text that holds a line: the length of a position leaves this bit free.
const hasLine = 0x80

// EncodeEntity prepares the part of an entity's wire form that reads need not make anew: one byte with the length of the
// position's text, that text, the length of the line's text in four bytes and that text if there is one, and the
// properties. It is the index's and the live cache's encoder.
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

// takeApart gives the texts that EncodeEntity put together; line is nil where there is none.
func takeApart(prepared []byte) (position, line, properties []byte) {
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

// appendHit appends an entity in its read shape (Entity, read shape). days are the calendars of its three times.
func appendHit(dst []byte, h *mapdata.Hit, days *[3]calendar) []byte {
	position, line, properties := takeApart(h.Prepared)
	dst = append(dst, `{"id":"`...)
	dst = appendEntityID(dst, h.Source, h.ExternalID)
	dst = append(dst, `","layer_slug":"`...)
	dst = append(dst, h.Layer...)
	dst = append(dst, `","kind_id":"`...)
	dst = append(dst, h.Kind.ID()...)
	dst = append(dst, `","external_id":"`...)
	dst = appendPlain(dst, h.ExternalID)
	dst = append(dst, `","geom":{"type":"Point","coordinates":[`...)
	dst = append(dst, position...)
	dst = append(dst, `]},"geom_line":`...)
	if line == nil {
		dst = append(dst, "null"...)
	} else {
		dst = append(dst, line...)
	}
	dst = append(dst, `,"first_seen_at":`...)
	dst = days[0].append(dst, h.FirstSeenAt)
	dst = append(dst, `,"last_seen_at":`...)
	dst = days[1].append(dst, h.LastSeenAt)
	dst = append(dst, `,"expires_at":`...)
	dst = days[2].append(dst, h.ExpiresAt)
	dst = appendConsensus(dst, h)
	dst = append(dst, `,"properties":`...)
	dst = appendProperties(dst, h, properties)
	return append(dst, '}')
}

// appendEntityID appends an entity's id (D4.10).
func appendEntityID(dst []byte, source mapdata.SourceID, externalID []byte) []byte {
	if source == mapdata.Incidents {
		dst = append(dst, mapdata.EntityIDPrefix(source)...)
	} else {
		dst = append(dst, source...)
		dst = append(dst, `:v1:`...)
	}
	return base64.RawURLEncoding.AppendEncode(dst, externalID)
}

// appendConsensus appends what drivers make of the entity (D9.3, D9.4). Nearly none is voted on.
func appendConsensus(dst []byte, h *mapdata.Hit) []byte {
	if h.Confirms == 0 && h.Disputes == 0 && h.Prior == mapdata.DefaultPrior {
		return append(dst, `,"status":"reported","confidence":0.5,"confirm_count":0,"dispute_count":0`...)
	}
	confirms, disputes := int(h.Confirms), int(h.Disputes)
	dst = append(dst, `,"status":"`...)
	dst = append(dst, mapdata.StandingOf(confirms, disputes)...)
	dst = append(dst, `","confidence":`...)
	dst = strconv.AppendFloat(dst, mapdata.ConfidenceOf(confirms, disputes, float64(h.Prior)), 'f', -1, 64)
	dst = append(dst, `,"confirm_count":`...)
	dst = strconv.AppendInt(dst, int64(confirms), 10)
	dst = append(dst, `,"dispute_count":`...)
	return strconv.AppendInt(dst, int64(disputes), 10)
}

// appendProperties appends the provider's properties with those that are the service's own (D9.5, D10.3); a provider's
// under these names were removed when the row came (D3.3).
func appendProperties(dst []byte, h *mapdata.Hit, properties []byte) []byte {
	if h.DisputedUntil == 0 && len(h.Merged) == 0 {
		return append(dst, properties...)
	}
	dst = append(dst, properties[:len(properties)-1]...)
	more := len(properties) > len("{}")
	if h.DisputedUntil != 0 {
		dst = appendComma(dst, more)
		more = true
		dst = append(dst, `"disputed_until":`...)
		dst = appendTime(dst, h.DisputedUntil)
	}
	if len(h.Merged) > 0 {
		dst = appendComma(dst, more)
		dst = append(dst, `"merged_from":[`...)
		for i := range h.Merged {
			m := &h.Merged[i]
			dst = appendComma(dst, i > 0)
			dst = append(dst, `{"source":"`...)
			dst = append(dst, m.Source...)
			dst = append(dst, `","id":"`...)
			dst = appendEntityID(dst, m.Source, m.ExternalID)
			dst = append(dst, `"}`...)
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

func appendComma(dst []byte, needed bool) []byte {
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

// appendString appends any text as a JSON string.
func appendString(dst []byte, text string) []byte {
	dst, _ = jsontext.AppendQuote(dst, text) // its error speaks of invalid UTF-8, which it has replaced
	return dst
}

const (
	msPerSecond = 1000
	msPerDay    = 24 * 60 * 60 * msPerSecond
)

// calendar writes times, and remembers the day of the last one: three times an entity, nearly all of them of a few days,
// are the hot half of an answer. The zero value is ready.
type calendar struct {
	made bool  // day and date hold a day
	day  int64 // since 1970
	date [12]byte
}

// append appends milliseconds since 1970 as a JSON string in timeLayout, null for 0.
func (c *calendar) append(dst []byte, ms int64) []byte {
	if ms == 0 {
		return append(dst, "null"...)
	}
	days, rest := ms/msPerDay, ms%msPerDay
	if rest < 0 {
		days, rest = days-1, rest+msPerDay
	}
	if !c.made || c.day != days {
		c.turn(days)
	}
	second := rest / msPerSecond
	milli := rest % msPerSecond
	dst = append(dst, c.date[:]...)
	hour, minute := second/3600, second/60%60
	second %= 60
	return append(dst,
		byte('0'+hour/10), byte('0'+hour%10), ':', byte('0'+minute/10), byte('0'+minute%10), ':', byte('0'+second/10), byte('0'+second%10),
		'.', byte('0'+milli/100), byte('0'+milli/10%10), byte('0'+milli%10), 'Z', '"')
}

// turn makes the text of another day.
func (c *calendar) turn(days int64) {
	year, month, day := civil(days)
	c.made, c.day = true, days
	c.date = [12]byte{
		'"', byte('0' + year/1000), byte('0' + year/100%10), byte('0' + year/10%10), byte('0' + year%10),
		'-', byte('0' + month/10), byte('0' + month%10), '-', byte('0' + day/10), byte('0' + day%10), 'T',
	}
}

// appendTime appends one time; see calendar.
func appendTime(dst []byte, ms int64) []byte {
	var c calendar
	return c.append(dst, ms)
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

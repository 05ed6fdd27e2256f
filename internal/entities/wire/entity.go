package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// Flags beside the length of a position, which is less than lengthMask: see appendCoordinate.
const (
	hasLine    = 0x80 // the prepared text contains a line
	hasEscapes = 0x40 // the external id contains characters that JSON escapes
	lengthMask = 0x3f
)

// EncodeEntity appends the parts of an entity's JSON that do not change between reads. Layout: one byte with the length of the
// position's text and the flags, the position, the line's length in four bytes and the line if there is one, the external id
// as it stands in the entity's id, and the properties. The index and the live cache store this form.
func EncodeEntity(dst []byte, e *mapdata.Entity) []byte {
	at := len(dst)
	dst = append(dst, 0)
	dst = appendPosition(dst, e.Point)
	dst[at] = byte(len(dst) - at - 1)
	if strings.ContainsAny(e.ExternalID, `"\`) {
		dst[at] |= hasEscapes
	}
	if e.Line != nil {
		dst[at] |= hasLine
		start := len(dst)
		dst = append(dst, 0, 0, 0, 0)
		dst = appendLine(dst, e.Line)
		binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	}
	dst = base64.RawURLEncoding.AppendEncode(dst, []byte(e.ExternalID))
	return append(dst, e.Properties...)
}

// split splits the result of EncodeEntity; rest is the external id as it stands in the entity's id, and the properties.
func split(prepared []byte) (position, line, rest []byte) {
	length := prepared[0] & lengthMask
	position, rest = prepared[1:1+length], prepared[1+length:]
	if prepared[0]&hasLine != 0 {
		end := 4 + binary.LittleEndian.Uint32(rest)
		line, rest = rest[4:end], rest[end:]
	}
	return position, line, rest
}

// idLength returns the length of a hit's external id as it stands in the entity's id.
func idLength(h *mapdata.Hit) int { return base64.RawURLEncoding.EncodedLen(len(h.ExternalID)) }

// Properties returns the provider's properties of a hit's entity.
func Properties(h *mapdata.Hit) []byte {
	_, _, rest := split(h.Prepared)
	return rest[idLength(h):]
}

// HasLine reports whether a hit's entity has a line.
func HasLine(h *mapdata.Hit) bool { return h.Prepared[0]&hasLine != 0 }

// AppendLine appends the positions of the line of a hit's entity, if it has one.
func AppendLine(dst []geo.Point, h *mapdata.Hit) []geo.Point {
	_, text, _ := split(h.Prepared)
	text = bytes.TrimPrefix(text, []byte(lineStart+"["))
	text = bytes.TrimSuffix(text, []byte("]"+lineEnd))
	for len(text) > 0 {
		var position []byte
		position, text, _ = bytes.Cut(text, []byte("],["))
		lng, lat, _ := bytes.Cut(position, []byte(","))
		// ParseFloat cannot fail, because appendLine wrote both numbers.
		x, _ := strconv.ParseFloat(string(lng), 64)
		y, _ := strconv.ParseFloat(string(lat), 64)
		dst = append(dst, geo.Point{Lat: y, Lng: x})
	}
	return dst
}

// appendPosition appends a GeoJSON position without its brackets.
func appendPosition(dst []byte, p geo.Point) []byte {
	dst = appendCoordinate(dst, p.Lng)
	dst = append(dst, ',')
	return appendCoordinate(dst, p.Lat)
}

// minPlain is the smallest coordinate that is written without an exponent. Smaller ones would have hundreds of digits.
const minPlain = 1e-6

// appendCoordinate appends degrees: at most 25 characters.
func appendCoordinate(dst []byte, degrees float64) []byte {
	if degrees != 0 && math.Abs(degrees) < minPlain {
		return strconv.AppendFloat(dst, degrees, 'e', -1, 64)
	}
	return strconv.AppendFloat(dst, degrees, 'f', -1, 64)
}

// The texts around the positions of a line.
const (
	lineStart = `{"type":"LineString","coordinates":[`
	lineEnd   = `]}`
)

// appendLine appends a GeoJSON LineString.
func appendLine(dst []byte, line []geo.Point) []byte {
	dst = append(dst, lineStart...)
	for i, p := range line {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '[')
		dst = appendPosition(dst, p)
		dst = append(dst, ']')
	}
	return append(dst, lineEnd...)
}

// Encoder writes entities in their read shape (Entity, read shape). It keeps the texts of the days of their times. The zero
// value is ready to use.
type Encoder struct {
	firstSeen, lastSeen Calendar
	expiry              [expirySlots]Calendar // by kind: how long an entity is kept follows from its kind, and the day from that

	decoder                           jsontext.Decoder // of properties, for features
	properties, members, quoted, name []byte           // scratch of AppendFeature
}

// expirySlots is a power of two. Two kinds that share a slot only cost time.
const expirySlots = 16

// Sizes of what is appended beside an entity's own text, in bytes: more than nearly every entity needs.
const (
	besideHits    = 2 << 10 // of the whole answer
	besideHit     = 512
	besideFeature = 800
)

// GrowForHits grows dst so that it has room for hits as AppendHit or, with features set, AppendFeature appends them: without that an
// answer of megabytes is copied a dozen times as it grows.
func GrowForHits(dst []byte, hits []mapdata.Hit, features bool) []byte {
	size, beside := besideHits, besideHit
	if features {
		beside = besideFeature
	}
	for i := range hits {
		size += len(hits[i].Prepared) + beside
	}
	return slices.Grow(dst, size)
}

// AppendHit appends an entity.
func (e *Encoder) AppendHit(dst []byte, h *mapdata.Hit) []byte {
	position, line, rest := split(h.Prepared)
	id := idLength(h)
	dst = appendIDPrefix(append(dst, `{"id":"`...), h.Source)
	dst = append(dst, rest[:id]...)
	dst = appendNames(dst, h)
	dst = append(dst, `,"geom":{"type":"Point","coordinates":[`...)
	dst = append(dst, position...)
	if line == nil {
		dst = append(dst, `]},"geom_line":null`...)
	} else {
		dst = append(dst, `]},"geom_line":`...)
		dst = append(dst, line...)
	}
	dst = e.appendTimes(dst, h)
	dst = appendConsensus(dst, h)
	dst = AppendProperties(dst, h, rest[id:])
	return append(dst, '}')
}

// appendNames ends the text of the id, and appends the names of layer and kind and the external id.
func appendNames(dst []byte, h *mapdata.Hit) []byte {
	dst = append(dst, `","layer_slug":"`...)
	dst = append(dst, h.Layer...)
	dst = append(dst, `","kind_id":"`...)
	dst = append(dst, h.Kind.ID()...)
	dst = append(dst, `","external_id":"`...)
	if h.Prepared[0]&hasEscapes != 0 {
		dst = appendEscaped(dst, h.ExternalID)
	} else {
		dst = append(dst, h.ExternalID...)
	}
	return append(dst, '"')
}

func (e *Encoder) appendTimes(dst []byte, h *mapdata.Hit) []byte {
	dst = append(dst, `,"first_seen_at":`...)
	dst = e.firstSeen.Append(dst, h.FirstSeenAt)
	dst = append(dst, `,"last_seen_at":`...)
	dst = e.lastSeen.Append(dst, h.LastSeenAt)
	dst = append(dst, `,"expires_at":`...)
	return e.expiry[h.Kind%expirySlots].Append(dst, h.ExpiresAt)
}

// AppendEntityID appends an entity's id (D4.10).
func AppendEntityID(dst []byte, source mapdata.SourceID, externalID []byte) []byte {
	return base64.RawURLEncoding.AppendEncode(appendIDPrefix(dst, source), externalID)
}

// appendIDPrefix appends the part of an entity's id before the external id.
func appendIDPrefix(dst []byte, source mapdata.SourceID) []byte {
	if source == mapdata.Incidents {
		return append(dst, mapdata.EntityIDPrefix(source)...)
	}
	dst = append(dst, source...)
	return append(dst, `:v1:`...)
}

// appendConsensus appends the votes of drivers on the entity (D9.3, D9.4), and the name of the properties, which follow. Nearly no
// entity has votes, and for those without it appends a constant text.
func appendConsensus(dst []byte, h *mapdata.Hit) []byte {
	if h.Confirms == 0 && h.Disputes == 0 && h.Prior == mapdata.DefaultPrior {
		return append(dst, `,"status":"reported","confidence":0.5,"confirm_count":0,"dispute_count":0`+propertiesName...)
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
	return append(dst, propertiesName...)
}

// AppendProperties appends the provider's properties and the service's own ones (D9.5, D10.3). A provider's properties of the same
// names were removed when the row was ingested (D3.3).
func AppendProperties(dst []byte, h *mapdata.Hit, properties []byte) []byte {
	if !hasOwnProperties(h) {
		return append(dst, properties...)
	}
	dst = append(dst, properties[:len(properties)-1]...)
	more := len(properties) > len("{}")
	if h.Hidden != nil {
		dst = appendHiding(AppendComma(dst, more), h.Hidden)
		more = true
	} else if h.DisputedUntil != 0 {
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

// hasOwnProperties reports whether a hit has properties that are the service's own.
func hasOwnProperties(h *mapdata.Hit) bool { return h.DisputedUntil != 0 || len(h.Merged) > 0 }

// appendHiding appends a curator's decision, for the provider and curators. An end of null means that it has none.
func appendHiding(dst []byte, h *mapdata.Hiding) []byte {
	dst = append(dst, `"wayside_hidden":{"until":`...)
	if h.Until.Equal(mapdata.ForGood()) {
		dst = append(dst, `null`...)
	} else {
		dst = AppendTime(dst, h.Until.UnixMilli())
	}
	dst = append(dst, `,"reason":`...)
	return append(AppendString(dst, h.Reason), '}')
}

// AppendComma appends the comma before a further member or element, if one is needed.
func AppendComma(dst []byte, needed bool) []byte {
	if needed {
		return append(dst, ',')
	}
	return dst
}

// appendEscaped appends text that is valid UTF-8 without control characters (D3.1) as the inside of a JSON string.
func appendEscaped(dst, text []byte) []byte {
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
func AppendString[T string | []byte](dst []byte, text T) []byte {
	dst, _ = jsontext.AppendQuote(dst, text) // AppendQuote has replaced the invalid UTF-8 that its error reports
	return dst
}

package ingest

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// Bounds of a row (D3).
const (
	maxExternalID    = 256 // bytes
	maxProperties    = 16 << 10
	maxPropertyDepth = 8
	futureGrace      = 5 * time.Minute // how far a provider's clock may be ahead
	retireTTL        = 1               // seconds; this value retires
	longestTTL       = 100 * 365 * 24 * time.Hour
)

// Row is one valid v1 row.
type Row struct {
	ExternalID string
	Kind       mapdata.Kind
	Point      geo.Point
	Properties []byte        // a compact JSON object without reserved keys; valid until the next row is decoded
	Network    string        // of a charger (D4.7)
	TTL        time.Duration // whole seconds; 0: absent
	Retire     bool          // ttl_seconds is 1: the entity must be removed
	ObservedAt time.Time     // zero: absent
	Beside                   // of a bridge's row; valid until the next row is read

	misfits misfits
}

// Codes of rejections, in the order in which they are found (D3.10).
const (
	codeRowTooLarge         = "row_too_large"
	codeNotAnObject         = "not_an_object"
	codeDuplicateMember     = "duplicate_member"
	codeMissingExternalID   = "missing_external_id"
	codeInvalidExternalID   = "invalid_external_id"
	codeDuplicateExternalID = "duplicate_external_id"
	codeMissingKind         = "missing_kind"
	codeUnknownKind         = "unknown_kind"
	codeMissingLat          = "missing_lat"
	codeInvalidLat          = "invalid_lat"
	codeMissingLng          = "missing_lng"
	codeInvalidLng          = "invalid_lng"
	codeMissingProperties   = "missing_properties"
	codeInvalidProperties   = "invalid_properties"
	codePropertiesTooLarge  = "properties_too_large"
	codeInvalidTTL          = "invalid_ttl_seconds"
	codeInvalidObservedAt   = "invalid_observed_at"
	codeFeedFull            = "feed_full"
)

// Codes lists the codes of rejections, in the order of D3.10.
func Codes() []string {
	return []string{
		codeRowTooLarge, codeNotAnObject, codeDuplicateMember, codeMissingExternalID, codeInvalidExternalID, codeDuplicateExternalID,
		codeMissingKind, codeUnknownKind, codeMissingLat, codeInvalidLat, codeMissingLng, codeInvalidLng,
		codeMissingProperties, codeInvalidProperties, codePropertiesTooLarge, codeInvalidTTL, codeInvalidObservedAt, codeFeedFull,
	}
}

// Reasons of rejections, where one code has several.
const (
	reasonWithin    mapdata.Reason = "within"     // duplicate_member: in the properties
	reasonNoObject  mapdata.Reason = "no_object"  // invalid_properties
	reasonBadText   mapdata.Reason = "bad_text"   // invalid_properties: U+0000 or an unpaired surrogate
	reasonBadNumber mapdata.Reason = "bad_number" // invalid_properties: beyond float64
	reasonTooDeep   mapdata.Reason = "too_deep"   // invalid_properties
	reasonNoText    mapdata.Reason = "no_text"    // invalid_observed_at: not a string
	reasonNoTime    mapdata.Reason = "no_time"    // invalid_observed_at: not RFC 3339
	reasonFuture    mapdata.Reason = "future"     // invalid_observed_at
)

// Reasons lists the reasons of examples (mapdata.RejectedRow) by their code, without codes that need no reason.
func Reasons() map[string][]mapdata.Reason {
	return map[string][]mapdata.Reason{
		codeDuplicateMember:   {reasonWithin},
		codeInvalidProperties: {reasonNoObject, reasonBadText, reasonBadNumber, reasonTooDeep},
		codeInvalidObservedAt: {reasonNoText, reasonNoTime, reasonFuture},
	}
}

// reasonOf returns why properties cannot be stored.
func reasonOf(fault error) mapdata.Reason {
	switch {
	case errors.Is(fault, errBadText):
		return reasonBadText
	case errors.Is(fault, errBadNumber):
		return reasonBadNumber
	case errors.Is(fault, errTooDeep):
		return reasonTooDeep
	}
	return ""
}

// Indexes of a row's members in members.raw.
const (
	memberExternalID = iota
	memberKind
	memberLat
	memberLng
	memberProperties
	memberTTL
	memberObservedAt
	memberCount
)

var memberNames = [memberCount]string{"external_id", "kind", "lat", "lng", "properties", "ttl_seconds", "observed_at"}

// judge validates rows, one after the other, in memory that it reuses.
type judge struct {
	now        time.Time
	properties compacted
	names      nameStack
	id         []byte
}

// row validates one row, whose bytes are known to be a JSON value, or nil if they were too many to be held. It returns
// either the row or its first error in the order of D3.10.
func (j *judge) row(value []byte) (Row, *RowError) {
	if value == nil {
		return Row{}, &RowError{Code: codeRowTooLarge, Message: "A row has at most 64 KiB as it is sent."}
	}
	w := walker{b: value}
	if w.peek() != '{' {
		return Row{}, &RowError{Code: codeNotAnObject, Message: "A row must be a JSON object."}
	}
	raw, twice := j.members(&w)
	var row Row
	id, idErr := j.externalID(raw[memberExternalID])
	fail := func(e *RowError) (Row, *RowError) {
		if id != nil {
			text := string(id)
			e.ExternalID = &text
		}
		return Row{}, e
	}
	properties := &j.properties
	j.compact(raw[memberProperties])
	switch {
	case twice != "":
		return fail(&RowError{Code: codeDuplicateMember, Field: twice, Message: "The member " + strconv.Quote(twice) + " stands twice."})
	case properties.fault != nil && errors.Is(properties.fault, errDuplicate):
		return fail(&RowError{
			Code: codeDuplicateMember, Field: "properties", Message: "A member of properties stands twice.", Reason: reasonWithin,
		})
	case idErr != nil:
		return fail(idErr)
	}
	row.ExternalID = string(id)
	for _, step := range [...]func(*[memberCount][]byte, *Row) *RowError{
		judgeKind, judgePoint, properties.judge, judgeTTL, j.judgeObservedAt,
	} {
		if e := step(&raw, &row); e != nil {
			return fail(e)
		}
	}
	row.misfits = properties.misfits.of(row.Kind)
	if row.Kind.Charger() {
		row.Network = string(properties.network)
	}
	return row, nil
}

// members returns the raw values of the members that rows have, nil where one is absent or null, and the name of a
// duplicate member. It skips other members (D3.7).
func (j *judge) members(w *walker) (raw [memberCount][]byte, twice string) {
	names := j.names.open()
	defer j.names.close(names)
	w.i++
	for w.next() {
		name, escaped := w.text()
		if escaped {
			name, _ = unescape(nil, name)
		}
		if !j.names.add(&names, name) && twice == "" {
			twice = strings.ToValidUTF8(string(name[:min(len(name), 64)]), "")
		}
		w.colon()
		value := w.skip()
		if string(value) == "null" {
			continue
		}
		for i := range memberNames {
			if string(name) == memberNames[i] {
				raw[i] = value
			}
		}
	}
	return raw, twice
}

// externalID validates external_id (D3.1). It returns the text also when it rejects it, as far as the text is known.
func (j *judge) externalID(raw []byte) ([]byte, *RowError) {
	const field = "external_id"
	if raw == nil {
		return nil, &RowError{Code: codeMissingExternalID, Field: field, Message: "external_id is required."}
	}
	refuse := &RowError{
		Code: codeInvalidExternalID, Field: field, Value: raw,
		Message: "external_id must be a string of 1 to 256 bytes of UTF-8 without control characters.",
	}
	if raw[0] != '"' {
		return nil, refuse
	}
	var whole bool
	j.id, whole = unescape(j.id[:0], raw[1:len(raw)-1])
	if len(j.id) == 0 || len(j.id) > maxExternalID || !whole || bytes.ContainsFunc(j.id, unicode.IsControl) {
		return bytes.ToValidUTF8(j.id[:min(len(j.id), maxExternalID)], nil), refuse
	}
	return j.id, nil
}

func judgeKind(raw *[memberCount][]byte, row *Row) *RowError {
	const field = "kind"
	value := raw[memberKind]
	if value == nil {
		return &RowError{Code: codeMissingKind, Field: field, Message: "kind is required."}
	}
	if value[0] == '"' {
		text := value[1 : len(value)-1]
		if bytes.IndexByte(text, '\\') >= 0 {
			text, _ = unescape(nil, text)
		}
		if kind, ok := mapdata.ParseKind(string(text)); ok {
			row.Kind = kind
			return nil
		}
	}
	return &RowError{Code: codeUnknownKind, Field: field, Value: value, Message: "kind is none of the catalogue's; GET /v2/kinds lists them."}
}

func judgePoint(raw *[memberCount][]byte, row *Row) *RowError {
	var ok bool
	if raw[memberLat] == nil {
		return &RowError{Code: codeMissingLat, Field: "lat", Message: "lat is required."}
	}
	if row.Point.Lat, ok = number(raw[memberLat]); !ok || math.Abs(row.Point.Lat) > 90 {
		return &RowError{Code: codeInvalidLat, Field: "lat", Value: raw[memberLat], Message: "lat must be a number from -90 to 90."}
	}
	if raw[memberLng] == nil {
		return &RowError{Code: codeMissingLng, Field: "lng", Message: "lng is required."}
	}
	if row.Point.Lng, ok = number(raw[memberLng]); !ok || math.Abs(row.Point.Lng) > 180 {
		return &RowError{Code: codeInvalidLng, Field: "lng", Value: raw[memberLng], Message: "lng must be a number from -180 to 180."}
	}
	return nil
}

// number parses a JSON number that a float64 holds. -0 becomes 0.
func number(raw []byte) (float64, bool) {
	if raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
		return 0, false
	}
	v, err := strconv.ParseFloat(string(raw), 64)
	return v + 0, err == nil
}

// compacted is the result of compacting a row's properties.
type compacted struct {
	text    []byte
	network []byte
	misfits misfits
	fault   error
	object  bool
	given   bool
}

// reservedPrefix begins reserved keys, which are removed from properties silently (D3.3).
const reservedPrefix = "wayside_"

func reserved(name []byte) bool {
	return string(name) == "disputed_until" || string(name) == "merged_from" || bytes.HasPrefix(name, []byte(reservedPrefix))
}

// compact removes white space and reserved keys from properties, and stores the result in j.properties.
func (j *judge) compact(raw []byte) {
	out := &j.properties
	*out = compacted{given: raw != nil, text: out.text[:0]}
	if raw == nil || raw[0] != '{' {
		return
	}
	out.object = true
	c := compacter{walker: walker{b: raw}, names: &j.names, dst: out.text}
	c.object(1, out.leave)
	out.text, out.fault = c.dst, c.fault
}

// leave reports whether a member is reserved and must be dropped. It also records the network and misfits.
func (c *compacted) leave(name []byte, value walker) bool {
	c.misfits.look(name, value)
	if string(name) == "network" && value.peek() == '"' {
		inside, _ := value.text()
		if text, whole := unescape(nil, inside); whole {
			c.network = text
		}
	}
	return reserved(name)
}

func (c *compacted) judge(raw *[memberCount][]byte, row *Row) *RowError {
	const field = "properties"
	switch {
	case !c.given:
		return &RowError{Code: codeMissingProperties, Field: field, Message: "properties is required; {} will do."}
	case !c.object:
		return &RowError{
			Code: codeInvalidProperties, Field: field, Message: "properties must be an object.", Reason: reasonNoObject, Value: raw[memberProperties],
		}
	case c.fault != nil:
		return &RowError{
			Code: codeInvalidProperties, Field: field, Message: "properties cannot be stored: " + c.fault.Error() + ".", Reason: reasonOf(c.fault),
		}
	case len(c.text) > maxProperties:
		return &RowError{Code: codePropertiesTooLarge, Field: field, Message: "properties has more than 16 KiB without its white space."}
	}
	row.Properties = c.text
	return nil
}

func judgeTTL(raw *[memberCount][]byte, row *Row) *RowError {
	value := raw[memberTTL]
	if value == nil {
		return nil
	}
	seconds, ok := number(value)
	if !ok || seconds < retireTTL { // below: a mistake of units, not a retirement (D3.4)
		return &RowError{Code: codeInvalidTTL, Field: memberNames[memberTTL], Value: value, Message: "ttl_seconds must be a number of 1 or more; 1 removes the entity."}
	}
	seconds = math.Ceil(seconds)
	row.Retire = seconds == retireTTL
	row.TTL = longestTTL // a persistent kind has no longest lifetime, but a duration has
	if seconds < longestTTL.Seconds() {
		row.TTL = time.Duration(seconds) * time.Second
	}
	return nil
}

func (j *judge) judgeObservedAt(raw *[memberCount][]byte, row *Row) *RowError {
	value := raw[memberObservedAt]
	if value == nil {
		return nil
	}
	refuse := func(reason mapdata.Reason, message string) *RowError {
		return &RowError{Code: codeInvalidObservedAt, Field: memberNames[memberObservedAt], Message: message, Reason: reason, Value: value}
	}
	if value[0] != '"' {
		return refuse(reasonNoText, "observed_at must be a string in RFC 3339.")
	}
	text, _ := unescape(nil, value[1:len(value)-1])
	at, err := mapdata.ParseTime(text)
	if err != nil {
		return refuse(reasonNoTime, "observed_at must be RFC 3339, such as 2026-11-21T08:00:00Z.")
	}
	if at.After(j.now.Add(futureGrace)) {
		return refuse(reasonFuture, "observed_at lies more than 5 minutes in the future.")
	}
	row.ObservedAt = at.UTC().Truncate(time.Millisecond)
	return nil
}

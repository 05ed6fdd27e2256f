package format

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/ground/geo"
)

// Row is the content of a v1 row.
type Row struct {
	ID         string
	Kind       string // the id of a kind
	Point      geo.Point
	ObservedAt time.Time // zero: not known
	TTL        float64   // seconds; 0: none
	Properties Properties
}

// Number is a number that may be absent.
type Number struct {
	value float64
	known bool
}

// Num returns a known number; NaN and infinities become an unknown one.
func Num(v float64) Number {
	return Number{v, !math.IsNaN(v) && !math.IsInf(v, 0)}
}

// Whole returns a number rounded to an integer.
func Whole(v float64) Number { return Num(math.Round(v)) }

// Properties are the properties of an entity beside its kind and place, with the same names from every bridge (D17.9). Empty, false and
// unknown ones are left out. Texts are made plain when they are written.
type Properties struct {
	Description   string
	Street        string // the road's name, otherwise its number
	Direction     string // as published; written in lower case
	BothDirection bool
	Bearing       Number // degrees
	Severity      string // low, medium or high
	LanesClosed   Number
	SpeedLimitKmh Number
	SpeedKmh      Number
	DelaySeconds  Number
	LengthMetres  Number
	Detour        bool
	StartsAt      time.Time
	EndsAt        time.Time
	SourceType    string // the foreign word that decided on the kind
	URL           string

	MaxspeedKmh Number // of cameras

	Charging *Charging // of chargers; nil: none

	Own []Own // properties of a mapping, after the others
}

// Charging is the properties of a charging site.
type Charging struct {
	Name, City, Postcode, Country string
	Operator, Network             string
	EVSEs                         Number
	MaxKW                         Number
	Plugs                         []string
	Available, Occupied           Number
	OutOfOrder, Unknown           Number
	StatusAt                      time.Time
}

// Own is a property that a mapping defines, as JSON.
type Own struct {
	Name  string
	Value []byte
}

// Append appends the row in v1 form.
func (r *Row) Append(dst []byte) []byte {
	dst = appendText(append(dst, `{"external_id":`...), r.ID)
	dst = appendText(append(dst, `,"kind":`...), r.Kind)
	dst = appendNumber(append(dst, `,"lat":`...), r.Point.Lat)
	dst = appendNumber(append(dst, `,"lng":`...), r.Point.Lng)
	dst = append(dst, `,"properties":`...)
	dst = r.Properties.append(dst)
	if !r.ObservedAt.IsZero() {
		dst = r.ObservedAt.UTC().AppendFormat(append(dst, `,"observed_at":"`...), time.RFC3339)
		dst = append(dst, '"')
	}
	if r.TTL > 0 {
		dst = appendNumber(append(dst, `,"ttl_seconds":`...), r.TTL)
	}
	return append(dst, '}')
}

// appendText appends a JSON string, with U+FFFD for invalid UTF-8.
func appendText(dst []byte, text string) []byte {
	quoted, err := jsontext.AppendQuote(dst, text)
	if err != nil && len(quoted) == len(dst) {
		return append(dst, `""`...)
	}
	return quoted
}

// appendNumber appends the shortest decimal that is this number. For a number with few digits, as coordinates have, these digits are it,
// because at most 15 digits name a single float64. This takes a quarter of the time of strconv.
func appendNumber(dst []byte, v float64) []byte {
	n := math.Round(v * digits)
	if v == 0 || n/digits != v || math.Abs(n) >= 1e15 {
		return strconv.AppendFloat(dst, v, 'f', -1, 64)
	}
	if n < 0 {
		dst, n = append(dst, '-'), -n
	}
	whole, rest := uint64(n)/digits, uint64(n)%digits
	dst = strconv.AppendUint(dst, whole, 10)
	if rest == 0 {
		return dst
	}
	dst = append(dst, '.')
	for place := uint64(digits) / 10; rest > 0; place /= 10 {
		dst = append(dst, '0'+byte(rest/place))
		rest %= place
	}
	return dst
}

// members appends members to an object.
type members struct {
	dst   []byte
	first bool
}

// next appends the comma between two members.
func (m *members) next() {
	if !m.first {
		m.dst = append(m.dst, ',')
	}
	m.first = false
}

// name appends a name, which must need no escapes.
func (m *members) name(name string) {
	m.next()
	m.dst = append(m.dst, '"')
	m.dst = append(m.dst, name...)
	m.dst = append(m.dst, '"', ':')
}

func (m *members) text(name, text string) {
	if text != "" {
		m.name(name)
		m.dst = appendText(m.dst, text)
	}
}

func (m *members) number(name string, n Number) {
	if n.known {
		m.name(name)
		m.dst = appendNumber(m.dst, n.value)
	}
}

func (m *members) flag(name string, set bool) {
	if set {
		m.name(name)
		m.dst = append(m.dst, "true"...)
	}
}

func (m *members) time(name string, at time.Time) {
	if !at.IsZero() && at.Year() >= 1 && at.Year() <= 9999 {
		m.name(name)
		m.dst = append(at.UTC().Truncate(time.Second).AppendFormat(append(m.dst, '"'), time.RFC3339), '"')
	}
}

func (p *Properties) append(dst []byte) []byte {
	m := members{append(dst, '{'), true}
	m.text("description", Description(p.Description))
	if c := p.Charging; c != nil {
		m.text("name", Text(c.Name))
	}
	m.text("street", Text(p.Street))
	m.text("direction", strings.ToLower(Text(p.Direction)))
	m.flag("both_directions", p.BothDirection)
	m.number("bearing", bearing(p.Bearing))
	m.text("severity", p.Severity)
	m.number("lanes_closed", p.LanesClosed)
	m.number("speed_limit_kmh", p.SpeedLimitKmh)
	m.number("speed_kmh", p.SpeedKmh)
	m.number("delay_seconds", p.DelaySeconds)
	m.number("length_metres", p.LengthMetres)
	m.flag("detour", p.Detour)
	m.time("starts_at", p.StartsAt)
	m.time("ends_at", p.EndsAt)
	m.text("source_type", Text(p.SourceType))
	m.text("url", Text(p.URL))
	m.number("maxspeed_kmh", p.MaxspeedKmh)
	if p.Charging != nil {
		m.charging(p.Charging)
	}
	for _, own := range p.Own {
		m.next()
		m.dst = append(append(appendText(m.dst, own.Name), ':'), own.Value...)
	}
	return append(m.dst, '}')
}

func (m *members) charging(c *Charging) {
	m.text("city", Text(c.City))
	m.text("postcode", Text(c.Postcode))
	m.text("country", Text(c.Country))
	m.text("operator", Text(c.Operator))
	m.text("network", c.Network)
	m.number("evses", c.EVSEs)
	m.number("max_kw", c.MaxKW)
	if len(c.Plugs) > 0 {
		m.name("plugs")
		for i, plug := range c.Plugs {
			m.dst = appendText(append(m.dst, "[,"[min(i, 1)]), plug)
		}
		m.dst = append(m.dst, ']')
	}
	m.number("available", c.Available)
	m.number("occupied", c.Occupied)
	m.number("out_of_order", c.OutOfOrder)
	m.number("unknown", c.Unknown)
	m.time("status_at", c.StatusAt)
}

// bearing returns a direction in whole degrees, 0 to 359, and an unknown number for one that is out of range.
func bearing(n Number) Number {
	if !n.known || n.value < 0 || n.value > 360 {
		return Number{}
	}
	return Num(math.Mod(math.Round(n.value), 360))
}

// ParseNumber parses a decimal number of 0 or more; it returns an unknown number for any other text.
func ParseNumber(text string) Number {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || v < 0 {
		return Number{}
	}
	return Num(v)
}

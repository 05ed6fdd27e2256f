package mapping

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/geometry"
	"wayside/internal/ground/mapdata"
)

// Converter converts items by a mapping.
type Converter struct {
	Mapping *Mapping
	Options *format.Options
	Summary format.Summary // of the items so far

	row    []byte
	own    []format.Own
	values []byte
}

// Bounds of the evaluation of a mapping, which the owner of a feed writes as well as the document.
const (
	maxJoined    = 64 << 10 // bytes from which on no further part is joined to a text
	lookupWork   = 50       // nanoseconds of a lookup of one value
	byteWork     = 4        // of each byte of the value's text
	propertyWork = 200      // of a property
)

// Counted counts the work of a lookup; each Lookup calls it. Once the budget is spent, it returns absent values.
func (c *Converter) Counted(s Scalar) Scalar {
	if !c.Options.Budget.Spend(lookupWork + byteWork*len(s.Text)) {
		return Scalar{}
	}
	return s
}

// Item converts an item to a row, or returns the first reason to skip it (D17.11). place returns the position of the
// item; both means that the mapping applies it to both directions of its road.
func (c *Converter) Item(get Lookup, place func(both bool) geometry.Place) format.Item {
	m := c.Mapping
	var item format.Item
	skip := func(reason format.Reason, word string) format.Item {
		item.Skip, item.Word = reason, word
		return item
	}
	id, whole := m.whole(m.id, get)
	if !whole {
		return skip(format.NoID, "")
	}
	item.ID = id
	for i := range m.where {
		if word := get(&m.where[i].path).Text; !m.where[i].words[word] {
			return skip(format.NotActive, word)
		}
	}
	kind, ok := mapdata.ParseKind(m.eval(m.kind, get).Text)
	if !ok {
		return skip(format.NoKind, m.word(m.kind, get))
	}
	when := format.When{Start: m.time(m.startsAt, get, c.Options.Zone), End: m.time(m.endsAt, get, c.Options.Zone)}
	verdict := c.Options.Judge(&when)
	c.Summary.Meet(verdict.Again)
	if verdict.Skip != "" {
		return skip(verdict.Skip, "")
	}
	row := format.Row{ID: id, Kind: kind.ID(), ObservedAt: m.time(m.observedAt, get, c.Options.Zone)}
	both := c.properties(&row.Properties, kind, get)
	at := place(both)
	if at.Skip != "" {
		return skip(at.Skip, "")
	}
	row.Point = at.Point
	if !m.startsAtIsOwn {
		row.Properties.StartsAt = when.Start
	}
	if !m.endsAtIsOwn {
		row.Properties.EndsAt = when.End
	}
	if ttl, ok := m.number(m.ttl, get); ok && ttl > 0 {
		row.TTL = ttl
	}
	c.row = row.Append(c.row[:0])
	item.Row, item.Line, item.EndsAt = c.row, at.Line, verdict.End
	return item
}

// properties evaluates the properties that a mapping names. It leaves out empty ones, and the two boolean properties
// unless they are true.
func (c *Converter) properties(to *format.Properties, kind mapdata.Kind, get Lookup) (both bool) {
	c.own, c.values = c.own[:0], c.values[:0]
	operator, network := "", ""
	if !c.Options.Budget.Spend(propertyWork * len(c.Mapping.properties)) {
		return false
	}
	for _, p := range c.Mapping.properties {
		s := c.Mapping.eval(p.value, get)
		switch {
		case s.Kind == '"' && p.name == "description":
			s.Text = format.Description(s.Text)
		case s.Kind == '"':
			s.Text = format.Text(s.Text)
		}
		switch {
		case p.name == "direction":
			s.Text = strings.ToLower(s.Text)
		case p.name == "both_directions" && s.Text == "true":
			both = true
		case p.name == "both_directions", p.name == "detour" && s.Text != "true":
			continue
		case p.name == "operator":
			operator = s.Text
		case p.name == "network" && kind.Charger():
			network = s.Text
			continue
		}
		c.add(p.name, s)
	}
	if kind.Charger() {
		c.add("network", Scalar{'"', networkOf(c.Options.ChargerNetwork, network, operator)})
	}
	to.Own = c.own
	return both
}

// networkOf returns a charger's network: that of the feed's option, otherwise of the mapping, otherwise the operator's
// name (D17.10).
func networkOf(option, mapped, operator string) string {
	if option == "" && mapped != "" {
		return mapped
	}
	return format.NetworkOf(option, operator)
}

func (c *Converter) add(name string, s Scalar) {
	if s.Text == "" {
		return
	}
	before := len(c.values)
	if s.Kind != '"' {
		c.values = append(c.values, s.Text...)
	} else if quoted, err := jsontext.AppendQuote(c.values, s.Text); err == nil {
		c.values = quoted
	} else {
		return // cannot happen: plain texts are valid UTF-8
	}
	c.own = append(c.own, format.Own{Name: name, Value: slices.Clip(c.values[before:])})
}

// whole returns the text of a value of which no part is absent, because ids from incomplete parts could collide.
func (m *Mapping) whole(v *value, get Lookup) (string, bool) {
	if v.join == nil {
		s := m.eval(v, get)
		return s.Text, strings.TrimSpace(s.Text) != ""
	}
	var joined strings.Builder
	for i, part := range v.join {
		text, ok := m.whole(part, get)
		if !ok {
			return "", false
		}
		if joined.Len() > maxJoined {
			continue // an id cannot be so long, but each part must exist
		}
		if i > 0 {
			joined.WriteString(v.with)
		}
		joined.WriteString(text)
	}
	return joined.String(), true
}

// word returns the foreign word that a value is derived from.
func (m *Mapping) word(v *value, get Lookup) string {
	if v.from == nil {
		return ""
	}
	return get(v.from).Text
}

func (m *Mapping) time(v *value, get Lookup, zone *time.Location) time.Time {
	if v == nil {
		return time.Time{}
	}
	return format.Time(m.eval(v, get).Text, zone)
}

func (m *Mapping) number(v *value, get Lookup) (float64, bool) {
	if v == nil {
		return 0, false
	}
	n := m.as(m.eval(v, get), asNumber)
	if n.Kind == 0 {
		return 0, false
	}
	return decimal(n.Text)
}

// eval evaluates a value for an item; an empty result is absent.
func (m *Mapping) eval(v *value, get Lookup) Scalar {
	var s Scalar
	switch {
	case v.constant != nil:
		s = *v.constant
	case v.join != nil:
		s = m.joined(v, get)
	default:
		s = get(v.from)
		if v.part > 0 {
			s = Scalar{'0', numberOf(s.Text, v.part)}
		}
		if v.words != nil {
			s = v.meaning(s)
		}
	}
	if s.Text == "" {
		return Scalar{}
	}
	return m.as(s, v.as)
}

func (v *value) meaning(word Scalar) Scalar {
	if becomes, known := v.words[word.Text]; known && word.Kind != 0 {
		return becomes
	}
	if v.other != nil {
		return *v.other
	}
	return Scalar{}
}

// joined concatenates parts. It leaves out absent parts together with their separator.
func (m *Mapping) joined(v *value, get Lookup) Scalar {
	var joined strings.Builder
	some := false
	for _, part := range v.join {
		if joined.Len() > maxJoined {
			break // longer than any text that is used
		}
		s := m.eval(part, get)
		if s.Text == "" {
			continue
		}
		if some {
			joined.WriteString(v.with)
		}
		some = true
		joined.WriteString(s.Text)
	}
	return Scalar{'"', joined.String()}
}

// as converts a scalar; a scalar that cannot be converted becomes absent.
func (m *Mapping) as(s Scalar, to as) Scalar {
	switch {
	case s.Kind == 0:
	case to == asText:
		return Scalar{'"', s.Text}
	case to == asBoolean && s.Kind != 'b':
		switch strings.ToLower(strings.TrimSpace(s.Text)) {
		case "true", "yes", "1":
			return Scalar{'b', "true"}
		case "false", "no", "0":
			return Scalar{'b', "false"}
		}
		return Scalar{}
	case to == asNumber && s.Kind != '0':
		text := strings.TrimSpace(s.Text)
		if m.CSV.Comma {
			text = strings.Replace(text, ",", ".", 1)
		}
		n, ok := decimal(text)
		if !ok {
			return Scalar{}
		}
		return Scalar{'0', strconv.FormatFloat(n, 'f', -1, 64)}
	}
	return s
}

// decimal parses a decimal number, and rejects infinities, hexadecimal digits and underscores.
func decimal(text string) (float64, bool) {
	if text == "" || strings.Trim(text, "0123456789+-.eE") != "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(text, 64)
	return n + 0, err == nil && !math.IsInf(n, 0)
}

// numberOf returns the nth number of a text, as JSON writes it: "POINT(5.1 52.3)" has two.
func numberOf(text string, nth int) string {
	for i := 0; i < len(text); {
		end := i
		if text[end] == '-' || text[end] == '+' {
			end++
		}
		digits := end
		for end < len(text) && (text[end] >= '0' && text[end] <= '9' || text[end] == '.') {
			end++
		}
		if end == digits {
			i = max(end, i+1)
			continue
		}
		if n, ok := decimal(text[i:end]); ok {
			if nth--; nth == 0 {
				return strconv.FormatFloat(n, 'f', -1, 64)
			}
		}
		i = end
	}
	return ""
}

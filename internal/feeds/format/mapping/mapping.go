package mapping

import (
	"wayside/internal/feeds/format/jsondoc"
	"wayside/internal/ground/geo"
)

// MaxBytes bounds the text of a mapping.
const MaxBytes = 16 << 10

// Bounds within a mapping.
const (
	maxLevels = 4   // nesting of joined values
	maxName   = 64  // bytes of a property's name
	maxPart   = 100 // of the numbers of a text
)

// Mapping is a parsed and checked mapping.
type Mapping struct {
	CSV CSV

	id, kind, lat, lng           *value
	startsAt, endsAt, observedAt *value
	ttl                          *value
	where                        []condition
	properties                   []property
	startsAtIsOwn, endsAtIsOwn   bool // properties names it: the document's own time is not repeated
	required                     []Path
}

// CSV is the syntax of a table.
type CSV struct {
	Delimiter byte
	Comma     bool   // numbers have a decimal comma
	Encoding  string // one of Encodings
	Header    bool   // the first line names the columns; otherwise they are "1", "2", ...
}

// Encodings returns the encodings of tables. UTF-8 and UTF-16 are recognised by their byte order marks, whatever a
// mapping names.
func Encodings() []string {
	return []string{"utf-8", "utf-16", "iso-8859-1", "iso-8859-15", "windows-1252"}
}

// Path names a member, "properties.type", or a column.
type Path struct {
	Text  string
	steps []string // the rest of the path at each level: "properties.type", "type"
}

// value is a value that a mapping takes from an item, or states itself.
type value struct {
	constant *Scalar
	from     *Path
	words    map[string]Scalar // nil: the word itself is the value
	other    *Scalar           // for words that the table lacks; nil: absent
	part     int               // the ordinal of a number in the text, from 1; 0: the whole text
	join     []*value
	with     string
	as       as
}

// as is the type that a value is converted to.
type as string

const (
	asItIs    as = ""
	asNumber  as = "number"
	asText    as = "text"
	asBoolean as = "boolean"
)

// condition keeps items whose word is one of the words.
type condition struct {
	path  Path
	words map[string]bool
}

type property struct {
	name  string
	value *value
}

// Scalar is a text, a number, or true or false.
type Scalar struct {
	Kind byte // '"', '0' or 'b'; 0: absent
	Text string
}

// ScalarOf returns a JSON value as a scalar; null, objects and arrays are absent.
func ScalarOf(v jsondoc.Value) Scalar {
	switch kind := v.Kind(); kind {
	case '"', '0':
		return Scalar{kind, v.Text()}
	case 't', 'f':
		return Scalar{'b', v.Text()}
	}
	return Scalar{}
}

// Lookup returns the value of an item at a path.
type Lookup func(p *Path) Scalar

// In returns the value at a path of a JSON object. A member whose name contains the rest of the path, dots included,
// takes precedence over nested members; a number, from 0, names an element of an array.
func (p *Path) In(v jsondoc.Value) jsondoc.Value {
	for i, rest := range p.steps {
		if i+1 == len(p.steps) && v.Kind() == '{' {
			return v.Get(rest)
		}
		name := rest
		if i+1 < len(p.steps) {
			name = rest[:len(rest)-len(p.steps[i+1])-1]
		}
		if v.Kind() == '[' {
			n, ok := index(name)
			if !ok {
				return jsondoc.Value{}
			}
			v = v.Index(n)
			continue
		}
		whole := false
		if v, whole = v.Either(rest, name); whole {
			return v
		}
	}
	return v
}

// Required returns the paths without which an item has no id, no kind or no place. A table that lacks such a column is
// refused.
func (m *Mapping) Required() []Path { return m.required }

// Point returns the position of a line of a table.
func (m *Mapping) Point(get Lookup) (geo.Point, bool) {
	lat, goodLat := m.number(m.lat, get)
	lng, goodLng := m.number(m.lng, get)
	return geo.Point{Lat: lat, Lng: lng}, goodLat && goodLng
}

package mapping

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"wayside/internal/feeds/format/jsondoc"
	"wayside/internal/ground/mapdata"
)

// Parse reads a mapping for a table (csv) or for objects (geojson), and lists all mistakes in it; Field is the path
// within the mapping.
func Parse(text []byte, table bool) (*Mapping, []mapdata.FieldError) {
	p := parser{table: table}
	if len(text) > MaxBytes {
		p.wrong("", "has more than "+strconv.Itoa(MaxBytes)+" bytes")
		return nil, p.errors
	}
	r := jsondoc.New(bytes.NewReader(text), nil)
	v, err := r.Value()
	var m *Mapping
	isObject := err == nil && v.Kind() == '{'
	if isObject {
		m = p.mapping(v) // before End, because v is valid only until the next call of r
	}
	if !isObject || r.End() != nil {
		p.errors = nil
		p.wrong("", "must be one JSON object, each member once")
	}
	if len(p.errors) > 0 {
		return nil, p.errors
	}
	return m, nil
}

type parser struct {
	table  bool
	errors mapdata.FieldErrors
}

func (p *parser) wrong(path, message string) { p.errors.Add(path, "invalid_mapping", message) }

func (p *parser) mapping(v jsondoc.Value) *Mapping {
	m := &Mapping{CSV: CSV{Delimiter: ',', Encoding: "utf-8", Header: true}}
	into := map[string]**value{
		"id": &m.id, "starts_at": &m.startsAt, "ends_at": &m.endsAt, "observed_at": &m.observedAt, "ttl_seconds": &m.ttl,
	}
	if p.table {
		into["lat"], into["lng"] = &m.lat, &m.lng
	}
	for name, member := range v.Members() {
		target, simple := into[name]
		switch {
		case simple:
			*target = p.value(name, member, maxLevels)
		case name == "kind":
			m.kind = p.kind(member)
		case name == "where":
			m.where = p.where(member)
		case name == "properties":
			m.properties = p.properties(member)
		case name == "csv" && p.table:
			m.CSV = p.csv(member, m.CSV)
		case name == "lat" || name == "lng" || name == "csv":
			p.wrong(name, "is for csv alone")
		default:
			p.wrong(name, "is no member of a mapping")
		}
	}
	for _, name := range []string{"id", "kind", "lat", "lng"} {
		if (p.table || name == "id" || name == "kind") && !v.Get(name).Exists() {
			p.wrong(name, "is required")
		}
	}
	for _, needed := range []*value{m.id, m.kind, m.lat, m.lng} {
		m.required = needed.paths(m.required)
	}
	for _, own := range m.properties {
		m.startsAtIsOwn = m.startsAtIsOwn || own.name == "starts_at"
		m.endsAtIsOwn = m.endsAtIsOwn || own.name == "ends_at"
	}
	return m
}

// paths appends the paths that a value reads.
func (v *value) paths(to []Path) []Path {
	if v == nil {
		return to
	}
	if v.from != nil {
		to = append(to, *v.from)
	}
	for _, part := range v.join {
		to = part.paths(to)
	}
	return to
}

// kind reads a value that becomes a kind: all constants of the mapping itself must be ids of kinds.
func (p *parser) kind(v jsondoc.Value) *value {
	if id, isText := v.String(); isText {
		if _, known := mapdata.ParseKind(id); known {
			return &value{constant: &Scalar{'"', id}}
		}
	}
	k := p.value("kind", v, maxLevels)
	check := func(path string, s *Scalar) {
		if s == nil || s.Kind == 0 {
			return // a word without a kind
		}
		if _, known := mapdata.ParseKind(s.Text); !known || s.Kind != '"' {
			p.wrong(path, "is no kind")
		}
	}
	if k == nil {
		return nil
	}
	check("kind.value", k.constant)
	check("kind.else", k.other)
	for word := range v.Get("map").Members() {
		if kind, read := k.words[word]; read {
			check("kind.map."+word, &kind)
		}
	}
	return k
}

// value reads a path, or an object that describes the origin of a value. It returns nil when that is wrong.
func (p *parser) value(path string, v jsondoc.Value, levels int) *value {
	switch {
	case levels == 0:
		p.wrong(path, "is nested too deep: values can be joined in at most "+strconv.Itoa(maxLevels)+" levels")
		return nil
	case v.Kind() == '"':
		from := p.path(path, v)
		if from == nil {
			return nil
		}
		return &value{from: from}
	case v.Kind() != '{':
		p.wrong(path, `must be a path, or an object with "value", "from" or "join"`)
		return nil
	}
	one := new(value)
	before := len(p.errors)
	origins := 0
	for name, member := range v.Members() {
		at := path + "." + name
		switch name {
		case "value":
			origins++
			one.constant = p.scalar(at, member, false)
		case "from":
			origins++
			one.from = p.path(at, member)
		case "join":
			origins++
			one.join = p.join(at, member, levels)
		case "map":
			one.words = p.words(at, member)
		case "else":
			one.other = p.scalar(at, member, true)
		case "with":
			one.with = p.text(at, member)
		case "as":
			one.as = p.as(at, member)
		case "part":
			one.part = p.part(at, member)
		default:
			p.wrong(at, "is no member of a value")
		}
	}
	p.together(path, v, origins)
	if len(p.errors) > before {
		return nil
	}
	return one
}

// together checks which members of a value may be combined.
func (p *parser) together(path string, v jsondoc.Value, origins int) {
	if origins != 1 {
		p.wrong(path, `must have one of "value", "from" and "join"`)
	}
	for _, needs := range [][2]string{{"map", "from"}, {"else", "map"}, {"part", "from"}, {"with", "join"}} {
		if has(v, needs[0]) && !has(v, needs[1]) {
			p.wrong(path+"."+needs[0], `is for values with "`+needs[1]+`" alone`)
		}
	}
}

func has(v jsondoc.Value, name string) bool {
	for member := range v.Members() {
		if member == name {
			return true
		}
	}
	return false
}

func (p *parser) path(path string, v jsondoc.Value) *Path {
	text, isText := v.String()
	if !isText || text == "" {
		p.wrong(path, "must be a path: a text that is not empty")
		return nil
	}
	return newPath(text, p.table)
}

// newPath splits a path at its dots; a column may have any name.
func newPath(text string, table bool) *Path {
	made := &Path{Text: text, steps: []string{text}}
	for rest := text; !table; {
		_, after, more := strings.Cut(rest, ".")
		if !more {
			break
		}
		made.steps = append(made.steps, after)
		rest = after
	}
	return made
}

// index parses the number of an element.
func index(name string) (int, bool) {
	n, err := strconv.Atoi(name)
	return n, err == nil && n >= 0
}

func (p *parser) scalar(path string, v jsondoc.Value, null bool) *Scalar {
	s := ScalarOf(v)
	if s.Kind == 0 && (!null || v.Exists()) {
		p.wrong(path, "must be a text, a number, true or false")
	}
	return &s
}

func (p *parser) words(path string, v jsondoc.Value) map[string]Scalar {
	if v.Kind() != '{' {
		p.wrong(path, "must be an object: words, and what they become")
		return nil
	}
	words := make(map[string]Scalar)
	for word, becomes := range v.Members() {
		words[word] = *p.scalar(path+"."+word, becomes, true)
	}
	return words
}

func (p *parser) join(path string, v jsondoc.Value, levels int) (parts []*value) {
	if v.Len() == 0 || v.Kind() != '[' {
		p.wrong(path, "must be a list of values")
		return nil
	}
	i := 0
	for part := range v.Elements() {
		parts = append(parts, p.value(path+"."+strconv.Itoa(i), part, levels-1))
		i++
	}
	return parts
}

func (p *parser) text(path string, v jsondoc.Value) string {
	text, isText := v.String()
	if !isText {
		p.wrong(path, "must be a text")
	}
	return text
}

func (p *parser) as(path string, v jsondoc.Value) as {
	switch to := as(v.Text()); to {
	case asNumber, asText, asBoolean:
		return to
	}
	p.wrong(path, `must be "number", "text" or "boolean"`)
	return asItIs
}

func (p *parser) part(path string, v jsondoc.Value) int {
	n, isNumber := v.Number()
	if !isNumber || n < 1 || n > maxPart || n != float64(int(n)) {
		p.wrong(path, "must be a whole number from 1: which number of the text is meant")
		return 0
	}
	return int(n)
}

func (p *parser) where(v jsondoc.Value) (all []condition) {
	if v.Kind() != '{' {
		p.wrong("where", "must be an object: paths, and lists of words")
		return nil
	}
	for path, words := range v.Members() {
		one := condition{path: *newPath(path, p.table), words: make(map[string]bool)}
		if words.Kind() != '[' || words.Len() == 0 || path == "" {
			p.wrong("where."+path, "must be a list of words")
			continue
		}
		i := 0
		for word := range words.Elements() {
			s := p.scalar("where."+path+"."+strconv.Itoa(i), word, false)
			one.words[s.Text] = true
			i++
		}
		all = append(all, one)
	}
	return all
}

func (p *parser) properties(v jsondoc.Value) (all []property) {
	if v.Kind() != '{' {
		p.wrong("properties", "must be an object: names, and values")
		return nil
	}
	for name, member := range v.Members() {
		path := "properties." + name
		if name == "" || len(name) > maxName {
			p.wrong(path, "must have a name of 1 to "+strconv.Itoa(maxName)+" bytes")
		}
		all = append(all, property{name, p.value(path, member, maxLevels)})
	}
	return all
}

func (p *parser) csv(v jsondoc.Value, c CSV) CSV {
	if v.Kind() != '{' {
		p.wrong("csv", "must be an object")
		return c
	}
	for name, member := range v.Members() {
		text, path := member.Text(), "csv."+name
		switch name {
		case "delimiter":
			if utf8.RuneCountInString(text) != 1 || len(text) != 1 || strings.ContainsAny(text, "\"\r\n") || text[0] < ' ' && text != "\t" {
				p.wrong(path, `must be one character, such as ";"`)
				continue
			}
			c.Delimiter = text[0]
		case "decimal":
			if text != "." && text != "," {
				p.wrong(path, `must be "." or ","`)
			}
			c.Comma = text == ","
		case "encoding":
			if c.Encoding = strings.ToLower(text); !slices.Contains(Encodings(), c.Encoding) {
				p.wrong(path, "must be one of "+strings.Join(Encodings(), ", "))
			}
		case "header":
			header, ok := member.Bool()
			if !ok {
				p.wrong(path, "must be true or false")
			}
			c.Header = header
		default:
			p.wrong(path, "is no member of csv")
		}
	}
	return c
}

// Checked parses the mapping of a feed, which was checked when the feed was registered.
func Checked(text []byte, table bool) (*Mapping, error) {
	m, wrong := Parse(text, table)
	if len(wrong) > 0 {
		return nil, fmt.Errorf("%w: mapping: %s %s", mapdata.ErrMalformed, wrong[0].Field, wrong[0].Message)
	}
	return m, nil
}

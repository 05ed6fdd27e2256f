package jsondoc

import (
	"bytes"
	"iter"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/feeds/format"
)

// tree is a JSON value as an array of its parts, in the order of the text: a part is followed by the parts that it
// contains.
type tree struct {
	budget *format.Budget
	text   []byte
	parts  []part
	names  map[string]string // of members; documents repeat few names
}

// maxNames and maxName bound the names that a tree keeps between items.
const (
	maxNames = 1000
	maxName  = 64 // bytes
)

// part is one value of a tree, with its name when it is a member. Offsets are into the text.
type part struct {
	name, nameEnd uint32 // within the quotes; both 0: an element, or the root
	start, end    uint32
	next          uint32 // the part after the last one that this part contains
	kind          byte   // one of { [ " 0 t f n
	escapedName   bool
	escaped       bool // a string with escapes
}

// Bounds of the parts of an item, which are larger in memory than in the text.
const (
	maxParts  = 1_000_000
	partSize  = 24        // bytes
	largeText = 256 << 10 // bytes from which on the parts are counted before they are read
	keptParts = 1 << 19   // number of parts whose memory is kept for the next item
)

// read builds the tree of a text that is known to be one JSON value, apart from duplicate names and its depth. It
// returns the fault where there is too much of something.
func (t *tree) read(text []byte, levels int, names *names) format.Fault {
	if cap(t.parts) > keptParts {
		t.parts = nil
	}
	parts, most := t.parts[:0], min(maxParts, t.budget.Room()/partSize)
	if len(text) > largeText { // growing step by step would leave several times as much garbage
		parts = slices.Grow(parts, min(most, 1+bytes.Count(text, []byte{','})+bytes.Count(text, []byte{'{'})+bytes.Count(text, []byte{'['})))
	}
	var open [128]uint32 // parts that are not closed yet
	var from [128]int    // where the names of each begin
	depth, object := 0, false
	for i := 0; i < len(text); {
		c := text[i]
		if c <= ' ' || c == ',' {
			i++
			continue
		}
		if c == '}' || c == ']' {
			i++
			depth--
			p := &parts[open[depth]]
			p.end, p.next = uint32(i), uint32(len(parts))
			if c == '}' && names.end(from[depth]) {
				return format.BadJSON
			}
			object = depth > 0 && parts[open[depth-1]].kind == '{'
			continue
		}
		p := part{}
		if object { // a name precedes the value
			end, escaped := endOfString(text, i)
			p.name, p.nameEnd, p.escapedName = uint32(i+1), uint32(end-1), escaped
			name := text[i+1 : end-1]
			if escaped {
				name = []byte(unescaped(text[i:end]))
			}
			if !names.add(name, from[depth-1]) {
				return format.TooLarge
			}
			for i = end; text[i] <= ' ' || text[i] == ':'; {
				i++
			}
			c = text[i]
		}
		at := uint32(len(parts))
		if int(at) >= most {
			return format.TooLarge
		}
		p.start, p.next, p.kind = uint32(i), at+1, kindOf(c)
		switch c {
		case '{', '[':
			if depth == levels || depth == len(open) {
				return format.TooDeep
			}
			open[depth], from[depth], object = at, len(names.hashes), c == '{'
			depth++
			i++
		case '"':
			i, p.escaped = endOfString(text, i)
		default:
			for i < len(text) && text[i] > ' ' && text[i] != ',' && text[i] != '}' && text[i] != ']' {
				i++
			}
		}
		p.end = uint32(i) // objects and arrays get their end when they are closed
		parts = append(parts, p)
	}
	t.text, t.parts = text, parts
	return ""
}

func kindOf(c byte) byte {
	if c == '-' || c >= '0' && c <= '9' {
		return '0'
	}
	return c
}

// endOfString returns the index after the closing quote of the string that begins at i. escaped reports whether the
// string contains escapes.
func endOfString(text []byte, i int) (end int, escaped bool) {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '"':
			return i + 1, escaped
		case '\\':
			escaped = true
			i++
		}
	}
	return len(text), escaped
}

// Value is a value of an item. The zero Value stands for an absent one; null counts as absent.
type Value struct {
	t      *tree
	at     uint32
	exists bool
}

func (v Value) part() *part { return &v.t.parts[v.at] }

// Exists reports whether the value is present and not null.
func (v Value) Exists() bool { return v.exists && v.part().kind != 'n' }

// Kind returns the first character of the value, one of { [ " 0 t f, or 0 when the value is absent.
func (v Value) Kind() byte {
	if !v.exists {
		return 0
	}
	if kind := v.part().kind; kind != 'n' {
		return kind
	}
	return 0
}

// Raw returns the value's JSON text.
func (v Value) Raw() []byte {
	if !v.exists {
		return nil
	}
	return v.t.text[v.part().start:v.part().end]
}

// Get returns the member at a path of nested objects.
func (v Value) Get(path ...string) Value {
	for _, name := range path {
		v = v.member(name)
	}
	return v
}

func (v Value) member(name string) Value {
	if v.Kind() != '{' {
		return Value{}
	}
	text, parts, passed := v.t.text, v.t.parts, 1
	for i, end := v.at+1, parts[v.at].next; i < end; passed++ {
		p := &parts[i]
		if string(text[p.name:p.nameEnd]) == name && !p.escapedName || p.escapedName && v.t.nameOf(i) == name {
			if !v.t.visit(passed) {
				break
			}
			return Value{v.t, i, true}
		}
		i = p.next
	}
	v.t.visit(passed)
	return Value{}
}

// visit counts parts that a lookup visits. It returns false once the budget is spent, and lookups find nothing.
func (t *tree) visit(parts int) bool { return t.budget.Spend(visitWork * parts) }

// Either returns the member of the first of two names if that is present and not null, otherwise that of the second.
// first reports which it is.
func (v Value) Either(name, other string) (found Value, first bool) {
	if v.Kind() != '{' {
		return Value{}, false
	}
	text, parts := v.t.text, v.t.parts
	for i, end := v.at+1, parts[v.at].next; i < end && v.t.visit(1); i = parts[i].next {
		p := &parts[i]
		called := text[p.name:p.nameEnd]
		if p.escapedName {
			called = []byte(v.t.nameOf(i))
		}
		switch {
		case string(called) == name && p.kind != 'n':
			return Value{v.t, i, true}, true
		case string(called) == other:
			found = Value{v.t, i, true}
		}
	}
	return found, false
}

// nameOf returns the name of a member. Frequent names share one string among all items.
func (t *tree) nameOf(i uint32) string {
	p := &t.parts[i]
	if p.escapedName {
		return unescaped(t.text[p.name-1 : p.nameEnd+1])
	}
	raw := t.text[p.name:p.nameEnd]
	if kept, ok := t.names[string(raw)]; ok {
		return kept
	}
	name := string(raw)
	if len(t.names) < maxNames && len(name) <= maxName {
		if t.names == nil {
			t.names = make(map[string]string)
		}
		t.names[name] = name
	}
	return name
}

// unescaped returns the text of a JSON string.
func unescaped(raw []byte) string {
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return "" // cannot happen: the decoder has validated the string
	}
	return string(text)
}

// Text returns the text of a string, a number as it is written, "true" or "false", and an empty string for any other
// value.
func (v Value) Text() string {
	switch v.Kind() {
	case '"':
		return v.unquoted()
	case '0', 't', 'f':
		return string(v.Raw())
	}
	return ""
}

// longText is the length from which on the conversion to a string is counted, and the number of bytes per counted visit
// of a part.
const longText = 16

// unquoted returns the text of a string.
func (v Value) unquoted() string {
	p := v.part()
	if size := int(p.end - p.start); size > longText && !v.t.visit(size/longText) {
		return ""
	}
	if p.escaped {
		return unescaped(v.Raw())
	}
	return string(v.t.text[p.start+1 : p.end-1])
}

// String returns the text of a string, and false for any other value.
func (v Value) String() (string, bool) {
	if v.Kind() != '"' {
		return "", false
	}
	return v.unquoted(), true
}

// Is reports whether the value is this string. It is quicker than a comparison with Text.
func (v Value) Is(text string) bool {
	if v.Kind() != '"' {
		return false
	}
	p := v.part()
	if p.escaped {
		return v.unquoted() == text
	}
	return string(v.t.text[p.start+1:p.end-1]) == text
}

// Integer returns a whole number, or one in a string. The number must consist of a sign and digits: 1.0 is not
// accepted.
func (v Value) Integer() (int64, bool) {
	text := v.Raw()
	if v.Kind() == '"' {
		text = text[1 : len(text)-1]
	}
	if negative := len(text) > 1 && text[0] == '-'; negative || len(text) == 0 || len(text) > 18 {
		n, err := strconv.ParseInt(v.Text(), 10, 64)
		return n, err == nil
	}
	n := int64(0)
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	return n, true
}

// Number returns a number that a float64 holds.
func (v Value) Number() (float64, bool) {
	if v.Kind() != '0' {
		return 0, false
	}
	if n, ok := shortDecimal(v.Raw()); ok {
		return n, true
	}
	return parseNumber(string(v.Raw()))
}

// powers are the powers of ten that a float64 holds exactly.
var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// shortDecimal parses a number of at most 15 digits without an exponent, as coordinates are. Its digits and the power
// of ten are exact, so that their quotient is the nearest float64. It takes a third of the time of strconv.
func shortDecimal(text []byte) (float64, bool) {
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		text = text[1:]
	}
	if len(text) == 0 || len(text) > len(powers) {
		return 0, false
	}
	digits, behind := int64(0), -1
	for i, c := range text {
		switch {
		case c >= '0' && c <= '9':
			digits = 10*digits + int64(c-'0')
		case c == '.' && behind < 0:
			behind = len(text) - 1 - i
		default:
			return 0, false
		}
	}
	if negative {
		digits = -digits
	}
	return float64(digits) / powers[max(behind, 0)], true
}

// NumberOrText returns a number, or one in a string.
func (v Value) NumberOrText() (float64, bool) {
	if text, ok := v.String(); ok {
		return parseNumber(text)
	}
	return v.Number()
}

// parseNumber parses a decimal number, and rejects what strconv accepts beyond that (hexadecimal, infinities,
// underscores).
func parseNumber(text string) (float64, bool) {
	for i := range len(text) {
		if c := text[i]; (c < '0' || c > '9') && c != '-' && c != '+' && c != '.' && c != 'e' && c != 'E' {
			return 0, false
		}
	}
	n, err := strconv.ParseFloat(text, 64)
	return n + 0, err == nil // + 0 turns -0 into 0
}

// Bool returns the value of true or false, and whether the value is one of them.
func (v Value) Bool() (value, ok bool) {
	kind := v.Kind()
	return kind == 't', kind == 't' || kind == 'f'
}

// Elements yields the elements of an array, and nothing for other values.
func (v Value) Elements() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if v.Kind() != '[' {
			return
		}
		p := v.part()
		for i := v.at + 1; i < p.next && v.t.visit(1); i = v.t.parts[i].next {
			if !yield(Value{v.t, i, true}) {
				return
			}
		}
	}
}

// Members yields the members of an object with their names, and nothing for other values.
func (v Value) Members() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		if v.Kind() != '{' {
			return
		}
		p := v.part()
		for i := v.at + 1; i < p.next && v.t.visit(1); i = v.t.parts[i].next {
			if !yield(v.t.nameOf(i), Value{v.t, i, true}) {
				return
			}
		}
	}
}

// Len returns the number of elements or members.
func (v Value) Len() int {
	if kind := v.Kind(); kind != '[' && kind != '{' {
		return 0
	}
	n := 0
	p := v.part()
	for i := v.at + 1; i < p.next; i = v.t.parts[i].next {
		n++
	}
	v.t.visit(n)
	return n
}

// Parts returns the number of values within the value, at any depth.
func (v Value) Parts() int {
	if !v.exists {
		return 0
	}
	return int(v.part().next - v.at - 1)
}

// Index returns the nth element of an array.
func (v Value) Index(n int) Value {
	if v.Kind() != '[' {
		return Value{}
	}
	p := v.part()
	for i := v.at + 1; i < p.next && v.t.visit(1); i = v.t.parts[i].next {
		if n == 0 {
			return Value{v.t, i, true}
		}
		n--
	}
	return Value{}
}

// Pair returns the first two elements of an array, when they are numbers.
func (v Value) Pair() (first, second float64, ok bool) {
	if v.Kind() != '[' {
		return 0, 0, false
	}
	at := v.at + 1
	if at == v.part().next {
		return 0, 0, false
	}
	then := v.t.parts[at].next
	if then == v.part().next {
		return 0, 0, false
	}
	first, good := Value{v.t, at, true}.Number()
	second, ok = Value{v.t, then, true}.Number()
	return first, second, good && ok
}

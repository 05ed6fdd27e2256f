package jsondoc

import (
	"bytes"
	"iter"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/format"
)

// tree is a JSON value as an array of its parts, in the order of the text: a part is followed by what it contains.
type tree struct {
	budget *format.Budget
	text   []byte
	parts  []part
	names  map[string]string // of members: documents repeat few of them
}

// maxNames and maxName bound the names that a tree keeps between items.
const (
	maxNames = 1000
	maxName  = 64 // bytes
)

// part is one value of a tree, with its name when it is a member. Offsets are into the text.
type part struct {
	name, nameEnd uint32 // within the quotes; both 0: an element, or the whole
	start, end    uint32
	next          uint32 // the part after all that this one contains
	kind          byte   // one of { [ " 0 t f n
	escapedName   bool
	escaped       bool // a string that does not stand as it is
}

// Bounds of the parts of an item, which are larger in memory than in the text.
const (
	maxParts  = 1_000_000
	partSize  = 24        // bytes
	largeText = 256 << 10 // bytes from which on the parts are counted first
	keptParts = 1 << 19   // of which the room is kept for the next item
)

// read makes the tree of a text that is known to be one JSON value of at most so many levels, but for names that stand twice; otherwise it
// says what is too much.
func (t *tree) read(text []byte, levels int, names *names) format.Fault {
	if cap(t.parts) > keptParts {
		t.parts = nil
	}
	parts, most := t.parts[:0], min(maxParts, t.budget.Room()/partSize)
	if len(text) > largeText { // to grow step by step would leave several times as much to collect
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
		if object { // a name stands before the value
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
		p.end = uint32(i) // of objects and arrays, once they are closed
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

// endOfString is behind the closing quote of the string that begins at i. escaped says that it does not stand as it is.
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

// Value is a value of an item. The zero Value stands for one that is absent; null counts as absent.
type Value struct {
	t      *tree
	at     uint32
	exists bool
}

func (v Value) part() *part { return &v.t.parts[v.at] }

// Exists says whether there is a value other than null.
func (v Value) Exists() bool { return v.exists && v.part().kind != 'n' }

// Kind is what the value is by its first character: one of { [ " 0 t f, and 0 for one that is absent.
func (v Value) Kind() byte {
	if !v.exists {
		return 0
	}
	if kind := v.part().kind; kind != 'n' {
		return kind
	}
	return 0
}

// Raw is the value's text.
func (v Value) Raw() []byte {
	if !v.exists {
		return nil
	}
	return v.t.text[v.part().start:v.part().end]
}

// Get gives the member of the member … of an object.
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

// visit counts parts that a lookup passes. Once the budget is spent, it is false, and lookups find nothing.
func (t *tree) visit(parts int) bool { return t.budget.Spend(visitWork * parts) }

// Either gives the member of the first of two names, when there is one that is not null, otherwise that of the second. first says which.
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

// nameOf is the name of a member. Of those that documents repeat, there is one string for all items.
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

// unescaped is the text of a JSON string.
func unescaped(raw []byte) string {
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return "" // cannot be: the decoder has read it
	}
	return string(text)
}

// Text is the text of a string, a number as it is written, true or false; of anything else it is empty.
func (v Value) Text() string {
	switch v.Kind() {
	case '"':
		return v.unquoted()
	case '0', 't', 'f':
		return string(v.Raw())
	}
	return ""
}

// longText is the length from which on making a string of a text is counted, in bytes for each part that a lookup passes in that time.
const longText = 16

// unquoted is the text of a string.
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

// String is the text of a string, and false for any other value.
func (v Value) String() (string, bool) {
	if v.Kind() != '"' {
		return "", false
	}
	return v.unquoted(), true
}

// Is says whether the value is this string. It takes less time than to compare with Text.
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

// Integer is a whole number, or one that is written as a string. Its sign and digits stand for themselves: 1.0 is none.
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

// Number is a number that a float64 holds.
func (v Value) Number() (float64, bool) {
	if v.Kind() != '0' {
		return 0, false
	}
	if n, ok := shortDecimal(v.Raw()); ok {
		return n, true
	}
	return parseNumber(string(v.Raw()))
}

// powers of ten that a float64 holds exactly.
var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// shortDecimal reads a number of at most 15 digits without an exponent, as coordinates are: its digits and the power of ten are exact, so
// their quotient is the nearest float64. It is a third of the time that strconv takes.
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

// NumberOrText is a number, or one that is written as a string.
func (v Value) NumberOrText() (float64, bool) {
	if text, ok := v.String(); ok {
		return parseNumber(text)
	}
	return v.Number()
}

// parseNumber reads a decimal number; what strconv reads beyond that (hexadecimal, infinities, underscores) is none.
func parseNumber(text string) (float64, bool) {
	for i := range len(text) {
		if c := text[i]; (c < '0' || c > '9') && c != '-' && c != '+' && c != '.' && c != 'e' && c != 'E' {
			return 0, false
		}
	}
	n, err := strconv.ParseFloat(text, 64)
	return n + 0, err == nil // + 0 turns -0 into 0
}

// Bool is the value when it is true or false, and whether it is.
func (v Value) Bool() (value, ok bool) {
	kind := v.Kind()
	return kind == 't', kind == 't' || kind == 'f'
}

// Elements are those of an array; other values have none.
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

// Members are those of an object, with their names; other values have none.
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

// Len is how many elements or members there are.
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

// Parts is how many values there are within the value, however deep.
func (v Value) Parts() int {
	if !v.exists {
		return 0
	}
	return int(v.part().next - v.at - 1)
}

// Index is an element of an array.
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

// Pair is the first two elements of an array, when they are numbers.
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

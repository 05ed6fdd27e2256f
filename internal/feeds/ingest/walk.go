package ingest

import (
	"bytes"
	"errors"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// walker walks the bytes of one JSON value whose syntax has been checked, so that it need not check the syntax again,
// only the rules beyond it.
type walker struct {
	b []byte
	i int
}

// space skips white space.
func (w *walker) space() {
	for w.i < len(w.b) {
		switch w.b[w.i] {
		case ' ', '\t', '\n', '\r':
			w.i++
		default:
			return
		}
	}
}

// peek returns the first byte of the next token.
func (w *walker) peek() byte {
	w.space()
	return w.b[w.i]
}

// skip skips one value and returns its bytes.
func (w *walker) skip() []byte {
	w.space()
	start := w.i
	switch w.b[w.i] {
	case '"':
		w.text()
	case '{', '[':
		for depth := 0; ; {
			switch w.b[w.i] {
			case '"':
				w.text()
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					w.i++
					return w.b[start:w.i]
				}
			}
			w.i++
		}
	default:
		for w.i < len(w.b) && !endsScalar(w.b[w.i]) {
			w.i++
		}
	}
	return w.b[start:w.i]
}

// endsScalar reports whether a byte is not part of a number, true, false or null.
func endsScalar(b byte) bool {
	switch b {
	case ' ', '\t', '\n', '\r', ',', ']', '}', ':':
		return true
	}
	return false
}

// text consumes a string and returns the bytes between its quotes, and whether they contain a backslash.
func (w *walker) text() (inside []byte, escaped bool) {
	w.i++
	start := w.i
	for {
		w.i += plainText(w.b[w.i:])
		if w.b[w.i] == '"' {
			w.i++
			return w.b[start : w.i-1], escaped
		}
		escaped = true
		w.i += 2
	}
}

// next advances to the next member of an object, or element of an array, whose opening byte has been consumed. It
// returns false at the end, which it consumes too.
func (w *walker) next() bool {
	switch w.peek() {
	case '}', ']':
		w.i++
		return false
	case ',':
		w.i++
		w.space()
	}
	return true
}

// colon consumes the colon after a member's name.
func (w *walker) colon() {
	w.space()
	w.i++
	w.space()
}

// unescape appends the text of the inside of a JSON string. A lone surrogate becomes three bytes that no valid text
// contains, so that different names stay different; whole is false then.
func unescape(dst, inside []byte) (_ []byte, whole bool) {
	whole = true
	for i := 0; i < len(inside); i++ {
		c := inside[i]
		if c != '\\' {
			dst = append(dst, c)
			continue
		}
		i++
		switch inside[i] {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r := hex4(inside[i+1:])
			i += 4
			if utf16.IsSurrogate(r) {
				if pair := surrogatePair(r, inside[i+1:]); pair != utf8.RuneError {
					r, i = pair, i+6
				} else {
					whole = false
					dst = append(dst, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
					continue
				}
			}
			dst = utf8.AppendRune(dst, r)
		default: // a quote, a slash or a backslash
			dst = append(dst, inside[i])
		}
	}
	return dst, whole
}

// surrogatePair joins a first surrogate with the escape that follows it, or returns utf8.RuneError.
func surrogatePair(first rune, rest []byte) rune {
	if len(rest) < 6 || rest[0] != '\\' || rest[1] != 'u' {
		return utf8.RuneError
	}
	return utf16.DecodeRune(first, hex4(rest[2:]))
}

// hex4 parses four hexadecimal digits.
func hex4(b []byte) rune {
	var r rune
	for _, c := range b[:4] {
		r <<= 4
		switch {
		case c <= '9':
			r |= rune(c - '0')
		case c <= 'F':
			r |= rune(c-'A') + 10
		default:
			r |= rune(c-'a') + 10
		}
	}
	return r
}

// nameStack finds duplicate names in one object, in memory that all objects of all rows share: an object's names lie
// above those of the objects around it.
type nameStack struct{ names [][]byte }

// nameFrame is one object's part of the stack. A few names are compared pairwise; many, which only hostile documents
// have, with a map.
type nameFrame struct {
	base int
	many map[string]bool
}

const maxComparedNames = 24

func (s *nameStack) open() nameFrame { return nameFrame{base: len(s.names)} }

func (s *nameStack) close(f nameFrame) { s.names = s.names[:f.base] }

// add reports whether the name is new in its object.
func (s *nameStack) add(f *nameFrame, name []byte) bool {
	if f.many != nil {
		if f.many[string(name)] {
			return false
		}
		f.many[string(name)] = true
		return true
	}
	own := s.names[f.base:]
	for _, known := range own {
		if bytes.Equal(known, name) {
			return false
		}
	}
	if len(own) == maxComparedNames {
		f.many = map[string]bool{string(name): true}
		for _, known := range own {
			f.many[string(known)] = true
		}
	}
	s.names = append(s.names, name)
	return true
}

// Errors that make properties unacceptable.
var (
	errDuplicate = errors.New("a member stands twice")
	errBadText   = errors.New("a string holds U+0000 or half a surrogate pair, which no database keeps")
	errBadNumber = errors.New("a number is beyond what a float64 holds")
	errTooDeep   = errors.New("nested more than 8 deep")
)

// compacter copies a value without its white space, and records its error. Of several errors a duplicate member takes
// precedence, since it comes first in D3.10, so that the copy continues in order to find it.
type compacter struct {
	walker
	names *nameStack
	dst   []byte
	fault error
}

func (c *compacter) blame(err error) {
	if c.fault == nil || errors.Is(err, errDuplicate) {
		c.fault = err
	}
}

// value copies the next value, which is at the given depth.
func (c *compacter) value(depth int) {
	switch b := c.peek(); b {
	case '"':
		start := c.i
		c.checkText(c.text())
		c.dst = append(c.dst, c.b[start:c.i]...)
	case '{':
		c.object(depth, nil)
	case '[':
		if depth > maxPropertyDepth {
			c.blame(errTooDeep)
		}
		c.i++
		c.dst = append(c.dst, '[')
		for first := true; c.next(); first = false {
			if !first {
				c.dst = append(c.dst, ',')
			}
			c.value(depth + 1)
		}
		c.dst = append(c.dst, ']')
	default:
		raw := c.skip()
		if b == '-' || b >= '0' && b <= '9' {
			if _, err := strconv.ParseFloat(string(raw), 64); err != nil {
				c.blame(errBadNumber)
			}
		}
		c.dst = append(c.dst, raw...)
	}
}

// object copies an object without the members for which leave returns true; a nil leave drops none. It calls leave with
// each member's name and the beginning of its value.
func (c *compacter) object(depth int, leave func(name []byte, value walker) bool) {
	if depth > maxPropertyDepth {
		c.blame(errTooDeep)
	}
	c.i++
	c.dst = append(c.dst, '{')
	names := c.names.open()
	for first := true; c.next(); {
		start := c.i
		inside, escaped := c.text()
		rawName := c.b[start:c.i]
		name := inside
		if escaped {
			name, _ = unescape(nil, inside)
		}
		if !c.names.add(&names, name) {
			c.blame(errDuplicate)
		}
		c.colon()
		if leave != nil && leave(name, c.walker) {
			c.skip()
			continue
		}
		c.checkText(inside, escaped)
		if !first {
			c.dst = append(c.dst, ',')
		}
		first = false
		c.dst = append(c.dst, rawName...)
		c.dst = append(c.dst, ':')
		c.value(depth + 1)
	}
	c.names.close(names)
	c.dst = append(c.dst, '}')
}

// checkText checks a text for characters that a database would refuse or change (D3.3).
func (c *compacter) checkText(inside []byte, escaped bool) {
	if !escaped {
		return
	}
	text, whole := unescape(nil, inside)
	if !whole || bytes.IndexByte(text, 0) >= 0 {
		c.blame(errBadText)
	}
}

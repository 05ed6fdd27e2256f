package ingest

// scanner scans the bytes of one JSON value as they arrive, in blocks of any size, and finds where the value ends or
// stops being JSON. It holds nothing of the value: a value of any length costs the same memory. It does not check the
// encoding of text; utf8Scanner does.
type scanner struct {
	next     expectation
	literal  string // the rest of true, false or null
	hex      int    // missing digits of an escape
	inName   bool   // the current string is the name of a member
	depth    int
	maxDepth int
	objects  [maxDepth/64 + 1]uint64 // one bit a level, set for an object
}

// expectation is the set of tokens that may come next.
type expectation uint8

const (
	expectValue         expectation = iota
	expectFirstElement              // or the end of the array
	expectFirstName                 // or the end of the object
	expectName                      //
	expectColon                     //
	expectCommaOrEnd                // after a value within an object or an array
	expectText                      // within a string
	expectEscape                    // after a backslash
	expectHex                       // after \u
	expectDigit                     // after a minus
	expectPoint                     // after a leading zero: a fraction, an exponent, or the number's end
	expectInteger                   // after a digit of the integer part
	expectFraction                  // after the point
	expectMoreFraction              // after a digit of the fraction
	expectExponent                  // after e
	expectExponentDigit             // after the exponent's sign
	expectMoreExponent              // after a digit of the exponent
	expectLiteral
)

// finding is the result of a scan.
type finding uint8

const (
	incomplete finding = iota // the value continues beyond the bytes
	complete                  // the value ends with the last scanned byte
	broken                    // the next byte is invalid at its place
	tooDeep                   // the next byte opens one level too many
)

// reset prepares the scanner for a value of at most the given number of levels.
func (s *scanner) reset(maxDepth int) {
	s.next, s.depth, s.maxDepth = expectValue, 0, maxDepth
}

// scan scans the next bytes, and returns how many of them belong to the value. The end of a number is known only from
// the byte that follows; at the end of the text, atEnd reports it.
func (s *scanner) scan(p []byte) (n int, _ finding) {
	for n < len(p) {
		c := p[n]
		switch {
		case s.next == expectText:
			if n += plainText(p[n:]); n == len(p) {
				return n, incomplete
			}
			if c = p[n]; c == '"' && s.inName { // a fast path for a step that every member takes
				s.next = expectColon
				n++
				continue
			}
		case c <= ' ':
			if spaces := whiteSpace(p[n:]); spaces > 0 && s.skipsSpace() {
				n += spaces
				continue
			}
		case c == ':' && s.next == expectColon: // likewise
			s.next = expectValue
			n++
			continue
		case c-'0' <= 9 && s.next.takesDigits():
			n++
			continue
		}
		found := s.step(c)
		switch found {
		case incomplete:
			n++
			continue
		case complete:
			if s.next.inNumber() { // c follows the number
				return n, complete
			}
			return n + 1, complete
		case broken, tooDeep:
		}
		return n, found
	}
	return n, incomplete
}

// atEnd reports whether the value is complete if the text ends here.
func (s *scanner) atEnd() bool { return s.depth == 0 && s.next.endsNumber() }

func (s *scanner) skipsSpace() bool { return s.next <= expectCommaOrEnd }

// takesDigits reports whether a digit leaves the expectation unchanged.
func (e expectation) takesDigits() bool {
	return e == expectInteger || e == expectMoreFraction || e == expectMoreExponent
}

func (e expectation) inNumber() bool { return e >= expectDigit && e <= expectMoreExponent }

func (e expectation) endsNumber() bool {
	return e == expectPoint || e == expectInteger || e == expectMoreFraction || e == expectMoreExponent
}

// step scans one byte that is neither plain text nor white space between tokens.
func (s *scanner) step(c byte) finding {
	switch s.next {
	case expectValue:
		return s.value(c)
	case expectFirstElement:
		if c == ']' {
			return s.close()
		}
		return s.value(c)
	case expectFirstName, expectName:
		if c == '}' && s.next == expectFirstName {
			return s.close()
		}
		if c != '"' {
			return broken
		}
		s.next, s.inName = expectText, true
	case expectColon:
		if c != ':' {
			return broken
		}
		s.next = expectValue
	case expectCommaOrEnd:
		return s.afterValue(c)
	case expectText, expectEscape, expectHex:
		return s.text(c)
	case expectLiteral:
		if c != s.literal[0] {
			return broken
		}
		if s.literal = s.literal[1:]; s.literal == "" {
			return s.ended()
		}
	default:
		return s.number(c)
	}
	return incomplete
}

// value begins a value.
func (s *scanner) value(c byte) finding {
	switch {
	case c == '"':
		s.next, s.inName = expectText, false
	case c == '{' || c == '[':
		if s.depth == s.maxDepth {
			return tooDeep
		}
		word, bit := &s.objects[s.depth/64], uint64(1)<<(s.depth%64)
		s.depth++
		if c == '{' {
			*word |= bit
			s.next = expectFirstName
		} else {
			*word &^= bit
			s.next = expectFirstElement
		}
	case c == '-':
		s.next = expectDigit
	case c == '0':
		s.next = expectPoint
	case c >= '1' && c <= '9':
		s.next = expectInteger
	case c == 't':
		s.next, s.literal = expectLiteral, "rue"
	case c == 'f':
		s.next, s.literal = expectLiteral, "alse"
	case c == 'n':
		s.next, s.literal = expectLiteral, "ull"
	default:
		return broken
	}
	return incomplete
}

// inObject reports whether the innermost level is an object.
func (s *scanner) inObject() bool { return s.objects[(s.depth-1)/64]>>((s.depth-1)%64)&1 == 1 }

// afterValue scans the byte after a value within an object or an array.
func (s *scanner) afterValue(c byte) finding {
	object := s.inObject()
	switch {
	case c == ',' && object:
		s.next = expectName
	case c == ',':
		s.next = expectValue
	case c == '}' && object, c == ']' && !object:
		return s.close()
	default:
		return broken
	}
	return incomplete
}

func (s *scanner) close() finding {
	s.depth--
	return s.ended()
}

// ended sets the expectation after a value.
func (s *scanner) ended() finding {
	s.next = expectCommaOrEnd
	if s.depth == 0 {
		return complete
	}
	return incomplete
}

// text scans a byte within a string.
func (s *scanner) text(c byte) finding {
	switch {
	case s.next == expectHex:
		if !isHex(c) {
			return broken
		}
		if s.hex--; s.hex == 0 {
			s.next = expectText
		}
	case s.next == expectEscape:
		switch c {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			s.next = expectText
		case 'u':
			s.next, s.hex = expectHex, 4
		default:
			return broken
		}
	case c == '\\':
		s.next = expectEscape
	case c != '"':
		return broken // a control character
	case s.inName:
		s.next = expectColon
	default:
		return s.ended()
	}
	return incomplete
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// number scans a byte within a number, or the byte that ends it.
func (s *scanner) number(c byte) finding {
	digit := c >= '0' && c <= '9'
	exponent := c == 'e' || c == 'E'
	switch {
	case s.next == expectDigit && c == '0':
		s.next = expectPoint
	case s.next == expectDigit && digit:
		s.next = expectInteger
	case s.next == expectInteger && digit, s.next == expectMoreFraction && digit, s.next == expectMoreExponent && digit:
	case s.next == expectFraction && digit:
		s.next = expectMoreFraction
	case (s.next == expectExponent || s.next == expectExponentDigit) && digit:
		s.next = expectMoreExponent
	case s.next == expectExponent && (c == '+' || c == '-'):
		s.next = expectExponentDigit
	case (s.next == expectPoint || s.next == expectInteger) && c == '.':
		s.next = expectFraction
	case s.next.endsNumber() && s.next != expectMoreExponent && exponent:
		s.next = expectExponent
	case !s.next.endsNumber():
		return broken
	case s.depth == 0:
		return complete
	default: // c follows the number
		s.next = expectCommaOrEnd
		if c == ' ' || c == '\n' || c == '\t' || c == '\r' {
			return incomplete
		}
		return s.afterValue(c)
	}
	return incomplete
}

package guide

import (
	"bytes"
	"strings"
)

// References are lists such as "A 1;E 35". Mappers write one reference with and without a blank, and in either case.

// equalRef reports whether two references are equal except for blanks and case.
func equalRef(a, b []byte) bool {
	for {
		a, b = bytes.TrimLeft(a, " "), bytes.TrimLeft(b, " ")
		if len(a) == 0 || len(b) == 0 {
			return len(a) == len(b)
		}
		if lower(a[0]) != lower(b[0]) {
			return false
		}
		a, b = a[1:], b[1:]
	}
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// hasRef reports whether a list contains a reference.
func hasRef(list, ref []byte) bool {
	for one := range bytes.SplitSeq(list, []byte(";")) {
		if equalRef(one, ref) {
			return true
		}
	}
	return false
}

// containsRefs reports whether a list contains each reference of another one.
func containsRefs(list, refs []byte) bool {
	for ref := range bytes.SplitSeq(refs, []byte(";")) {
		if !hasRef(list, ref) {
			return false
		}
	}
	return true
}

// sameRefs reports whether two lists have the same references, in any order.
func sameRefs(a, b []byte) bool { return containsRefs(a, b) && containsRefs(b, a) }

// nestedRefs reports whether one list contains the other.
func nestedRefs(a, b []byte) bool { return containsRefs(a, b) || containsRefs(b, a) }

// spoken returns a text of a sign as it is said: the parts of a list, each once, with commas between them.
func spoken(text string) string {
	if !strings.Contains(text, ";") {
		return text
	}
	var said []string
parts:
	for part := range strings.SplitSeq(text, ";") {
		part = strings.TrimSpace(part)
		for _, before := range said {
			if equalRef([]byte(before), []byte(part)) {
				continue parts
			}
		}
		if part != "" {
			said = append(said, part)
		}
	}
	return strings.Join(said, ", ")
}

package mail

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"
)

// Lengths, in characters, that a value is cut to: names stand in subjects, notes are paragraphs.
const (
	lineLength = 200
	noteLength = 4000
)

// clean takes from a value what could break out of its place: values come from providers, who choose their feeds' names.
// Only notes and errors keep their lines; control and formatting characters (which can turn text around) become spaces.
func clean(name, value string) string {
	length, lines := lineLength, false
	if name == "note" || name == "error" {
		length, lines = noteLength, true
	}
	value = strings.ReplaceAll(strings.ToValidUTF8(value, "\uFFFD"), "\r\n", "\n")
	value = strings.Map(func(r rune) rune {
		if r == '\n' && lines || unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, value)
	if utf8.RuneCountInString(value) > length {
		value = string([]rune(value)[:length-1]) + "…"
	}
	return strings.TrimSpace(value)
}

// Marks that keep what stands between them from ordering its surroundings (UAX 9).
const (
	firstStrongIsolate = "\u2068"
	popIsolate         = "\u2069"
)

// isolate sets a value that is written from right to left apart in plain text. Others stay as they are: marks that do
// nothing would only be in the way of who searches or copies.
func isolate(value string) string {
	for _, r := range value {
		properties, _ := bidi.LookupRune(r)
		if class := properties.Class(); class == bidi.R || class == bidi.AL || class == bidi.AN {
			return firstStrongIsolate + value + popIsolate
		}
	}
	return value
}

// Widths of the lines of a plain text, in characters.
const (
	textWidth = 72
	lineLimit = 200 // of a run without a space; at four bytes each it still fits into a line of SMTP (RFC 5321, 4.5.3.1.6)
)

// wrap breaks a line at its spaces. A longer run stays whole, so that a link can be followed, unless it is beyond measure.
func wrap(line string) []string {
	var lines []string
	rest := []rune(line)
	for len(rest) > textWidth {
		at, next := breakAt(rest)
		if at == len(rest) {
			break
		}
		lines = append(lines, strings.TrimRight(string(rest[:at]), " "))
		rest = rest[next:]
	}
	return append(lines, string(rest))
}

// breakAt gives where a line ends that is too long, and where the one after it begins.
func breakAt(rest []rune) (at, next int) {
	for i := textWidth; i > 0; i-- {
		if rest[i] == ' ' {
			return i, i + 1
		}
	}
	for i := textWidth + 1; i < min(len(rest), lineLimit); i++ {
		if rest[i] == ' ' {
			return i, i + 1
		}
	}
	end := min(len(rest), lineLimit)
	return end, end
}

package mail

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"
)

// Lengths in characters to which values are truncated: names appear in subjects, notes are paragraphs.
const (
	lineLength = 200
	noteLength = 4000
	// noticeLength exceeds the maximum length of a notice.
	noticeLength = 12_000
)

// clean removes the characters of a value that could change the text around it, because values come from providers, who choose their feeds'
// names. Only notes, errors and notices keep their line breaks; control characters and bidirectional formatting characters become spaces.
func clean(name, value string) string {
	length, lines := lineLength, false
	switch name {
	case "note", "error":
		length, lines = noteLength, true
	case "notice":
		length, lines = noticeLength, true
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

// Marks that isolate the direction of the text between them from its surroundings (UAX 9).
const (
	firstStrongIsolate = "\u2068"
	popIsolate         = "\u2069"
)

// isolate wraps a value that contains right-to-left characters in isolates, for plain text. Other values stay as they are,
// because needless marks disturb search and copying.
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
	maxLine   = 200 // of a run without a space; at four bytes each it still fits into an SMTP line (RFC 5321, 4.5.3.1.6)
)

// wrap breaks a line at spaces. A longer run without spaces stays whole, so that a link can be followed, up to maxLine.
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

// breakAt returns where a line that is too long ends, and where the next one begins.
func breakAt(rest []rune) (at, next int) {
	for i := textWidth; i > 0; i-- {
		if rest[i] == ' ' {
			return i, i + 1
		}
	}
	for i := textWidth + 1; i < min(len(rest), maxLine); i++ {
		if rest[i] == ' ' {
			return i, i + 1
		}
	}
	end := min(len(rest), maxLine)
	return end, end
}

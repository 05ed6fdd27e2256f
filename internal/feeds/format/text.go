package format

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of texts, in characters (D17.8).
const (
	maxText        = 200
	maxDescription = 1000
	maxRaw         = 64 << 10 // bytes of a text that are read, with all its tags
)

// Text returns a foreign text plain and short, for all properties but the description.
func Text(text string) string { return plain(text, maxText) }

// Description returns a foreign description plain and of a bounded length.
func Description(text string) string { return plain(text, maxDescription) }

// plain removes tags and control characters, replaces runs of white space by one space, and cuts the text.
func plain(text string, longest int) string {
	if isPlain(text, longest) {
		return text
	}
	text = strings.Map(visible, strings.ToValidUTF8(text[:min(len(text), maxRaw)], ""))
	out := strings.Builder{}
	count, space := 0, false
	for len(text) > 0 && count < longest {
		if n := tag(text); n > 0 {
			text, space = text[n:], true // a tag separates the words on both sides
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		switch {
		case unicode.IsSpace(r):
			space = true
		default:
			if space && out.Len() > 0 {
				out.WriteByte(' ')
				if count++; count == longest {
					continue
				}
			}
			space = false
			out.WriteRune(r)
			count++
		}
	}
	return strings.TrimSuffix(out.String(), " ")
}

// isPlain reports whether plain would leave the text unchanged, as it does with most texts.
func isPlain(text string, longest int) bool {
	if len(text) > longest {
		return false
	}
	for i, r := range text {
		switch {
		case r < ' ' || r == '<' || r >= 0x7F && r <= '\u00A0' || r >= '\u1680': // a space that is not ASCII, or invalid UTF-8
			return false
		case r == ' ' && (i == 0 || i == len(text)-1 || text[i-1] == ' '):
			return false
		}
	}
	return true
}

// tag returns the length of the tag at the beginning of a text, or 0 if it begins with none. A "<" that begins no name, or has no ">", is
// text.
func tag(text string) int {
	if len(text) < 3 || text[0] != '<' {
		return 0
	}
	if c := text[1]; c != '/' && c != '!' && c != '?' && (c|0x20 < 'a' || c|0x20 > 'z') {
		return 0
	}
	end := strings.IndexAny(text[1:], "<>") // whichever comes first, so that a text of many "<" is scanned once
	if end < 0 || text[end+1] == '<' {
		return 0
	}
	return end + 2
}

// visible drops characters that only change the display of others. It runs before tags are removed, because "<\x00b>" becomes a tag once
// the control character is gone.
func visible(r rune) rune {
	if !unicode.IsSpace(r) && (unicode.IsControl(r) || bidirectional(r) || r == '\uFEFF') {
		return -1
	}
	return r
}

// bidirectional reports whether a character changes the direction of the text after it, which may be somebody else's.
func bidirectional(r rune) bool {
	return r >= '\u202A' && r <= '\u202E' || r >= '\u2066' && r <= '\u2069' || r == '\u200E' || r == '\u200F'
}

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
	maxRaw         = 64 << 10 // bytes of a text that are looked at, with all its tags
)

// Text makes a foreign text plain and short: for all properties but the description.
func Text(text string) string { return plain(text, maxText) }

// Description makes a foreign description plain and of a bounded length.
func Description(text string) string { return plain(text, maxDescription) }

// plain leaves tags and control characters out, makes runs of white space one space, and cuts.
func plain(text string, longest int) string {
	if isPlain(text, longest) {
		return text
	}
	text = strings.Map(visible, strings.ToValidUTF8(text[:min(len(text), maxRaw)], ""))
	out := strings.Builder{}
	count, space := 0, false
	for len(text) > 0 && count < longest {
		if n := tag(text); n > 0 {
			text, space = text[n:], true // words on both sides of a tag are two
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

// isPlain says whether a text, as most are, can stay as it is.
func isPlain(text string, longest int) bool {
	if len(text) > longest {
		return false
	}
	for i, r := range text {
		switch {
		case r < ' ' || r == '<' || r >= 0x7F && r <= '\u00A0' || r >= '\u1680': // a space that is not ASCII, or what utf8.RuneError stands for
			return false
		case r == ' ' && (i == 0 || i == len(text)-1 || text[i-1] == ' '):
			return false
		}
	}
	return true
}

// tag is how long the tag is with which a text begins; 0: it begins with none. A "<" that begins no name, or is never closed, is text.
func tag(text string) int {
	if len(text) < 3 || text[0] != '<' {
		return 0
	}
	if c := text[1]; c != '/' && c != '!' && c != '?' && (c|0x20 < 'a' || c|0x20 > 'z') {
		return 0
	}
	end := strings.IndexAny(text[1:], "<>") // whichever comes first: a text of many "<" is looked through once
	if end < 0 || text[end+1] == '<' {
		return 0
	}
	return end + 2
}

// visible drops what only changes how other characters are shown. It goes first: "<\x00b>" is a tag to those who drop it later.
func visible(r rune) rune {
	if !unicode.IsSpace(r) && (unicode.IsControl(r) || bidirectional(r) || r == '\uFEFF') {
		return -1
	}
	return r
}

// bidirectional says whether a character changes the direction of what follows, which may be others' text.
func bidirectional(r rune) bool {
	return r >= '\u202A' && r <= '\u202E' || r >= '\u2066' && r <= '\u2069' || r == '\u200E' || r == '\u200F'
}

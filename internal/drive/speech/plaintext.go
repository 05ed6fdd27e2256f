package speech

import (
	"strings"
	"unicode"
)

// plainText returns an announcement in a form that is safe for any program: one line without markup. Names of streets
// and signs come from the map, and part of a name may be a command to a program: SSML and other XML (<audio
// src="file:…">), phonemes and commands in brackets (espeak's and macOS's [[…]], DECtalk's [:…]), commands after a
// backslash. plainText replaces such characters, control characters and separators of lines and paragraphs by spaces,
// and drops invisible directional marks. Announcements of this service have none of them, and names hardly ever do.
func plainText(text string) string {
	cleaned := strings.Map(func(r rune) rune {
		const nonJoiner, joiner = '\u200c', '\u200d' // needed to spell some Persian and Indic names
		switch {
		case strings.ContainsRune(`<>[]\`, r), unicode.IsControl(r), unicode.In(r, unicode.Zl, unicode.Zp):
			return ' '
		case unicode.Is(unicode.Cf, r) && r != nonJoiner && r != joiner:
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(cleaned), " ")
}

package speech

import (
	"strings"
	"unicode"
)

// plainText returns an announcement as a program may read it: one line without markup. Names of streets and signs come from the map,
// and what is a name there may be a command to a program: SSML and other XML (<audio src="file:…">), phonemes and commands in brackets
// (espeak's and macOS's [[…]], DECtalk's [:…]), commands after a backslash. Such characters, controls and separators of lines and
// paragraphs become spaces; invisible marks of direction are dropped. No announcement of ours has any of them, and hardly a name does.
func plainText(text string) string {
	cleaned := strings.Map(func(r rune) rune {
		const nonJoiner, joiner = '\u200c', '\u200d' // some Persian and Indic names are spelt with them
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

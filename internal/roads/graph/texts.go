package graph

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// texts collects names, each once.
type texts struct {
	all   []byte
	known map[string]TextRange
}

// maxText is the bytes of a name or reference. OpenStreetMap allows 255 characters.
const maxText = 4 * 255

func newTexts() texts { return texts{known: map[string]TextRange{}} }

// add is where a text lies, and false if it cannot be a name.
func (t *texts) add(text string) (TextRange, bool) {
	if text == "" {
		return TextRange{}, true
	}
	if r, ok := t.known[text]; ok {
		return r, true
	}
	if len(text) > maxText || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return TextRange{}, false
	}
	r := TextRange{uint32(len(t.all)), uint32(len(text))}
	t.all = append(t.all, text...)
	t.known[strings.Clone(text)] = r
	return r, true
}

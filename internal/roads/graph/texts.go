package graph

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// texts is a set of names.
type texts struct {
	all   []byte
	known map[string]TextRange
}

// maxText is the maximum length of a name or reference in bytes. OpenStreetMap allows 255 characters.
const maxText = 4 * 255

func newTexts() texts { return texts{known: map[string]TextRange{}} }

// add returns the position of a text, adding it if necessary, and false if the text cannot be a name.
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

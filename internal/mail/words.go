package mail

import (
	"embed"
	"fmt"
	"strings"

	"wayside/internal/i18n"
	"wayside/internal/mapdata"
)

//go:embed words/*.txt
var wordFiles embed.FS

// words is what one language says, by key.
type words map[string]string

// readWords reads the catalogue of every language.
func readWords() (map[mapdata.Language]words, error) {
	all := make(map[mapdata.Language]words)
	for _, language := range mapdata.Languages() {
		text, err := wordFiles.ReadFile("words/" + string(language) + ".txt")
		if err != nil {
			return nil, fmt.Errorf("words of letters: %w", err)
		}
		all[language] = words{}
		if err := i18n.Read(all[language], string(text)); err != nil {
			return nil, fmt.Errorf("words of letters, %s: %w", language, err)
		}
	}
	return all, nil
}

// span is a piece of a text: our own words, or a value that somebody else chose.
type span struct {
	Text  string
	Value bool
}

// say fills in a text. A value is never looked through for placeholders.
func (w words) say(key string, values map[string]string) []span {
	var spans []span
	rest := w[key]
	for rest != "" {
		from, to := placeholder(rest)
		if from > 0 {
			spans = append(spans, span{Text: rest[:from]})
		}
		if to > from {
			spans = append(spans, span{Text: values[rest[from+1:to-1]], Value: true})
		}
		rest = rest[to:]
	}
	return spans
}

// placeholder finds the first {name} in a text; where there is none, both ends are the text's.
func placeholder(text string) (from, to int) {
	for i := range len(text) {
		if text[i] != '{' {
			continue
		}
		name, _, closed := strings.Cut(text[i+1:], "}")
		if closed && name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") == "" {
			return i, i + len(name) + 2
		}
	}
	return len(text), len(text)
}

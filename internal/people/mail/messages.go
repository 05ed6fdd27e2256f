package mail

import (
	"embed"
	"fmt"
	"strings"

	"wayside/internal/ground/i18n"
	"wayside/internal/ground/mapdata"
)

//go:embed words/*.txt
var messageFiles embed.FS

// messages is the message catalogue of one language, by key.
type messages map[string]string

// readMessages reads the catalogue of every language.
func readMessages() (map[mapdata.Language]messages, error) {
	all := make(map[mapdata.Language]messages)
	for _, language := range mapdata.Languages() {
		text, err := messageFiles.ReadFile("words/" + string(language) + ".txt")
		if err != nil {
			return nil, fmt.Errorf("words of e-mails: %w", err)
		}
		all[language] = messages{}
		if err := i18n.Read(all[language], string(text)); err != nil {
			return nil, fmt.Errorf("words of e-mails, %s: %w", language, err)
		}
	}
	return all, nil
}

// span is a part of a text: literal text of a message, or a value.
type span struct {
	Text  string
	Value bool
}

// format fills in the placeholders of a message. Placeholders within values are not expanded.
func (w messages) format(key string, values map[string]string) []span {
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

// placeholder finds the first {name} in a text; if there is none, both are the length of the text.
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

package mail

import (
	"embed"
	"fmt"
	"maps"
	"strings"
	"text/template"
	"unicode"
	"unicode/utf8"

	"wayside/internal/mapdata"
)

//go:embed letters/*.txt
var letters embed.FS

// Lengths, in characters, that a value is cut to: names stand in subjects, notes are paragraphs.
const (
	lineLength = 200
	noteLength = 4000
)

// texts makes subject and body of every kind of letter.
type texts struct {
	byKind  map[mapdata.LetterKind]*template.Template
	baseURL string
}

func newTexts(baseURL string) (*texts, error) {
	t := &texts{byKind: make(map[mapdata.LetterKind]*template.Template), baseURL: baseURL}
	for _, kind := range []mapdata.LetterKind{
		mapdata.LetterSignIn, mapdata.LetterApproved, mapdata.LetterRejected, mapdata.LetterDeactivated, mapdata.LetterShrank,
	} {
		text, err := letters.ReadFile("letters/" + string(kind) + ".txt")
		if err != nil {
			return nil, fmt.Errorf("text of letter %s: %w", kind, err)
		}
		t.byKind[kind], err = template.New(string(kind)).Option("missingkey=zero").
			Funcs(template.FuncMap{"indent": indent}).Parse(string(text))
		if err != nil {
			return nil, fmt.Errorf("text of letter %s: %w", kind, err)
		}
	}
	return t, nil
}

// render gives a letter's subject and body. A template's first line is the subject.
func (t *texts) render(l *mapdata.Letter) (subject, body string, err error) {
	tmpl, ok := t.byKind[l.Kind]
	if !ok {
		return "", "", fmt.Errorf("no text for letters of kind %q", l.Kind)
	}
	data := make(map[string]string, len(l.Data)+1)
	for name, value := range l.Data {
		data[name] = clean(name, value)
	}
	maps.Copy(data, map[string]string{"base_url": t.baseURL})
	var out strings.Builder
	if err := tmpl.Execute(&out, data); err != nil {
		return "", "", fmt.Errorf("text of letter %s: %w", l.Kind, err)
	}
	subject, body, _ = strings.Cut(out.String(), "\n")
	return subject, strings.TrimPrefix(body, "\n"), nil
}

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

// indent sets a value's lines apart from the letter's own, so that it cannot speak in the service's name.
func indent(text string) string {
	return "    " + strings.ReplaceAll(text, "\n", "\n    ")
}

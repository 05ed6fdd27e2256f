package guide

import (
	"embed"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"wayside/internal/ground/i18n"
)

//go:embed words/*.txt
var wordFiles embed.FS

// Words are the sentences in all languages.
type Words struct{ languages map[string]*Language }

// Language is the sentences in one language. It is safe for concurrent use.
type Language struct {
	Code  string // "en"
	texts map[string]template
}

// Languages returns the codes of all languages, beginning with the default.
func Languages() []string { return []string{"en", "de", "es", "fr", "it", "nl"} }

// ReadWords reads the sentences of all languages.
func ReadWords() (*Words, error) {
	w := &Words{languages: map[string]*Language{}}
	for _, code := range Languages() {
		file, err := wordFiles.ReadFile("words/" + code + ".txt")
		if err != nil {
			return nil, err
		}
		texts := map[string]string{}
		if err := i18n.Read(texts, string(file)); err != nil {
			return nil, fmt.Errorf("the words of guidance in %s: %w", code, err)
		}
		l := &Language{Code: code, texts: map[string]template{}}
		for key, text := range texts {
			t, err := parseTemplate(text)
			if err != nil {
				return nil, fmt.Errorf("the words of guidance in %s: %s: %w", code, key, err)
			}
			l.texts[key] = t
		}
		w.languages[code] = l
	}
	return w, nil
}

// In returns the sentences in the language of a tag such as de-AT, or in English if there are none.
func (w *Words) In(tag string) *Language {
	code, _, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(tag), "_", "-"), "-")
	if l, ok := w.languages[code]; ok {
		return l
	}
	return w.languages[Languages()[0]]
}

// blank is a place in a sentence that is filled in.
type blank int

// The blanks.
const (
	noBlank blank = iota
	nameBlank
	destinationBlank
	directionBlank
	exitBlank
	nthBlank
	rotaryBlank
	compassBlank
	numberBlank
	distanceBlank
	lengthBlank
	sentenceBlank
	nextBlank
	blanks
)

var blankNames = [blanks]string{"", "name", "destination", "direction", "exit", "nth", "rotary", "compass", "n", "distance", "length", "sentence", "next"}

// values are the texts to fill in, by blank.
type values [blanks]string

// template is a sentence with blanks.
type template []piece

// piece is a text and the blank after it. In an optional group, only the last piece ends the group.
type piece struct {
	before   string
	blank    blank
	after    string
	optional bool // left out with its texts if the blank is empty
}

// parseTemplate parses a sentence. The text in [ ] must contain one blank.
func parseTemplate(text string) (template, error) {
	var t template
	for text != "" {
		at := strings.IndexAny(text, "[{")
		if at < 0 {
			return append(t, piece{before: text}), nil
		}
		if at > 0 {
			t = append(t, piece{before: text[:at]})
			text = text[at:]
		}
		group, optional := text, text[0] == '['
		closer := "}"
		if optional {
			closer = "]"
		}
		end := strings.Index(text, closer)
		if end < 0 {
			return nil, fmt.Errorf("%q is not closed", text)
		}
		group, text = text[:end+1], text[end+1:]
		if optional {
			group = group[1:end]
		}
		p, err := parseBlank(group)
		if err != nil {
			return nil, err
		}
		p.optional = optional
		t = append(t, p)
	}
	return t, nil
}

func parseBlank(text string) (piece, error) {
	before, rest, opened := strings.Cut(text, "{")
	name, after, closed := strings.Cut(rest, "}")
	for b := nameBlank; b < blanks; b++ {
		if blankNames[b] == name && opened && closed {
			return piece{before: before, blank: b, after: after}, nil
		}
	}
	return piece{}, fmt.Errorf("%q has no blank of a known name", text)
}

// fill appends the sentence of a key, or nothing if there is none.
func (l *Language) fill(dst []byte, key string, v *values) []byte {
	for i := range l.texts[key] {
		p := &l.texts[key][i]
		if p.optional && v[p.blank] == "" {
			continue
		}
		dst = append(dst, p.before...)
		dst = append(dst, v[p.blank]...)
		dst = append(dst, p.after...)
	}
	return dst
}

// text returns the sentence of a key.
func (l *Language) text(key string, v *values) string {
	var buffer [256]byte // longer ones are rare
	return string(l.fill(buffer[:0], key, v))
}

// plain returns a text without blanks.
func (l *Language) plain(key string) string {
	if t := l.texts[key]; len(t) == 1 {
		return t[0].before
	}
	return ""
}

// capital returns a sentence with a capital first letter.
func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if upper := unicode.ToUpper(first); upper != first && size > 0 {
		return string(upper) + text[size:]
	}
	return text
}

package mapdata

import (
	"errors"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// FieldErrors collects the errors in the fields of an input, so that one answer lists all of them.
type FieldErrors []FieldError

// Add adds an error.
func (e *FieldErrors) Add(field, code, message string) {
	*e = append(*e, FieldError{Field: field, Code: code, Message: message})
}

// AddRule adds an error from a validator of another package, which may carry its own code.
func (e *FieldErrors) AddRule(field, code string, err error) {
	var coded interface{ Code() string }
	if errors.As(err, &coded) {
		code = coded.Code()
	}
	e.Add(field, code, err.Error())
}

// Err returns an *InvalidError with the collected errors, or nil if there are none.
func (e FieldErrors) Err() error {
	if len(e) == 0 {
		return nil
	}
	return &InvalidError{Fields: e}
}

// Line validates a published text of one line, and returns it trimmed. Lengths are in characters.
func (e *FieldErrors) Line(field, text string, minLength, maxLength int) string {
	text = strings.TrimSpace(text)
	e.text(field, text, minLength, maxLength, ForbiddenInText)
	return text
}

// Lines validates a published text that may have several lines, and returns it trimmed and with \n as line ends.
func (e *FieldErrors) Lines(field, text string, minLength, maxLength int) string {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	e.text(field, text, minLength, maxLength, func(r rune) bool { return r != '\n' && r != '\t' && ForbiddenInText(r) })
	return text
}

func (e *FieldErrors) text(field, text string, minLength, maxLength int, forbidden func(rune) bool) {
	switch n := utf8.RuneCountInString(text); {
	case n < minLength:
		e.Add(field, "missing", "must not be empty")
	case n > maxLength:
		e.Add(field, "too_long", "must have at most "+strconv.Itoa(maxLength)+" characters")
		(*e)[len(*e)-1].Limit = maxLength
	case !utf8.ValidString(text), strings.ContainsFunc(text, forbidden):
		e.Add(field, "invalid_characters", "must not hold control characters")
	}
}

// ForbiddenInText reports characters that a published text must not contain: control characters, line separators and
// bidirectional formatting characters, with which a name could be made to look like another one.
func ForbiddenInText(r rune) bool {
	return unicode.IsControl(r) || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

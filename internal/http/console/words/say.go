package words

import (
	"fmt"
	"html/template"
	"reflect"
	"strconv"
	"strings"

	"wayside/internal/ground/mapdata"
)

// Text returns the message of a key as plain text: for titles, attributes and e-mails. If the message is missing it returns the
// key.
func (w *Words) Text(key string, args ...any) string {
	return w.fill(key, plain, args)
}

// HTML returns the message for the body of a page. Arguments are escaped and isolated from the surrounding text's direction
// (U+202E), unless they are template.HTML; stars and backticks become elements.
func (w *Words) HTML(key string, args ...any) template.HTML {
	return template.HTML(w.fill(key, rich, args)) //nolint:gosec // the text is ours, and what is put in is escaped
}

// Count returns the message of key.one or key.other, depending on the number, which is {0}; args are {1} and so on.
func (w *Words) Count(key string, n int, args ...any) template.HTML {
	return w.HTML(key+w.plural(n), append([]any{n}, args...)...)
}

// CountText returns the message of Count as plain text.
func (w *Words) CountText(key string, n int, args ...any) string {
	return w.Text(key+w.plural(n), append([]any{n}, args...)...)
}

func (w *Words) plural(n int) string {
	if n == 1 || n == 0 && w.Language == mapdata.French {
		return ".one"
	}
	return ".other"
}

// form is the output format of a message.
type form int

const (
	plain form = iota
	rich
)

func (w *Words) fill(key string, f form, args []any) string {
	text, ok := w.texts[key]
	if !ok {
		return template.HTMLEscapeString(key)
	}
	var out strings.Builder
	var strong, code bool
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '*':
			out.WriteString(tag(f, "strong", &strong))
		case c == '`':
			out.WriteString(tag(f, "code", &code))
		case c == '{' && i+2 < len(text) && text[i+2] == '}' && text[i+1] >= '0' && text[i+1] <= '9':
			if n := int(text[i+1] - '0'); n < len(args) {
				out.WriteString(w.argument(f, args[n]))
			}
			i += 2
		case f == rich && (c == '<' || c == '>' || c == '&' || c == '"' || c == '\''):
			out.WriteString(template.HTMLEscapeString(string(c)))
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}

// tag writes the start or the end of an element.
func tag(f form, name string, open *bool) string {
	if f == plain {
		return ""
	}
	*open = !*open
	if *open {
		return "<" + name + ">"
	}
	return "</" + name + ">"
}

// argument formats one argument.
func (w *Words) argument(f form, arg any) string {
	if html, ok := arg.(template.HTML); ok {
		return string(html)
	}
	v := reflect.ValueOf(arg)
	if v.IsValid() && v.CanInt() {
		return w.Number(v.Int())
	}
	text := fmt.Sprint(arg)
	if f == plain {
		return text
	}
	return "<bdi>" + template.HTMLEscapeString(text) + "</bdi>"
}

// Number formats a whole number with the language's thousands separator.
func (w *Words) Number(n int64) string {
	mark := ","
	switch w.Language {
	case mapdata.German:
		mark = "."
	case mapdata.French:
		mark = "\u202f" // narrow no-break space
	case mapdata.English:
	}
	digits, sign := strconv.FormatInt(n, 10), ""
	if n < 0 {
		digits, sign = digits[1:], "−"
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + mark + digits[i:]
	}
	return sign + digits
}

package apps

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/ground/mapdata"
)

// The JSON here was checked when the body was read: it is well-formed, without duplicate members.

// membersOf returns the members of an object.
func membersOf(value jsontext.Value) (map[string]jsontext.Value, bool) {
	if value.Kind() != '{' {
		return nil, false
	}
	members := make(map[string]jsontext.Value)
	ok := each(value, func(dec *jsontext.Decoder) error {
		name, err := dec.ReadToken()
		if err != nil {
			return err
		}
		key := name.String() // the token is valid only until the next read
		value, err := dec.ReadValue()
		members[key] = value.Clone()
		return err
	})
	return members, ok
}

// arrayOf returns the elements of an array.
func arrayOf(value jsontext.Value) (elements []jsontext.Value, ok bool) {
	if value.Kind() != '[' {
		return nil, false
	}
	ok = each(value, func(dec *jsontext.Decoder) error {
		value, err := dec.ReadValue()
		elements = append(elements, value.Clone())
		return err
	})
	return elements, ok
}

// each calls read for each element or member of an array or object.
func each(value jsontext.Value, read func(*jsontext.Decoder) error) bool {
	dec := jsontext.NewDecoder(newReader(value))
	if _, err := dec.ReadToken(); err != nil {
		return false
	}
	for {
		switch dec.PeekKind() {
		case ']', '}':
			return true
		case 0:
			return false
		}
		if read(dec) != nil {
			return false
		}
	}
}

// reader takes the members of one object one by one, and adds an error for each invalid one.
type reader struct {
	at      string // path of the object, with a point at its end
	members map[string]jsontext.Value
	errors  *mapdata.FieldErrors
}

// take takes a member; null counts as absent.
func (r *reader) take(name string) (jsontext.Value, bool) {
	value, ok := r.members[name]
	delete(r.members, name)
	return value, ok && value.Kind() != 'n'
}

// text takes a string.
func (r *reader) text(name string, required bool) string {
	value, ok := r.take(name)
	if !ok {
		if required {
			r.errors.Add(r.at+name, "missing", "is required")
		}
		return ""
	}
	text, ok := textOf(value)
	if !ok {
		r.errors.Add(r.at+name, "invalid", "must be a string")
	} else if required && text == "" {
		r.errors.Add(r.at+name, "missing", "must not be empty")
	}
	return text
}

// line takes a text for people of one line.
func (r *reader) line(name string, required bool, maxLength int) string {
	before := len(*r.errors)
	text := r.text(name, required)
	if len(*r.errors) > before {
		return ""
	}
	least := 0
	if required {
		least = 1
	}
	return r.people(func() string { return r.errors.Line(r.at+name, text, least, maxLength) })
}

// people checks a text for people. Apps have one code for all that is invalid (D16.12).
func (r *reader) people(judge func() string) string {
	before := len(*r.errors)
	text := judge()
	for i := before; i < len(*r.errors); i++ {
		if e := &(*r.errors)[i]; e.Code == "invalid_characters" {
			e.Code = "invalid"
		}
	}
	return text
}

func (r *reader) boolean(name string) bool {
	value, ok := r.take(name)
	if ok && value.Kind() != 't' && value.Kind() != 'f' {
		r.errors.Add(r.at+name, "invalid", "must be true or false")
	}
	return ok && value.Kind() == 't'
}

func (r *reader) number(name string) *float64 {
	value, ok := r.take(name)
	if !ok {
		return nil
	}
	number, ok := numberOf(value)
	if !ok {
		r.errors.Add(r.at+name, "invalid", "must be a number of at most 15 digits")
		return nil
	}
	return &number
}

// options takes the options of a select.
func (r *reader) options() []string {
	options := r.texts("options", maxOptions)
	for i, text := range options {
		options[i] = r.people(func() string { return r.errors.Line(r.at+"options["+strconv.Itoa(i)+"]", text, 1, maxOption) })
	}
	return options
}

// texts takes an array of strings without duplicates; nil: there is none.
func (r *reader) texts(name string, most int) []string {
	value, ok := r.take(name)
	if !ok {
		return nil
	}
	elements, ok := arrayOf(value)
	if !ok {
		r.errors.Add(r.at+name, "invalid", "must be an array of strings")
		return nil
	}
	if len(elements) > most {
		r.errors.Add(r.at+name, "too_many", "must be at most "+strconv.Itoa(most))
		return nil
	}
	texts := make([]string, 0, len(elements))
	for i, element := range elements {
		text, ok := textOf(element)
		if text = strings.TrimSpace(text); !ok {
			r.errors.Add(r.at+name+"["+strconv.Itoa(i)+"]", "invalid", "must be a string")
		} else if slices.Contains(texts, text) {
			r.errors.Add(r.at+name+"["+strconv.Itoa(i)+"]", "duplicate", "must be unique")
		}
		texts = append(texts, text)
	}
	return texts
}

// rest refuses the members that were not taken.
func (r *reader) rest() {
	for _, name := range slices.Sorted(maps.Keys(r.members)) {
		r.errors.Add(r.at+name[:min(len(name), maxMemberInText)], "unknown_field", "unknown field")
	}
}

func textOf(value jsontext.Value) (string, bool) {
	if value.Kind() != '"' {
		return "", false
	}
	text, err := jsontext.AppendUnquote(nil, value)
	return string(text), err == nil
}

func numberOf(value jsontext.Value) (float64, bool) {
	if value.Kind() != '0' {
		return 0, false
	}
	number, err := strconv.ParseFloat(string(value), 64)
	return number, err == nil && math.Abs(number) <= largestNumber
}

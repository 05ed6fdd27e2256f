package httpapi

import (
	"bytes"
	"errors"
	"math"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/ground/mapdata"
)

// TakeNull takes a member that is null, and reports whether there was one.
func (f *Fields) TakeNull(name string) bool {
	value, ok := f.Members[name]
	if !ok || value.Kind() != 'n' {
		return false
	}
	delete(f.Members, name)
	return true
}

// Optional takes a string; nil: absent.
func (f *Fields) Optional(name string) *string {
	text, ok := f.Text(name)
	if !ok {
		return nil
	}
	return &text
}

// Object takes a JSON object as text; nil: absent.
func (f *Fields) Object(name string) *string {
	value, ok := f.Take(name)
	if !ok {
		return nil
	}
	if value.Kind() != '{' {
		f.AddError(name, "invalid_type", "must be an object")
		return nil
	}
	text := string(value)
	return &text
}

// OrEmpty takes a string; empty: absent.
func (f *Fields) OrEmpty(name string) string {
	text, _ := f.Text(name)
	return text
}

// Boolean takes a boolean; nil: absent.
func (f *Fields) Boolean(name string) *bool {
	value, ok := f.Take(name)
	if !ok {
		return nil
	}
	is := value.Kind() == 't'
	if !is && value.Kind() != 'f' {
		f.AddError(name, "invalid_type", "must be true or false")
		return nil
	}
	return &is
}

// Number takes a number; nil: absent. A number beyond the range of float64 becomes the largest one.
func (f *Fields) Number(name string) *float64 {
	value, ok := f.Take(name)
	if !ok {
		return nil
	}
	if value.Kind() != '0' {
		f.AddError(name, "invalid_type", "must be a number")
		return nil
	}
	n, err := strconv.ParseFloat(string(value), 64)
	if err != nil {
		n = math.Copysign(math.MaxFloat64, n)
	}
	return &n
}

// MergeFieldErrors adds the errors in the values of fields to those in the shape of the body, so that one response lists
// all of them (D5.3). An error of another kind takes precedence.
func MergeFieldErrors(shape, values error) error {
	var bad, more *mapdata.InvalidError
	if !errors.As(shape, &bad) || values == nil {
		return shape
	}
	if !errors.As(values, &more) {
		return values
	}
	named := map[string]bool{}
	for _, f := range bad.Fields {
		named[f.Field] = true
	}
	for _, f := range more.Fields {
		if !named[f.Field] {
			bad.Fields = append(bad.Fields, f)
		}
	}
	return bad
}

// Texts takes a list of strings; nil: absent.
func (f *Fields) Texts(name string) []string {
	value, ok := f.Take(name)
	if !ok {
		return nil
	}
	list, dec := []string{}, jsontext.NewDecoder(bytes.NewReader(value))
	if start, err := dec.ReadToken(); err == nil && start.Kind() == '[' {
		for dec.PeekKind() == '"' {
			item, err := dec.ReadToken()
			if err != nil {
				break
			}
			list = append(list, item.String())
		}
		if dec.PeekKind() == ']' {
			return list
		}
	}
	f.AddError(name, "invalid_type", "must be a list of strings")
	return nil
}

// ReadReason reads a body that contains only a reason.
func ReadReason(w http.ResponseWriter, r *http.Request) (string, error) {
	f, err := ReadFields(w, r)
	if err != nil {
		return "", err
	}
	reason := f.Required("reason")
	return reason, f.Check()
}

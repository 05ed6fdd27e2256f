package console

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"wayside/internal/console/words"
	"wayside/internal/mapdata"
)

// maxFormBytes bounds a form: the largest is a decision with what the page showed, every character encoded as up to
// twelve.
const maxFormBytes = 128 << 10

// Form is the values of a form and its errors.
type Form struct {
	values url.Values
	Wrongs []Wrong // in the order in which they were found
}

// Wrong is one error in one field.
type Wrong struct {
	Field string // id of the input
	Text  string // translated
}

// readForm parses a posted form.
func readForm(w http.ResponseWriter, r *http.Request) (*Form, error) {
	r.Body = http.MaxBytesReader(w, r.Body, maxFormBytes)
	if err := r.ParseForm(); err != nil {
		return nil, mapdata.Explain(mapdata.ErrMalformed, "form_unreadable", "The form cannot be read.")
	}
	return &Form{values: r.PostForm}, nil
}

// newForm is a form with initial values.
func newForm(values url.Values) *Form { return &Form{values: values} }

// Value is the value of a field for display, truncated; empty: none.
func (f *Form) Value(field string) string { return truncate(f.values.Get(field)) }

// raw is the whole value of a field.
func (f *Form) raw(field string) string { return f.values.Get(field) }

// Has says whether a field has an error.
func (f *Form) Has(field string) bool { return f.Of(field) != nil }

// Of is the error of a field; nil: none.
func (f *Form) Of(field string) *Wrong {
	for i := range f.Wrongs {
		if f.Wrongs[i].Field == field {
			return &f.Wrongs[i]
		}
	}
	return nil
}

// addError adds an error of a field.
func (f *Form) addError(field, text string) {
	f.Wrongs = append(f.Wrongs, Wrong{Field: field, Text: text})
}

// addErrors adds the field errors of a use case, translated by the key "wrong.<field>.<code>" or "wrong.<code>" with
// the exceeded limit as argument. It returns false if the error is of another kind.
func (f *Form) addErrors(w *words.Words, err error) bool {
	var invalid *mapdata.InvalidError
	if !errors.As(err, &invalid) {
		return false
	}
	for _, e := range invalid.Fields {
		f.addError(e.Field, w.Text(w.First("wrong."+e.Field+"."+e.Code, "wrong."+e.Code, "wrong.other"), e.Limit))
	}
	return true
}

// truncate shortens a value that a page shows again.
func truncate(text string) string {
	const maxBytes = 4096 // bytes; the longest field is the URL of a feed
	if len(text) > maxBytes {
		text = text[:maxBytes]
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

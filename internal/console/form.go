package console

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"wayside/internal/console/words"
	"wayside/internal/mapdata"
)

// formLimit is the size in bytes of the largest form: a decision, with what the page showed, every character as up to twelve.
const formLimit = 128 << 10

// Form is what was typed into a form, and what is wrong with it.
type Form struct {
	values url.Values
	Wrongs []Wrong // in the order of the fields as they were found wrong
}

// Wrong is one thing wrong with one field.
type Wrong struct {
	Field string // id of the input
	Text  string // for people, in their language
}

// readForm reads what a page's form sent.
func readForm(w http.ResponseWriter, r *http.Request) (*Form, error) {
	r.Body = http.MaxBytesReader(w, r.Body, formLimit)
	if err := r.ParseForm(); err != nil {
		return nil, mapdata.Explain(mapdata.ErrMalformed, "form_unreadable", "The form cannot be read.")
	}
	return &Form{values: r.PostForm}, nil
}

// newForm is a form that begins with these values.
func newForm(values url.Values) *Form { return &Form{values: values} }

// Value is what was typed into a field; empty: nothing. It is cut where nobody types on, since it is shown again.
func (f *Form) Value(field string) string { return shorten(f.values.Get(field)) }

// raw is what was typed into a field, all of it.
func (f *Form) raw(field string) string { return f.values.Get(field) }

// Has says whether something is wrong with a field.
func (f *Form) Has(field string) bool { return f.Of(field) != nil }

// Of is what is wrong with a field; nil: nothing.
func (f *Form) Of(field string) *Wrong {
	for i := range f.Wrongs {
		if f.Wrongs[i].Field == field {
			return &f.Wrongs[i]
		}
	}
	return nil
}

// wrong notes that something is wrong with a field.
func (f *Form) wrong(field, text string) {
	f.Wrongs = append(f.Wrongs, Wrong{Field: field, Text: text})
}

// refuse takes what a use case found wrong, in the visitor's language: "wrong.<field>.<code>",
// else "wrong.<code>", into which the limit that was passed is put. It says whether that is all there is to the error.
func (f *Form) refuse(w *words.Words, err error) bool {
	var invalid *mapdata.InvalidError
	if !errors.As(err, &invalid) {
		return false
	}
	for _, e := range invalid.Fields {
		f.wrong(e.Field, w.Text(w.First("wrong."+e.Field+"."+e.Code, "wrong."+e.Code, "wrong.other"), e.Limit))
	}
	return true
}

// shorten cuts what somebody typed to what a page shows again.
func shorten(text string) string {
	const longest = 4096 // bytes; the longest field is the URL of a feed
	if len(text) > longest {
		text = text[:longest]
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

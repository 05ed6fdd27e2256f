package console

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/console/words"
)

// maxFormBytes bounds a form: the largest is a decision with the values that the page showed, every character encoded as up to
// twelve.
const maxFormBytes = 256 << 10

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

// maxUploadBytes bounds a form with a file, and the memory that reading it takes.
const maxUploadBytes = maxFormBytes + maxFileBytes

// maxFileBytes bounds a file of a form: the largest that the service accepts, and a few bytes more, so that the service sees a
// larger one and refuses it.
const maxFileBytes = 64<<10 + 8

// readUpload parses a posted form that may hold a file, and returns the form and the file.
func readUpload(w http.ResponseWriter, r *http.Request, field string) (*Form, []byte, error) {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "multipart/form-data" {
		form, err := readForm(w, r)
		return form, nil, err
	}
	unreadable := mapdata.Explain(mapdata.ErrMalformed, "form_unreadable", "The form cannot be read.")
	r.Body = http.MaxBytesReader(w, r.Body, maxUploadBytes)
	if err := r.ParseMultipartForm(maxUploadBytes); err != nil {
		return nil, nil, unreadable
	}
	form := &Form{values: r.MultipartForm.Value}
	files := r.MultipartForm.File[field]
	if len(files) == 0 {
		return form, nil, nil
	}
	file, err := files[0].Open()
	if err != nil {
		return nil, nil, unreadable
	}
	content, err := io.ReadAll(io.LimitReader(file, maxFileBytes))
	if errors.Join(err, file.Close()) != nil {
		return nil, nil, unreadable
	}
	return form, content, nil
}

// newForm returns a form with initial values.
func newForm(values url.Values) *Form { return &Form{values: values} }

// Value returns the value of a field for display, truncated; empty: none.
func (f *Form) Value(field string) string { return truncate(f.values.Get(field)) }

// Long returns the value of a field of several lines for display, truncated at the longest that such a field may have.
func (f *Form) Long(field string) string {
	const maxBytes = 16 << 10
	text := f.values.Get(field)
	return strings.ToValidUTF8(text[:min(len(text), maxBytes)], "\uFFFD")
}

// raw returns the whole value of a field.
func (f *Form) raw(field string) string { return f.values.Get(field) }

// Has reports whether a field has an error.
func (f *Form) Has(field string) bool { return f.Of(field) != nil }

// Of returns the error of a field; nil: none.
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
// the exceeded limit and the message of the API as arguments. It returns false if the error is of another kind.
func (f *Form) addErrors(w *words.Words, err error) bool {
	var invalid *mapdata.InvalidError
	if !errors.As(err, &invalid) {
		return false
	}
	for _, e := range invalid.Fields {
		f.addError(e.Field, w.Text(w.First("wrong."+e.Field+"."+e.Code, "wrong."+e.Code, "wrong.other"), e.Limit, e.Message))
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

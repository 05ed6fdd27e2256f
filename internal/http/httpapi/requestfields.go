package httpapi

import (
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/ground/mapdata"
)

// maxBodyBytes bounds a body of the management API: a feed whose fields all have their maximum length fits.
const maxBodyBytes = 64 << 10

// Fields are the members of a request's JSON object. A handler takes them one by one; errors are collected, so
// that one response lists all of them (D5.3). Names match exactly; null counts as absent.
type Fields struct {
	Members map[string]jsontext.Value // not taken yet
	Errors  []mapdata.FieldError
}

// ReadFields reads the body: one JSON object, sent as application/json (D11.2). Malformed JSON, which includes
// duplicate members and invalid UTF-8, is mapdata.ErrMalformed.
func ReadFields(w http.ResponseWriter, r *http.Request) (*Fields, error) {
	return ReadFieldsUpTo(w, r, maxBodyBytes)
}

// ReadFieldsUpTo reads a body of at most limit bytes, a multiple of 1024.
func ReadFieldsUpTo(w http.ResponseWriter, r *http.Request, limit int64) (*Fields, error) {
	if !IsJSON(r) {
		return nil, UnsupportedMedia("Send the body as Content-Type: application/json.")
	}
	f := &Fields{Members: make(map[string]jsontext.Value)}
	err := f.Decode(jsontext.NewDecoder(http.MaxBytesReader(w, r.Body, limit)))
	var (
		large  *http.MaxBytesError
		syntax *jsontext.SyntacticError
	)
	switch {
	case errors.As(err, &large):
		return nil, mapdata.Describe(mapdata.ErrTooLarge, "The body is larger than "+strconv.FormatInt(limit>>10, 10)+" KiB.")
	case errors.As(err, &syntax), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, errNoObject):
		return nil, mapdata.Describe(mapdata.ErrMalformed, "The body must be one JSON object.")
	}
	return f, err
}

// IsJSON reports whether the body is declared as JSON in UTF-8.
func IsJSON(r *http.Request) bool {
	media, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	charset := params["charset"]
	return err == nil && media == "application/json" && (charset == "" || strings.EqualFold(charset, "utf-8"))
}

// UnsupportedMedia returns the problem of a body in another format.
func UnsupportedMedia(detail string) *Problem {
	return &Problem{Type: "unsupported-media-type", Status: http.StatusUnsupportedMediaType, Detail: detail}
}

var errNoObject = errors.New("no JSON object")

// Decode reads the members of an object.
func (f *Fields) Decode(dec *jsontext.Decoder) error {
	if start, err := dec.ReadToken(); err != nil {
		return err
	} else if start.Kind() != '{' {
		return errNoObject
	}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return err
		}
		key := name.String() // the token is valid only until the next read
		value, err := dec.ReadValue()
		if err != nil {
			return err
		}
		f.Members[key] = value.Clone()
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	switch _, err := dec.ReadToken(); {
	case err == nil:
		return errNoObject // something follows the object
	case !errors.Is(err, io.EOF):
		return err
	}
	return nil
}

// Take takes a member's value; ok is false if it is absent or null.
func (f *Fields) Take(name string) (_ jsontext.Value, ok bool) {
	value, ok := f.Members[name]
	delete(f.Members, name)
	return value, ok && value.Kind() != 'n'
}

// Text takes a string; ok is false if it is absent, null or not a string.
func (f *Fields) Text(name string) (_ string, ok bool) {
	value, ok := f.Take(name)
	if !ok {
		return "", false
	}
	if value.Kind() != '"' {
		f.AddError(name, "invalid_type", "must be a string")
		return "", false
	}
	text, err := jsontext.AppendUnquote(nil, value)
	if err != nil { // cannot happen: the decoder has validated the string
		f.AddError(name, "invalid_type", "must be a string")
		return "", false
	}
	return string(text), true
}

// Required takes a string that must be present.
func (f *Fields) Required(name string) string {
	before := len(f.Errors)
	text, ok := f.Text(name)
	if !ok && len(f.Errors) == before {
		f.AddError(name, "missing", "is required")
	}
	return text
}

// AddError adds an error in a field.
func (f *Fields) AddError(name, code, message string) {
	f.Errors = append(f.Errors, mapdata.FieldError{Field: name, Code: code, Message: message})
}

// Check returns the collected errors; members that were not taken are unknown fields.
func (f *Fields) Check() error {
	for _, name := range slices.Sorted(maps.Keys(f.Members)) {
		f.AddError(Truncate(name), "unknown_field", "unknown field")
	}
	if len(f.Errors) > 0 {
		return &mapdata.InvalidError{Fields: f.Errors}
	}
	return nil
}

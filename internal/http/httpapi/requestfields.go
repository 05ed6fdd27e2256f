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

// requestFields are the members of a request's JSON object. A handler takes them one by one; errors are collected, so
// that one response lists all of them (D5.3). Names match exactly; null counts as absent.
type requestFields struct {
	members map[string]jsontext.Value // not taken yet
	errors  []mapdata.FieldError
}

// readFields reads the body: one JSON object, sent as application/json (D11.2). Malformed JSON, which includes
// duplicate members and invalid UTF-8, is mapdata.ErrMalformed.
func readFields(w http.ResponseWriter, r *http.Request) (*requestFields, error) {
	return readFieldsUpTo(w, r, maxBodyBytes)
}

// readFieldsUpTo reads a body of at most limit bytes, a multiple of 1024.
func readFieldsUpTo(w http.ResponseWriter, r *http.Request, limit int64) (*requestFields, error) {
	if !isJSON(r) {
		return nil, unsupportedMedia("Send the body as Content-Type: application/json.")
	}
	f := &requestFields{members: make(map[string]jsontext.Value)}
	err := f.decode(jsontext.NewDecoder(http.MaxBytesReader(w, r.Body, limit)))
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

// isJSON reports whether the body is declared as JSON in UTF-8.
func isJSON(r *http.Request) bool {
	media, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	charset := params["charset"]
	return err == nil && media == "application/json" && (charset == "" || strings.EqualFold(charset, "utf-8"))
}

func unsupportedMedia(detail string) *problem {
	return &problem{Type: "unsupported-media-type", Status: http.StatusUnsupportedMediaType, Detail: detail}
}

var errNoObject = errors.New("no JSON object")

func (f *requestFields) decode(dec *jsontext.Decoder) error {
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
		f.members[key] = value.Clone()
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

// take takes a member's value; ok is false if it is absent or null.
func (f *requestFields) take(name string) (_ jsontext.Value, ok bool) {
	value, ok := f.members[name]
	delete(f.members, name)
	return value, ok && value.Kind() != 'n'
}

// text takes a string; ok is false if it is absent, null or not a string.
func (f *requestFields) text(name string) (_ string, ok bool) {
	value, ok := f.take(name)
	if !ok {
		return "", false
	}
	if value.Kind() != '"' {
		f.addError(name, "invalid_type", "must be a string")
		return "", false
	}
	text, err := jsontext.AppendUnquote(nil, value)
	if err != nil { // cannot happen: the decoder has validated the string
		f.addError(name, "invalid_type", "must be a string")
		return "", false
	}
	return string(text), true
}

// required takes a string that must be present.
func (f *requestFields) required(name string) string {
	before := len(f.errors)
	text, ok := f.text(name)
	if !ok && len(f.errors) == before {
		f.addError(name, "missing", "is required")
	}
	return text
}

// addError adds an error in a field.
func (f *requestFields) addError(name, code, message string) {
	f.errors = append(f.errors, mapdata.FieldError{Field: name, Code: code, Message: message})
}

// check returns the collected errors; members that were not taken are unknown fields.
func (f *requestFields) check() error {
	for _, name := range slices.Sorted(maps.Keys(f.members)) {
		f.addError(truncate(name), "unknown_field", "unknown field")
	}
	if len(f.errors) > 0 {
		return &mapdata.InvalidError{Fields: f.errors}
	}
	return nil
}

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

	"wayside/internal/mapdata"
)

// bodyLimit is the size in bytes of the largest body of the management API: a feed with all its fields at their longest.
const bodyLimit = 64 << 10

// fields are the members of a request's JSON object. They are asked for one by one, and what is wrong with them is
// remembered, so that all of it is told at once (D5.3). Names match exactly; null counts as absent.
type fields struct {
	members map[string]jsontext.Value // those that nobody asked for yet
	wrong   []mapdata.FieldError
}

// readFields reads the body: one JSON object, sent as application/json (D11.2). Malformed JSON, a member given twice and
// invalid UTF-8 among it, is mapdata.ErrMalformed.
func readFields(w http.ResponseWriter, r *http.Request) (*fields, error) {
	return readFieldsUpTo(w, r, bodyLimit)
}

// readFieldsUpTo reads a body that may have so many bytes, a multiple of 1024.
func readFieldsUpTo(w http.ResponseWriter, r *http.Request, limit int64) (*fields, error) {
	if !isJSON(r) {
		return nil, unsupportedMedia("Send the body as Content-Type: application/json.")
	}
	f := &fields{members: make(map[string]jsontext.Value)}
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

// isJSON says whether the body is sent as JSON in UTF-8.
func isJSON(r *http.Request) bool {
	media, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	charset := params["charset"]
	return err == nil && media == "application/json" && (charset == "" || strings.EqualFold(charset, "utf-8"))
}

func unsupportedMedia(detail string) *problem {
	return &problem{Type: "unsupported-media-type", Status: http.StatusUnsupportedMediaType, Detail: detail}
}

var errNoObject = errors.New("no JSON object")

func (f *fields) decode(dec *jsontext.Decoder) error {
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
		key := name.String() // the token is good until the next read only
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
		return errNoObject // something follows it
	case !errors.Is(err, io.EOF):
		return err
	}
	return nil
}

// take gives a member's value, and ok false when it is absent or null.
func (f *fields) take(name string) (_ jsontext.Value, ok bool) {
	value, ok := f.members[name]
	delete(f.members, name)
	return value, ok && value.Kind() != 'n'
}

// text gives a string, and ok false when it is absent, null or no string.
func (f *fields) text(name string) (_ string, ok bool) {
	value, ok := f.take(name)
	if !ok {
		return "", false
	}
	if value.Kind() != '"' {
		f.blame(name, "invalid_type", "must be a string")
		return "", false
	}
	text, err := jsontext.AppendUnquote(nil, value)
	if err != nil { // the decoder has read it before
		f.blame(name, "invalid_type", "must be a string")
		return "", false
	}
	return string(text), true
}

// required is text that must be there.
func (f *fields) required(name string) string {
	before := len(f.wrong)
	text, ok := f.text(name)
	if !ok && len(f.wrong) == before {
		f.blame(name, "missing", "is required")
	}
	return text
}

// blame remembers what is wrong with a field.
func (f *fields) blame(name, code, message string) {
	f.wrong = append(f.wrong, mapdata.FieldError{Field: name, Code: code, Message: message})
}

// done says what is wrong with the body, the fields that nobody asked for included.
func (f *fields) done() error {
	for _, name := range slices.Sorted(maps.Keys(f.members)) {
		f.blame(name, "unknown_field", "there is no such field here")
	}
	if len(f.wrong) > 0 {
		return &mapdata.InvalidError{Fields: f.wrong}
	}
	return nil
}

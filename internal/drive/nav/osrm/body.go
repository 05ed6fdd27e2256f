package osrm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/drive/nav"
	"wayside/internal/ground/geo"
)

// ParseBody parses a request from the JSON object of a POST. Its members are the options of the URL; lists are arrays.
func ParseBody(s Service, body []byte) (*Request, error) {
	r := newRequest(s)
	if err := r.readBody(jsontext.NewDecoder(bytes.NewBuffer(body))); err != nil {
		var refused *nav.Error
		if errors.As(err, &refused) {
			return nil, err
		}
		return nil, &nav.Error{Code: nav.InvalidQuery, Message: err.Error()}
	}
	return r, r.Check()
}

var errNoObject = errors.New("request body must be a JSON object")

func (r *Request) readBody(dec *jsontext.Decoder) error {
	if start, err := dec.ReadToken(); err != nil || start.Kind() != '{' {
		return errNoObject
	}
	for {
		name, err := dec.ReadToken()
		if err != nil {
			return errors.New("invalid JSON")
		}
		if name.Kind() == '}' {
			break
		}
		key := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return errors.New("invalid JSON")
		}
		if err := r.member(key, value); err != nil {
			return err
		}
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.New("invalid JSON: something follows the object")
	}
	if r.Places.Coordinates == nil {
		return errors.New("missing required member: coordinates")
	}
	return nil
}

// member reads one member of the body. The code for options of the URL reads members of the same form: words and numbers
// unchanged, arrays as lists.
func (r *Request) member(name string, value jsontext.Value) error {
	switch name {
	case "coordinates":
		return r.bodyCoordinates(value)
	case "format":
		if string(value) == `"flatbuffers"` {
			return invalidOptions("The format flatbuffers is not offered; use json.")
		}
		if string(value) != `"json"` {
			return errors.New("invalid format value")
		}
		return nil
	}
	option := urlOptions(r, name)
	if option == nil {
		return fmt.Errorf("unknown member: %.40q", name)
	}
	text, err := optionText(name, value)
	if err != nil {
		return err
	}
	c := &cursor{text: text}
	if err := option(c); err != nil {
		return err
	}
	if c.failed || c.at < len(c.text) {
		return fmt.Errorf("invalid %s value", name)
	}
	return nil
}

// optionText converts a JSON value to the form that it has in a URL.
func optionText(name string, value jsontext.Value) (string, error) {
	invalid := fmt.Errorf("invalid %s value", name)
	if value.Kind() != '[' {
		return scalarText(value, invalid)
	}
	var elements []json.RawMessage
	if json.Unmarshal(value, &elements) != nil {
		return "", invalid
	}
	separator := ";"
	if name == "exclude" || name == "annotations" {
		separator = ","
	}
	var text strings.Builder
	for i, element := range elements {
		if i > 0 {
			text.WriteString(separator)
		}
		switch {
		case string(element) == "null":
		case name == "bearings":
			var pair []json.Number
			if json.Unmarshal(element, &pair) != nil || len(pair) != 2 {
				return "", errors.New("each bearing must be null or an array of two integers")
			}
			text.WriteString(pair[0].String() + "," + pair[1].String())
		default:
			word, err := scalarText(jsontext.Value(element), invalid)
			if err != nil {
				return "", err
			}
			text.WriteString(word)
		}
	}
	return text.String(), nil
}

// scalarText returns a string, a number or a boolean as text. A string must not contain separators of options.
func scalarText(value jsontext.Value, invalid error) (string, error) {
	switch value.Kind() {
	case '"':
		text, err := jsontext.AppendUnquote(nil, value)
		if err != nil || bytes.ContainsAny(text, ";,&") {
			return "", invalid
		}
		return string(text), nil
	case '0', 't', 'f':
		return string(value), nil
	}
	return "", invalid
}

// bodyCoordinates reads pairs of numbers, or a polyline in the form that it has in a URL.
func (r *Request) bodyCoordinates(value jsontext.Value) error {
	if value.Kind() == '"' {
		text, err := jsontext.AppendUnquote(nil, value)
		if err != nil || !bytes.HasPrefix(text, []byte("polyline")) {
			return errors.New("coordinates string must be of the form polyline(...) or polyline6(...)")
		}
		c := &cursor{text: string(text)}
		if c.coordinates(r); c.failed || c.at < len(c.text) {
			return errors.New("coordinates string must be of the form polyline(...) or polyline6(...)")
		}
		return nil
	}
	var pairs [][]float64
	if json.Unmarshal(value, &pairs) != nil {
		return errors.New("coordinates must be an array of [longitude, latitude] pairs")
	}
	r.Places.Coordinates = make([]geo.Point, 0, len(pairs))
	for _, pair := range pairs {
		if len(pair) != 2 {
			return errors.New("each coordinate must be an array of two numbers [longitude, latitude]")
		}
		if math.Abs(pair[0]) > math.MaxInt32/1e6 || math.Abs(pair[1]) > math.MaxInt32/1e6 {
			return errors.New("coordinate value out of range")
		}
		r.Places.Coordinates = append(r.Places.Coordinates, geo.Point{Lng: pair[0], Lat: pair[1]})
	}
	return nil
}

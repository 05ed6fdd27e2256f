package httpapi

import (
	"errors"
	"math"
	"strconv"

	"wayside/internal/feed"
	"wayside/internal/mapdata"
)

// settings takes the fields that a registration and a change share.
func (f *fields) settings() feed.Settings {
	return feed.Settings{
		Name: f.optional("name"), Description: f.optional("description"), Visibility: f.optional("visibility"),
		Attribution: f.optional("attribution"), Licence: f.optional("licence"),
		LayerName: f.optional("layer_name"), SpecURL: f.optional("spec_url"),
		PullURL: f.optional("pull_url"), PullAuthHeader: f.optional("pull_auth_header"),
		PullIntervalSeconds: f.number("pull_interval_seconds"),
	}
}

// patch takes the fields of a change, where null is a value: it clears what may be empty, and the others refuse it.
func (f *fields) patch() feed.Patch {
	cleared := map[string]bool{}
	for _, name := range []string{"description", "attribution", "licence", "layer_name", "spec_url", "pull_auth_header"} {
		cleared[name] = f.null(name)
	}
	for _, name := range []string{"name", "visibility", "active", "pull_url", "pull_interval_seconds"} {
		if f.null(name) {
			f.blame(name, "invalid_type", "must not be null")
		}
	}
	p := feed.Patch{Settings: f.settings(), Active: f.boolean("active"), ClearAuthHeader: cleared["pull_auth_header"]}
	for name, field := range map[string]**string{
		"description": &p.Description, "attribution": &p.Attribution, "licence": &p.Licence,
		"layer_name": &p.LayerName, "spec_url": &p.SpecURL,
	} {
		if cleared[name] {
			*field = new(string)
		}
	}
	return p
}

// null takes a member that is null, and says whether there was one.
func (f *fields) null(name string) bool {
	value, ok := f.members[name]
	if !ok || value.Kind() != 'n' {
		return false
	}
	delete(f.members, name)
	return true
}

// optional is text that may be absent: nil.
func (f *fields) optional(name string) *string {
	text, ok := f.text(name)
	if !ok {
		return nil
	}
	return &text
}

// orEmpty is text that may be absent: "".
func (f *fields) orEmpty(name string) string {
	text, _ := f.text(name)
	return text
}

// boolean is true, false or absent: nil.
func (f *fields) boolean(name string) *bool {
	value, ok := f.take(name)
	if !ok {
		return nil
	}
	is := value.Kind() == 't'
	if !is && value.Kind() != 'f' {
		f.blame(name, "invalid_type", "must be true or false")
		return nil
	}
	return &is
}

// number is a number or absent: nil. One beyond what a float64 holds is the largest.
func (f *fields) number(name string) *float64 {
	value, ok := f.take(name)
	if !ok {
		return nil
	}
	if value.Kind() != '0' {
		f.blame(name, "invalid_type", "must be a number")
		return nil
	}
	n, err := strconv.ParseFloat(string(value), 64)
	if err != nil {
		n = math.Copysign(math.MaxFloat64, n)
	}
	return &n
}

// alsoWrong adds to what is wrong with a body's shape what is wrong with the values of the other fields, so that all of it
// is told at once (D5.3). A failure of another kind wins.
func alsoWrong(shape, values error) error {
	var bad, more *mapdata.InvalidError
	if !errors.As(shape, &bad) || values == nil {
		return shape
	}
	if !errors.As(values, &more) {
		return values
	}
	told := map[string]bool{}
	for _, f := range bad.Fields {
		told[f.Field] = true
	}
	for _, f := range more.Fields {
		if !told[f.Field] {
			bad.Fields = append(bad.Fields, f)
		}
	}
	return bad
}

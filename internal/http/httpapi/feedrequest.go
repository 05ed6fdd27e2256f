package httpapi

import (
	"errors"
	"math"
	"strconv"

	"wayside/internal/feeds/feed"
	"wayside/internal/ground/mapdata"
)

// settings reads the fields that registrations and changes have in common.
func (f *requestFields) settings() feed.Settings {
	return feed.Settings{
		Name: f.optional("name"), Description: f.optional("description"), Visibility: f.optional("visibility"),
		Attribution: f.optional("attribution"), Licence: f.optional("licence"),
		LayerName: f.optional("layer_name"), SpecURL: f.optional("spec_url"),
		PullURL: f.optional("pull_url"), PullAuthHeader: f.optional("pull_auth_header"),
		PullIntervalSeconds: f.number("pull_interval_seconds"),
		Format:              f.optional("format"), Mapping: f.object("mapping"), StatusURL: f.optional("status_url"), TimeZone: f.optional("time_zone"),
		ChargerNetwork: f.optional("charger_network"),
	}
}

// patch reads the fields of a change, where null is a value: it clears a field that may be empty, and is an error
// elsewhere.
func (f *requestFields) patch() feed.Patch {
	cleared := map[string]bool{}
	for _, name := range []string{
		"description", "attribution", "licence", "layer_name", "spec_url", "pull_auth_header",
		"format", "mapping", "status_url", "time_zone", "charger_network",
	} {
		cleared[name] = f.takeNull(name)
	}
	for _, name := range []string{"name", "visibility", "active", "pull_url", "pull_interval_seconds"} {
		if f.takeNull(name) {
			f.addError(name, "invalid_type", "must not be null")
		}
	}
	p := feed.Patch{Settings: f.settings(), Active: f.boolean("active"), ClearAuthHeader: cleared["pull_auth_header"]}
	for name, field := range map[string]**string{
		"description": &p.Description, "attribution": &p.Attribution, "licence": &p.Licence,
		"layer_name": &p.LayerName, "spec_url": &p.SpecURL,
		"format": &p.Format, "mapping": &p.Mapping, "status_url": &p.StatusURL, "time_zone": &p.TimeZone, "charger_network": &p.ChargerNetwork,
	} {
		if cleared[name] {
			*field = new(string)
		}
	}
	return p
}

// takeNull takes a member that is null, and reports whether there was one.
func (f *requestFields) takeNull(name string) bool {
	value, ok := f.members[name]
	if !ok || value.Kind() != 'n' {
		return false
	}
	delete(f.members, name)
	return true
}

// optional takes a string; nil: absent.
func (f *requestFields) optional(name string) *string {
	text, ok := f.text(name)
	if !ok {
		return nil
	}
	return &text
}

// object takes a JSON object as text; nil: absent.
func (f *requestFields) object(name string) *string {
	value, ok := f.take(name)
	if !ok {
		return nil
	}
	if value.Kind() != '{' {
		f.addError(name, "invalid_type", "must be an object")
		return nil
	}
	text := string(value)
	return &text
}

// orEmpty takes a string; empty: absent.
func (f *requestFields) orEmpty(name string) string {
	text, _ := f.text(name)
	return text
}

// boolean takes a boolean; nil: absent.
func (f *requestFields) boolean(name string) *bool {
	value, ok := f.take(name)
	if !ok {
		return nil
	}
	is := value.Kind() == 't'
	if !is && value.Kind() != 'f' {
		f.addError(name, "invalid_type", "must be true or false")
		return nil
	}
	return &is
}

// number takes a number; nil: absent. A number beyond the range of float64 becomes the largest one.
func (f *requestFields) number(name string) *float64 {
	value, ok := f.take(name)
	if !ok {
		return nil
	}
	if value.Kind() != '0' {
		f.addError(name, "invalid_type", "must be a number")
		return nil
	}
	n, err := strconv.ParseFloat(string(value), 64)
	if err != nil {
		n = math.Copysign(math.MaxFloat64, n)
	}
	return &n
}

// mergeFieldErrors adds the errors in the values of fields to those in the shape of the body, so that one response lists
// all of them (D5.3). An error of another kind takes precedence.
func mergeFieldErrors(shape, values error) error {
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

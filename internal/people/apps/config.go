package apps

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/ground/mapdata"
)

// maxConfig bounds a driver's config, as JSON (D16.5).
const maxConfig = 16 << 10

// Masked stands for a secret that is set, in every answer and page. A client that sends it back keeps the secret.
const Masked = "••••"

func newReader(value jsontext.Value) io.Reader { return bytes.NewReader(value) }

// ParseConfig parses a driver's settings, and adds errors under field.key. stored holds the earlier settings: a masked secret keeps
// its value. A blank field is left out (D16.5), also a required one that has a default.
func ParseConfig(field string, schema mapdata.ConfigSchema, value jsontext.Value, stored mapdata.AppConfig, errors *mapdata.FieldErrors) mapdata.AppConfig {
	members, ok := membersOf(value)
	if !ok {
		errors.Add(field, "invalid", "must be an object")
		return nil
	}
	config := make(mapdata.AppConfig)
	for i := range schema {
		f := &schema[i]
		given, ok := members[f.Key]
		delete(members, f.Key)
		if f.Secret && ok {
			if text, _ := textOf(given); text == Masked {
				if kept, ok := stored[f.Key]; ok {
					config[f.Key] = kept
				} else {
					errors.Add(field+"."+f.Key, "invalid", "must be entered: nothing is stored")
				}
				continue
			}
		}
		var (
			parsed        any
			code, message string
		)
		if ok {
			parsed, code, message = parseValue(f, given)
		}
		switch {
		case code != "":
			errors.Add(field+"."+f.Key, code, message)
		case parsed != nil:
			config[f.Key] = parsed
		case mustBeSet(f):
			errors.Add(field+"."+f.Key, "missing", "is required")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		errors.Add(field+"."+name[:min(len(name), maxMemberInText)], "unknown_field", "is no field of this app")
	}
	if text, err := json.Marshal(config); err != nil || len(text) > maxConfig {
		errors.Add(field, "too_long", fmt.Sprintf("must take at most %d KiB", maxConfig>>10))
	}
	return config
}

// mustBeSet reports whether a config without the field is refused.
func mustBeSet(f *mapdata.ConfigField) bool { return f.Required && f.Default == nil }

// parseValue parses the value of a field; nil: it is blank. code and message describe the error.
func parseValue(f *mapdata.ConfigField, given jsontext.Value) (value any, code, message string) {
	if given.Kind() == 'n' {
		return nil, "", ""
	}
	switch f.Type {
	case mapdata.ConfigBoolean:
		if given.Kind() != 't' && given.Kind() != 'f' {
			return nil, "invalid", "must be true or false"
		}
		return given.Kind() == 't', "", ""
	case mapdata.ConfigNumber:
		number, ok := numberOf(given)
		if text, isText := textOf(given); isText && text == "" {
			return nil, "", ""
		}
		if !ok {
			return nil, "invalid", "must be a number of at most 15 digits"
		}
		if f.Min != nil && number < *f.Min || f.Max != nil && number > *f.Max {
			return nil, "invalid", "must be " + rangeOf(f)
		}
		return number, "", ""
	}
	text, ok := textOf(given)
	if !ok {
		return nil, "invalid", "must be a string"
	}
	if text = strings.TrimSpace(text); text == "" {
		return nil, "", ""
	}
	if code, message := checkText(f, text); code != "" {
		return nil, code, message
	}
	return text, "", ""
}

// checkText checks a text that is not blank; code and message describe the error, and are empty if there is none.
func checkText(f *mapdata.ConfigField, text string) (code, message string) {
	most := LengthOf(f)
	switch {
	case f.Type == mapdata.ConfigSelect && !slices.Contains(f.Options, text):
		return "invalid", "must be one of the options"
	case f.Type == mapdata.ConfigSelect:
		return "", ""
	case utf8.RuneCountInString(text) > most:
		return "too_long", "must have at most " + strconv.Itoa(most) + " characters"
	case !utf8.ValidString(text), strings.ContainsFunc(text, mapdata.ForbiddenInText):
		return "invalid", "must not hold control characters"
	case f.Type == mapdata.ConfigURL && !isWebAddress(text):
		return "invalid", "must be an address that begins with https:// or http://"
	}
	return "", ""
}

// LengthOf returns how long a text of a field may be, in characters.
func LengthOf(f *mapdata.ConfigField) int {
	if f.MaxLength != nil {
		return *f.MaxLength
	}
	return longest(f.Type)
}

func isWebAddress(text string) bool {
	if strings.ContainsFunc(text, unicode.IsSpace) {
		return false
	}
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" && u.User == nil
}

func rangeOf(f *mapdata.ConfigField) string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	switch {
	case f.Min == nil:
		return "at most " + number(*f.Max)
	case f.Max == nil:
		return "at least " + number(*f.Min)
	}
	return "from " + number(*f.Min) + " to " + number(*f.Max)
}

// Mask replaces the secrets of a config.
func Mask(schema mapdata.ConfigSchema, config mapdata.AppConfig) mapdata.AppConfig {
	masked := maps.Clone(config)
	for i := range schema {
		if _, set := masked[schema[i].Key]; set && schema[i].Secret {
			masked[schema[i].Key] = Masked
		}
	}
	return masked
}

// Delivered returns the config that an app receives: the keys of its schema, with the defaults of fields that were left blank.
func Delivered(schema mapdata.ConfigSchema, config mapdata.AppConfig) mapdata.AppConfig {
	delivered := make(mapdata.AppConfig)
	for i := range schema {
		if value, set := config[schema[i].Key]; set {
			delivered[schema[i].Key] = value
		} else if schema[i].Default != nil {
			delivered[schema[i].Key] = schema[i].Default
		}
	}
	return delivered
}

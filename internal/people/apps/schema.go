package apps

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/ground/mapdata"
)

// Bounds of a schema: those of D16.4, and others where it sets none.
const (
	maxFields       = 12
	maxLabel        = 60  // characters
	maxHelp         = 200 // characters
	maxOptions      = 50
	maxOption       = 60   // characters
	maxText         = 1000 // characters; also the max_length of a text that has none
	maxURL          = 2048 // characters
	largestNumber   = 1e15 // an integer that JSON and JavaScript keep exactly
	maxMemberInText = 64   // bytes of a received word in an error
)

// keyPattern is the pattern of the specification (D16.4).
var keyPattern = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)

// ParseSchema parses a config_schema, and adds errors under field[i].member. It returns the fields that it could read.
func ParseSchema(field string, value jsontext.Value, errors *mapdata.FieldErrors) mapdata.ConfigSchema {
	elements, ok := arrayOf(value)
	if !ok {
		errors.Add(field, "invalid", "must be an array of fields")
		return nil
	}
	if len(elements) > maxFields {
		errors.Add(field, "too_many", "must have at most "+strconv.Itoa(maxFields)+" fields")
		return nil
	}
	var schema mapdata.ConfigSchema
	for i, element := range elements {
		at := fmt.Sprintf("%s[%d]", field, i)
		f, ok := parseField(at, element, errors)
		if !ok {
			continue
		}
		if slices.ContainsFunc(schema, func(other mapdata.ConfigField) bool { return other.Key == f.Key }) {
			errors.Add(at+".key", "duplicate", "must be unique")
		}
		schema = append(schema, f)
	}
	return schema
}

// parseField reads one field.
func parseField(at string, value jsontext.Value, errors *mapdata.FieldErrors) (f mapdata.ConfigField, ok bool) {
	m, ok := membersOf(value)
	if !ok {
		errors.Add(at, "invalid", "must be an object with key, label and type")
		return f, false
	}
	r := reader{at: at + ".", members: m, errors: errors}
	f.Key = r.text("key", true)
	if f.Key != "" && !keyPattern.MatchString(f.Key) {
		errors.Add(at+".key", "invalid", "must be a lower-case letter and then at most 31 lower-case letters, digits or underscores")
	}
	f.Label = r.line("label", true, maxLabel)
	f.Help = r.line("help", false, maxHelp)
	f.Type = mapdata.ConfigType(r.text("type", true))
	f.Required, f.Secret = r.boolean("required"), r.boolean("secret")
	f.Min, f.Max, f.Step = r.number("min"), r.number("max"), r.number("step")
	f.Options = r.options()
	if n := r.number("max_length"); n != nil {
		if *n != math.Trunc(*n) || *n < 1 || *n > float64(longest(f.Type)) {
			errors.Add(at+".max_length", "invalid", "must be a whole number from 1 to "+strconv.Itoa(longest(f.Type)))
		} else {
			whole := int(*n)
			f.MaxLength = &whole
		}
	}
	given, hasDefault := r.take("default")
	r.rest()
	checkType(at, &f, errors)
	if hasDefault {
		checkDefault(at, &f, given, errors)
	}
	return f, true
}

// longest returns how long a text of a type may be, in characters.
func longest(t mapdata.ConfigType) int {
	if t == mapdata.ConfigURL {
		return maxURL
	}
	return maxText
}

// checkType checks that a field has the members of its type, and no others.
func checkType(at string, f *mapdata.ConfigField, errors *mapdata.FieldErrors) {
	types := []mapdata.ConfigType{mapdata.ConfigText, mapdata.ConfigNumber, mapdata.ConfigBoolean, mapdata.ConfigSelect, mapdata.ConfigURL}
	if f.Type != "" && !slices.Contains(types, f.Type) {
		errors.Add(at+".type", "invalid", "must be text, number, boolean, select or url")
		return
	}
	only := func(member string, given bool, of ...mapdata.ConfigType) {
		if given && !slices.Contains(of, f.Type) {
			errors.Add(at+"."+member, "not_allowed", fmt.Sprintf("belongs to fields of type %s only", of[0]))
		}
	}
	only("secret", f.Secret, mapdata.ConfigText)
	only("options", f.Options != nil, mapdata.ConfigSelect)
	only("min", f.Min != nil, mapdata.ConfigNumber)
	only("max", f.Max != nil, mapdata.ConfigNumber)
	only("step", f.Step != nil, mapdata.ConfigNumber)
	only("max_length", f.MaxLength != nil, mapdata.ConfigText, mapdata.ConfigURL)
	if f.Type == mapdata.ConfigSelect && len(f.Options) == 0 {
		errors.Add(at+".options", "missing", "must have at least one option")
	}
	if f.Min != nil && f.Max != nil && *f.Min > *f.Max {
		errors.Add(at+".max", "invalid", "must not be below min")
	}
	if f.Step != nil && *f.Step <= 0 {
		errors.Add(at+".step", "invalid", "must be above 0")
	}
}

// checkDefault checks the default like a driver's value.
func checkDefault(at string, f *mapdata.ConfigField, given jsontext.Value, errors *mapdata.FieldErrors) {
	if f.Secret {
		errors.Add(at+".default", "not_allowed", "must be left out of a secret field: everybody would know it")
		return
	}
	value, code, message := parseValue(f, given)
	if code == "" && value == nil {
		code, message = "invalid", "must not be blank; leave it out instead"
	}
	if code != "" {
		errors.Add(at+".default", code, message)
		return
	}
	f.Default = value
}

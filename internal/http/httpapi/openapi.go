package httpapi

import (
	"bytes"
	_ "embed" // for go:embed
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// openapiText describes the whole API to programs, without apps. It is written by hand; tests compare it with the table of routes and
// with the responses (D12.6).
//
//go:embed openapi.json
var openapiText []byte

// openapiApps is the part of the document about apps (D16). If apps are enabled, it is added to openapiText.
//
//go:embed openapi-apps.json
var openapiApps []byte

// DescribeAPI returns openapi.json, with apps or without any mention of them.
func DescribeAPI(withApps bool) ([]byte, error) {
	if !withApps {
		return openapiText, nil
	}
	joined, err := joinJSON(openapiText, openapiApps)
	if err != nil {
		return nil, fmt.Errorf("join the parts of openapi.json: %w", err)
	}
	if err := joined.Indent(jsontext.WithIndent("  ")); err != nil {
		return nil, fmt.Errorf("join the parts of openapi.json: %w", err)
	}
	return append(joined, '\n'), nil
}

// joinJSON adds the elements of one array to another, and the members of one object to another; members that both have are joined
// in the same way. It fails if both have a scalar.
func joinJSON(base, more jsontext.Value) (jsontext.Value, error) {
	kind := base.Kind()
	if kind != more.Kind() || kind != '{' && kind != '[' {
		return nil, fmt.Errorf("%.40s is there already", more)
	}
	a, err := partsOf(base)
	if err != nil {
		return nil, err
	}
	b, err := partsOf(more)
	if err != nil {
		return nil, err
	}
	for _, p := range b {
		at := -1
		for i := range a {
			if kind == '{' && string(a[i].name) == string(p.name) {
				at = i
			}
		}
		if at < 0 {
			a = append(a, p)
		} else if a[at].value, err = joinJSON(a[at].value, p.value); err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
	}
	out := jsontext.Value{byte(kind)}
	for i, p := range a {
		if i > 0 {
			out = append(out, ',')
		}
		if kind == '{' {
			out = append(append(out, p.name...), ':')
		}
		out = append(out, p.value...)
	}
	return append(out, byte(kind)+2), nil // } and ] come two after { and [
}

// jsonPart is an element of an array, or with its quoted name a member of an object.
type jsonPart struct{ name, value jsontext.Value }

// partsOf returns the elements or members of a value, in their order.
func partsOf(value jsontext.Value) (parts []jsonPart, err error) {
	dec := jsontext.NewDecoder(bytes.NewReader(value))
	start, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	object := start.Kind() == '{'
	for dec.PeekKind() != '}' && dec.PeekKind() != ']' {
		var p jsonPart
		if object {
			if p.name, err = dec.ReadValue(); err != nil {
				return nil, err
			}
			p.name = p.name.Clone()
		}
		if p.value, err = dec.ReadValue(); err != nil {
			return nil, err
		}
		p.value = p.value.Clone()
		parts = append(parts, p)
	}
	return parts, nil
}

package apidocs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Document is the part of openapi.json that its page shows.
type Document struct {
	Info struct {
		Title       string
		Description string
	}
	Tags       []tag
	Paths      Object[Object[Operation]]
	Components struct {
		SecuritySchemes Object[securityScheme]
		Parameters      Object[parameter]
		Responses       Object[response]
		Headers         Object[header]
		Schemas         Object[schema]
	}
	Problems []Problem `json:"x-problems"`
}

type tag struct{ Name, Description string }

// Problem explains one type of problem.
type Problem struct {
	Type   string
	Status int
	When   string // in which case it is the answer
	Then   string // what the client should do about it
}

type securityScheme struct{ Description string }

// Operation is one method of one path.
type Operation struct {
	Tags        []string
	OperationID string
	Summary     string
	Description string
	Deprecated  bool
	Sunset      string `json:"x-sunset"` // a date, where Deprecated
	Security    []map[string][]string
	Parameters  []parameter
	RequestBody *struct {
		Description string
		Content     Object[mediaType]
	}
	Responses Object[response]
}

type parameter struct {
	Ref         string `json:"$ref"`
	Name        string
	In          string
	Description string
	Required    bool
	Deprecated  bool
	Sunset      string `json:"x-sunset"`
	Schema      schema
	Example     any
}

type response struct {
	Ref         string `json:"$ref"`
	Description string
	Headers     Object[header]
	Content     Object[mediaType]
}

type header struct {
	Ref         string `json:"$ref"`
	Description string
	Schema      schema
}

type mediaType struct {
	Schema  schema
	Example json.RawMessage
}

// schema is the part of JSON Schema that openapi.json uses.
type schema struct {
	Ref              string `json:"$ref"`
	Type             typeNames
	Description      string
	Format           string
	Enum             []any
	Const            any
	Default          any
	Minimum          *json.Number
	Maximum          *json.Number
	ExclusiveMinimum *json.Number
	MinLength        *int
	MaxLength        *int
	MinItems         *int
	MaxItems         *int
	Items            *schema
	AnyOf            []schema
	OneOf            []schema
	Deprecated       bool
	Sunset           string `json:"x-sunset"`
	Properties       Object[schema]
	Required         []string
}

// typeNames is the keyword type: one name or several.
type typeNames []string

// UnmarshalJSON reads one name or a list of names.
func (t *typeNames) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '[' {
		return json.Unmarshal(text, (*[]string)(t))
	}
	var one string
	err := json.Unmarshal(text, &one)
	*t = typeNames{one}
	return err
}

// Parse parses the text of openapi.json.
func Parse(text []byte) (*Document, error) {
	var doc Document
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("read openapi.json: %w", err)
	}
	return &doc, nil
}

// Object is a JSON object that keeps the order of its members.
type Object[T any] []Member[T]

// Member is one member of an Object.
type Member[T any] struct {
	Name  string
	Value T
}

// UnmarshalJSON reads the members in their order.
func (o *Object[T]) UnmarshalJSON(text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		m := Member[T]{Name: fmt.Sprint(name)}
		if err := dec.Decode(&m.Value); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		*o = append(*o, m)
	}
	return nil
}

// Get returns the member of a name; nil if there is none.
func (o Object[T]) Get(name string) *T {
	for i := range o {
		if o[i].Name == name {
			return &o[i].Value
		}
	}
	return nil
}

// refName returns the last part of a reference into the components.
func refName(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// resolve follows a reference into a list of components; without a reference it returns v.
func resolve[T any](components Object[T], ref string, v *T) (*T, error) {
	if ref == "" {
		return v, nil
	}
	if found := components.Get(refName(ref)); found != nil {
		return found, nil
	}
	return nil, fmt.Errorf("openapi.json: %s is not among the components", ref)
}

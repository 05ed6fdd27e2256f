package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// openapiDoc is what the page for people takes from openapi.json.
type openapiDoc struct {
	Info struct {
		Title       string
		Description string
	}
	Tags       []openapiTag
	Paths      ordered[ordered[operation]]
	Components struct {
		SecuritySchemes ordered[securityScheme]
		Parameters      ordered[parameter]
		Responses       ordered[response]
		Headers         ordered[header]
		Schemas         ordered[schema]
	}
	Problems []problemDoc `json:"x-problems"`
}

type openapiTag struct{ Name, Description string }

// problemDoc explains one type of problem.
type problemDoc struct {
	Type   string
	Status int
	When   string // when it is answered
	Then   string // what the client does about it
}

type securityScheme struct{ Description string }

type operation struct {
	Tags        []string
	OperationID string
	Summary     string
	Description string
	Security    []map[string][]string
	Parameters  []parameter
	RequestBody *struct {
		Description string
		Content     ordered[mediaType]
	}
	Responses ordered[response]
}

type parameter struct {
	Ref         string `json:"$ref"`
	Name        string
	In          string
	Description string
	Required    bool
	Schema      schema
	Example     any
}

type response struct {
	Ref         string `json:"$ref"`
	Description string
	Headers     ordered[header]
	Content     ordered[mediaType]
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
	Properties       ordered[schema]
	Required         []string
}

// typeNames is the keyword type: one name or several.
type typeNames []string

// UnmarshalJSON takes both forms.
func (t *typeNames) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '[' {
		return json.Unmarshal(text, (*[]string)(t))
	}
	var one string
	err := json.Unmarshal(text, &one)
	*t = typeNames{one}
	return err
}

// ordered is a JSON object whose members keep the order in which they are written.
type ordered[T any] []member[T]

type member[T any] struct {
	Name  string
	Value T
}

// UnmarshalJSON keeps the order.
func (o *ordered[T]) UnmarshalJSON(text []byte) error {
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
		m := member[T]{Name: fmt.Sprint(name)}
		if err := dec.Decode(&m.Value); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		*o = append(*o, m)
	}
	return nil
}

// get finds a member by name; nil if there is none.
func (o ordered[T]) get(name string) *T {
	for i := range o {
		if o[i].Name == name {
			return &o[i].Value
		}
	}
	return nil
}

// refName is the last part of a reference into the components.
func refName(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// resolve follows a reference into a list of components; without one, v is what is meant.
func resolve[T any](components ordered[T], ref string, v *T) (*T, error) {
	if ref == "" {
		return v, nil
	}
	if found := components.get(refName(ref)); found != nil {
		return found, nil
	}
	return nil, fmt.Errorf("openapi.json: %s leads nowhere", ref)
}

package apps

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/ground/mapdata"
)

// accepts reports whether a schema accepts a config after keys that it lacks were dropped.
func accepts(t *testing.T, schema mapdata.ConfigSchema, config mapdata.AppConfig) bool {
	t.Helper()
	kept := maps.Clone(config)
	maps.DeleteFunc(kept, func(key string, _ any) bool {
		return !slices.ContainsFunc(schema, func(f mapdata.ConfigField) bool { return f.Key == key })
	})
	text, err := json.Marshal(kept)
	if err != nil {
		t.Fatal(err)
	}
	var errors mapdata.FieldErrors
	ParseConfig("config", schema, jsontext.Value(text), nil, &errors)
	return len(errors) == 0
}

// drawField draws a field with few bounds, so that two of them often differ in one.
func drawField(random *rand.Rand, key string) mapdata.ConfigField {
	f := mapdata.ConfigField{Key: key, Label: "L", Required: random.IntN(2) == 0}
	number := func() *float64 {
		if random.IntN(2) == 0 {
			return nil
		}
		v := float64(random.IntN(5))
		return &v
	}
	switch random.IntN(4) {
	case 0:
		f.Type, f.Secret = mapdata.ConfigText, random.IntN(3) == 0
		if n := number(); n != nil {
			length := int(*n) + 1
			f.MaxLength = &length
		}
	case 1:
		f.Type, f.Min = mapdata.ConfigNumber, number()
		if m := number(); m != nil && (f.Min == nil || *f.Min <= *m) {
			f.Max = m
		}
	case 2:
		f.Type = mapdata.ConfigBoolean
	case 3:
		f.Type = mapdata.ConfigSelect
		for _, option := range []string{"a", "b", "c"} {
			if random.IntN(3) > 0 {
				f.Options = append(f.Options, option)
			}
		}
		if f.Options == nil {
			f.Options = []string{"d"}
		}
	}
	if values := valuesOf(&f); !f.Secret && random.IntN(3) == 0 {
		f.Default = values[random.IntN(len(values))]
	}
	return f
}

// valuesOf returns values that a field accepts: the longest and the extreme ones among them.
func valuesOf(f *mapdata.ConfigField) []any {
	switch f.Type {
	case mapdata.ConfigBoolean:
		return []any{true, false}
	case mapdata.ConfigSelect:
		values := make([]any, len(f.Options))
		for i, option := range f.Options {
			values[i] = option
		}
		return values
	case mapdata.ConfigNumber:
		least, most := -largestNumber, float64(largestNumber)
		if f.Min != nil {
			least = *f.Min
		}
		if f.Max != nil {
			most = *f.Max
		}
		return []any{least, most, (least + most) / 2}
	}
	return []any{"x", strings.Repeat("x", LengthOf(f))}
}

// drawSchema draws a schema of up to three fields, or changes one.
func drawSchema(random *rand.Rand, from mapdata.ConfigSchema) mapdata.ConfigSchema {
	schema := mapdata.ConfigSchema{}
	for _, key := range []string{"a", "b", "c"} {
		i := slices.IndexFunc(from, func(f mapdata.ConfigField) bool { return f.Key == key })
		switch {
		case i >= 0 && random.IntN(3) > 0:
			schema = append(schema, from[i])
		case random.IntN(2) == 0:
			schema = append(schema, drawField(random, key))
		}
	}
	return schema
}

// configsOf returns all configs that combine values of a schema's fields, including blank values where they are allowed.
func configsOf(schema mapdata.ConfigSchema) []mapdata.AppConfig {
	configs := []mapdata.AppConfig{{}}
	for i := range schema {
		f := &schema[i]
		var next []mapdata.AppConfig
		for _, config := range configs {
			if !mustBeSet(f) {
				next = append(next, config)
			}
			for _, value := range valuesOf(f) {
				with := maps.Clone(config)
				with[f.Key] = value
				next = append(next, with)
			}
		}
		configs = next
	}
	return configs
}

// TestD16_6CompatibleMeansAccepted draws pairs of schemas. A compatible one accepts every config of the other; for each
// refusal, but those of a changed type and of a secret, there is a config that it would not accept.
func TestD16_6CompatibleMeansAccepted(t *testing.T) {
	random := rand.New(rand.NewPCG(16, 6))
	compatible, refused := 0, 0
	for range 3000 {
		approved := drawSchema(random, nil)
		next := drawSchema(random, approved)
		var errors mapdata.FieldErrors
		CheckCompatible("s", approved, next, &errors)
		lost := slices.IndexFunc(configsOf(approved), func(config mapdata.AppConfig) bool {
			if !accepts(t, approved, config) {
				t.Fatalf("the drawn config %v is not accepted by its own schema", config)
			}
			return !accepts(t, next, config)
		})
		strict := slices.ContainsFunc(codesOf(errors), func(code string) bool {
			return strings.Contains(code, ".secret ") || strings.Contains(code, ".type ")
		})
		switch {
		case len(errors) == 0 && lost >= 0:
			t.Fatalf("approved %s\nnext %s\nis called compatible, and refuses %v", show(approved), show(next), configsOf(approved)[lost])
		case len(errors) > 0 && lost < 0 && !strict:
			t.Fatalf("approved %s\nnext %s\nis refused for %v, and accepts every config", show(approved), show(next), errors)
		case len(errors) == 0:
			compatible++
		default:
			refused++
		}
	}
	if compatible < 300 || refused < 300 {
		t.Errorf("%d compatible and %d refused pairs: too few of one", compatible, refused)
	}
}

func show(schema mapdata.ConfigSchema) string {
	text, err := json.Marshal(schema)
	return fmt.Sprint(string(text), err)
}

// TestSampleIsAccepted checks that curators see an app with a config that a driver could have.
func TestSampleIsAccepted(t *testing.T) {
	random := rand.New(rand.NewPCG(16, 7))
	for range 2000 {
		schema := drawSchema(random, nil)
		if config := Sample(schema); !accepts(t, schema, config) {
			t.Fatalf("the schema %+v does not accept %v", schema, config)
		}
	}
}

// TestD16_6NamesFieldAndReason checks where each reason is reported.
func TestD16_6NamesFieldAndReason(t *testing.T) {
	parse := func(schema string) mapdata.ConfigSchema {
		var errors mapdata.FieldErrors
		parsed := ParseSchema("s", jsontext.Value(schema), &errors)
		if len(errors) > 0 {
			t.Fatal(schema, errors)
		}
		return parsed
	}
	approved := parse(`[{"key":"a","label":"L","type":"text","secret":true,"max_length":9},{"key":"b","label":"L","type":"number","min":1,"max":3},{"key":"c","label":"L","type":"select","options":["x","y"]},{"key":"d","label":"L","type":"text"}]`)
	next := parse(`[{"key":"a","label":"L","type":"text","required":true,"max_length":8},{"key":"b","label":"L","type":"number","min":2,"max":2},{"key":"c","label":"L","type":"select","options":["y","z"]},{"key":"d","label":"L","type":"url"},{"key":"e","label":"L","type":"text","required":true},{"key":"f","label":"L","type":"text","required":true,"default":"x"}]`)
	var errors mapdata.FieldErrors
	CheckCompatible("config_schema", approved, next, &errors)
	want := []string{
		"config_schema[0].required incompatible", "config_schema[0].secret incompatible", "config_schema[0].max_length incompatible",
		"config_schema[1].min incompatible", "config_schema[1].max incompatible", "config_schema[2].options incompatible",
		"config_schema[3].type incompatible", "config_schema[4].required incompatible",
	}
	if got := codesOf(errors); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

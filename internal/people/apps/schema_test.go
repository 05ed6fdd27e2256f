package apps

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/ground/mapdata"
)

// codesOf returns the fields and codes of errors.
func codesOf(errors mapdata.FieldErrors) (list []string) {
	for _, e := range errors {
		list = append(list, e.Field+" "+e.Code)
	}
	return list
}

func TestD16_4Schema(t *testing.T) {
	field := func(members string) string { return `[{"label":"L",` + members + `}]` }
	for _, tt := range []struct {
		schema string
		want   []string
	}{
		{`[]`, nil},
		{field(`"key":"a","type":"text"`), nil},
		{field(`"key":"a` + strings.Repeat("1", 31) + `","type":"text"`), nil},
		{field(`"key":"a","type":"text","secret":true,"required":true,"max_length":1000,"help":"h"`), nil},
		{field(`"key":"a","type":"number","min":1,"max":1,"step":0.5,"default":1`), nil},
		{field(`"key":"a","type":"select","options":["x","y"],"default":"y"`), nil},
		{field(`"key":"a","type":"boolean","default":false`), nil},
		{field(`"key":"a","type":"url","default":"https://example.org/"`), nil},
		{`{}`, []string{"config_schema invalid"}},
		{`[1]`, []string{"config_schema[0] invalid"}},
		{`[` + strings.Repeat(`{},`, 12) + `{}]`, []string{"config_schema too_many"}},
		{field(`"type":"text"`), []string{"config_schema[0].key missing"}},
		{field(`"key":"9a","type":"text"`), []string{"config_schema[0].key invalid"}},
		{field(`"key":"A","type":"text"`), []string{"config_schema[0].key invalid"}},
		{field(`"key":"a` + strings.Repeat("1", 32) + `","type":"text"`), []string{"config_schema[0].key invalid"}},
		{`[{"key":"a","label":"L","type":"text"},{"key":"a","label":"L","type":"text"}]`, []string{"config_schema[1].key duplicate"}},
		{`[{"key":"a","type":"text"}]`, []string{"config_schema[0].label missing"}},
		{`[{"key":"a","type":"text","label":"` + strings.Repeat("x", 61) + `"}]`, []string{"config_schema[0].label too_long"}},
		{field(`"key":"a","type":"text","help":"` + strings.Repeat("x", 201) + `"`), []string{"config_schema[0].help too_long"}},
		{field(`"key":"a","type":"words"`), []string{"config_schema[0].type invalid"}},
		{field(`"key":"a","type":"select"`), []string{"config_schema[0].options missing"}},
		{field(`"key":"a","type":"select","options":[]`), []string{"config_schema[0].options missing"}},
		{field(`"key":"a","type":"select","options":["x","x"]`), []string{"config_schema[0].options[1] duplicate"}},
		{field(`"key":"a","type":"select","options":["x"],"default":"y"`), []string{"config_schema[0].default invalid"}},
		{field(`"key":"a","type":"text","options":["x"]`), []string{"config_schema[0].options not_allowed"}},
		{field(`"key":"a","type":"boolean","secret":true`), []string{"config_schema[0].secret not_allowed"}},
		{field(`"key":"a","type":"text","secret":true,"default":"x"`), []string{"config_schema[0].default not_allowed"}},
		{field(`"key":"a","type":"text","secret":"yes"`), []string{"config_schema[0].secret invalid"}},
		{field(`"key":"a","type":"number","min":2,"max":1`), []string{"config_schema[0].max invalid"}},
		{field(`"key":"a","type":"number","step":0`), []string{"config_schema[0].step invalid"}},
		{field(`"key":"a","type":"number","min":1e16`), []string{"config_schema[0].min invalid"}},
		{field(`"key":"a","type":"number","min":2,"default":1`), []string{"config_schema[0].default invalid"}},
		{field(`"key":"a","type":"text","min":2`), []string{"config_schema[0].min not_allowed"}},
		{field(`"key":"a","type":"text","max_length":1001`), []string{"config_schema[0].max_length invalid"}},
		{field(`"key":"a","type":"text","max_length":1.5`), []string{"config_schema[0].max_length invalid"}},
		{field(`"key":"a","type":"text","default":""`), []string{"config_schema[0].default invalid"}},
		{field(`"key":"a","type":"text","pattern":"x"`), []string{"config_schema[0].pattern unknown_field"}},
		{`[{"key":"a","type":"text","label":"a\u202eb"}]`, []string{"config_schema[0].label invalid"}},
	} {
		var errors mapdata.FieldErrors
		ParseSchema("config_schema", jsontext.Value(tt.schema), &errors)
		if got := codesOf(errors); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.schema, got, tt.want)
		}
	}
}

func TestD16_5Config(t *testing.T) {
	var errors mapdata.FieldErrors
	schema := ParseSchema("config_schema", jsontext.Value(`[
		{"key":"name","label":"L","type":"text","required":true,"max_length":3},
		{"key":"token","label":"L","type":"text","secret":true},
		{"key":"far","label":"L","type":"number","min":-1.5,"max":2},
		{"key":"on","label":"L","type":"boolean","required":true,"default":true},
		{"key":"plug","label":"L","type":"select","options":["ccs","type 2"]},
		{"key":"site","label":"L","type":"url"}
	]`), &errors)
	if len(errors) > 0 {
		t.Fatal(errors)
	}
	stored := mapdata.AppConfig{"token": "s3cret"}
	for _, tt := range []struct {
		config string
		stored mapdata.AppConfig
		want   string // the config, or fields and codes
	}{
		{`{"name":" Ada ","token":"","far":null,"plug":"","site":" "}`, nil, `map[name:Ada]`},
		{`{"name":"Ada","token":"t","far":-1.5,"on":false,"plug":"type 2","site":"http://a/b"}`, nil, `map[far:-1.5 name:Ada on:false plug:type 2 site:http://a/b token:t]`},
		{`{"name":"Ada","token":"••••"}`, stored, `map[name:Ada token:s3cret]`},
		{`{"name":"Ada","token":"••••"}`, nil, `[config.token invalid]`},
		{`{"name":"Ada","token":""}`, stored, `map[name:Ada]`},
		{`{"name":" "}`, nil, `[config.name missing]`},
		{`{}`, nil, `[config.name missing]`},
		{`[]`, nil, `[config invalid]`},
		{`{"name":"Adam","far":2.1,"on":"yes","plug":"schuko","site":"ftp://a"}`, nil, `[config.name too_long config.far invalid config.on invalid config.plug invalid config.site invalid]`},
		{`{"name":7,"far":"2"}`, nil, `[config.name invalid config.far invalid]`},
		{`{"name":"a\u0000"}`, nil, `[config.name invalid]`},
		{`{"name":"a","site":"https://me:you@a/"}`, nil, `[config.site invalid]`},
		{`{"name":"a","lat":1}`, nil, `[config.lat unknown_field]`},
	} {
		var errors mapdata.FieldErrors
		config := ParseConfig("config", schema, jsontext.Value(tt.config), tt.stored, &errors)
		got := fmt.Sprint(config)
		if len(errors) > 0 {
			got = fmt.Sprint(codesOf(errors))
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.config, got, tt.want)
		}
	}
	config := mapdata.AppConfig{"name": "Ada", "token": "s3cret", "gone": "x"}
	if got := fmt.Sprint(Mask(schema, config)); got != "map[gone:x name:Ada token:••••]" || config["token"] != "s3cret" {
		t.Errorf("masked: %s", got)
	}
	if got := fmt.Sprint(Delivered(schema, config)); got != "map[name:Ada on:true token:s3cret]" {
		t.Errorf("delivered: %s", got)
	}
}

func TestD16_5ConfigIsBounded(t *testing.T) {
	list, config := "", ""
	for i := range 12 {
		key := string(rune('a' + i))
		list += `,{"key":"` + key + `","label":"L","type":"url"}`
		config += `,"` + key + `":"https://a/` + strings.Repeat("x", 1400) + `"`
	}
	var errors mapdata.FieldErrors
	schema := ParseSchema("config_schema", jsontext.Value("["+list[1:]+"]"), &errors)
	ParseConfig("config", schema, jsontext.Value("{"+config[1:]+"}"), nil, &errors)
	if got := codesOf(errors); !slices.Equal(got, []string{"config too_long"}) {
		t.Errorf("12 texts of 1 400 characters: %q", got)
	}
}

// FuzzParseSchema checks that no schema or config breaks the parsers, and that an accepted schema is compatible with itself.
func FuzzParseSchema(f *testing.F) {
	f.Add(`[{"key":"a","label":"L","type":"text","default":"x"}]`, `{"a":"y"}`)
	f.Add(`[{"key":"a","label":"L","type":"select","options":["x"],"min":1}]`, `{"a":1e999}`)
	f.Fuzz(func(t *testing.T, schema, config string) {
		s, c := jsontext.Value(schema), jsontext.Value(config)
		if !s.IsValid() || !c.IsValid() {
			return
		}
		var errors mapdata.FieldErrors
		parsed := ParseSchema("s", s, &errors)
		if len(errors) > 0 {
			return
		}
		if CheckCompatible("s", parsed, parsed, &errors); len(errors) > 0 {
			t.Errorf("%s is not compatible with itself: %v", schema, errors)
		}
		ParseConfig("c", parsed, c, nil, &errors)
	})
}

// TestSchemaJSONIsReadAgain checks that a schema that is written and parsed again stays the same.
func TestSchemaJSONIsReadAgain(t *testing.T) {
	const text = `[{"key":"a","label":"Ä \"b\"","type":"text","required":true,"help":"h","secret":true,"max_length":9},` +
		`{"key":"n","label":"N","type":"number","required":false,"default":2.5,"min":-1,"max":3,"step":0.5},` +
		`{"key":"s","label":"S","type":"select","required":false,"default":"x","options":["x","y"]},{"key":"b","label":"B","type":"boolean","required":false,"default":false}]`
	var errors mapdata.FieldErrors
	schema := ParseSchema("s", jsontext.Value(text), &errors)
	if got := string(SchemaJSON(schema)); got != text || len(errors) > 0 {
		t.Errorf("got %s, %v\nwant %s", got, errors, text)
	}
	if got := string(SchemaJSON(nil)); got != "[]" {
		t.Errorf("no schema is %s", got)
	}
}

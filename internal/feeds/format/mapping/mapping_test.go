package mapping_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/geometry"
	"wayside/internal/feeds/format/jsondoc"
	"wayside/internal/feeds/format/mapping"
	"wayside/internal/ground/geo"
)

// TestMistakes checks that each mistake in a mapping is found, and that its path is reported.
func TestMistakes(t *testing.T) {
	const good = `"id":"a","kind":"alert.police"`
	deep := strings.Repeat(`{"join":[`, 5) + `"a"` + strings.Repeat(`]}`, 5)
	tests := []struct{ mapping, path string }{
		{`[]`, ""},
		{`"a"`, ""},
		{`{`, ""},
		{`{` + good + `} x`, ""},
		{`{"id":"a","id":"b"}`, ""},
		{``, ""},
		{strings.Repeat(`{"id":`, 200) + strings.Repeat(`}`, 200), ""},
		{`{"kind":"alert.police"}`, "id"},
		{`{"id":"a"}`, "kind"},
		{`{"id":null,"kind":"alert.police"}`, "id"},
		{`{"id":"","kind":"alert.police"}`, "id"},
		{`{"id":7,"kind":"alert.police"}`, "id"},
		{`{` + good + `,"Id":"a"}`, "Id"},
		{`{` + good + `,"lat":"a"}`, "lat"},
		{`{` + good + `,"csv":{}}`, "csv"},
		{`{"id":{},"kind":"alert.police"}`, "id"},
		{`{"id":{"from":"a","value":1},"kind":"alert.police"}`, "id"},
		{`{"id":{"value":[1]},"kind":"alert.police"}`, "id.value"},
		{`{"id":{"from":{"from":"a"}},"kind":"alert.police"}`, "id.from"},
		{`{"id":{"value":"a","map":{}},"kind":"alert.police"}`, "id.map"},
		{`{"id":{"from":"a","else":1},"kind":"alert.police"}`, "id.else"},
		{`{"id":{"from":"a","with":"b"},"kind":"alert.police"}`, "id.with"},
		{`{"id":{"join":["a"],"part":1},"kind":"alert.police"}`, "id.part"},
		{`{"id":{"from":"a","as":"date"},"kind":"alert.police"}`, "id.as"},
		{`{"id":{"from":"a","eval":"1"},"kind":"alert.police"}`, "id.eval"},
		{`{"id":{"from":"a","part":0},"kind":"alert.police"}`, "id.part"},
		{`{"id":{"from":"a","part":1.5},"kind":"alert.police"}`, "id.part"},
		{`{"id":{"join":[]},"kind":"alert.police"}`, "id.join"},
		{`{"id":{"join":["a",{"join":[7]}]},"kind":"alert.police"}`, "id.join.1.join.0"},
		{`{"id":` + deep + `,"kind":"alert.police"}`, "id.join.0.join.0.join.0.join.0"},
		{`{"id":"a","kind":{"value":"alert"}}`, "kind.value"},
		{`{"id":"a","kind":{"from":"b","map":{"c":"alert.none"}}}`, "kind.map.c"},
		{`{"id":"a","kind":{"from":"b","map":{"c":"alert.police"},"else":"x"}}`, "kind.else"},
		{`{"id":"a","kind":{"from":"b","map":[]}}`, "kind.map"},
		{`{` + good + `,"where":[]}`, "where"},
		{`{` + good + `,"where":{"a":"b"}}`, "where.a"},
		{`{` + good + `,"where":{"a":[{}]}}`, "where.a.0"},
		{`{` + good + `,"properties":"a"}`, "properties"},
		{`{` + good + `,"properties":{"":"a"}}`, "properties."},
		{`{` + good + `,"properties":{"` + strings.Repeat("b", 65) + `":"a"}}`, "properties." + strings.Repeat("b", 65)},
		{`{` + good + `,"properties":{"street":{"from":"a","map":{"b":[]}}}}`, "properties.street.map.b"},
	}
	for _, tt := range tests {
		m, wrong := mapping.Parse([]byte(tt.mapping), false)
		if m != nil || len(wrong) == 0 || wrong[0].Field != tt.path || wrong[0].Code != "invalid_mapping" || wrong[0].Message == "" {
			t.Errorf("%.80s: %+v, want %q", tt.mapping, wrong, tt.path)
		}
	}
	for csv, path := range map[string]string{
		`{"delimiter":"ab"}`: "csv.delimiter", `{"delimiter":"\""}`: "csv.delimiter", `{"delimiter":"€"}`: "csv.delimiter", `{"delimiter":"\n"}`: "csv.delimiter", `{"decimal":";"}`: "csv.decimal",
		`{"encoding":"ebcdic"}`: "csv.encoding", `{"header":"yes"}`: "csv.header", `{"quote":"a"}`: "csv.quote", `[]`: "csv",
	} {
		_, wrong := mapping.Parse([]byte(`{`+good+`,"lat":"b","lng":"c","csv":`+csv+`}`), true)
		if len(wrong) != 1 || wrong[0].Field != path {
			t.Errorf("%s: %+v, want %q", csv, wrong, path)
		}
	}
	if _, wrong := mapping.Parse([]byte(`{`+good+`}`), true); len(wrong) != 2 || wrong[0].Field != "lat" || wrong[1].Field != "lng" {
		t.Errorf("a table without places: %+v", wrong)
	}
}

// convert converts one object by a mapping.
func convert(t *testing.T, text, object string, o format.Options) format.Item {
	t.Helper()
	m, wrong := mapping.Parse([]byte(text), false)
	if len(wrong) > 0 {
		t.Fatalf("%s: %+v", text, wrong)
	}
	v, err := jsondoc.New(strings.NewReader(object), nil).Value()
	if err != nil {
		t.Fatal(err)
	}
	c := mapping.Converter{Mapping: m, Options: &o}
	return c.Item(func(p *mapping.Path) mapping.Scalar { return mapping.ScalarOf(p.In(v)) }, func(bool) geometry.Place { return geometry.Place{Point: geo.Point{Lat: 1, Lng: 2}} })
}

// TestMappingsAreBounded checks that a mapping of 16 KiB with a property's name of 64 bytes is read, and that one with a byte more is refused.
func TestMappingsAreBounded(t *testing.T) {
	text := `{"id":"a","kind":"alert.police","properties":{"` + strings.Repeat("b", 64) + `":"a"}}`
	text += strings.Repeat(" ", 16<<10-len(text))
	if m, wrong := mapping.Parse([]byte(text), false); m == nil {
		t.Errorf("%d bytes: %+v", len(text), wrong)
	}
	if m, wrong := mapping.Parse([]byte(text+" "), false); m != nil || len(wrong) != 1 {
		t.Errorf("a byte more: %+v", wrong)
	}
}

// TestValues checks each form of a value as the property "x".
func TestValues(t *testing.T) {
	const object = `{"a":"word","n":40,"t":" 50.5 ","flag":true,"no":false,"null":null,"list":["p",{"q":"r"}],"o":{"b":"deep","c.d":"dotted"},"o.e":"at the top","yes":"YES",
		"tags":"<b>A1</b>  \u0000closed","wkt":"POINT (-46.7 23.5e)","empty":"","true":"true"}`
	tests := []struct{ value, want string }{
		{`"a"`, `"word"`},
		{`"n"`, `40`},
		{`"flag"`, `true`},
		{`"null"`, ``},
		{`"missing"`, ``},
		{`"o"`, ``},
		{`"list"`, ``},
		{`"empty"`, ``},
		{`"o.b"`, `"deep"`},
		{`"o.c.d"`, `"dotted"`},
		{`"o.e"`, `"at the top"`},
		{`"list.0"`, `"p"`},
		{`"list.1.q"`, `"r"`},
		{`"list.2"`, ``},
		{`"list.-1"`, ``},
		{`"a.b"`, ``},
		{`"."`, ``},
		{`"o..b"`, ``},
		{`"__proto__"`, ``},
		{`"x"`, ``},
		{`{"value":7}`, `7`},
		{`{"value":"seven"}`, `"seven"`},
		{`{"value":false}`, `false`},
		{`{"from":"a","map":{"word":"x"}}`, `"x"`},
		{`{"from":"n","map":{"40":4}}`, `4`},
		{`{"from":"a","map":{"other":"x"}}`, ``},
		{`{"from":"a","map":{"other":"x"},"else":1}`, `1`},
		{`{"from":"missing","map":{"":"x"}}`, ``},
		{`{"from":"missing","map":{},"else":"y"}`, `"y"`},
		{`{"from":"a","map":{"word":null},"else":"y"}`, ``},
		{`{"from":"flag","map":{"true":"on"}}`, `"on"`},
		{`{"join":["a","n"],"with":":"}`, `"word:40"`},
		{`{"join":["a","missing","o.b"],"with":", "}`, `"word, deep"`},
		{`{"join":["missing"]}`, ``},
		{`{"join":["a",{"join":["n","n"],"with":"-"}]}`, `"word40-40"`},
		{`{"from":"t","as":"number"}`, `50.5`},
		{`{"from":"a","as":"number"}`, ``},
		{`{"from":"n","as":"text"}`, `"40"`},
		{`{"value":"0x10","as":"number"}`, ``},
		{`{"value":"Inf","as":"number"}`, ``},
		{`{"from":"yes","as":"boolean"}`, `true`},
		{`{"value":"0","as":"boolean"}`, `false`},
		{`{"from":"a","as":"boolean"}`, ``},
		{`{"from":"flag","as":"boolean"}`, `true`},
		{`{"from":"n","as":"boolean"}`, ``},
		{`{"from":"tags"}`, `"A1 closed"`},
		{`{"from":"wkt","part":1}`, `-46.7`},
		{`{"from":"wkt","part":2}`, `23.5`},
		{`{"from":"wkt","part":3}`, ``},
		{`{"from":"a","part":1}`, ``},
	}
	for _, tt := range tests {
		item := convert(t, `{"id":{"value":"1"},"kind":"alert.police","properties":{"x":`+tt.value+`}}`, object, format.Options{})
		want := `"properties":{}`
		if tt.want != "" {
			want = `"properties":{"x":` + tt.want + `}`
		}
		if !strings.Contains(string(item.Row), want) || !json.Valid(item.Row) {
			t.Errorf("%s: %s, want %s", tt.value, item.Row, want)
		}
	}
}

func TestReasons(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	const mapped = `{"id":{"join":["a","b"],"with":"/"},"kind":{"from":"k","map":{"P":"alert.police","none":null}},"where":{"s":["open",1]},"starts_at":"from","ends_at":"to"}`
	tests := []struct {
		object string
		skip   format.Reason
		word   string
	}{
		{`{"a":1,"b":2,"k":"P","s":"open"}`, "", ""},
		{`{"a":1,"b":2,"k":"P","s":1}`, "", ""},
		{`{"a":1,"k":"X","s":"shut"}`, format.NoID, ""},
		{`{"a":1,"b":" ","k":"P","s":"open"}`, format.NoID, ""},
		{`{"a":"","b":"","k":"P"}`, format.NoID, ""},
		{`{"a":1,"b":2,"k":"X","s":"shut"}`, format.NotActive, "shut"},
		{`{"a":1,"b":2,"k":"X"}`, format.NotActive, ""},
		{`{"a":1,"b":2,"k":"X","s":"open","to":"2020-01-01"}`, format.NoKind, "X"},
		{`{"a":1,"b":2,"k":"none","s":"open"}`, format.NoKind, "none"},
		{`{"a":1,"b":2,"s":"open"}`, format.NoKind, ""},
		{`{"a":1,"b":2,"k":"P","s":"open","from":"2027-01-01","to":"2020-01-01"}`, format.Ended, ""},
		{`{"a":1,"b":2,"k":"P","s":"open","from":"2027-01-01"}`, format.NotYet, ""},
	}
	for _, tt := range tests {
		if item := convert(t, mapped, tt.object, format.Options{Now: now}); item.Skip != tt.skip || item.Word != tt.word {
			t.Errorf("%s: %+v", tt.object, item)
		}
	}
	if item := convert(t, `{"id":"a","kind":"k"}`, `{"a":1,"k":"camera.speed"}`, format.Options{}); !strings.Contains(string(item.Row), `"kind":"camera.speed"`) {
		t.Errorf("a document may say kinds itself: %+v", item)
	}
}

// TestTimesAndLifetimes checks the times of a mapping, in the row and beside it.
func TestTimesAndLifetimes(t *testing.T) {
	amsterdam, err := time.LoadLocation("Europe/Amsterdam")
	if err != nil {
		t.Skip(err)
	}
	o := format.Options{Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Zone: amsterdam}
	item := convert(t, `{"id":"a","kind":"alert.police","starts_at":"from","ends_at":"to","observed_at":"from","ttl_seconds":{"value":600},"properties":{"ends_at":"to"}}`,
		`{"a":1,"from":"2026-03-01T10:00:00","to":"2026-03-01T20:00:00"}`, o)
	want := `{"external_id":"1","kind":"alert.police","lat":1,"lng":2,"properties":{"starts_at":"2026-03-01T09:00:00Z","ends_at":"2026-03-01T20:00:00"},"observed_at":"2026-03-01T09:00:00Z","ttl_seconds":600}`
	if string(item.Row) != want || !item.EndsAt.Equal(time.Date(2026, 3, 1, 19, 0, 0, 0, time.UTC)) {
		t.Errorf("%s\n%s, ends %v", item.Row, want, item.EndsAt)
	}
}

func TestNetworksOfChargers(t *testing.T) {
	for _, tt := range []struct{ option, properties, want string }{
		{"", `"operator":"o"`, `"operator":"Acme Inc","network":"acme-inc"`},
		{"", `"operator":"o","network":"n"`, `"operator":"Acme Inc","network":"own"`},
		{"none", `"operator":"o","network":"n"`, `"operator":"Acme Inc"`},
		{"fixed", `"network":"n"`, `"network":"fixed"`},
	} {
		item := convert(t, `{"id":"a","kind":"charger.destination","properties":{`+tt.properties+`}}`, `{"a":1,"o":"Acme Inc","n":"own"}`, format.Options{ChargerNetwork: tt.option})
		if want := fmt.Sprintf(`"properties":{%s}`, tt.want); !strings.Contains(string(item.Row), want) {
			t.Errorf("%q, %s: %s, want %s", tt.option, tt.properties, item.Row, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"id":"a","kind":{"from":"b","map":{"c":"alert.police"},"else":null},"where":{"a":[1]},"properties":{"x":{"join":["a",{"value":1}]}}}`, `{"a":1,"b":"c"}`)
	f.Add(`{"id":{"from":"a","part":2},"kind":"camera.speed","lat":"a","lng":"b","csv":{"decimal":","}}`, `{"a":"1 2"}`)
	f.Fuzz(func(t *testing.T, text, object string) {
		for _, table := range []bool{false, true} {
			m, wrong := mapping.Parse([]byte(text), table)
			if (m == nil) != (len(wrong) > 0) {
				t.Fatalf("%+v", wrong)
			}
			v, err := jsondoc.New(strings.NewReader(object), nil).Value()
			if m == nil || err != nil {
				continue
			}
			c := mapping.Converter{Mapping: m, Options: new(format.Options)}
			item := c.Item(func(p *mapping.Path) mapping.Scalar { return mapping.ScalarOf(p.In(v)) }, func(bool) geometry.Place { return geometry.Place{} })
			if item.Skip == "" && !json.Valid(item.Row) {
				t.Errorf("%s", item.Row)
			}
		}
	})
}

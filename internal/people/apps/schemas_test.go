package apps

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"wayside/internal/ground/mapdata"
)

const schemaBase = "https://wayside.test/v2/schemas/"

// compile compiles one of the schemas, which refer to each other by their files' names.
func compile(t *testing.T, file string) *jsonschema.Schema {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	files, err := filepath.Glob("schemas/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no schemas", err)
	}
	for _, path := range files {
		text, ok := JSONSchema(filepath.Base(path))
		if !ok {
			t.Fatalf("%s is not embedded", path)
		}
		parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(path, err)
		}
		if err := compiler.AddResource(schemaBase+filepath.Base(path), parsed); err != nil {
			t.Fatal(path, err)
		}
	}
	schema, err := compiler.Compile(schemaBase + file)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// accepted returns the error with which a schema refuses a value, encoded as it would be sent; nil: it accepts the value.
func accepted(t *testing.T, schema *jsonschema.Schema, value any) error {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return schema.Validate(parsed)
}

// TestMessagesFitTheirSchemas checks the messages that the tests of the page in the car send (web/overlay/src/apps), and changed
// messages that no page sends.
func TestMessagesFitTheirSchemas(t *testing.T) {
	text, err := os.ReadFile("testdata/messages.json")
	if err != nil {
		t.Fatal(err)
	}
	var messages struct{ Context, Ready []map[string]any }
	if err := json.Unmarshal(text, &messages); err != nil {
		t.Fatal(err)
	}
	context, ready := compile(t, "app-context.json"), compile(t, "app-ready.json")
	if len(messages.Context) == 0 || len(messages.Ready) == 0 {
		t.Fatal("no messages")
	}
	for _, m := range messages.Context {
		if err := accepted(t, context, m); err != nil {
			t.Errorf("%v: %v", m, err)
		}
	}
	for _, m := range messages.Ready {
		if err := accepted(t, ready, m); err != nil {
			t.Errorf("%v: %v", m, err)
		}
	}
	first := messages.Context[0]
	if err := accepted(t, context, with(first, map[string]any{"weather": "rain"})); err != nil {
		t.Errorf("a member that a later version adds is refused: %v", err)
	}
	for _, change := range []map[string]any{
		{"type": "ready"},
		{"theme": "dusk"},
		{"units": nil},
		{"uiSize": 11},
		{"uiSize": 1.5},
		{"slot": "pins"},
		{"size": map[string]any{"width": 1}},
		{"device": map[string]any{"kind": "plane", "input": "touch"}},
		{"config": map[string]any{"a": nil}},
		{"config": map[string]any{"a": ""}},
		{"config": map[string]any{"A": 1}},
	} {
		if accepted(t, context, with(first, change)) == nil {
			t.Errorf("accepted: %v", change)
		}
	}
	for _, m := range []map[string]any{{}, {"type": "context"}, {"type": "ready", "again": true}} {
		if accepted(t, ready, m) == nil {
			t.Errorf("accepted: %v", m)
		}
	}
}

func with(m, change map[string]any) map[string]any {
	changed := maps.Clone(m)
	maps.Copy(changed, change)
	maps.DeleteFunc(changed, func(name string, value any) bool { return name != "units" && value == nil })
	return changed
}

// beyondSchema lists rules that a schema cannot express: the service checks more.
var beyondSchema = []string{".key duplicate", ".default invalid", ".default too_long", ".max invalid", "same_site", "domains", "feed_ids[", "_url invalid", " unreachable"}

// TestSubmissionSchemaAcceptsWhatTheServiceAccepts changes a valid submission at random, and checks that schema and service agree.
func TestSubmissionSchemaAcceptsWhatTheServiceAccepts(t *testing.T) {
	schema, r := compile(t, "app-submission.json"), rules(t, "https://map.example.com")
	random := rand.New(rand.NewPCG(16, 12))
	counts := map[bool]int{}
	for range 4000 {
		change := drawChange(random)
		doc := map[string]any{
			"name": "Trip", "summary": "A log", "description": "Keeps a log.", "kinds": []string{"widget"},
			"widget_url": "https://apps.example.org/trip", "website_url": "https://example.org/", "cost": map[string]any{"model": "free"},
		}
		maps.Copy(doc, change)
		maps.DeleteFunc(doc, func(_ string, value any) bool { return value == nil })
		members := make(map[string]jsontext.Value)
		for name, value := range doc {
			text, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			members[name] = text
		}
		var errors mapdata.FieldErrors
		r.ParseSubmission(members, &errors)
		codes := codesOf(errors)
		fits := accepted(t, schema, doc)
		more := slices.DeleteFunc(slices.Clone(codes), func(code string) bool {
			return slices.ContainsFunc(beyondSchema, func(part string) bool { return strings.Contains(code, part) })
		})
		switch {
		case len(codes) == 0 && fits != nil:
			t.Fatalf("the service accepts %v\nthe schema does not: %v", change, fits)
		case len(more) > 0 && fits == nil:
			t.Fatalf("the schema accepts %v\nthe service does not: %q", change, codes)
		}
		counts[fits == nil]++
	}
	if counts[true] < 300 || counts[false] < 300 {
		t.Errorf("%d fit, %d do not: too few of one", counts[true], counts[false])
	}
}

// drawChange draws one or two members of a submission, valid or invalid.
func drawChange(random *rand.Rand) map[string]any {
	long := func(n int) string { return strings.Repeat("ä", n) }
	feed := "0192d3e4-5f60-7a1b-8c2d-3e4f5a6b7c8d"
	values := map[string][]any{
		"name":        {"A", long(60), long(61), "", " ", 1},
		"summary":     {"A", long(140), long(141), "", nil},
		"description": {"", "a\nb", long(4000), long(4001), nil},
		"changelog":   {"a", long(1000), long(1001), nil, true},
		"kinds":       {[]string{"widget", "notifications"}, []string{"pins"}, []string{}, []string{"game"}, []string{"widget", "widget"}, nil, "widget"},
		"feed_ids":    {[]string{feed}, []string{}, []string{feed, feed}, nil},
		"widget_url":  {"https://apps.example.org/", "ftp://apps.example.org/", "", nil, 1},
		"website_url": {"https://example.org/x", "http://example.org/", nil},
		"privacy_url": {"https://example.org/x", "http://example.org/", nil},
		"domains":     {[]string{"api.example.org"}, []string{}, []any{1}, []string{"a.example.org", "a.example.org"}},
		"cost": {
			map[string]any{"model": "donation", "note": long(200)},
			map[string]any{"model": "donation", "note": long(201)},
			map[string]any{"model": "barter"},
			map[string]any{"model": "free", "price": 1},
			nil, "free",
		},
		"owner": {"me"},
	}
	names := slices.Sorted(maps.Keys(values))
	change := map[string]any{}
	if random.IntN(2) == 0 {
		change["config_schema"] = drawRawSchema(random)
	}
	for range random.IntN(3) {
		name := names[random.IntN(len(names))]
		change[name] = values[name][random.IntN(len(values[name]))]
	}
	return change
}

// drawRawSchema draws a config_schema as a developer may write it: members of one field that fit its type or not.
func drawRawSchema(random *rand.Rand) []any {
	field := map[string]any{"key": "a", "label": "L", "type": []string{"text", "number", "boolean", "select", "url", "date"}[random.IntN(6)]}
	values := map[string][]any{
		"key": {"a1_", "9a", "A", strings.Repeat("a", 32), strings.Repeat("a", 33)}, "label": {" ", strings.Repeat("ä", 61)}, "required": {true, "yes"},
		"secret": {true, false}, "default": {"x", 2, true}, "help": {"h", strings.Repeat("ä", 201)}, "options": {[]string{"x", "y"}, []string{}, []string{"x", "x"}},
		"min": {1, "1"}, "max": {3}, "step": {1, 0, -1}, "max_length": {5, 0, 1.5, 1001, 2048, 2049}, "color": {"red"},
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if random.IntN(12) == 0 {
			field[name] = values[name][random.IntN(len(values[name]))]
		}
	}
	if field["type"] == "select" && random.IntN(4) > 0 {
		field["options"] = []string{"x", "y"}
	}
	return []any{field}
}

// TestReportsFitTheirSchema checks that the service and the schema agree on reports.
func TestReportsFitTheirSchema(t *testing.T) {
	schema := compile(t, "app-report.json")
	check := func(result string) map[string]any {
		return map[string]any{"check": "ready", "seen": "1 ready after 120 ms", "result": result}
	}
	good := map[string]any{
		"version": 1, "url": "https://apps.example.org/trip", "made_by": "bench", "made_at": "2026-11-22T12:00:00.000Z", "passed": true,
		"checks": []any{check("pass")},
	}
	for _, tt := range []struct {
		change map[string]any
		want   []string
	}{
		{nil, nil},
		{map[string]any{"checks": []any{check("pass"), check("fail")}, "passed": false, "made_by": "command"}, nil},
		{map[string]any{"version": 2}, []string{"report.version invalid"}},
		{map[string]any{"url": strings.Repeat("x", 2049)}, []string{"report.url invalid"}},
		{map[string]any{"made_by": "me", "made_at": "today"}, []string{"report.made_by invalid", "report.made_at invalid"}},
		{map[string]any{"passed": nil}, []string{"report.passed missing"}},
		{map[string]any{"checks": nil}, []string{"report.checks missing"}},
		{map[string]any{"checks": []any{}}, []string{"report.checks invalid"}},
		{map[string]any{"checks": slices.Repeat([]any{check("pass")}, 41)}, []string{"report.checks too_many"}},
		{map[string]any{"checks": []any{check("maybe")}}, []string{"report.checks[0].result invalid"}},
		{map[string]any{"checks": []any{with(check("pass"), map[string]any{"check": "Ready?"})}}, []string{"report.checks[0].check invalid"}},
		{map[string]any{"checks": []any{with(check("pass"), map[string]any{"seen": strings.Repeat("x", 501)})}}, []string{"report.checks[0].seen too_long"}},
		{map[string]any{"checks": []any{with(check("pass"), map[string]any{"more": 1})}}, []string{"report.checks[0].more unknown_field"}},
		{map[string]any{"note": "x"}, []string{"report.note unknown_field"}},
	} {
		doc := with(good, tt.change)
		text, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		var errors mapdata.FieldErrors
		parsed := ParseReport("report", text, &errors)
		if got := codesOf(errors); !slices.Equal(got, tt.want) || (parsed == nil) != (tt.want != nil) {
			t.Errorf("%v: got %q, want %q", tt.change, got, tt.want)
		}
		if fits := accepted(t, schema, doc); (fits == nil) != (tt.want == nil) {
			t.Errorf("%v: the schema says %v", tt.change, fits)
		}
	}
	// Rules that a schema cannot express.
	for change, want := range map[string]string{
		`"passed":false`:              "report.passed invalid",
		`"url":"javascript:alert(1)"`: "report.url invalid",
	} {
		name, _, _ := strings.Cut(change, ":")
		text, err := json.Marshal(with(good, map[string]any{strings.Trim(name, `"`): nil}))
		if err != nil {
			t.Fatal(err)
		}
		var errors mapdata.FieldErrors
		ParseReport("report", jsontext.Value("{"+change+","+string(text[1:])), &errors)
		if got := codesOf(errors); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q", change, got)
		}
	}
}

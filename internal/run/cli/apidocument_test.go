package cli

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// apiDocument is openapi.json as it is served with apps.
type apiDocument struct {
	root  map[string]any
	lines []string
}

// documentLines lists routes, their parameters, requests and answers, and the fields of all of them. A test of httpapi holds that
// openapi.json has the routes of the service and no others.
func documentLines(t *testing.T) []string {
	t.Helper()
	d := &apiDocument{}
	for _, name := range []string{"openapi.json", "openapi-apps.json"} {
		text, err := os.ReadFile(filepath.Join("../../http/httpapi", name))
		if err != nil {
			t.Fatal(err)
		}
		var part map[string]any
		if err := json.Unmarshal(text, &part); err != nil {
			t.Fatal(err)
		}
		d.root = object(joined(d.root, part))
	}
	for path, operations := range object(d.root["paths"]) {
		shared, _ := object(operations)["parameters"].([]any)
		for method, operation := range object(operations) {
			if method == "parameters" {
				continue
			}
			d.operation(strings.ToUpper(method)+" "+path, object(operation), shared)
		}
	}
	for name, schema := range object(object(d.root["components"])["schemas"]) {
		d.schema("schema", name, schema, "")
	}
	return d.lines
}

// joined returns a document with what another one adds to it, as the service joins them.
func joined(a, b any) any {
	switch more := b.(type) {
	case map[string]any:
		both := maps.Clone(more)
		for name, value := range object(a) {
			both[name] = value
			if added, ok := more[name]; ok {
				both[name] = joined(value, added)
			}
		}
		return both
	case []any:
		return slices.Concat(list(a), more)
	default:
		return b
	}
}

func (d *apiDocument) add(format string, args ...any) {
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

// operation lists one route.
func (d *apiDocument) operation(name string, operation map[string]any, shared []any) {
	d.add("route %s", name)
	own, _ := operation["parameters"].([]any)
	for _, parameter := range slices.Concat(shared, own) {
		p := d.resolve(parameter)
		required, _ := p["required"].(bool)
		d.schema("parameter", fmt.Sprintf("%s %s", name, p["name"]), p["schema"], fmt.Sprintf(", in %s%s", p["in"], orRequired(required)))
	}
	for media, content := range object(d.resolve(operation["requestBody"])["content"]) {
		d.schema("request", name+" "+media, object(content)["schema"], "")
	}
	for status, answer := range object(operation["responses"]) {
		contents := object(d.resolve(answer)["content"])
		for media, content := range contents {
			d.schema("answer", name+" "+status+" "+media, object(content)["schema"], "")
		}
		if len(contents) == 0 {
			d.add("answer %s %s: nothing", name, status)
		}
	}
}

// schema lists what has a schema, the values that it may have, and its members.
func (d *apiDocument) schema(what, name string, v any, suffix string) {
	s := object(v)
	d.add("%s %s: %s%s", what, name, typeOf(s), suffix)
	if values, ok := s["enum"].([]any); ok {
		for _, value := range values {
			d.add("value %s = %v", name, value)
		}
	}
	if value, ok := s["const"]; ok {
		d.add("value %s = %v", name, value)
	}
	d.members(name, s)
}

// members lists the members of a schema that is written where it is used.
func (d *apiDocument) members(name string, s map[string]any) {
	required, _ := s["required"].([]any)
	for member, schema := range object(s["properties"]) {
		d.schema("field", name+"."+member, schema, orRequired(slices.Contains(required, any(member))))
	}
	for keyword, suffix := range map[string]string{"items": "[]", "additionalProperties": ".*"} {
		if inner := object(s[keyword]); inner != nil {
			d.schema("field", name+suffix, inner, "")
		}
	}
	for _, keyword := range []string{"oneOf", "anyOf", "prefixItems"} {
		for i, inner := range list(s[keyword]) {
			d.schema("field", fmt.Sprintf("%s{%d}", name, i), inner, "")
		}
	}
}

// typeOf returns the type of a schema, or the name of the one that it refers to.
func typeOf(s map[string]any) string {
	if ref, ok := s["$ref"].(string); ok {
		return ref[strings.LastIndexByte(ref, '/')+1:]
	}
	switch t := s["type"].(type) {
	case string:
		if items := object(s["items"]); t == "array" && items != nil {
			return typeOf(items) + "[]"
		}
		return t
	case []any:
		var all []string
		for _, one := range t {
			all = append(all, fmt.Sprint(one))
		}
		return strings.Join(all, " or ")
	}
	for _, keyword := range []string{"oneOf", "anyOf"} {
		var all []string
		for _, one := range list(s[keyword]) {
			all = append(all, typeOf(object(one)))
		}
		if len(all) > 0 {
			return strings.Join(all, " or ")
		}
	}
	if value, ok := s["const"]; ok {
		return fmt.Sprintf("%T", value)
	}
	return "anything"
}

// resolve follows a reference into components.
func (d *apiDocument) resolve(v any) map[string]any {
	o := object(v)
	ref, ok := o["$ref"].(string)
	if !ok {
		return o
	}
	at := d.root
	for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		at = object(at[part])
	}
	return at
}

func object(v any) map[string]any {
	o, _ := v.(map[string]any)
	return o
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// metricLines lists the metrics that the source of the service registers, with their types and labels. Some are registered only where
// there is a cache, a region or a remote engine, and so the source is read and not /metrics.
func metricLines(t *testing.T) []string {
	t.Helper()
	set := token.NewFileSet()
	var all []string
	registered, written := map[string]bool{}, map[string]bool{}
	for _, pattern := range []string{"../../ground/telemetry/*.go", "../service/*.go"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(set, path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if literal, ok := n.(*ast.BasicLit); ok && regexp.MustCompile(`^"wayside_[a-z_]+"$`).MatchString(literal.Value) {
					written[literal.Value] = true
				}
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				if name, line := metricOf(call); line != "" {
					registered[name] = true
					all = append(all, line)
				}
				return true
			})
		}
	}
	if missing := without(slices.Collect(maps.Keys(written)), slices.Collect(maps.Keys(registered))); len(missing) > 0 {
		t.Errorf("%q look like metrics, and this test does not know how they are registered", missing)
	}
	return all
}

// metricOf returns the quoted name and the line of the metric that a call registers; empty for other calls.
func metricOf(call *ast.CallExpr) (name, line string) {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) == 0 {
		return "", ""
	}
	kinds := map[string]string{
		"Gauge": "gauge", "NewGauge": "gauge", "Counter": "counter", "NewCounterVec": "counter", "NewHistogramVec": "histogram", "Info": "gauge",
	}
	kind, ok := kinds[selector.Sel.Name]
	if !ok {
		return "", ""
	}
	first := call.Args[0]
	var labels []string
	if options, ok := first.(*ast.CompositeLit); ok {
		for _, element := range options.Elts {
			pair, ok := element.(*ast.KeyValueExpr)
			if !ok {
				continue
			}
			switch key, _ := pair.Key.(*ast.Ident); key.Name {
			case "Name":
				first = pair.Value
			case "ConstLabels":
				labels = append(labels, texts(pair.Value, true)...)
			}
		}
	}
	literal, ok := first.(*ast.BasicLit)
	if !ok {
		return "", ""
	}
	for _, argument := range call.Args[1:] {
		if made, ok := argument.(*ast.CompositeLit); ok {
			labels = append(labels, texts(made, false)...)
		}
	}
	plain, err := strconv.Unquote(literal.Value)
	if err != nil || !strings.HasPrefix(plain, "wayside_") {
		return "", ""
	}
	return literal.Value, fmt.Sprintf("metric %s: %s, labels %v", plain, kind, labels)
}

// texts returns the texts of a list, or of the keys of a map.
func texts(v ast.Expr, keys bool) []string {
	made, _ := v.(*ast.CompositeLit)
	if made == nil {
		return nil
	}
	var all []string
	for _, element := range made.Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok && keys {
			element = pair.Key
		}
		if literal, ok := element.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			all = append(all, strings.Trim(literal.Value, `"`))
		}
	}
	return all
}

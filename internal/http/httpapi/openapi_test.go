package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi"
)

// document is openapi.json, ready for validation.
type document struct {
	root     map[string]any            // as written
	patterns map[string]*regexp.Regexp // of addresses, by their path
	mu       sync.Mutex
	compiler *jsonschema.Compiler // of a copy in which objects allow only the listed members
}

const documentURL = "https://wayside.test/openapi.json"

var loadDocument = sync.OnceValues(func() (*document, error) {
	text, err := httpapi.DescribeAPI(true)
	if err != nil {
		return nil, err
	}
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	strict, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	closeObjects(strict)
	d := &document{root: root.(map[string]any), patterns: map[string]*regexp.Regexp{}, compiler: jsonschema.NewCompiler()}
	for path := range d.object("paths") {
		pattern := regexp.MustCompile(`\\\{[^}]*\\\}`).ReplaceAllString(regexp.QuoteMeta(path), "[^/]+")
		d.patterns[path] = regexp.MustCompile("^" + pattern + "$")
	}
	d.compiler.DefaultDraft(jsonschema.Draft2020)
	d.compiler.AssertFormat()
	return d, d.compiler.AddResource(documentURL, strict)
})

func openDocument(t *testing.T) *document {
	t.Helper()
	d, err := loadDocument()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// closeObjects forbids members that are not in the document, so that handlers cannot send undocumented ones. The promise to clients
// is weaker: they must ignore unknown members.
func closeObjects(v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, object := v["properties"].(map[string]any); object && v["type"] == "object" && v["additionalProperties"] == nil {
			v["additionalProperties"] = false
		}
		for _, member := range v {
			closeObjects(member)
		}
	case []any:
		for _, item := range v {
			closeObjects(item)
		}
	}
}

// schema compiles the schema at a JSON pointer.
func (d *document) schema(pointer string) (*jsonschema.Schema, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.compiler.Compile(documentURL + "#" + pointer)
}

// pointer joins the parts of a JSON pointer, as a URL's fragment.
func pointer(parts ...string) string {
	escape := strings.NewReplacer("~", "~0", "/", "~1", "%", "%25", "{", "%7B", "}", "%7D", " ", "%20", "[", "%5B", "]", "%5D")
	var out strings.Builder
	for _, p := range parts {
		out.WriteString("/" + escape.Replace(p))
	}
	return out.String()
}

// at follows members from the document's root, resolving references. It returns the value, or nil if there is none, and the path
// where it ended.
func (d *document) at(parts ...string) (any, []string) {
	var v any = d.root
	for i, part := range parts {
		object, _ := v.(map[string]any)
		v = object[part]
		if inner, ok := v.(map[string]any); ok {
			if ref, ok := inner["$ref"].(string); ok {
				target := strings.Split(strings.TrimPrefix(ref, "#/"), "/")
				return d.at(append(target, parts[i+1:]...)...)
			}
		}
	}
	return v, parts
}

func (d *document) object(parts ...string) map[string]any {
	v, _ := d.at(parts...)
	object, _ := v.(map[string]any)
	return object
}

// checkAgainstSchema fails the test unless openapi.json documents this status of the route, and this body for it. path
// is the route's pattern as in openapi.json, such as /v2/feeds/{id}.
func checkAgainstSchema(t *testing.T, method, path string, status int, body []byte) {
	t.Helper()
	d := openDocument(t)
	operation := []string{"paths", path, strings.ToLower(method)}
	if d.object(operation...) == nil {
		t.Errorf("openapi.json has no %s %s", method, path)
		return
	}
	promised, where := d.at(append(operation, "responses", strconv.Itoa(status))...)
	if promised == nil {
		t.Errorf("openapi.json does not say that %s %s answers %d (%s)", method, path, status, body)
		return
	}
	content := d.object(append(where, "content")...)
	if len(content) == 0 {
		if len(body) > 0 {
			t.Errorf("%s %s: %d has a body, openapi.json says none: %s", method, path, status, body)
		}
		return
	}
	features := bytes.HasPrefix(body, []byte(`{"type":"FeatureCollection"`))
	for media := range content {
		if !strings.HasSuffix(media, "json") {
			return // pages and drawings have no schema
		}
		if len(content) > 1 && features != (media == "application/geo+json") {
			continue // there is another form of this answer
		}
		schema, err := d.schema(pointer(append(where, "content", media, "schema")...))
		if err != nil {
			t.Fatalf("%s %s: schema of %d: %v", method, path, status, err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
		if err != nil {
			t.Errorf("%s %s: %d is not JSON: %v: %s", method, path, status, err, body)
			return
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%s %s: %d is not as openapi.json says: %#v\n%s", method, path, status, err, body)
		}
	}
}

// checkAnswer compares a response with openapi.json: route, status, media type, headers and body, unless the body is
// compressed. Responses of undocumented paths, such as a 404, pass.
func checkAnswer(t *testing.T, resp *http.Response, body []byte) {
	t.Helper()
	d := openDocument(t)
	method, path := resp.Request.Method, d.match(resp.Request.URL.Path)
	switch {
	case resp.StatusCode == http.StatusMethodNotAllowed, path == "" && (resp.StatusCode == http.StatusNotFound || isPage(resp)):
		return
	case path == "":
		t.Errorf("openapi.json knows no path for %s", resp.Request.URL.Path)
		return
	case method == http.MethodHead:
		method = http.MethodGet
	case resp.Header.Get("Content-Encoding") == "":
		checkAgainstSchema(t, method, path, resp.StatusCode, body)
	}
	answer := []string{"paths", path, strings.ToLower(method), "responses", strconv.Itoa(resp.StatusCode)}
	content := d.object(append(answer, "content")...)
	media, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if _, ok := content[media]; !ok && len(content) > 0 {
		t.Errorf("%s %s: %d is %q (%v), openapi.json says %v", method, path, resp.StatusCode, media, err, slices.Collect(maps.Keys(content)))
	}
	for name := range d.object(append(answer, "headers")...) {
		required, _ := d.at(append(answer, "headers", name, "required")...)
		if required == true && resp.Header.Get(name) == "" {
			t.Errorf("%s %s: %d lacks the header %s", method, path, resp.StatusCode, name)
		}
	}
}

// isPage reports whether a response is for people: a page, its style sheet, or a redirect to a page.
func isPage(resp *http.Response) bool {
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	script := strings.HasSuffix(resp.Request.URL.Path, "/changed") // a request of a page's script
	return media == "text/html" || media == "text/css" || resp.StatusCode == http.StatusSeeOther || script
}

// match finds the path of the document for a URL; paths without parameters take precedence.
func (d *document) match(address string) string {
	paths := d.object("paths")
	if _, ok := paths[address]; ok {
		return address
	}
	for path, pattern := range d.patterns {
		if pattern.MatchString(address) {
			return path
		}
	}
	return ""
}

// TestOpenAPIDocumentIsConsistent checks the rules of OpenAPI 3.1 that JSON Schema cannot express.
func TestOpenAPIDocumentIsConsistent(t *testing.T) {
	d := openDocument(t)
	if d.root["openapi"] != "3.1.0" {
		t.Errorf("openapi is %v", d.root["openapi"])
	}
	used := map[string]bool{}
	d.walk(d.root, func(where string, v map[string]any) {
		ref, ok := v["$ref"].(string)
		if !ok {
			return
		}
		used[ref] = true
		parts := strings.Split(strings.TrimPrefix(ref, "#/"), "/")
		if target, _ := d.at(parts...); !strings.HasPrefix(ref, "#/") || target == nil {
			t.Errorf("%s: $ref %s leads nowhere", where, ref)
		}
		if len(v) > 1 {
			t.Errorf("%s: members beside a $ref are ignored by some tools", where)
		}
	})
	for kind := range d.object("components") {
		for name := range d.object("components", kind) {
			if kind != "securitySchemes" && !used["#/components/"+kind+"/"+name] {
				t.Errorf("components/%s/%s is used by nothing", kind, name)
			}
		}
	}
	tags := map[any]bool{}
	for _, tag := range d.root["tags"].([]any) {
		tags[tag.(map[string]any)["name"]] = true
	}
	ids := map[any]string{}
	for path := range d.object("paths") {
		for method := range d.object("paths", path) {
			name := method + " " + path
			op := d.object("paths", path, method)
			if other, twice := ids[op["operationId"]]; twice || op["operationId"] == nil {
				t.Errorf("%s: operationId %v, which is %q too", name, op["operationId"], other)
			}
			ids[op["operationId"]] = name
			if own, _ := op["tags"].([]any); len(own) != 1 || !tags[own[0]] {
				t.Errorf("%s: tags %v; the page needs exactly one that is listed", name, op["tags"])
			}
			d.checkOperation(t, path, name, op)
		}
	}
}

func (d *document) checkOperation(t *testing.T, path, name string, op map[string]any) {
	t.Helper()
	if op["summary"] == nil || op["description"] == nil || op["security"] == nil {
		t.Errorf("%s lacks a summary, a description or its security", name)
	}
	security, _ := op["security"].([]any)
	for _, way := range security {
		for scheme := range way.(map[string]any) {
			if d.object("components", "securitySchemes", scheme) == nil {
				t.Errorf("%s: no security scheme %s", name, scheme)
			}
		}
	}
	if _, ok := op["responses"].(map[string]any)["500"]; !ok {
		t.Errorf("%s does not say 500", name)
	}
	for status, response := range op["responses"].(map[string]any) {
		if number, err := strconv.Atoi(status); err != nil || http.StatusText(number) == "" {
			t.Errorf("%s: status %s", name, status)
		}
		if d.deref(response)["description"] == nil {
			t.Errorf("%s: %s has no description", name, status)
		}
	}
	inPath := []string{}
	parameters, _ := op["parameters"].([]any)
	for _, p := range parameters {
		parameter := d.deref(p)
		if parameter["schema"] == nil || parameter["description"] == nil || parameter["name"] == nil {
			t.Errorf("%s: parameter %v lacks its name, schema or description", name, parameter["name"])
		}
		switch parameter["in"] {
		case "path":
			inPath = append(inPath, fmt.Sprint("{", parameter["name"], "}"))
			if parameter["required"] != true {
				t.Errorf("%s: %v in the path is not required", name, parameter["name"])
			}
		case "query", "header":
		default:
			t.Errorf("%s: %v is in %v", name, parameter["name"], parameter["in"])
		}
	}
	if want := regexp.MustCompile(`\{[^}]*\}`).FindAllString(path, -1); !slices.Equal(want, inPath) {
		t.Errorf("%s: parameters %v describe the path", name, inPath)
	}
}

// walk calls visit for every object of the document.
func (d *document) walk(v any, visit func(where string, object map[string]any)) {
	var into func(where string, v any)
	into = func(where string, v any) {
		switch v := v.(type) {
		case map[string]any:
			visit(where, v)
			for name, member := range v {
				into(where+"/"+name, member)
			}
		case []any:
			for i, item := range v {
				into(where+"/"+strconv.Itoa(i), item)
			}
		}
	}
	into("", v)
}

func (d *document) deref(v any) map[string]any {
	object, _ := v.(map[string]any)
	if ref, ok := object["$ref"].(string); ok {
		return d.object(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
	}
	return object
}

// TestOpenAPISchemasAreValid validates every schema against JSON Schema 2020-12 and every example against its schema,
// and requires descriptions.
func TestOpenAPISchemasAreValid(t *testing.T) {
	d := openDocument(t)
	for name := range d.object("components", "schemas") {
		schema, err := d.schema(pointer("components", "schemas", name))
		if err != nil {
			t.Errorf("schema %s: %v", name, err)
			continue
		}
		if schema.Description == "" {
			t.Errorf("schema %s says nothing", name)
		}
		for member, s := range schema.Properties {
			if s.Description == "" && (s.Ref == nil || s.Ref.Description == "") {
				t.Errorf("schema %s: %s says nothing", name, member)
			}
		}
		for _, required := range schema.Required {
			if schema.Properties[required] == nil {
				t.Errorf("schema %s requires %s, which it does not describe", name, required)
			}
		}
	}
	examples := 0
	d.walk(d.root, func(where string, v map[string]any) {
		example, ok := v["example"]
		if !ok || v["schema"] == nil {
			return
		}
		examples++
		parts := strings.Split(strings.TrimPrefix(where, "/"), "/")
		if i := slices.Index(parts, "paths"); i == 0 { // a path contains slashes itself
			rest := strings.TrimPrefix(where, "/paths/")
			for path := range d.object("paths") {
				for method := range d.object("paths", path) {
					if tail, ok := strings.CutPrefix(rest, path+"/"+method+"/"); ok {
						parts = append([]string{"paths", path, method}, splitContent(tail)...)
					}
				}
			}
		} else {
			parts = splitContent(strings.TrimPrefix(where, "/"))
		}
		schema, err := d.schema(pointer(append(parts, "schema")...))
		if err != nil {
			t.Errorf("%s: %v", where, err)
			return
		}
		if text, ok := example.(string); ok && strings.HasPrefix(text, "$") {
			return // a variable of the shell stands for a secret
		}
		if err := schema.Validate(example); err != nil {
			t.Errorf("%s: the example is not as its schema says: %v", where, err)
		}
	})
	if examples < 20 {
		t.Errorf("only %d examples were checked", examples)
	}
}

// splitContent splits a pointer with media types, which contain a slash.
func splitContent(where string) []string {
	marked := regexp.MustCompile(`content/([a-z]+)/([a-z+]+)`).ReplaceAllString(where, "content/$1\x00$2")
	parts := strings.Split(marked, "/")
	for i := range parts {
		parts[i] = strings.ReplaceAll(parts[i], "\x00", "/")
	}
	return parts
}

// TestRowErrorCodes compares the documented codes of row errors with D3.10.
func TestRowErrorCodes(t *testing.T) {
	d := openDocument(t)
	codes, _ := d.at("components", "schemas", "RowError", "properties", "code", "enum")
	want := []any{
		"row_too_large", "not_an_object", "duplicate_member", "missing_external_id", "invalid_external_id", "duplicate_external_id", "missing_kind",
		"unknown_kind", "missing_lat", "invalid_lat", "missing_lng", "invalid_lng", "missing_properties", "invalid_properties",
		"properties_too_large", "invalid_ttl_seconds", "invalid_observed_at", "feed_full",
	}
	if got, _ := codes.([]any); !slices.Equal(got, want) {
		t.Errorf("codes %v, want %v", got, want)
	}
}

// TestReadsMatchOpenAPI sends real requests and compares the responses with the document.
func TestReadsMatchOpenAPI(t *testing.T) {
	s := newReadService(t, nil)
	s.addFeed(testFeed(1, nil), testEntity(t, testFeed(1, nil), "a", "alert.police", 52.37, 4.9), testEntity(t, testFeed(1, nil), "b", "camera.speed", 52.37, 4.9))
	s.catalogue.Apply([]mapdata.FeedChange{{Revision: 1, Feed: testFeed(1, nil), FeedID: testFeed(1, nil).ID, Attempts: []mapdata.Attempt{{At: start, OK: true, Outcome: mapdata.OutcomeOK}}}}).Publish()
	tests := []struct {
		name, path string
		status     int
	}{
		{"near", "/v2/entities/nearby?lat=52.37&lng=4.9&radius=500", 200},
		{"near, cut", "/v2/entities/nearby?lat=52.37&lng=4.9&radius=500&limit=1", 200},
		{"near, nothing", "/v2/entities/nearby?lat=0&lng=0&radius=500", 200},
		{"near, as GeoJSON", "/v2/entities/nearby?lat=52.37&lng=4.9&radius=500&f=geojson", 200},
		{"near, as GeoJSON, cut", "/v2/entities/nearby?lat=52.37&lng=4.9&radius=500&limit=1&f=geojson&geometry=line", 200},
		{"near, all wrong", "/v2/entities/nearby?bbox=1&lat=x&sources=y&kinds=z", 400},
		{"sources", "/v2/sources", 200},
		{"kinds", "/v2/kinds", 200},
		{"icon", "/v2/icons/alert.police.svg", 200},
		{"no icon", "/v2/icons/alert.police.png", 404},
		{"alive", "/healthz", 200},
		{"ready", "/readyz", 200},
		{"document", "/v2/openapi.json", 200},
		{"page", "/docs", 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			resp, body := s.get(tt.path)
			if resp.StatusCode != tt.status {
				t.Fatalf("%s: %s", resp.Status, body)
			}
			checkAnswer(t, resp, body)
			if tag := resp.Header.Get("Etag"); tag != "" {
				resp, body := s.get(tt.path, "If-None-Match", tag)
				if resp.StatusCode != http.StatusNotModified {
					t.Errorf("with its own ETag: %s", resp.Status)
				}
				checkAnswer(t, resp, body)
			}
		})
	}
}

// TestRefusalsMatchOpenAPI does the same for limits and for a service that is not ready.
func TestRefusalsMatchOpenAPI(t *testing.T) {
	s := newReadService(t, func(deps *httpapi.Deps) {
		deps.Limits.GuestReads = 1
		deps.Ready = func() error { return mapdata.ErrUnavailable }
	})
	for _, path := range []string{"/v2/sources", "/v2/sources", "/v2/kinds", "/v2/entities/nearby", "/readyz"} {
		resp, body := s.get(path)
		checkAnswer(t, resp, body)
		s.advance(time.Millisecond)
	}
	resp, _ := s.get("/v2/kinds")
	if resp.StatusCode != http.StatusTooManyRequests {
		t.Errorf("the limit did not hold: %s", resp.Status)
	}
}

// TestOpenAPIDocumentIsServed compares the served document with the file.
func TestOpenAPIDocumentIsServed(t *testing.T) {
	resp, body := newReadService(t, nil).get("/v2/openapi.json")
	text, err := os.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(body, text) || !json.Valid(body) {
		t.Error("what is served is not the file")
	}
	if got := resp.Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type %q", got)
	}
}

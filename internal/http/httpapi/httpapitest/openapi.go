package httpapitest

import (
	"bytes"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"wayside/internal/http/httpapi"
)

// Document is openapi.json, ready for validation.
type Document struct {
	Root     map[string]any            // as written
	patterns map[string]*regexp.Regexp // of addresses, by their path
	mu       sync.Mutex
	compiler *jsonschema.Compiler // of a copy in which objects allow only the listed members
}

const documentURL = "https://wayside.test/openapi.json"

var loadDocument = sync.OnceValues(func() (*Document, error) {
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
	d := &Document{Root: root.(map[string]any), patterns: map[string]*regexp.Regexp{}, compiler: jsonschema.NewCompiler()}
	for path := range d.Object("paths") {
		pattern := regexp.MustCompile(`\\\{[^}]*\\\}`).ReplaceAllString(regexp.QuoteMeta(path), "[^/]+")
		d.patterns[path] = regexp.MustCompile("^" + pattern + "$")
	}
	d.compiler.DefaultDraft(jsonschema.Draft2020)
	d.compiler.AssertFormat()
	return d, d.compiler.AddResource(documentURL, strict)
})

// OpenDocument returns openapi.json.
func OpenDocument(t *testing.T) *Document {
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

// Schema compiles the schema at a JSON pointer.
func (d *Document) Schema(pointer string) (*jsonschema.Schema, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.compiler.Compile(documentURL + "#" + pointer)
}

// Pointer joins the parts of a JSON pointer, as a URL's fragment.
func Pointer(parts ...string) string {
	escape := strings.NewReplacer("~", "~0", "/", "~1", "%", "%25", "{", "%7B", "}", "%7D", " ", "%20", "[", "%5B", "]", "%5D")
	var out strings.Builder
	for _, p := range parts {
		out.WriteString("/" + escape.Replace(p))
	}
	return out.String()
}

// At follows members from the document's root, resolving references. It returns the value, or nil if there is none, and the path
// where it ended.
func (d *Document) At(parts ...string) (any, []string) {
	var v any = d.Root
	for i, part := range parts {
		object, _ := v.(map[string]any)
		v = object[part]
		if inner, ok := v.(map[string]any); ok {
			if ref, ok := inner["$ref"].(string); ok {
				target := strings.Split(strings.TrimPrefix(ref, "#/"), "/")
				return d.At(append(target, parts[i+1:]...)...)
			}
		}
	}
	return v, parts
}

// Object returns the object at a place in the document.
func (d *Document) Object(parts ...string) map[string]any {
	v, _ := d.At(parts...)
	object, _ := v.(map[string]any)
	return object
}

// CheckAgainstSchema fails the test unless openapi.json documents this status of the route, and this body for it. path
// is the route's pattern as in openapi.json, such as /v2/feeds/{id}.
func CheckAgainstSchema(t *testing.T, method, path string, status int, body []byte) {
	t.Helper()
	d := OpenDocument(t)
	operation := []string{"paths", path, strings.ToLower(method)}
	if d.Object(operation...) == nil {
		t.Errorf("openapi.json has no %s %s", method, path)
		return
	}
	promised, where := d.At(append(operation, "responses", strconv.Itoa(status))...)
	if promised == nil {
		t.Errorf("openapi.json does not say that %s %s answers %d (%s)", method, path, status, body)
		return
	}
	content := d.Object(append(where, "content")...)
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
		schema, err := d.Schema(Pointer(append(where, "content", media, "schema")...))
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

// CheckAnswer compares a response with openapi.json: route, status, media type, headers and body, unless the body is
// compressed. Responses of undocumented paths, such as a 404, pass.
func CheckAnswer(t *testing.T, resp *http.Response, body []byte) {
	t.Helper()
	d := OpenDocument(t)
	method, path := resp.Request.Method, d.Match(resp.Request.URL.Path)
	switch {
	case resp.StatusCode == http.StatusMethodNotAllowed, path == "" && (resp.StatusCode == http.StatusNotFound || isPage(resp)):
		return
	case path == "":
		t.Errorf("openapi.json knows no path for %s", resp.Request.URL.Path)
		return
	case method == http.MethodHead:
		method = http.MethodGet
	case resp.Header.Get("Content-Encoding") == "":
		CheckAgainstSchema(t, method, path, resp.StatusCode, body)
	}
	answer := []string{"paths", path, strings.ToLower(method), "responses", strconv.Itoa(resp.StatusCode)}
	content := d.Object(append(answer, "content")...)
	media, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if _, ok := content[media]; !ok && len(content) > 0 {
		t.Errorf("%s %s: %d is %q (%v), openapi.json says %v", method, path, resp.StatusCode, media, err, slices.Collect(maps.Keys(content)))
	}
	for name := range d.Object(append(answer, "headers")...) {
		required, _ := d.At(append(answer, "headers", name, "required")...)
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

// Match finds the path of the document for a URL; paths without parameters take precedence.
func (d *Document) Match(address string) string {
	paths := d.Object("paths")
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

// CheckOperation checks that the description of an operation is complete.
func (d *Document) CheckOperation(t *testing.T, path, name string, op map[string]any) {
	t.Helper()
	if op["summary"] == nil || op["description"] == nil || op["security"] == nil {
		t.Errorf("%s lacks a summary, a description or its security", name)
	}
	security, _ := op["security"].([]any)
	for _, way := range security {
		for scheme := range way.(map[string]any) {
			if d.Object("components", "securitySchemes", scheme) == nil {
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

// Walk calls visit for every object of the document.
func (d *Document) Walk(v any, visit func(where string, object map[string]any)) {
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

func (d *Document) deref(v any) map[string]any {
	object, _ := v.(map[string]any)
	if ref, ok := object["$ref"].(string); ok {
		return d.Object(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
	}
	return object
}

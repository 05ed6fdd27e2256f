package apps_test

import (
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"wayside/internal/http/httpapi/httpapitest"
)

// TestD16SchemasAreServed compiles the schemas from their addresses, as a developer's tool does, because they refer to each other.
func TestD16SchemasAreServed(t *testing.T) {
	s := newAppTest(t)
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(loaderFunc(func(url string) (any, error) {
		got := s.guest.Send(http.MethodGet, strings.TrimPrefix(url, "https://map.test"), "").Want(t, http.StatusOK)
		if kind := got.Header.Get("Content-Type"); kind != "application/schema+json" {
			t.Errorf("%s is %q", url, kind)
		}
		return jsonschema.UnmarshalJSON(strings.NewReader(got.Body))
	}))
	files, err := os.ReadDir("../../../people/apps/schemas")
	if err != nil || len(files) != 5 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if _, err := compiler.Compile("https://map.test/v2/schemas/" + file.Name()); err != nil {
			t.Errorf("%s: %v", file.Name(), err)
		}
	}
	compiled, err := compiler.Compile("https://map.test/v2/schemas/app-submission.json")
	if err != nil {
		t.Fatal(err)
	}
	var sent any
	if err := json.Unmarshal([]byte(httpapitest.Submission(t, nil)), &sent); err != nil {
		t.Fatal(err)
	}
	if err := compiled.Validate(sent); err != nil {
		t.Errorf("what the service accepts in tests: %v", err)
	}
	s.guest.Send(http.MethodGet, "/v2/schemas/nothing.json", "").Want(t, http.StatusNotFound)
}

type loaderFunc func(url string) (any, error)

func (f loaderFunc) Load(url string) (any, error) { return f(url) }

// TestD16ReportIsAttached checks that a report is stored with its version, and that an invalid report is refused.
func TestD16ReportIsAttached(t *testing.T) {
	s := newAppTest(t)
	report := map[string]any{
		"version": 1, "url": "https://apps.example.org/charging", "made_by": "command", "made_at": "2026-11-22T12:00:00Z", "passed": false,
		"checks": []any{map[string]any{"check": "ready", "seen": `no {"type":"ready"} within 10 s`, "result": "fail"}},
	}
	id := s.developer.SubmitApp(map[string]any{"report": report})
	var list struct {
		Versions []struct{ Report map[string]any }
	}
	s.curator.Send(http.MethodGet, "/v2/apps/"+id+"/versions", "").Want(t, http.StatusOK).Decode(t, &list)
	if got := list.Versions[0].Report; got["made_by"] != "command" || got["passed"] != false {
		t.Errorf("the curator sees %v", got)
	}
	report["passed"] = true
	bad := s.developer.Send(http.MethodPost, "/v2/apps", httpapitest.Submission(t, map[string]any{"report": report})).Want(t, http.StatusUnprocessableEntity)
	if got, want := bad.FieldErrors(t), []string{"report.passed invalid"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	s.developer.Send(http.MethodPost, "/v2/apps", httpapitest.Submission(t, map[string]any{"report": strings.Repeat("x", 10)})).Want(t, http.StatusUnprocessableEntity)
}

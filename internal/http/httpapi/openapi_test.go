package httpapi_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
	"wayside/internal/http/httpapi/public"
)

// TestOpenAPIDocumentIsConsistent checks the rules of OpenAPI 3.1 that JSON Schema cannot express.
func TestOpenAPIDocumentIsConsistent(t *testing.T) {
	d := httpapitest.OpenDocument(t)
	if d.Root["openapi"] != "3.1.0" {
		t.Errorf("openapi is %v", d.Root["openapi"])
	}
	used := map[string]bool{}
	d.Walk(d.Root, func(where string, v map[string]any) {
		ref, ok := v["$ref"].(string)
		if !ok {
			return
		}
		used[ref] = true
		parts := strings.Split(strings.TrimPrefix(ref, "#/"), "/")
		if target, _ := d.At(parts...); !strings.HasPrefix(ref, "#/") || target == nil {
			t.Errorf("%s: $ref %s leads nowhere", where, ref)
		}
		if len(v) > 1 {
			t.Errorf("%s: members beside a $ref are ignored by some tools", where)
		}
	})
	for kind := range d.Object("components") {
		for name := range d.Object("components", kind) {
			if kind != "securitySchemes" && !used["#/components/"+kind+"/"+name] {
				t.Errorf("components/%s/%s is used by nothing", kind, name)
			}
		}
	}
	tags := map[any]bool{}
	for _, tag := range d.Root["tags"].([]any) {
		tags[tag.(map[string]any)["name"]] = true
	}
	ids := map[any]string{}
	for path := range d.Object("paths") {
		for method := range d.Object("paths", path) {
			name := method + " " + path
			op := d.Object("paths", path, method)
			if other, twice := ids[op["operationId"]]; twice || op["operationId"] == nil {
				t.Errorf("%s: operationId %v, which is %q too", name, op["operationId"], other)
			}
			ids[op["operationId"]] = name
			if own, _ := op["tags"].([]any); len(own) != 1 || !tags[own[0]] {
				t.Errorf("%s: tags %v; the page needs exactly one that is listed", name, op["tags"])
			}
			d.CheckOperation(t, path, name, op)
		}
	}
}

// TestOpenAPISchemasAreValid validates every schema against JSON Schema 2020-12 and every example against its schema,
// and requires descriptions.
func TestOpenAPISchemasAreValid(t *testing.T) {
	d := httpapitest.OpenDocument(t)
	for name := range d.Object("components", "schemas") {
		schema, err := d.Schema(httpapitest.Pointer("components", "schemas", name))
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
	d.Walk(d.Root, func(where string, v map[string]any) {
		example, ok := v["example"]
		if !ok || v["schema"] == nil {
			return
		}
		examples++
		parts := strings.Split(strings.TrimPrefix(where, "/"), "/")
		if i := slices.Index(parts, "paths"); i == 0 { // a path contains slashes itself
			rest := strings.TrimPrefix(where, "/paths/")
			for path := range d.Object("paths") {
				for method := range d.Object("paths", path) {
					if tail, ok := strings.CutPrefix(rest, path+"/"+method+"/"); ok {
						parts = append([]string{"paths", path, method}, splitContent(tail)...)
					}
				}
			}
		} else {
			parts = splitContent(strings.TrimPrefix(where, "/"))
		}
		schema, err := d.Schema(httpapitest.Pointer(append(parts, "schema")...))
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
	d := httpapitest.OpenDocument(t)
	codes, _ := d.At("components", "schemas", "RowError", "properties", "code", "enum")
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
	s := httpapitest.NewReadService(t, nil)
	s.AddFeed(httpapitest.Feed(1, nil), httpapitest.Entity(t, httpapitest.Feed(1, nil), "a", "alert.police", 52.37, 4.9), httpapitest.Entity(t, httpapitest.Feed(1, nil), "b", "camera.speed", 52.37, 4.9))
	s.Catalogue.Apply([]mapdata.FeedChange{{Revision: 1, Feed: httpapitest.Feed(1, nil), FeedID: httpapitest.Feed(1, nil).ID, Attempts: []mapdata.Attempt{{At: httpapitest.Start, OK: true, Outcome: mapdata.OutcomeOK}}}}).Publish()
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
			resp, body := s.Get(tt.path)
			if resp.StatusCode != tt.status {
				t.Fatalf("%s: %s", resp.Status, body)
			}
			httpapitest.CheckAnswer(t, resp, body)
			if tag := resp.Header.Get("Etag"); tag != "" {
				resp, body := s.Get(tt.path, "If-None-Match", tag)
				if resp.StatusCode != http.StatusNotModified {
					t.Errorf("with its own ETag: %s", resp.Status)
				}
				httpapitest.CheckAnswer(t, resp, body)
			}
		})
	}
}

// TestRefusalsMatchOpenAPI does the same for limits and for a service that is not ready.
func TestRefusalsMatchOpenAPI(t *testing.T) {
	s := httpapitest.NewReadService(t, func(deps *public.Deps) {
		deps.Limits.GuestReads = 1
		deps.Ready = func() error { return mapdata.ErrUnavailable }
	})
	for _, path := range []string{"/v2/sources", "/v2/sources", "/v2/kinds", "/v2/entities/nearby", "/readyz"} {
		resp, body := s.Get(path)
		httpapitest.CheckAnswer(t, resp, body)
		s.Advance(time.Millisecond)
	}
	resp, _ := s.Get("/v2/kinds")
	if resp.StatusCode != http.StatusTooManyRequests {
		t.Errorf("the limit did not hold: %s", resp.Status)
	}
}

// TestOpenAPIDocumentIsServed compares the served document with the file.
func TestOpenAPIDocumentIsServed(t *testing.T) {
	resp, body := httpapitest.NewReadService(t, nil).Get("/v2/openapi.json")
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

package httpapi_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"wayside/internal/http/httpapi"
	"wayside/internal/http/httpapi/httpapitest"
	"wayside/internal/http/httpapi/public"
)

var (
	deprecatedSince = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	deprecatedUntil = time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC)
)

// deprecateForTest deprecates an endpoint, a parameter and a field.
func deprecateForTest() []httpapi.Deprecation {
	return []httpapi.Deprecation{
		{
			Routes: []string{"GET /v2/kinds"}, Pointer: "/paths/~1v2~1kinds/get",
			Since: deprecatedSince, Sunset: deprecatedUntil, Link: "/docs#op-getKinds",
		},
		{
			Routes: []string{"GET /v2/entities/nearby", "GET /v2/alerts"}, Parameter: "layers", Pointer: "/components/parameters/layers",
			Since: deprecatedSince, Sunset: deprecatedUntil, Link: "/docs#op-getNearby",
		},
		{
			Routes: []string{"GET /v2/sources"}, Pointer: "/components/schemas/Source/properties/default_on",
			Since: deprecatedSince, Sunset: deprecatedUntil, Link: "/docs#schema-Source",
		},
	}
}

// TestDeprecation deprecates an endpoint, a parameter and a field, and removes the deprecation again (D12.8).
func TestDeprecation(t *testing.T) {
	const nearby = "/v2/entities/nearby?lat=1&lng=1&radius=5"
	paths := []struct {
		path string
		link string // empty: not deprecated
	}{
		{"/v2/kinds", "/docs#op-getKinds"},
		{nearby, ""},
		{nearby + "&layers=a", "/docs#op-getNearby"},
		{nearby + "&layers=a&lat=2", "/docs#op-getNearby"}, // an error has the headers too
		{"/v2/sources", "/docs#schema-Source"},
		{"/v2/openapi.json", ""},
	}
	for name, deprecated := range map[string][]httpapi.Deprecation{"deprecated": deprecateForTest(), "taken back": httpapi.Deprecated()} {
		s := httpapitest.NewReadService(t, func(d *public.Deps) { d.Deprecated = deprecated })
		for _, p := range paths {
			resp, _ := s.Get(p.path)
			var want []string
			if name == "deprecated" && p.link != "" {
				want = []string{"@1796083200", "Mon, 01 Mar 2027 00:00:00 GMT", "<" + p.link + `>; rel="deprecation"; type="text/html"`}
			}
			got := slices.Concat(resp.Header["Deprecation"], resp.Header["Sunset"], resp.Header["Link"])
			if !slices.Equal(got, want) {
				t.Errorf("%s: %s carries %q, want %q", name, p.path, got, want)
			}
		}
		_, text := s.Get("/v2/openapi.json")
		marks := strings.Count(string(text), `"deprecated": true`)
		_, page := s.Get("/docs")
		shown := strings.Count(string(page), "Deprecated: it may be gone from 2027-03-01 on.")
		if name == "deprecated" && (marks != 3 || shown < 3) || name == "taken back" && (marks != 0 || shown != 0) {
			t.Errorf("%s: %d marks in openapi.json, %d on its page", name, marks, shown)
		}
		var document map[string]any
		if err := json.Unmarshal(text, &document); err != nil {
			t.Errorf("%s: openapi.json: %v", name, err)
		}
	}
}

// TestDeprecationsAreComplete checks the table itself: every named object exists, and clients have 90 days (Versioning 2).
func TestDeprecationsAreComplete(t *testing.T) {
	routes := map[string]bool{}
	d := httpapitest.OpenDocument(t)
	for path := range d.Object("paths") {
		for method := range d.Object("paths", path) {
			routes[strings.ToUpper(method)+" "+path] = true
		}
	}
	for _, entry := range slices.Concat(httpapi.Deprecated(), deprecateForTest()) {
		if entry.Sunset.Sub(entry.Since) < 90*24*time.Hour {
			t.Errorf("%s: clients have less than 90 days", entry.Pointer)
		}
		if len(entry.Routes) == 0 || entry.Link == "" {
			t.Errorf("%s: no routes or no link", entry.Pointer)
		}
		for _, route := range entry.Routes {
			if !routes[route] {
				t.Errorf("%s: there is no route %s", entry.Pointer, route)
			}
		}
	}
	wrong := []httpapi.Deprecation{{Routes: []string{"GET /v2/kinds"}, Pointer: "/paths/~1v2~1nothing/get", Since: deprecatedSince, Sunset: deprecatedUntil}}
	s := httpapitest.NewReadService(t, func(d *public.Deps) { d.Deprecated = wrong })
	if resp, _ := s.Get("/v2/openapi.json"); resp.StatusCode != http.StatusInternalServerError {
		t.Errorf("a pointer to nothing: %d", resp.StatusCode)
	}
}

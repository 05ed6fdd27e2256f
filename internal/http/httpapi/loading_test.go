package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"wayside/internal/http/httpapi/httpapitest"
	"wayside/internal/http/httpapi/public"
)

// TestReadsWhileLoading sends every read before the index is loaded, and checks that it gets 503 with a Retry-After, as
// openapi.json documents.
func TestReadsWhileLoading(t *testing.T) {
	s := httpapitest.NewReadService(t, func(d *public.Deps) { d.Loaded = func() bool { return false } })
	d := httpapitest.OpenDocument(t)
	for _, path := range []string{
		"/v2/entities/nearby?lat=1&lng=1&radius=5", "/v2/entities/feed:x:v1:YQ", "/v2/alerts?lat=1&lng=1&speed=0",
		"/v2/stream?lat=1&lng=1&radius=5", "/v2/sources", "/v2/sources/incidents/entities", "/v2/kinds",
	} {
		resp, body := s.Get(path)
		if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") != "5" {
			t.Errorf("%s: %d, Retry-After %q, %s", path, resp.StatusCode, resp.Header.Get("Retry-After"), body)
		}
		path, _, _ = strings.Cut(path, "?")
		if d.Object("paths", d.Match(path), "get", "responses", "503") == nil {
			t.Errorf("%s: openapi.json does not say 503", path)
		}
	}
	if resp, _ := s.Get("/healthz"); resp.StatusCode != http.StatusOK {
		t.Errorf("healthz: %d", resp.StatusCode)
	}
}

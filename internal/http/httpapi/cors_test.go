package httpapi_test

import (
	"net/http"
	"testing"

	"wayside/internal/http/httpapi/httpapitest"
	"wayside/internal/http/httpapi/public"
)

// TestCORS checks D12.9: CORS is off unless the operator configures the origin, and never allows cookies.
func TestCORS(t *testing.T) {
	const path, friend = "/v2/sources", "https://friend.example.org"
	options := func(s *httpapitest.ReadService, origin string) *http.Response {
		t.Helper()
		req, err := http.NewRequest(http.MethodOptions, s.Server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Origin", origin)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp
	}
	closed := httpapitest.NewReadService(t, nil)
	if resp, _ := closed.Get(path, "Origin", friend); resp.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("pages of other origins may read by default")
	}
	if resp := options(closed, friend); resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("a preflight is answered by default: %s", resp.Status)
	}
	open := httpapitest.NewReadService(t, func(d *public.Deps) { d.CORSOrigins = []string{friend} })
	for origin, want := range map[string]string{friend: friend, "https://foe.example.org": "", "null": ""} {
		resp, _ := open.Get(path, "Origin", origin)
		if got := resp.Header.Get("Access-Control-Allow-Origin"); got != want || resp.Header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s may read as %q", origin, got)
		}
		resp = options(open, origin)
		if got := resp.Header.Get("Access-Control-Allow-Origin"); got != want || resp.StatusCode != http.StatusNoContent {
			t.Errorf("preflight of %s: %s, %q", origin, resp.Status, got)
		}
	}
}

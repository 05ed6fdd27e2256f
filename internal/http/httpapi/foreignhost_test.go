package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"wayside/internal/http/httpapi/httpapitest"
	"wayside/internal/http/httpapi/public"
)

// TestForeignHostsAreRefused sends requests under foreign names, as a page does that resolves its own name to this service, and
// checks that they are refused (F21).
func TestForeignHostsAreRefused(t *testing.T) {
	s := httpapitest.NewReadService(t, func(d *public.Deps) { d.Hosts = []string{"alias.example.org"} })
	for host, want := range map[string]int{
		"wayside.test": 200, "WAYSIDE.test.:8080": 200, "alias.example.org": 200, "alias.example.org:81": 200,
		"localhost:1234": 200, "127.0.0.1:1": 200, "[::1]:80": 200, "192.168.1.7": 200,
		"evil.example.org": 421, "wayside.test.evil.example.org": 421, "127.0.0.1.evil.example.org": 421, "localhost.evil.example.org:80": 421,
	} {
		if got := s.GetAs(host, "/v2/kinds").StatusCode; got != want {
			t.Errorf("%s: %d, want %d", host, got, want)
		}
	}
	if got := s.GetAs("evil.example.org", "/healthz").StatusCode; got != http.StatusOK {
		t.Errorf("a probe under another name: %d", got)
	}
	for name, hosts := range map[string][]string{"not checked": nil, "all": {"*"}} {
		open := httpapitest.NewReadService(t, func(d *public.Deps) { d.Hosts = hosts })
		if got := open.GetAs("other.example.org", "/v2/kinds").StatusCode; got != http.StatusOK {
			t.Errorf("%s: %d", name, got)
		}
	}
}

// TestStrictTransportSecurity checks that a service whose public address is HTTPS sends Strict-Transport-Security for a year, with
// every answer (F13).
func TestStrictTransportSecurity(t *testing.T) {
	for base, want := range map[string]string{"https://map.example.org": "max-age=31536000", "http://wayside.test": ""} {
		s := httpapitest.NewReadService(t, func(d *public.Deps) { d.BaseURL = base })
		for _, path := range []string{"/v2/kinds", "/about", "/docs", "/nothing", "/v2/entities/nearby"} {
			if resp, _ := s.Get(path); resp.Header.Get("Strict-Transport-Security") != want {
				t.Errorf("%s%s: %q", base, path, resp.Header.Get("Strict-Transport-Security"))
			}
		}
	}
}

// TestDataHasPolicy checks that answers other than pages have a Content-Security-Policy too.
func TestDataHasPolicy(t *testing.T) {
	s := httpapitest.NewReadService(t, nil)
	for _, path := range []string{"/v2/kinds", "/v2/sources", "/v2/openapi.json", "/v2/entities/nearby?lat=1&lng=1&radius=5", "/v2/entities/nearby", "/nothing", "/healthz"} {
		resp, _ := s.Get(path)
		if got := resp.Header.Get("Content-Security-Policy"); got != "default-src 'none'; frame-ancestors 'none'" {
			t.Errorf("%s: %q", path, got)
		}
	}
}

// TestVaryWithCORS checks that no shared cache returns the answer to one page to another page (F14).
func TestVaryWithCORS(t *testing.T) {
	const friend = "https://friend.example.org"
	s := httpapitest.NewReadService(t, func(d *public.Deps) { d.CORSOrigins = []string{friend} })
	for _, path := range []string{
		"/v2/sources", "/v2/kinds", "/v2/sources/incidents/entities", "/v2/entities/nearby?lat=1&lng=1&radius=5", "/v2/entities/nearby",
		"/v2/alerts?lat=1&lng=1&speed=0",
	} {
		for _, origin := range []string{friend, "https://foe.example.org", ""} {
			resp, _ := s.Get(path, "Origin", origin)
			if vary := strings.Join(resp.Header.Values("Vary"), ", "); !strings.Contains(vary, "Origin") {
				t.Errorf("%s from %q varies by %q", path, origin, vary)
			}
		}
	}
}

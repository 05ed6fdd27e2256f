package apps_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"wayside/internal/http/httpapi/httpapitest"
)

// TestD16BenchFramesWhatItWasAskedFor checks that the bench's policy lets the browser frame one origin, which is checked like that
// of a submission, and that its page frames nothing without the visitor's action, because a stranger may have made the link.
func TestD16BenchFramesWhatItWasAskedFor(t *testing.T) {
	s := newAppTest(t)
	bench := func(address string, status int) httpapitest.Reply {
		t.Helper()
		return s.developer.Send(http.MethodGet, "/apps/bench?url="+url.QueryEscape(address), "").Want(t, status)
	}
	if got := s.developer.Send(http.MethodGet, "/apps/bench", "").Want(t, http.StatusOK); strings.Contains(got.Header.Get("Content-Security-Policy"), "frame-src") {
		t.Error("the bench frames something before it was asked to")
	}
	for address, origin := range map[string]string{
		"https://apps.example.org/charging?x=1": "https://apps.example.org", "https://apps.example.org:8443/": "https://apps.example.org:8443",
		"http://localhost:9000/": "http://localhost:9000", " https://apps.example.org/ ": "https://apps.example.org",
	} {
		got := bench(address, http.StatusOK)
		policy := got.Header.Get("Content-Security-Policy")
		if !strings.HasSuffix(policy, "; frame-src "+origin) || !strings.Contains(policy, "frame-ancestors 'none'") || !strings.Contains(policy, "default-src 'none'") {
			t.Errorf("%s: the policy is %s", address, policy)
		}
		if strings.Contains(got.Body, "<iframe") || strings.Contains(got.Body, `src="http`) {
			t.Errorf("%s: the page loads it by itself", address)
		}
	}
	for _, address := range []string{
		"http://apps.example.org/", "https://192.0.2.1/", "https://localhost/", "http://localhost:9001/", "javascript:alert(1)", "data:text/html,x", "https://me@apps.example.org/",
		"https://apps.example.org/" + strings.Repeat("x", 2048), `https://apps.example.org/";frame-src *`, "https://a.example.org;frame-src *", "//apps.example.org", s.Server.URL,
	} {
		got := bench(address, http.StatusUnprocessableEntity)
		if policy := got.Header.Get("Content-Security-Policy"); strings.Contains(policy, "frame-src") || strings.Contains(policy, "*") {
			t.Errorf("%s: the policy is %s", address, policy)
		}
		if strings.Contains(got.Body, "data-bench") {
			t.Errorf("%s: the bench offers to open it", address)
		}
	}
	guest := s.guest.WithoutRedirects().Send(http.MethodGet, "/apps/bench?url=https://apps.example.org/", "").Want(t, http.StatusSeeOther)
	if to := guest.Header.Get("Location"); !strings.HasPrefix(to, "/sign-in?next=%2Fapps%2Fbench") {
		t.Errorf("a guest is led to %s", to)
	}
}

// TestD16SlugsLeavePagesAlone checks that no app hides a page of this service.
func TestD16SlugsLeavePagesAlone(t *testing.T) {
	s := newAppTest(t)
	s.approved(map[string]any{"name": "Bench"})
	if got := s.developer.Send(http.MethodGet, "/apps/bench-app", "").Want(t, http.StatusOK); !strings.Contains(got.Body, "Bench") {
		t.Error("the app has no page")
	}
}

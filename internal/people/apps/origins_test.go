package apps_test

import (
	"testing"

	"wayside/internal/people/apps"
)

// TestOriginAsBrowsersWriteIt checks the spelling of origins: a frame's messages carry the origin as the browser writes it, and a
// comparison with another spelling would drop them all.
func TestOriginAsBrowsersWriteIt(t *testing.T) {
	for address, want := range map[string]string{
		"https://App.Example.org:443/a?b#c": "https://app.example.org",
		"http://app.example.org:80":         "http://app.example.org",
		"https://app.example.org:8443/":     "https://app.example.org:8443",
		"https://app.example.org:80/":       "https://app.example.org:80",
		"http://localhost:9000/x":           "http://localhost:9000",
		"/relative":                         "",
		"https://[":                         "",
	} {
		if got := apps.OriginOf(address); got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}

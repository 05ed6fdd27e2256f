package httpapi

import (
	"bytes"
	"log/slog"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

// TestForwardedAddresses checks the forms that proxies write into X-Forwarded-For: some add the port, brackets or a zone (F16). An
// unreadable one is logged once, without its text.
func TestForwardedAddresses(t *testing.T) {
	var log bytes.Buffer
	a := &API{Deps: Deps{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, Log: slog.New(slog.NewTextHandler(&log, nil))}}
	for header, want := range map[string]string{
		"203.0.113.7":                           "203.0.113.7",
		"203.0.113.7:443":                       "203.0.113.7",
		"2001:db8::7":                           "2001:db8::7",
		"[2001:db8::7]":                         "2001:db8::7",
		"[2001:db8::7]:443":                     "2001:db8::7",
		"fe80::7%eth0":                          "fe80::7",
		"[fe80::7%eth0]:443":                    "fe80::7",
		"::ffff:203.0.113.7":                    "203.0.113.7",
		"192.0.2.1, 203.0.113.7:1, 10.0.0.2:80": "203.0.113.7",
		"unknown":                               "10.0.0.1",
		"192.0.2.1, _hidden, 10.0.0.2":          "10.0.0.2",
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = "10.0.0.1:5"
		r.Header.Set("X-Forwarded-For", header)
		if got := a.clientAddr(r); got.String() != want {
			t.Errorf("%q: %s, want %s", header, got, want)
		}
	}
	if n := strings.Count(log.String(), "X-Forwarded-For that cannot be read"); n != 1 || strings.Contains(log.String(), "_hidden") {
		t.Errorf("the log has %d warnings:\n%s", n, log.String())
	}
}

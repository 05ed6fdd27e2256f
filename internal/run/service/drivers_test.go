package service

import (
	"testing"

	"wayside/internal/run/config"
)

// TestReportsAttribution checks that drivers' reports have an attribution whatever is configured: the operator's name, otherwise the host
// of the public address.
func TestReportsAttribution(t *testing.T) {
	for _, tt := range []struct{ operator, baseURL, want string }{
		{"Ada Verein e. V., Ring 1, Gent", "https://map.example.org", "Ada Verein e. V."},
		{"Ada Verein\nRing 1\nGent", "https://map.example.org", "Ada Verein"},
		{"  ", "https://map.example.org:8443/wayside", "map.example.org"},
		{"", "http://127.0.0.1:8080", "127.0.0.1"},
	} {
		s := &Service{Admin: new(Admin), config: &config.Config{BaseURL: tt.baseURL, Privacy: config.Privacy{Operator: tt.operator}}}
		if got := s.reportsAttribution(); got != tt.want {
			t.Errorf("%q at %s: %q, want %q", tt.operator, tt.baseURL, got, tt.want)
		}
		if got := s.keeper().Attribution; got != tt.want {
			t.Errorf("the source is by %q, want %q", got, tt.want)
		}
	}
}

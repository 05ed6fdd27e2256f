package service

import (
	"testing"

	"wayside/internal/run/config"
)

// TestUserAgent holds how the service names itself to providers (D6.2).
func TestUserAgent(t *testing.T) {
	if got := userAgent(&config.Config{BaseURL: "https://map.example.org"}, "1.2.3"); got != "wayside/1.2.3 (+https://map.example.org)" {
		t.Errorf("%q", got)
	}
}

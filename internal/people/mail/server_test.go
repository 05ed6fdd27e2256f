package mail

import (
	"strings"
	"testing"
)

func TestParseServer(t *testing.T) {
	tests := []struct {
		url      string
		port     string
		implicit bool
		policy   string
		wrong    bool
	}{
		{url: "smtp://mail.example.org", port: "587", policy: "TLSMandatory"},
		{url: "smtp://mail.example.org:25?starttls=optional", port: "25", policy: "TLSOpportunistic"},
		{url: "smtp://mail.example.org?starttls=never", port: "587", policy: "NoTLS"},
		{url: "smtp://localhost:1025", port: "1025", policy: "TLSOpportunistic"},
		{url: "smtp://[::1]:1025?starttls=required", port: "1025", policy: "TLSMandatory"},
		{url: "smtps://user:letmein@mail.example.org", port: "465", implicit: true, policy: "TLSOpportunistic"},
		{url: "smtp://user:letmein@mail.example.org?starttls=maybe", wrong: true},
		{url: "smtps://user:letmein@mail.example.org?starttls=never", wrong: true},
		{url: "http://user:letmein@mail.example.org", wrong: true},
		{url: "smtp://user:letmein@", wrong: true},
		{url: "mail.example.org:25", wrong: true},
		{url: "smtp://user:letm%zzein@mail.example.org", wrong: true},
		{url: "smtp://user:letmein@mail.example.org:port", wrong: true},
	}
	for _, tt := range tests {
		t.Run(tt.url, func(t *testing.T) {
			s, err := parseServer(tt.url, nil)
			if tt.wrong {
				if err == nil || strings.Contains(err.Error(), "letm") || !strings.HasPrefix(err.Error(), "smtp_url") {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if s.port != tt.port || s.implicit != tt.implicit || s.policy.String() != tt.policy {
				t.Errorf("port %s, implicit %v, %s", s.port, s.implicit, s.policy)
			}
		})
	}
}

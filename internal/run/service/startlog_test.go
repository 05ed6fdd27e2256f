package service_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"wayside/internal/ground/mapdata"
	"wayside/internal/proof/testenv"
	"wayside/internal/run/config"
	"wayside/internal/run/service"
)

// configured returns a configuration with these keys.
func configured(t *testing.T, keys map[string]string) *config.Config {
	t.Helper()
	flags := make(map[string]config.Flag)
	for key, value := range keys {
		flags[key] = config.Flag{Name: "--" + key, Value: value}
	}
	cfg, err := config.Load(config.Input{Flags: flags})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// startLog runs a service until it is ready and stops it, and returns its log.
func startLog(t *testing.T, o service.Options, prepare func(*service.Service)) string {
	t.Helper()
	var text testenv.Output
	o.Log = slog.New(slog.NewJSONHandler(&text, nil))
	s, err := service.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	prepare(s)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	<-s.Ready()
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// TestStartLog checks the log after a start: one line names address, map, mail, curators and sources, and others name missing
// settings.
func TestStartLog(t *testing.T) {
	first := startLog(t, options(t), func(*service.Service) {})
	for _, want := range []string{
		`"map":"none"`, `"curators":0`, `"sources":0`, `"mail":"files in `, `"url":"http://127.0.0.1:`,
		"wayside account create --email you@example.org", "wayside account role --email you@example.org curator",
		"wayside account login-link --email you@example.org", "No street map is configured",
	} {
		if !strings.Contains(first, want) {
			t.Errorf("the first start lacks %q:\n%s", want, first)
		}
	}
	if strings.Contains(first, "WARN") {
		t.Errorf("the first start warns:\n%s", first)
	}

	o := options(t)
	o.Config = configured(t, map[string]string{
		"data_dir": o.Config.DataDir, "http.listen": "127.0.0.1:0", "base_url": "https://map.example.org",
		"mail.smtp_url": "smtps://user:very-secret@mail.example.org:465", "map.style_url": "https://tiles.example.org/style?key=very-secret",
	})
	whole := startLog(t, o, func(s *service.Service) {
		_, err := s.Accounts.Create(t.Context(), "me@example.org")
		if err == nil {
			_, err = s.Accounts.SetRole(t.Context(), "me@example.org", mapdata.Curator)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	for _, want := range []string{`"map":"tiles.example.org"`, `"curators":1`, `"mail":"mail.example.org:465"`, `"url":"https://map.example.org"`} {
		if !strings.Contains(whole, want) {
			t.Errorf("the start of a service that is set up lacks %q:\n%s", want, whole)
		}
	}
	for _, unwanted := range []string{"very-secret", "No account is a curator", "No street map", "WARN"} {
		if strings.Contains(whole, unwanted) {
			t.Errorf("the start of a service that is set up has %q:\n%s", unwanted, whole)
		}
	}
}

// TestStartWarnsOfLocalLinks starts services whose links others cannot open, or whose e-mails nobody gets.
func TestStartWarnsOfLocalLinks(t *testing.T) {
	warning := func(flags map[string]string) string {
		t.Helper()
		o := options(t)
		flags["data_dir"] = o.Config.DataDir
		o.Config = configured(t, flags)
		for line := range strings.Lines(startLog(t, o, func(*service.Service) {})) {
			var entry struct{ Level, Msg string }
			if json.Unmarshal([]byte(line), &entry) == nil && entry.Level == "WARN" {
				return entry.Msg
			}
		}
		return ""
	}
	for _, tt := range []struct {
		name, want string
		flags      map[string]string
	}{
		{"all addresses", "base_url is local", map[string]string{"http.listen": "0.0.0.0:0"}},
		{"all addresses and a local base_url", "base_url is local", map[string]string{"http.listen": "[::]:0", "base_url": "http://localhost:8080"}},
		{"behind a proxy without mail", "mail.smtp_url", map[string]string{"http.listen": "127.0.0.1:0", "base_url": "https://map.example.org"}},
		{"behind a proxy", "", map[string]string{"http.listen": "127.0.0.1:0", "base_url": "https://map.example.org", "mail.smtp_url": "smtp://127.0.0.1:1"}},
		{"this machine alone", "", map[string]string{"http.listen": "127.0.0.1:0"}},
	} {
		if got := warning(tt.flags); !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

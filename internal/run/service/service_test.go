package service_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"wayside/internal/run/config"
	"wayside/internal/run/service"
)

// options returns options of a service with its own ports and data directory.
func options(t *testing.T) service.Options {
	t.Helper()
	cfg := config.Default()
	cfg.DataDir = filepath.Join(t.TempDir(), "data")
	cfg.HTTP.Listen, cfg.Ops.Listen = "127.0.0.1:0", "127.0.0.1:0"
	return service.Options{Config: cfg, Log: slog.New(slog.DiscardHandler), Now: time.Now, Version: "test"}
}

// get returns the status of a request.
func get(t *testing.T, client *http.Client, url string) int {
	t.Helper()
	resp, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode
}

// TestStartAndStop runs a service in this process, and checks that it becomes ready and answers, that a second service cannot open
// its data directory, and that after the stop no goroutine, lock or spool folder is left.
func TestStartAndStop(t *testing.T) {
	leaked := goleak.IgnoreCurrent()
	o := options(t)
	loaded := make(chan struct{})
	o.Progress = func() (func(int), func()) { return func(int) {}, func() { close(loaded) } }
	for range 2 { // the second time with the data of the first
		loaded = make(chan struct{})
		s, err := service.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if o.Config.BaseURL == s.URL() {
			t.Error("the caller's configuration was changed")
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		select {
		case <-s.Ready():
		case err := <-ended:
			t.Fatalf("ended before it was ready: %v", err)
		}
		<-loaded
		client := &http.Client{Transport: &http.Transport{}}
		for _, path := range []string{"/readyz", "/v2/entities/nearby?lat=1&lng=1&radius=100", "/v2/sources"} {
			if status := get(t, client, s.URL()+path); status != http.StatusOK {
				t.Errorf("%s: %d", path, status)
			}
		}
		if _, err := service.Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), "in use by another") {
			t.Errorf("a second service on the same data directory: %v", err)
		}
		if status := get(t, client, s.URL()+"/readyz"); status != http.StatusOK {
			t.Errorf("after the second one was refused: %d", status)
		}
		client.CloseIdleConnections()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(o.Config.DataDir, "spool")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the spool folder is left: %v", err)
	}
	goleak.VerifyNone(t, leaked)
}

// TestOpenFailsCleanly opens services with a wrong value for each stage, and checks that the error names the setting, and that no lock or
// listener is left that would stop a service with the right value.
func TestOpenFailsCleanly(t *testing.T) {
	for name, tt := range map[string]struct {
		spoil func(t *testing.T, cfg *config.Config)
		want  string
	}{
		"map":     {func(_ *testing.T, cfg *config.Config) { cfg.Map.PMTiles = "/none.pmtiles" }, "map.pmtiles"},
		"address": {func(_ *testing.T, cfg *config.Config) { cfg.HTTP.Listen = "127.0.0.1:99999" }, "http.listen"},
		"ops":     {func(_ *testing.T, cfg *config.Config) { cfg.Ops.Listen = "127.0.0.1:99999" }, "ops.listen"},
		"database": {func(_ *testing.T, cfg *config.Config) {
			cfg.Database.URL = "postgres://127.0.0.1:1/none?connect_timeout=1"
		}, ""},
		"mail":   {func(_ *testing.T, cfg *config.Config) { cfg.Mail.From = "nobody" }, "mail.from"},
		"cache":  {func(_ *testing.T, cfg *config.Config) { cfg.Cache.URL = "http://cache" }, "cache.url"},
		"egress": {func(_ *testing.T, cfg *config.Config) { cfg.Egress.CAFile = "/none.pem" }, "egress.ca_file"},
		"upstream": {func(_ *testing.T, cfg *config.Config) {
			cfg.Upstreams = []config.Upstream{{Name: "north", URL: "no url", Form: "incidents", Priority: 1}}
		}, "upstreams: north"},
		"law":     {func(_ *testing.T, cfg *config.Config) { cfg.Law.File = "/none.geojson" }, "law.file"},
		"passkey": {func(_ *testing.T, cfg *config.Config) { cfg.Review.Require = config.RequirePasskey }, "review.require"},
	} {
		t.Run(name, func(t *testing.T) {
			leaked := goleak.IgnoreCurrent()
			o := options(t)
			address := freeAddress(t)
			o.Config.HTTP.Listen = address
			right := *o.Config
			tt.spoil(t, o.Config)
			if s, err := service.Open(t.Context(), o); err == nil {
				t.Error("opened", s.Close())
			} else if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			o.Config = &right
			s, err := service.Open(t.Context(), o) // takes the same lock and address
			if err != nil {
				t.Fatal("after the failure:", err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			goleak.VerifyNone(t, leaked)
		})
	}
}

// freeAddress returns a loopback address that is not in use.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

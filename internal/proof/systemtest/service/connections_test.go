package service

import (
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"wayside/internal/proof/systemtest"
)

// lowFileLimit returns the wrapper that starts the service with a low limit of open files.
func lowFileLimit(files int) []string {
	return []string{"sh", "-c", fmt.Sprintf(`ulimit -n %d; exec "$@"`, files), "sh"}
}

// TestStrangersHoldingConnectionsOpen holds 1 500 connections open without finishing a request, and checks that probes and reads
// are answered nevertheless, also those of the address that holds the connections, and that memory does not grow with them (F6).
func TestStrangersHoldingConnectionsOpen(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("resident memory is read from /proc")
	}
	for _, tt := range []struct {
		name             string
		files, addresses int
		text             string
	}{
		{"half a header from one address", 200, 1, "GET /v2/kinds HTTP/1.1\r\nHost: a"},
		{"nothing from one address", 200, 1, ""},
		{"no body from 500 addresses", 200, 500, "POST /v2/auth/email HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 40\r\n\r\n"},
		{"half a header from 500 addresses", 4096, 500, "GET /v2/kinds HTTP/1.1\r\nHost: a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := systemtest.NewService(t, systemtest.Unlimited)
			s.Start(lowFileLimit(tt.files))
			before := s.Memory(t, "VmRSS")
			s.Flood(1500, tt.addresses, tt.text)
			for _, address := range []string{"127.1.0.1", "127.9.0.1", "127.0.0.1"} {
				for _, path := range []string{"/healthz", "/readyz"} {
					if resp, body, err := s.From(address).Try(http.MethodGet, path, nil); err != nil || resp.StatusCode != http.StatusOK {
						t.Errorf("%s from %s: %v %s", path, address, err, body)
					}
				}
			}
			reads := readLatencies(s, 300)
			grown := (s.Memory(t, "VmRSS") - before) >> 20
			t.Logf("300 reads beside them: p50 %v, p99 %v; memory grew by %d MiB", reads[150], reads[297], grown)
			if grown > 100 {
				t.Errorf("memory grew by %d MiB", grown)
			}
			if strings.Contains(s.Log.String(), "cannot accept") {
				t.Errorf("descriptors ran out:\n%s", s.Log)
			}
			if err := s.Terminate(); err != nil {
				t.Errorf("exit: %v", err)
			}
		})
	}
}

// readLatencies returns the times of reads on one connection, sorted.
func readLatencies(s *systemtest.Service, n int) []time.Duration {
	s.T.Helper()
	c := &systemtest.Client{Service: s}
	took := make([]time.Duration, n)
	for i := range took {
		began := time.Now()
		if _, err := c.Near(52, 5); err != nil {
			s.T.Fatalf("read %d: %v", i, err)
		}
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	return took
}

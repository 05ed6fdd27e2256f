package cli

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// lowFileLimit returns the wrapper that starts the service with a low limit of open files.
func lowFileLimit(files int) []string {
	return []string{"sh", "-c", fmt.Sprintf(`ulimit -n %d; exec "$@"`, files), "sh"}
}

// flood opens connections from a number of addresses of this machine and sends the beginning of a request on each.
func (s *serviceProcess) flood(connections, addresses int, text string) {
	s.t.Helper()
	for i := range connections {
		from := net.IPv4(127, 1, byte(i%addresses/250), byte(1+i%addresses%250))
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: from}, Timeout: 10 * time.Second}
		conn, err := dialer.DialContext(s.t.Context(), "tcp", strings.TrimPrefix(s.base, "http://"))
		if err != nil {
			continue // refused, which is fine
		}
		s.t.Cleanup(func() { _ = conn.Close() })
		_, _ = io.WriteString(conn, text) // may be refused by now
	}
}

// from returns a client whose connections come from one address of this machine; each request opens a new one.
func (s *serviceProcess) from(address string) *client {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, to string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, to)
	}}
	return &client{s: s, http: http.Client{Transport: transport, Timeout: 5 * time.Second}}
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
			s := newService(t, unlimited)
			s.start(lowFileLimit(tt.files))
			before := s.memory(t, "VmRSS")
			s.flood(1500, tt.addresses, tt.text)
			for _, address := range []string{"127.1.0.1", "127.9.0.1", "127.0.0.1"} {
				for _, path := range []string{"/healthz", "/readyz"} {
					if resp, body, err := s.from(address).try(http.MethodGet, path, nil); err != nil || resp.StatusCode != http.StatusOK {
						t.Errorf("%s from %s: %v %s", path, address, err, body)
					}
				}
			}
			reads := s.readLatencies(300)
			grown := (s.memory(t, "VmRSS") - before) >> 20
			t.Logf("300 reads beside them: p50 %v, p99 %v; memory grew by %d MiB", reads[150], reads[297], grown)
			if grown > 100 {
				t.Errorf("memory grew by %d MiB", grown)
			}
			if strings.Contains(s.log.String(), "cannot accept") {
				t.Errorf("descriptors ran out:\n%s", s.log)
			}
			if err := s.terminate(); err != nil {
				t.Errorf("exit: %v", err)
			}
		})
	}
}

// readLatencies returns the times of reads on one connection, sorted.
func (s *serviceProcess) readLatencies(n int) []time.Duration {
	s.t.Helper()
	c := &client{s: s}
	took := make([]time.Duration, n)
	for i := range took {
		began := time.Now()
		if _, err := c.near(52, 5); err != nil {
			s.t.Fatalf("read %d: %v", i, err)
		}
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	return took
}

package systemtest

import (
	"bytes"
	"compress/gzip"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"

	"wayside/internal/proof/testenv"
)

// Gunzip decompresses a text.
func Gunzip(t *testing.T, text []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := out.ReadFrom(r); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Eventually polls until ok returns true: a change becomes readable shortly after its answer.
func Eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for !ok() {
		select {
		case <-deadline:
			t.Fatalf("%s: not within a minute", what)
		case <-tick.C:
		}
	}
}

// Stopwatch starts a stopwatch for the processes of services, and others.
func Stopwatch(services []*Service, others ...int) *testenv.Stopwatch {
	for _, s := range services {
		others = append(others, s.Cmd.Process.Pid)
	}
	return testenv.StartStopwatch(others...)
}

// Watch starts a stopwatch for the service's process.
func (s *Service) Watch() *testenv.Stopwatch { return Stopwatch([]*Service{s}) }

// Must fails the test if err is not nil.
func Must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Rounds returns how often the service is killed: 5 times, or $ROUNDS times.
func Rounds(t *testing.T) int {
	if text := os.Getenv("ROUNDS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("ROUNDS=%s is no count", text)
		}
		return n
	}
	return 5
}

// WithinWindows polls until ok returns true. A repeated read calls an upstream at most four seconds after the last call (D8.3),
// and its answer takes at most two (D8.6); the rest of the timeout is for a slow machine.
func WithinWindows(t *testing.T, every time.Duration, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(every)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for !ok() {
		select {
		case <-deadline:
			t.Fatalf("%s: not within a minute", what)
		case <-tick.C:
		}
	}
}

// FreeAddress returns a loopback address that is not in use.
func FreeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// Get returns the body of an answer, whatever its status.
func Get(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

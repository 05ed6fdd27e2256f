package httpserver

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestHeadersAndTimesAreBounded holds the server to what a request may be long and take. That net/http keeps to it is net/http's promise, but
// for the header, whose length is tried.
func TestHeadersAndTimesAreBounded(t *testing.T) {
	s := boundedServer(t, Limits{})
	for name, got := range map[string][2]time.Duration{
		"header": {s.server.ReadHeaderTimeout, 10 * time.Second}, "request": {s.server.ReadTimeout, time.Minute},
		"answer": {s.server.WriteTimeout, 2 * time.Minute}, "idle": {s.server.IdleTimeout, 2 * time.Minute},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: %v, want %v", name, got[0], got[1])
		}
	}
	for length, want := range map[int]bool{60 << 10: true, 80 << 10: false} {
		conn := dial(t, s, "127.0.0.1", "GET / HTTP/1.1\r\nHost: a\r\nX: "+strings.Repeat("x", length)+"\r\n\r\n")
		if got := answered(t, conn); got != want {
			t.Errorf("a header of %d bytes is answered: %t, want %t", length, got, want)
		}
	}
}

// TestConnectionsAreBounded opens connections that are all being answered, so that none makes room.
func TestConnectionsAreBounded(t *testing.T) {
	one := boundedServer(t, Limits{Total: 10_000})
	for i := range 257 {
		awaitAnswering(one, i) // one that writes waits for its client, and would make room
		if got := answered(t, dial(t, one, "127.0.0.9", wait)); got != (i < 256) {
			t.Fatalf("connection %d of an address is answered: %t", i+1, got)
		}
	}
	full := boundedServer(t, Limits{Total: 1})
	for i := range 18 {
		awaitAnswering(full, min(i, 17))
		if got := answered(t, dial(t, full, fmt.Sprint("127.0.0.", 10+i), wait)); got != (i < 17) {
			t.Fatalf("connection %d of this machine, where there is room for one and 16 are kept for it, is answered: %t", i+1, got)
		}
	}
	if n := DefaultTotal(); n > 16_384 {
		t.Errorf("%d connections without a setting, want 16 384 at most", n)
	}
}

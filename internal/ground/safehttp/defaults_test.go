package safehttp

import (
	"testing"
	"time"
)

// TestDefaults holds the figures of D6.3, D6.6 and D6.12, which a client has unless it is told otherwise.
func TestDefaults(t *testing.T) {
	c, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.timeout != 15*time.Second || c.maxBody != 64<<20 || c.gate.perHost != 2 {
		t.Errorf("%v and %d bytes a fetch, %d connections to a host", c.timeout, c.maxBody, c.gate.perHost)
	}
	if maxHeader != 64<<10 || maxRedirects != 5 {
		t.Errorf("%d bytes of headers, %d redirects", maxHeader, maxRedirects)
	}
}

package service

import (
	"testing"
	"time"
)

// TestUpstreamTimeout holds how long a call of an upstream may take (D8.6).
func TestUpstreamTimeout(t *testing.T) {
	if upstreamTimeout != 2*time.Second {
		t.Errorf("an upstream has %v to answer, want 2 s", upstreamTimeout)
	}
}

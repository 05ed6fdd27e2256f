package ratelimit

import "testing"

// TestCallersAreBounded checks that a node counts 163 840 callers at a time.
func TestCallersAreBounded(t *testing.T) {
	if room := len(NewMemory(DefaultBuckets).sets) * ways; room != 163_840 {
		t.Errorf("there is room for %d callers", room)
	}
}

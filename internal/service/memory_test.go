package service

import "testing"

// TestRequestMemory checks that the memory of requests leaves room within the 300 MiB that strangers may cost for the heap's
// headroom of 96 MiB and for connections.
func TestRequestMemory(t *testing.T) {
	if allMemory > 150<<20 || heapHeadroom > 96<<20 {
		t.Errorf("requests may hold %d MiB, and the heap grows by %d", allMemory>>20, heapHeadroom>>20)
	}
	m := newRequestMemory()
	if m.pushes == nil || m.checks == nil || m.routes == nil || m.reads == nil {
		t.Error("a kind of request has no bound")
	}
}

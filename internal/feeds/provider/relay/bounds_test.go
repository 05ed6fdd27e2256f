package relay

import (
	"testing"
	"testing/synctest"
	"time"

	"wayside/internal/ground/mapdata"
)

// TestReadersWaitTwoSeconds holds how long a reader waits for upstreams together, however many there are (D8.6).
func TestReadersWaitTwoSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := []awaitedCall{{done: make(chan struct{})}, {done: make(chan struct{})}}
		began := time.Now()
		time.AfterFunc(time.Second, func() { close(calls[0].done) })
		waitFor(t.Context(), calls)
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("waited for %v", took)
		}
	})
}

// TestCallsThatCount holds which calls say how an upstream does: the last twenty, and none for longer than five minutes (D8.8).
func TestCallsThatCount(t *testing.T) {
	var c calls
	now := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	for range 5 {
		c.note(now, mapdata.UpstreamCall{OK: true})
	}
	for range 20 {
		c.note(now, mapdata.UpstreamCall{})
	}
	for after, want := range map[time.Duration]bool{0: true, 5*time.Minute - time.Millisecond: true, 5 * time.Minute: false} {
		var h mapdata.Health
		if failed := c.add(&h, now.Add(after), false); failed != want || h.OK != 0 || h.Fail != 20 {
			t.Errorf("%v later: fails %v, want %v; %d succeeded, %d failed", after, failed, want, h.OK, h.Fail)
		}
	}
}

// TestCallsAreBounded checks that 256 calls to all upstreams run at a time, and that as many wait.
func TestCallsAreBounded(t *testing.T) {
	if s := New(Config{}); cap(s.slots) != 256 || cap(s.queue) != 256 {
		t.Errorf("%d calls run at a time, and %d wait", cap(s.slots), cap(s.queue))
	}
}

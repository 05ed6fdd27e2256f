package httpapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"wayside/internal/ground/ratelimit"
)

// TestSlowRefusals checks that the refusals of one address are delayed by a second beyond twenty in a second, and that nobody else waits.
func TestSlowRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &API{}
		a.Buckets, a.Now = ratelimit.NewMemory(1000), time.Now
		refuse := func(ctx context.Context, from string) time.Duration {
			r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", http.NoBody)
			r.RemoteAddr = from
			began := time.Now()
			a.slowRefusal(&Recorder{ResponseWriter: httptest.NewRecorder()}, r, Route{Class: ClassRead})
			return time.Since(began)
		}
		const greedy, other = "192.0.2.1:1000", "192.0.2.2:1000"
		for i := range 20 {
			if took := refuse(t.Context(), greedy); took != 0 {
				t.Fatalf("refusal %d took %v", i+1, took)
			}
		}
		a.slowed.Store(2048)
		if took := refuse(t.Context(), greedy); took != 0 {
			t.Errorf("a refusal waited beside 2048 others, for %v", took)
		}
		a.slowed.Store(2047)
		gone, leave := context.WithCancel(t.Context())
		leave()
		if took := refuse(gone, greedy); took != 0 {
			t.Errorf("the refusal of a client that is gone took %v", took)
		}
		if took := refuse(t.Context(), greedy); took != time.Second {
			t.Errorf("refusal 21 took %v", took)
		}
		if took := refuse(t.Context(), other); took != 0 {
			t.Errorf("another client's refusal took %v", took)
		}
		if n := a.slowed.Load(); n != 2047 {
			t.Errorf("%d refusals wait at the end", n)
		}
		if took := refuse(t.Context(), greedy); took != 0 { // a second is over
			t.Errorf("the first refusal of the next second took %v", took)
		}
	})
}

// TestSlowRefusalsOfNodes checks that a client whose requests another node passes on is counted by itself, and not with all clients of that
// node.
func TestSlowRefusalsOfNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &API{}
		a.Buckets, a.Now = ratelimit.NewMemory(1000), time.Now
		refuse := func(client string) time.Duration {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/", http.NoBody)
			r.Header.Set(ClientHeader, client)
			began := time.Now()
			a.slowRefusal(&Recorder{ResponseWriter: httptest.NewRecorder()}, r, Route{Class: ClassNode})
			return time.Since(began)
		}
		for range 20 {
			refuse("192.0.2.1")
		}
		if took := refuse("192.0.2.2"); took != 0 {
			t.Errorf("the refusal of another client of that node took %v", took)
		}
		if took := refuse("192.0.2.1"); took != time.Second {
			t.Errorf("refusal 21 took %v", took)
		}
	})
}

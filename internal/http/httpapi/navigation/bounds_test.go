package navigation

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wayside/internal/drive/nav/osrm"
	"wayside/internal/ground/ratelimit"
	"wayside/internal/http/httpapi"
)

// TestRoutesEndInTime checks, in virtual time, that a request for a route ends after ten seconds.
func TestRoutesEndInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &api{API: new(httpapi.API), Deps: Deps{Engine: struct{ Engine }{}}}
		began := time.Now()
		err := a.answerInTime(t.Context(), &httpapi.Caller{Client: netip.MustParseAddr("192.0.2.1")}, &osrm.Request{}, nil, func(ctx context.Context, _ *osrm.Request, _ *navigationScratch) error {
			<-ctx.Done()
			return context.Cause(ctx)
		})
		if took := time.Since(began); err == nil || took != 10*time.Second {
			t.Errorf("waited for %v (%v), want 10s", took, err)
		}
	})
}

// TestHeavySearchesLeaveASlot checks from which cost a search leaves a slot to lighter ones.
func TestHeavySearchesLeaveASlot(t *testing.T) {
	for cost, heavy := range map[int]bool{1: false, 4: false, 5: true, 40: true} {
		synctest.Test(t, func(t *testing.T) {
			a := &api{API: new(httpapi.API), Deps: Deps{Searches: ratelimit.NewGate(2, 1)}}
			for i := range 2 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				leave, err := a.searchTurn(ctx, &httpapi.Caller{Client: netip.AddrFrom4([4]byte{192, 0, 2, byte(i)})}, cost)
				cancel()
				if waits := err != nil; waits != (heavy && i == 1) {
					t.Errorf("search %d of cost %d waits: %t", i+1, cost, waits)
				}
				if err == nil {
					defer leave()
				}
			}
		})
	}
}

// TestForwardsAreBounded checks that other nodes answer 20 000 requests at a time.
func TestForwardsAreBounded(t *testing.T) {
	var f forwards
	begun := 0
	for begun < 300_000 && f.begin() {
		begun++
	}
	if begun != 20_000 {
		t.Errorf("%d requests are forwarded at a time", begun)
	}
	if f.end(); !f.begin() || f.begin() {
		t.Error("a request that ended leaves no room, or too much")
	}
}

// TestBodyOfACallerWithoutRoutes checks that 16 KiB are read of a request of a caller who has no route left.
func TestBodyOfACallerWithoutRoutes(t *testing.T) {
	a := &api{API: &httpapi.API{Deps: httpapi.Deps{Limits: httpapi.Limits{GuestRoutes: 1}, Buckets: ratelimit.NewMemory(100), Now: time.Now}}}
	c := &httpapi.Caller{Client: netip.MustParseAddr("192.0.2.1")}
	for _, want := range []int64{100 << 10, 16 << 10} { // before and after the only route
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(strings.Repeat(" ", 100<<10)))
		a.boundDrive(httptest.NewRecorder(), r, c)
		if read, _ := io.Copy(io.Discard, r.Body); read != want {
			t.Errorf("%d bytes are read, want %d", read, want)
		}
		if err := a.LimitRoutes(httptest.NewRecorder(), c, 1); err != nil {
			t.Log(err)
		}
	}
}

package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wayside/internal/drive/nav/osrm"
	"wayside/internal/entities/nearby"
	"wayside/internal/entities/wire"
	"wayside/internal/ground/budget"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/ratelimit"
)

// never is a Revisions that reaches no revision.
type never struct{ Revisions }

func (never) WaitFor(ctx context.Context, _ int64) { <-ctx.Done() }

// TestWaitsAreBounded checks, in virtual time, how long requests wait for memory, for a route and for a vote of their own, and how long a
// client may take for one chunk of a stream.
func TestWaitsAreBounded(t *testing.T) {
	c := &caller{client: netip.MustParseAddr("192.0.2.1")}
	for name, tt := range map[string]struct {
		want time.Duration
		wait func(t *testing.T, a *api) error
	}{
		"memory": {2 * time.Second, func(t *testing.T, _ *api) error {
			part := budget.New(1<<20).Part(1<<20, 1<<20)
			held, err := takeMemory(t.Context(), part, &caller{client: netip.MustParseAddr("192.0.2.2")}, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			defer held.Release()
			_, err = takeMemory(t.Context(), part, c, 1<<20)
			return err
		}},
		"a route": {10 * time.Second, func(t *testing.T, a *api) error {
			a.Engine = struct{ Engine }{}
			return a.answerInTime(t.Context(), c, &osrm.Request{}, nil, func(ctx context.Context, _ *osrm.Request, _ *navigationScratch) error {
				<-ctx.Done()
				return context.Cause(ctx)
			})
		}},
		"a vote": {time.Second, func(_ *testing.T, a *api) error {
			a.Revisions = never{}
			r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
			r.AddCookie(&http.Cookie{Name: voteCookie, Value: "7"})
			a.awaitVote(r)
			return io.EOF
		}},
		"a client": {5 * time.Second, func(t *testing.T, a *api) error {
			a.StreamWriteTimeout = defaultStreamWriteTimeout
			failed := make(chan error, 1)
			client, listener := servedPipe(t, func(w http.ResponseWriter, r *http.Request) {
				events := a.newEventWriter(w)
				failed <- events.send(r.Context(), make([]byte, 64<<10))
			})
			defer close(listener.accepted)
			defer client.Close()
			if _, err := io.WriteString(client, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			return <-failed
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				err := tt.wait(t, &api{})
				if took := time.Since(began); err == nil || took != tt.want {
					t.Errorf("waited for %v (%v), want %v", took, err, tt.want)
				}
			})
		})
	}
}

// TestHeavySearchesLeaveASlot checks from which cost a search leaves a slot to lighter ones.
func TestHeavySearchesLeaveASlot(t *testing.T) {
	for cost, heavy := range map[int]bool{1: false, 4: false, 5: true, 40: true} {
		synctest.Test(t, func(t *testing.T) {
			a := &api{Deps: Deps{Searches: ratelimit.NewGate(2, 1)}}
			for i := range 2 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				leave, err := a.searchTurn(ctx, &caller{client: netip.AddrFrom4([4]byte{192, 0, 2, byte(i)})}, cost)
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

// TestReadsWithoutATurn checks that reads of up to 50 entities need no turn.
func TestReadsWithoutATurn(t *testing.T) {
	a := &api{Deps: Deps{Work: ratelimit.NewGate(1, 1)}}
	for limit, want := range map[int]bool{50: false, 51: true, 499: true} {
		if got := a.turn(&recorder{}, &caller{}, limit) != nil; got != want {
			t.Errorf("a read of %d entities takes a turn: %t", limit, got)
		}
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

// TestValidSourcesAreBounded checks that a refusal names a thousand valid sources.
func TestValidSourcesAreBounded(t *testing.T) {
	var p problem
	for range 2 {
		p.addSources(&nearby.UnknownSourcesError{Unknown: []string{"x"}, Valid: make([]mapdata.SourceID, 700)})
	}
	if len(p.ValidIDs) != 1000 {
		t.Errorf("%d valid sources are named", len(p.ValidIDs))
	}
}

// TestMeasuredLinesAreBounded checks that the lines of 64 pins are measured for alerts.
func TestMeasuredLinesAreBounded(t *testing.T) {
	hits := make([]mapdata.Hit, 1000)
	e := mapdata.Entity{ExternalID: "a", Properties: []byte("{}"), Line: []geo.Point{{Lat: 1}, {Lat: 2}}}
	for i := range hits {
		hits[i] = mapdata.Hit{Prepared: wire.EncodeEntity(nil, &e)}
	}
	pins, _ := new(alertsQuery).pins(hits, nil, nil)
	lines := 0
	for i := range pins {
		if len(pins[i].Line) > 0 {
			lines++
		}
	}
	if len(pins) != 1000 || lines != 64 {
		t.Errorf("%d pins, and the lines of %d", len(pins), lines)
	}
}

// TestSizeOfPushes checks that a batch has at most 16 MiB unpacked, and is refused by a length of more than 17 MiB before it is read.
func TestSizeOfPushes(t *testing.T) {
	for name, tt := range map[string]struct {
		sent, length int64
		want         bool
	}{
		"16 MiB":                     {16 << 20, 16 << 20, true},
		"more":                       {16<<20 + 1, -1, false},
		"a length of 17 MiB":         {1, 17 << 20, true},
		"a length of more":           {1, 17<<20 + 1, false},
		"a length of ten times more": {1, 170 << 20, false},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", io.LimitReader(zeros{}, tt.sent))
		r.ContentLength = tt.length
		_, err := io.Copy(io.Discard, newPushBody(httptest.NewRecorder(), r, false))
		if got := !errors.Is(err, mapdata.ErrTooLarge); got != tt.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// zeros is an endless body.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestBodyOfACallerWithoutRoutes checks that 16 KiB are read of a request of a caller who has no route left.
func TestBodyOfACallerWithoutRoutes(t *testing.T) {
	a := &api{Deps: Deps{Limits: Limits{GuestRoutes: 1}, Buckets: ratelimit.NewMemory(100), Now: time.Now}}
	c := &caller{client: netip.MustParseAddr("192.0.2.1")}
	for _, want := range []int64{100 << 10, 16 << 10} { // before and after the only route
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(strings.Repeat(" ", 100<<10)))
		a.boundDrive(httptest.NewRecorder(), r, c)
		if read, _ := io.Copy(io.Discard, r.Body); read != want {
			t.Errorf("%d bytes are read, want %d", read, want)
		}
		if err := a.limitRoutes(httptest.NewRecorder(), c, 1); err != nil {
			t.Log(err)
		}
	}
}

package httpapi

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

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

// TestWaitsAreBounded checks, in virtual time, how long requests wait for memory and for a vote of their own, and how long a
// client may take for one chunk of a stream.
func TestWaitsAreBounded(t *testing.T) {
	c := &Caller{Client: netip.MustParseAddr("192.0.2.1")}
	for name, tt := range map[string]struct {
		want time.Duration
		wait func(t *testing.T, a *API) error
	}{
		"memory": {2 * time.Second, func(t *testing.T, _ *API) error {
			part := budget.New(1<<20).Part(1<<20, 1<<20)
			held, err := TakeMemory(t.Context(), part, &Caller{Client: netip.MustParseAddr("192.0.2.2")}, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			defer held.Release()
			_, err = TakeMemory(t.Context(), part, c, 1<<20)
			return err
		}},
		"a vote": {time.Second, func(_ *testing.T, a *API) error {
			a.Revisions = never{}
			r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
			r.AddCookie(&http.Cookie{Name: voteCookie, Value: "7"})
			a.awaitVote(r)
			return io.EOF
		}},
		"a client": {5 * time.Second, func(t *testing.T, a *API) error {
			a.StreamWriteTimeout = defaultStreamWriteTimeout
			failed := make(chan error, 1)
			client, accepted := net.Pipe()
			listener := pipes{make(chan net.Conn, 1)}
			listener.accepted <- accepted
			server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				events := a.NewEventWriter(w)
				failed <- events.Send(r.Context(), make([]byte, 64<<10))
			})}
			go func() { _ = server.Serve(listener) }() // ends when the listener is closed
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
				err := tt.wait(t, &API{})
				if took := time.Since(began); err == nil || took != tt.want {
					t.Errorf("waited for %v (%v), want %v", took, err, tt.want)
				}
			})
		})
	}
}

// TestReadsWithoutATurn checks that reads of up to 50 entities need no turn.
func TestReadsWithoutATurn(t *testing.T) {
	a := &API{Deps: Deps{Work: ratelimit.NewGate(1, 1)}}
	for limit, want := range map[int]bool{50: false, 51: true, 499: true} {
		if got := a.Turn(&Recorder{}, &Caller{}, limit) != nil; got != want {
			t.Errorf("a read of %d entities takes a turn: %t", limit, got)
		}
	}
}

// TestValidSourcesAreBounded checks that a refusal names a thousand valid sources.
func TestValidSourcesAreBounded(t *testing.T) {
	var p Problem
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

package service

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"wayside/internal/proof/systemtest"
)

// TestStreams checks the promises of streams on the real program: events within a second of being stored under continuous
// pushes, expiry in time, and a clean end.
func TestStreams(t *testing.T) {
	t.Parallel()
	s := systemtest.StartService(t, systemtest.Unlimited)
	owner := s.SignIn("owner@example.org")
	feed := owner.Register("Roadworks")
	events, whole := s.ListenTo()
	systemtest.WaitFor(t, events, "snapshot", "")

	push := func(id, rest string) time.Time {
		t.Helper()
		row := fmt.Sprintf(`[{"external_id":%q,"kind":"alert.hazard","lat":52,"lng":5,"properties":{}%s}]`, id, rest)
		resp, err := http.Post(s.Base+"/v2/feeds/"+feed.Token+"/entities", "application/json", strings.NewReader(row))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Fatal(resp.Status)
		}
		return time.Now()
	}
	watch := s.Watch()
	stored := make([]time.Time, 200)
	for i := range stored {
		stored[i] = push(fmt.Sprintf("a%03d", i), "")
	}
	took := make([]time.Duration, 0, len(stored))
	for range stored {
		e, number := systemtest.WaitFor(t, events, "entity", ""), 0
		_, rest, _ := strings.Cut(e.Data, `"external_id":"a`)
		if _, err := fmt.Sscanf(rest, "%d", &number); err != nil {
			t.Fatalf("%s: %v", e.Data, err)
		}
		took = append(took, e.At.Sub(stored[number]))
	}
	slices.Sort(took)
	p99 := took[len(took)*99/100]
	t.Logf("from stored to told: median %v, p99 %v", took[len(took)/2], p99)
	if p99 > time.Second+watch.Waited() {
		t.Errorf("p99 is %v", p99)
	}

	watch = s.Watch()
	began := push("short", `,"ttl_seconds":3`)
	systemtest.WaitFor(t, events, "entity", `"short"`)
	gone := systemtest.WaitFor(t, events, "gone", ":v1:c2hvcnQ")
	if late := gone.At.Sub(began.Add(3 * time.Second)); late < -500*time.Millisecond || late > time.Second+watch.Waited() {
		t.Errorf("removed %v after its expiry", late)
	}

	began = time.Now()
	if err := s.Terminate(); err != nil {
		t.Errorf("the service ended badly: %v\n%s", err, s.Log)
	}
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("it took %v to end", took)
	}
	if !<-whole {
		t.Error("the stream ended incompletely")
	}
}

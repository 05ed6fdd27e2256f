package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// heard is one event of a stream.
type heard struct {
	event, data string
	at          time.Time
}

// listenTo opens a stream at 52, 5 and returns its events. At its end, events is closed and whole reports a clean end.
func (s *serviceProcess) listenTo() (events <-chan heard, whole <-chan bool) {
	s.t.Helper()
	return s.listenAs(nil)
}

// listenAs opens a stream as listenTo does, with a session's cookie; nil: none.
func (s *serviceProcess) listenAs(cookie *http.Cookie) (events <-chan heard, whole <-chan bool) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.base+"/v2/stream?lat=52&lng=5&radius=2000&limit=1000", http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	if cookie != nil {
		req.AddCookie(cookie)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	said, end := make(chan heard, 10_000), make(chan bool, 1)
	go func() {
		defer resp.Body.Close()
		defer close(said)
		lines := bufio.NewReader(resp.Body)
		name := ""
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				end <- errors.Is(err, io.EOF)
				return
			}
			line = strings.TrimSuffix(line, "\n")
			if event, ok := strings.CutPrefix(line, "event: "); ok {
				name = event
			} else if data, ok := strings.CutPrefix(line, "data: "); ok {
				said <- heard{name, data, time.Now()}
			}
		}
	}()
	return said, end
}

// wait returns the next event with the name whose data contain the text.
func wait(t *testing.T, events <-chan heard, name, text string) heard {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		select {
		case e, ok := <-events:
			if !ok {
				t.Fatal("the stream ended")
			}
			if e.event == name && strings.Contains(e.data, text) {
				return e
			}
		case <-deadline:
			t.Fatalf("no %s %s", name, text)
		}
	}
}

// TestStreams checks the promises of streams on the real program: events within a second of being stored under continuous
// pushes, expiry in time, and a clean end.
func TestStreams(t *testing.T) {
	t.Parallel()
	s := startService(t, unlimited)
	owner := s.signIn("owner@example.org")
	feed := owner.register("Roadworks")
	events, whole := s.listenTo()
	wait(t, events, "snapshot", "")

	push := func(id, rest string) time.Time {
		t.Helper()
		row := fmt.Sprintf(`[{"external_id":%q,"kind":"alert.hazard","lat":52,"lng":5,"properties":{}%s}]`, id, rest)
		resp, err := http.Post(s.base+"/v2/feeds/"+feed.token+"/entities", "application/json", strings.NewReader(row))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Fatal(resp.Status)
		}
		return time.Now()
	}
	watch := s.watch()
	stored := make([]time.Time, 200)
	for i := range stored {
		stored[i] = push(fmt.Sprintf("a%03d", i), "")
	}
	took := make([]time.Duration, 0, len(stored))
	for range stored {
		e, number := wait(t, events, "entity", ""), 0
		_, rest, _ := strings.Cut(e.data, `"external_id":"a`)
		if _, err := fmt.Sscanf(rest, "%d", &number); err != nil {
			t.Fatalf("%s: %v", e.data, err)
		}
		took = append(took, e.at.Sub(stored[number]))
	}
	slices.Sort(took)
	p99 := took[len(took)*99/100]
	t.Logf("from stored to told: median %v, p99 %v", took[len(took)/2], p99)
	if p99 > time.Second+watch.Waited() {
		t.Errorf("p99 is %v", p99)
	}

	watch = s.watch()
	began := push("short", `,"ttl_seconds":3`)
	wait(t, events, "entity", `"short"`)
	gone := wait(t, events, "gone", ":v1:c2hvcnQ")
	if late := gone.at.Sub(began.Add(3 * time.Second)); late < -500*time.Millisecond || late > time.Second+watch.Waited() {
		t.Errorf("removed %v after its expiry", late)
	}

	began = time.Now()
	if err := s.terminate(); err != nil {
		t.Errorf("the service ended badly: %v\n%s", err, s.log)
	}
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("it took %v to end", took)
	}
	if !<-whole {
		t.Error("the stream ended incompletely")
	}
}

package systemtest

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Event is one event of a stream.
type Event struct {
	Name, Data string
	At         time.Time
}

// ListenTo opens a stream at 52, 5 and returns its events. At its end, events is closed and whole reports a clean end.
func (s *Service) ListenTo() (events <-chan Event, whole <-chan bool) {
	s.T.Helper()
	return s.ListenAs(nil)
}

// ListenAs opens a stream as ListenTo does, with a session's cookie; nil: none.
func (s *Service) ListenAs(cookie *http.Cookie) (events <-chan Event, whole <-chan bool) {
	s.T.Helper()
	req, err := http.NewRequestWithContext(s.T.Context(), http.MethodGet, s.Base+"/v2/stream?lat=52&lng=5&radius=2000&limit=1000", http.NoBody)
	if err != nil {
		s.T.Fatal(err)
	}
	if cookie != nil {
		req.AddCookie(cookie)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.T.Fatal(err)
	}
	said, end := make(chan Event, 10_000), make(chan bool, 1)
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
				said <- Event{name, data, time.Now()}
			}
		}
	}()
	return said, end
}

// WaitFor returns the next event with the name whose data contain the text.
func WaitFor(t *testing.T, events <-chan Event, name, text string) Event {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		select {
		case e, ok := <-events:
			if !ok {
				t.Fatal("the stream ended")
			}
			if e.Name == name && strings.Contains(e.Data, text) {
				return e
			}
		case <-deadline:
			t.Fatalf("no %s %s", name, text)
		}
	}
}

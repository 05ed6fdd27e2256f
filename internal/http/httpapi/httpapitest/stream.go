package httpapitest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"wayside/internal/ground/mapdata"
)

// Event is one event of a stream.
type Event struct {
	Name, Data, ID string
	Retry          int
}

// Stream is an open stream.
type Stream struct {
	t          *testing.T
	Resp       *http.Response
	Events     chan Event
	Complete   bool // once events is closed: the stream ended regularly
	Heartbeats int  // once events is closed: number of heartbeats
	Close      context.CancelFunc
}

// OpenStream opens a stream; header pairs may follow. It is closed at the end of the test.
func (b *Browser) OpenStream(query string, header ...string) *Stream {
	b.T.Helper()
	ctx, cancel := context.WithCancel(b.T.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.Server.URL+"/v2/stream?"+query, http.NoBody)
	if err != nil {
		b.T.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := b.Client.Do(req)
	if err != nil {
		cancel()
		b.T.Fatal(err)
	}
	w := &Stream{t: b.T, Resp: resp, Events: make(chan Event), Close: cancel}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(w.Events)
		w.read(ctx)
	}()
	b.T.Cleanup(func() {
		cancel()
		<-done
		_ = resp.Body.Close()
	})
	return w
}

// read parses the stream as an EventSource does.
func (w *Stream) read(ctx context.Context) {
	lines := bufio.NewReader(w.Resp.Body)
	var e Event
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			w.Complete = errors.Is(err, io.EOF)
			return
		}
		line = strings.TrimSuffix(line, "\n")
		if line != "" {
			name, value, _ := strings.Cut(line, ": ")
			switch name {
			case ":":
				w.Heartbeats++
			case "event":
				e.Name = value
			case "data":
				e.Data += value
			case "id":
				e.ID = value
			case "retry":
				e.Retry, _ = strconv.Atoi(value)
			}
			continue
		}
		if e.Data != "" {
			select {
			case w.Events <- e:
			case <-ctx.Done():
				return
			}
		}
		e = Event{ID: e.ID}
	}
}

// EventTimeout is how long a test waits for an event.
const EventTimeout = 30 * time.Second

// Next returns the next event, validated against openapi.json.
func (w *Stream) Next() Event {
	w.t.Helper()
	select {
	case e, ok := <-w.Events:
		if !ok {
			w.t.Fatal("the stream ended")
		}
		w.check(e)
		return e
	case <-time.After(EventTimeout):
		w.t.Fatal("nothing came")
	}
	return Event{}
}

func (w *Stream) check(e Event) {
	w.t.Helper()
	schema, err := OpenDocument(w.t).Schema(Pointer("components", "schemas", "StreamEvents", "properties", e.Name))
	if err != nil {
		w.t.Fatalf("event %s: %v", e.Name, err)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(e.Data))
	if err != nil {
		w.t.Fatalf("event %s: %v: %s", e.Name, err, e.Data)
	}
	if err := schema.Validate(value); err != nil {
		w.t.Errorf("event %s is not as openapi.json says: %#v\n%s", e.Name, err, e.Data)
	}
}

// Summary describes the next events in short, without those of sources' health.
func (w *Stream) Summary(count int) []string {
	w.t.Helper()
	out := []string{}
	for len(out) < count {
		if e := w.Next(); e.Name != "sources" {
			out = append(out, e.Summary(w.t))
		}
	}
	return out
}

// Summary describes an event in short.
func (e Event) Summary(t *testing.T) string {
	t.Helper()
	var v struct {
		Entities []struct {
			ExternalID string `json:"external_id"`
		}
		ID         string
		IDs        []string
		ExternalID string `json:"external_id"`
		Status     string
		ExpiresAt  string `json:"expires_at"`
		Sources    []struct{ Status string }
		Properties map[string]any
	}
	if err := json.Unmarshal([]byte(e.Data), &v); err != nil {
		t.Fatalf("%v: %s", err, e.Data)
	}
	switch e.Name {
	case "snapshot":
		out := "snapshot"
		for _, entity := range v.Entities {
			out += " " + entity.ExternalID
		}
		return out
	case "entity":
		if v.Properties["disputed_until"] != nil {
			return "entity " + v.ExternalID + " hidden"
		}
		return "entity " + v.ExternalID + " " + v.Status
	case "gone":
		_, id, _ := mapdata.ParseEntityID(v.ID)
		return "gone " + id
	case "ids":
		out := "ids"
		for _, text := range v.IDs {
			_, id, _ := mapdata.ParseEntityID(text)
			out += " " + id
		}
		return out
	}
	out := e.Name
	for _, s := range v.Sources {
		out += " " + s.Status
	}
	return out
}

// WantEvents fails the test unless these are the next events.
func (w *Stream) WantEvents(want ...string) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.Summary(len(want))); diff != "" {
		w.t.Error(diff)
	}
}

// StreamQuery selects the circle of most streams.
const StreamQuery = "lat=52&lng=5&radius=2000"

// UpdateStreams makes all streams update, which the passing of time would do, but the clock of a Service stands still.
func (d *Service) UpdateStreams() { d.Streams.Touched(mapdata.Touched{Everywhere: true}) }

// WaitForNoStreams waits until the server has closed all streams.
func (d *Service) WaitForNoStreams() {
	d.T.Helper()
	d.WaitFor("streams stay open", func() bool { return d.Streams.Len() == 0 })
}

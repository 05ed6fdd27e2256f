package httpapi_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.uber.org/goleak"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi"
)

// event is one event of a stream.
type event struct {
	name, data, id string
	retry          int
}

// testStream is an open stream.
type testStream struct {
	t          *testing.T
	resp       *http.Response
	events     chan event
	complete   bool // once events is closed: the stream ended regularly
	heartbeats int  // once events is closed: number of heartbeats
	close      context.CancelFunc
}

// openStream opens a stream; header pairs may follow. It is closed at the end of the test.
func (b *browser) openStream(query string, header ...string) *testStream {
	b.t.Helper()
	ctx, cancel := context.WithCancel(b.t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.server.URL+"/v2/stream?"+query, http.NoBody)
	if err != nil {
		b.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := b.client.Do(req)
	if err != nil {
		cancel()
		b.t.Fatal(err)
	}
	w := &testStream{t: b.t, resp: resp, events: make(chan event), close: cancel}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(w.events)
		w.read(ctx)
	}()
	b.t.Cleanup(func() {
		cancel()
		<-done
		_ = resp.Body.Close()
	})
	return w
}

// read parses the stream as an EventSource does.
func (w *testStream) read(ctx context.Context) {
	lines := bufio.NewReader(w.resp.Body)
	var e event
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			w.complete = errors.Is(err, io.EOF)
			return
		}
		line = strings.TrimSuffix(line, "\n")
		if line != "" {
			name, value, _ := strings.Cut(line, ": ")
			switch name {
			case ":":
				w.heartbeats++
			case "event":
				e.name = value
			case "data":
				e.data += value
			case "id":
				e.id = value
			case "retry":
				e.retry, _ = strconv.Atoi(value)
			}
			continue
		}
		if e.data != "" {
			select {
			case w.events <- e:
			case <-ctx.Done():
				return
			}
		}
		e = event{id: e.id}
	}
}

// eventTimeout is how long a test waits for an event.
const eventTimeout = 30 * time.Second

// next returns the next event, validated against openapi.json.
func (w *testStream) next() event {
	w.t.Helper()
	select {
	case e, ok := <-w.events:
		if !ok {
			w.t.Fatal("the stream ended")
		}
		w.check(e)
		return e
	case <-time.After(eventTimeout):
		w.t.Fatal("nothing came")
	}
	return event{}
}

func (w *testStream) check(e event) {
	w.t.Helper()
	schema, err := openDocument(w.t).schema(pointer("components", "schemas", "StreamEvents", "properties", e.name))
	if err != nil {
		w.t.Fatalf("event %s: %v", e.name, err)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(e.data))
	if err != nil {
		w.t.Fatalf("event %s: %v: %s", e.name, err, e.data)
	}
	if err := schema.Validate(value); err != nil {
		w.t.Errorf("event %s is not as openapi.json says: %#v\n%s", e.name, err, e.data)
	}
}

// summary describes the next events in short, without those of sources' health.
func (w *testStream) summary(count int) []string {
	w.t.Helper()
	out := []string{}
	for len(out) < count {
		if e := w.next(); e.name != "sources" {
			out = append(out, e.summary(w.t))
		}
	}
	return out
}

// summary describes an event in short.
func (e event) summary(t *testing.T) string {
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
	if err := json.Unmarshal([]byte(e.data), &v); err != nil {
		t.Fatalf("%v: %s", err, e.data)
	}
	switch e.name {
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
	out := e.name
	for _, s := range v.Sources {
		out += " " + s.Status
	}
	return out
}

// wantEvents fails the test unless these are the next events.
func (w *testStream) wantEvents(want ...string) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.summary(len(want))); diff != "" {
		w.t.Error(diff)
	}
}

const streamQuery = "lat=52&lng=5&radius=2000"

// updateStreams makes all streams update, which the passing of time would do, but the clock of a testService stands still.
func (d *testService) updateStreams() { d.streams.Touched(mapdata.Touched{Everywhere: true}) }

// TestStreamSendsChanges follows an entity of a feed from its first row to its end.
func TestStreamSendsChanges(t *testing.T) {
	d := newTestService(t)
	owner := d.signedInAs("owner@example.org", mapdata.Driver)
	curator := d.signedInAs("curator@example.org", mapdata.Curator)
	feed := owner.registerPush("Roadworks")
	d.push(*feed.Token, "["+row("a", "alert.police", 10)+"]").want(t, http.StatusOK)
	d.waitForIndex()
	guest := d.browser()
	public, own := guest.openStream(streamQuery), owner.openStream(streamQuery)
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no", "Content-Encoding": "",
		"Vary": "Accept-Encoding, Authorization, Cookie",
	} {
		if got := public.resp.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	first := public.next()
	if first.summary(t) != "snapshot" || first.retry < 2000 || first.retry > 5000 || first.id == "" {
		t.Errorf("first %+v", first)
	}
	own.wantEvents("snapshot a")

	curator.send(http.MethodPost, feed.path()+"/approve", "").want(t, http.StatusOK)
	public.wantEvents("entity a reported") // approval shows the existing entities
	d.advance(time.Second)
	d.push(*feed.Token, "["+row("b", "alert.hazard", 20)+"]").want(t, http.StatusOK)
	public.wantEvents("entity b reported")
	own.wantEvents("entity b reported")
	d.advance(time.Second)
	d.push(*feed.Token, "["+row("b", "alert.hazard", 30)+"]").want(t, http.StatusOK)
	public.wantEvents("entity b reported")
	own.wantEvents("entity b reported")
	// Entities that are unchanged, far away, or of other kinds cause no event.
	cameras := guest.openStream(streamQuery + "&kinds=camera.speed")
	cameras.wantEvents("snapshot")
	d.advance(time.Second)
	d.push(*feed.Token, "["+row("a", "alert.police", 10)+","+row("far", "alert.police", 50_000)+"]").want(t, http.StatusOK)
	d.push(*feed.Token, "["+row("c", "camera.speed", 40)+"]").want(t, http.StatusOK)
	public.wantEvents("entity c reported")
	own.wantEvents("entity c reported")
	cameras.wantEvents("entity c reported")
	d.push(*feed.Token, `[{"external_id":"b","kind":"alert.hazard","lat":52,"lng":5,"properties":{},"ttl_seconds":1}]`)
	public.wantEvents("gone b") // retired
	d.advance(time.Hour - 2*time.Second)
	d.push(*feed.Token, "["+row("a", "alert.police", 10)+"]").want(t, http.StatusOK)
	d.updateStreams()
	e := public.next()
	if strings.Contains(e.data, `"expires_at":"2026-11-21T09:00:03.000Z"`) {
		e = public.next() // the stream polled between the step of the clock and the push
	}
	if !strings.Contains(e.data, `"expires_at":"2026-11-21T10:00:01.000Z"`) {
		t.Errorf("a longer lifetime is sent as %s", e.data)
	}
	d.advance(time.Hour)
	d.updateStreams()
	public.wantEvents("gone a") // expired
	owner.send(http.MethodDelete, feed.path(), "").want(t, http.StatusNoContent)
	public.wantEvents("gone c")
	cameras.wantEvents("gone c")
}

// TestStreamSendsVotes checks that votes, and entities that they hide or keep, are sent immediately, to each client as its role
// permits.
func TestStreamSendsVotes(t *testing.T) {
	r := newTestUpstream(t, row("live", "alert.police", 10))
	d := newServiceWithUpstreams(t, r)
	owner, id := d.publish("Roadworks", row("a", "alert.accident", 500))
	guest, curator := d.browser(), d.signedInAs("curator@example.org", mapdata.Curator)
	public, own, all := guest.openStream(streamQuery), owner.openStream(streamQuery), curator.openStream(streamQuery)
	for _, w := range []*testStream{public, own, all} {
		w.wantEvents("snapshot live a")
	}
	var drivers []*browser
	for i := range 3 {
		drivers = append(drivers, d.signedInAs(fmt.Sprintf("driver%d@example.org", i), mapdata.Driver))
	}
	for external, entity := range map[string]string{"a": "feed:" + id + ":v1:YQ", "live": "incident:v1:bGl2ZQ"} {
		drivers[0].vote(entity, "confirm")
		for _, w := range []*testStream{public, own, all} {
			w.wantEvents("entity " + external + " reported")
		}
		drivers[0].vote(entity, "dispute")
		for _, w := range []*testStream{public, own, all} {
			w.wantEvents("entity " + external + " disputed")
		}
		drivers[1].vote(entity, "dispute")
		for _, w := range []*testStream{public, own, all} {
			w.wantEvents("entity " + external + " disputed")
		}
		drivers[2].vote(entity, "dispute")
		public.wantEvents("gone " + external)
		all.wantEvents("entity " + external + " hidden")
		if external == "a" {
			own.wantEvents("entity a hidden") // the client is its owner
		} else {
			own.wantEvents("gone live")
		}
		drivers[2].vote(entity, "vote")
		for _, w := range []*testStream{public, own, all} {
			w.wantEvents("entity " + external + " disputed")
		}
	}
}

// TestStreamSendsEndsOfSuppressions checks that the end of a suppression is sent without another event.
func TestStreamSendsEndsOfSuppressions(t *testing.T) {
	d := newTestService(t)
	_, id := d.publish("Roadworks", row("a", "alert.road_closed", 500))
	for i := range 3 {
		d.signedInAs(fmt.Sprintf("driver%d@example.org", i), mapdata.Driver).vote("feed:"+id+":v1:YQ", "dispute")
	}
	d.waitForIndex()
	w := d.browser().openStream(streamQuery)
	first := w.next()
	if first.summary(t) != "snapshot" {
		t.Fatal(first.summary(t))
	}
	d.advance(30 * time.Minute)
	// Any other change makes the hub read the clock, which the test has moved.
	d.streams.Touched(mapdata.Touched{Returns: []mapdata.Return{{At: d.time().Add(time.Hour)}}})
	w.wantEvents("entity a disputed")
}

// TestStreamSendsLiveIncidents checks that new, changed and removed incidents of upstreams are sent, that a stream itself calls
// upstreams, and that an outage is sent.
func TestStreamSendsLiveIncidents(t *testing.T) {
	r := newTestUpstream(t, row("a", "alert.police", 10))
	d := newTestServiceWith(t, serviceOptions{manage: 10_000, upstreams: []string{r.URL}, streamPoll: 20 * time.Millisecond})
	d.waitForIndex()
	w := d.browser().openStream(streamQuery)
	w.wantEvents("snapshot a")
	r.setRows(row("a", "alert.police", 15), row("b", "alert.hazard", 900))
	d.advance(6 * time.Second)
	w.wantEvents("entity a reported", "entity b reported") // only this stream called the upstream
	r.setRows(row("b", "alert.hazard", 900))
	d.advance(6 * time.Second)
	w.wantEvents("gone a")
	r.fail()
	d.advance(6 * time.Second)
	if e := w.next(); e.summary(t) != "sources offline" {
		t.Errorf("an outage is sent as %s", e.summary(t))
	}
}

// TestStreamResumes checks the events that a client gets when it reconnects.
func TestStreamResumes(t *testing.T) {
	d := newTestService(t)
	owner, _ := d.publish("Roadworks", row("a", "camera.speed", 10), row("b", "camera.speed", 20), row("c", "camera.speed", 30))
	feed := owner.registerPush("More")
	push := func(rows ...string) {
		t.Helper()
		d.push(*feed.Token, "["+strings.Join(rows, ",")+"]").want(t, http.StatusOK)
		d.waitForIndex()
	}
	push(row("d", "camera.speed", 40))
	d.advance(time.Minute)
	w := owner.openStream(streamQuery)
	first := w.next()
	if first.summary(t) != "snapshot a b c d" {
		t.Fatal(first.summary(t))
	}
	w.close()
	d.advance(5 * time.Minute)
	push(row("e", "camera.speed", 50), `{"external_id":"d","kind":"camera.speed","lat":52,"lng":5,"properties":{},"ttl_seconds":1}`)
	d.advance(4 * time.Minute)
	again := owner.openStream(streamQuery, "Last-Event-ID", first.id)
	entity, ids := again.next(), again.next()
	if entity.summary(t) != "entity e reported" || ids.summary(t) != "ids a b c e" {
		t.Errorf("resumed: %s, %s", entity.summary(t), ids.summary(t))
	}
	if entity.id != "" || ids.id == first.id || ids.id == "" {
		t.Errorf("ids %q and %q", entity.id, ids.id)
	}
	again.close()
	parts := strings.Split(first.id, "-")
	for name, try := range map[string]struct {
		who       *browser
		query, id string
	}{
		"another account":       {d.browser(), streamQuery, first.id},
		"with other parameters": {owner, "lat=52&lng=5.0001&radius=2000", first.id},
		"cut":                   {owner, streamQuery + "&limit=2", first.id},
		"unknown":               {owner, streamQuery, "moose"},
		"another process's":     {owner, streamQuery, parts[0] + "-0-zzz"},
		"of the future":         {owner, streamQuery, strconv.FormatInt(d.time().Add(time.Minute).UnixMilli(), 36) + "-" + parts[1] + "-" + parts[2]},
		"old":                   {owner, streamQuery, strconv.FormatInt(d.time().Add(-11*time.Minute).UnixMilli(), 36) + "-" + parts[1] + "-" + parts[2]},
	} {
		w := try.who.openStream(try.query, "Last-Event-ID", try.id)
		if e := w.next(); e.name != "snapshot" {
			t.Errorf("%s: %s", name, e.summary(t))
		}
		w.close()
		d.waitForNoStreams()
	}
}

// TestStreamResumesFromHalfAMinuteEarlier checks that a client that resumes also gets changes up to 30 seconds before its last
// event, because the entities of a large snapshot can be read only some time after their time of change.
func TestStreamResumesFromHalfAMinuteEarlier(t *testing.T) {
	d := newTestService(t)
	changed := d.time()
	d.publish("Roadworks", row("a", "camera.speed", 10))
	d.advance(time.Minute)
	guest := d.browser()
	w := guest.openStream(streamQuery)
	first := w.next()
	w.close()
	parts := strings.Split(first.id, "-")
	for after, want := range map[time.Duration]string{
		29 * time.Second: "entity a reported",
		31 * time.Second: "ids a",
	} {
		id := strconv.FormatInt(changed.Add(after).UnixMilli(), 36) + "-" + parts[1] + "-" + parts[2]
		w := guest.openStream(streamQuery, "Last-Event-ID", id)
		if got := w.next().summary(t); got != want {
			t.Errorf("an event %v after the change: %s, want %s", after, got, want)
		}
		w.close()
		d.waitForNoStreams()
	}
}

// waitForNoStreams waits until the server has closed all streams.
func (d *testService) waitForNoStreams() {
	d.t.Helper()
	d.waitFor("streams stay open", func() bool { return d.streams.Len() == 0 })
}

// TestStreamRefusals checks which requests get no stream, and the reasons.
func TestStreamRefusals(t *testing.T) {
	d := newTestService(t)
	d.waitForIndex()
	guest, driver := d.browser(), d.signedInAs("driver@example.org", mapdata.Driver)
	for range 4 {
		guest.openStream(streamQuery).wantEvents("snapshot")
	}
	refused := guest.send(http.MethodGet, "/v2/stream?"+streamQuery, "").want(t, http.StatusTooManyRequests)
	if refused.Header.Get("Retry-After") == "" {
		t.Errorf("headers %v", refused.Header)
	}
	driver.openStream(streamQuery).wantEvents("snapshot") // an account has a separate limit
	for name, path := range map[string]string{
		"nothing": "/v2/stream", "a box": "/v2/stream?" + streamQuery + "&bbox=1", "a source": "/v2/stream?" + streamQuery + "&sources=moose", "a kind": "/v2/stream?" + streamQuery + "&kinds=moose",
	} {
		if reply := driver.send(http.MethodGet, path, ""); reply.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %s", name, reply.Status)
		}
	}
	driver.send(http.MethodGet, "/v2/stream?"+streamQuery, "", "Authorization", "Bearer wsk_moose").want(t, http.StatusUnauthorized)
	if head := driver.send(http.MethodHead, "/v2/stream?"+streamQuery, ""); head.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("HEAD: %v", head.Header)
	}
	if got := d.streams.Len(); got != 5 {
		t.Errorf("%d streams", got)
	}
	d.endStreams()
	d.waitFor("streams do not end", func() bool { return d.streams.Len() == 0 })
	guest.send(http.MethodGet, "/v2/stream?"+streamQuery, "").want(t, http.StatusServiceUnavailable)
}

// TestStreamEndsAsACompleteResponse checks that a stream that the service ends is a complete HTTP response.
func TestStreamEndsAsACompleteResponse(t *testing.T) {
	d := newTestService(t)
	d.waitForIndex()
	resp, err := d.browser().client.Get(d.server.URL + "/v2/stream?" + streamQuery)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	d.endStreams()
	var body bytes.Buffer
	if _, err := body.ReadFrom(resp.Body); err != nil {
		t.Errorf("the response is incomplete: %v", err)
	}
	if !strings.HasSuffix(body.String(), "\n\n") {
		t.Errorf("%q", body.String())
	}
}

// TestStreamLeaksNothing checks that a client that disconnects leaves no goroutine and no entry.
func TestStreamLeaksNothing(t *testing.T) {
	d := newTestService(t)
	d.waitForIndex()
	guest := d.browser()
	opened := guest.openStream(streamQuery)
	opened.wantEvents("snapshot")
	opened.close()
	d.waitForNoStreams()
	guest.client.CloseIdleConnections()
	was := goleak.IgnoreCurrent()
	for range 10 {
		var all []*testStream
		for range 4 {
			w := guest.openStream(streamQuery)
			w.wantEvents("snapshot")
			all = append(all, w)
		}
		for _, w := range all {
			w.close()
		}
		d.waitForNoStreams()
	}
	guest.client.CloseIdleConnections()
	if err := goleak.Find(was); err != nil {
		t.Error(err)
	}
}

// TestStreamClosesSlowClients checks that a client that reads nothing loses its stream, and that the service continues.
func TestStreamClosesSlowClients(t *testing.T) {
	d := newTestServiceWith(t, serviceOptions{manage: 10_000, requests: 1_000_000, entities: 0, streamWriteTimeout: 200 * time.Millisecond})
	owner := d.signedInAs("owner@example.org", mapdata.Driver)
	feed := owner.registerPush("Roadworks")
	curator := d.signedInAs("curator@example.org", mapdata.Curator)
	curator.send(http.MethodPost, feed.path()+"/approve", "").want(t, http.StatusOK)
	d.waitForIndex()
	conn, err := net.Dial("tcp", d.server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(conn, "GET /v2/stream?%s&limit=1000 HTTP/1.1\r\nHost: x\r\n\r\n", streamQuery); err != nil {
		t.Fatal(err)
	}
	d.waitFor("no stream", func() bool { return d.streams.Len() == 1 })
	text := strings.Repeat("x", 15_000)
	began := time.Now()
	for version := 0; d.streams.Len() > 0; version++ {
		if time.Since(began) > eventTimeout {
			t.Fatal("the stream of a client that does not read is still open")
		}
		var rows []string
		for i := range 200 {
			rows = append(rows, fmt.Sprintf(`{"external_id":"r%d","kind":"camera.speed","lat":52,"lng":5,"properties":{"text":"%d%s"}}`, i, version, text))
		}
		d.push(*feed.Token, "["+strings.Join(rows, ",")+"]").want(t, http.StatusOK)
		d.waitForIndex()
	}
}

// TestStreamEndsWithItsAccount checks that a stream does not outlive the session with which it began: every third heartbeat looks
// the caller up, for sessions that end by their age.
func TestStreamEndsWithItsAccount(t *testing.T) {
	if interval := httpapi.AccountCheckInterval(); interval > time.Minute {
		t.Errorf("by default the caller is looked up every %v", interval)
	}
	d := newTestServiceWith(t, serviceOptions{manage: 10_000, streamHeartbeat: 20 * time.Millisecond})
	d.waitForIndex()
	driver := d.signedInAs("driver@example.org", mapdata.Driver)
	w := driver.openStream(streamQuery)
	w.wantEvents("snapshot")
	d.advance(mapdata.SessionIdle)
	select {
	case _, open := <-w.events:
		if open || !w.complete {
			t.Error("the stream continues, or ends incompletely")
		}
		if w.heartbeats%3 != 2 {
			t.Errorf("the stream ended after %d heartbeats, want a multiple of three", w.heartbeats)
		}
	case <-time.After(eventTimeout):
		t.Error("the stream does not end")
	}
}

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

	"wayside/internal/mapdata"
)

// event is one event of a stream.
type event struct {
	name, data, id string
	retry          int
}

// watched is an open stream.
type watched struct {
	t      *testing.T
	resp   *http.Response
	events chan event
	whole  bool // once events is closed: the stream came to its end
	beats  int  // once events is closed: signs of life
	close  context.CancelFunc
}

// watch opens a stream; header pairs may follow. It is closed at the end of the test.
func (b *browser) watch(query string, header ...string) *watched {
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
	w := &watched{t: b.t, resp: resp, events: make(chan event), close: cancel}
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

// read reads the stream as an EventSource does.
func (w *watched) read(ctx context.Context) {
	lines := bufio.NewReader(w.resp.Body)
	var e event
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			w.whole = errors.Is(err, io.EOF)
			return
		}
		line = strings.TrimSuffix(line, "\n")
		if line != "" {
			name, value, _ := strings.Cut(line, ": ")
			switch name {
			case ":":
				w.beats++
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

// patience is how long a test waits for what must come.
const patience = 30 * time.Second

// next is the next event, checked against openapi.json.
func (w *watched) next() event {
	w.t.Helper()
	select {
	case e, ok := <-w.events:
		if !ok {
			w.t.Fatal("the stream ended")
		}
		w.check(e)
		return e
	case <-time.After(patience):
		w.t.Fatal("nothing came")
	}
	return event{}
}

func (w *watched) check(e event) {
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

// told gives so many events in a few words, those of the health of sources apart.
func (w *watched) told(count int) []string {
	w.t.Helper()
	out := []string{}
	for len(out) < count {
		if e := w.next(); e.name != "sources" {
			out = append(out, e.words(w.t))
		}
	}
	return out
}

// words is an event in a few words.
func (e event) words(t *testing.T) string {
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

// tells fails the test unless the stream tells this next.
func (w *watched) tells(want ...string) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.told(len(want))); diff != "" {
		w.t.Error(diff)
	}
}

const here = "lat=52&lng=5&radius=2000"

// look lets all streams look, as the time would: the clock of a desk stands still.
func (d *desk) look() { d.streams.Touched(mapdata.Touched{Everywhere: true}) }

// TestStreamTellsWhatChanges walks through the life of an entity of a feed.
func TestStreamTellsWhatChanges(t *testing.T) {
	d := newDesk(t)
	owner := d.someone("owner@example.org", mapdata.Driver)
	curator := d.someone("curator@example.org", mapdata.Curator)
	feed := owner.registerPush("Roadworks")
	d.push(*feed.Token, "["+row("a", "alert.police", 10)+"]").want(t, http.StatusOK)
	d.settle()
	guest := d.browser()
	public, own := guest.watch(here), owner.watch(here)
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no", "Content-Encoding": "",
		"Vary": "Accept-Encoding, Authorization, Cookie",
	} {
		if got := public.resp.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	first := public.next()
	if first.words(t) != "snapshot" || first.retry < 2000 || first.retry > 5000 || first.id == "" {
		t.Errorf("first %+v", first)
	}
	own.tells("snapshot a")

	curator.send(http.MethodPost, feed.path()+"/approve", "").want(t, http.StatusOK)
	public.tells("entity a reported") // approval shows what is there
	d.advance(time.Second)
	d.push(*feed.Token, "["+row("b", "alert.hazard", 20)+"]").want(t, http.StatusOK)
	public.tells("entity b reported")
	own.tells("entity b reported")
	d.advance(time.Second)
	d.push(*feed.Token, "["+row("b", "alert.hazard", 30)+"]").want(t, http.StatusOK)
	public.tells("entity b reported")
	own.tells("entity b reported")
	// What is seen again, far away, or of no kind that is watched, is no news.
	cameras := guest.watch(here + "&kinds=camera.speed")
	cameras.tells("snapshot")
	d.advance(time.Second)
	d.push(*feed.Token, "["+row("a", "alert.police", 10)+","+row("far", "alert.police", 50_000)+"]").want(t, http.StatusOK)
	d.push(*feed.Token, "["+row("c", "camera.speed", 40)+"]").want(t, http.StatusOK)
	public.tells("entity c reported")
	own.tells("entity c reported")
	cameras.tells("entity c reported")
	d.push(*feed.Token, `[{"external_id":"b","kind":"alert.hazard","lat":52,"lng":5,"properties":{},"ttl_seconds":1}]`)
	public.tells("gone b") // retired
	d.advance(time.Hour - 2*time.Second)
	d.push(*feed.Token, "["+row("a", "alert.police", 10)+"]").want(t, http.StatusOK)
	d.look()
	if e := public.next(); !strings.Contains(e.data, `"expires_at":"2026-11-21T10:00:01.000Z"`) {
		t.Errorf("a longer life is told as %s", e.data)
	}
	d.advance(time.Hour)
	d.look()
	public.tells("gone a") // expired
	owner.send(http.MethodDelete, feed.path(), "").want(t, http.StatusNoContent)
	public.tells("gone c")
	cameras.tells("gone c")
}

// TestStreamTellsVotes says that votes, and what they hide and keep, are told as they come, to each as they may see it.
func TestStreamTellsVotes(t *testing.T) {
	r := newRoad(t, row("live", "alert.police", 10))
	d := newRoadDesk(t, r)
	owner, id := d.publish("Roadworks", row("a", "alert.accident", 500))
	guest, curator := d.browser(), d.someone("curator@example.org", mapdata.Curator)
	public, own, all := guest.watch(here), owner.watch(here), curator.watch(here)
	for _, w := range []*watched{public, own, all} {
		w.tells("snapshot live a")
	}
	var drivers []*browser
	for i := range 3 {
		drivers = append(drivers, d.someone(fmt.Sprintf("driver%d@example.org", i), mapdata.Driver))
	}
	for external, entity := range map[string]string{"a": "feed:" + id + ":v1:YQ", "live": "incident:v1:bGl2ZQ"} {
		drivers[0].vote(entity, "confirm")
		for _, w := range []*watched{public, own, all} {
			w.tells("entity " + external + " reported")
		}
		drivers[0].vote(entity, "dispute")
		for _, w := range []*watched{public, own, all} {
			w.tells("entity " + external + " disputed")
		}
		drivers[1].vote(entity, "dispute")
		for _, w := range []*watched{public, own, all} {
			w.tells("entity " + external + " disputed")
		}
		drivers[2].vote(entity, "dispute")
		public.tells("gone " + external)
		all.tells("entity " + external + " hidden")
		if external == "a" {
			own.tells("entity a hidden") // it is theirs
		} else {
			own.tells("gone live")
		}
		drivers[2].vote(entity, "vote")
		for _, w := range []*watched{public, own, all} {
			w.tells("entity " + external + " disputed")
		}
	}
}

// TestStreamTellsWhatComesBack says that a suppression ends on streams without anybody's doing.
func TestStreamTellsWhatComesBack(t *testing.T) {
	d := newDesk(t)
	_, id := d.publish("Roadworks", row("a", "alert.road_closed", 500))
	for i := range 3 {
		d.someone(fmt.Sprintf("driver%d@example.org", i), mapdata.Driver).vote("feed:"+id+":v1:YQ", "dispute")
	}
	d.settle()
	w := d.browser().watch(here)
	first := w.next()
	if first.words(t) != "snapshot" {
		t.Fatal(first.words(t))
	}
	d.advance(30 * time.Minute)
	// Any other news of returns lets the hub look at the clock, which has been moved under it.
	d.streams.Touched(mapdata.Touched{Returns: []mapdata.Return{{At: d.time().Add(time.Hour)}}})
	w.tells("entity a disputed")
}

// TestStreamTellsLiveIncidents says that what upstreams say comes, changes and goes, that a stream asks them itself, and
// that an outage is told.
func TestStreamTellsLiveIncidents(t *testing.T) {
	t.Parallel()
	r := newRoad(t, row("a", "alert.police", 10))
	d := newRoadDesk(t, r)
	d.settle()
	w := d.browser().watch(here)
	w.tells("snapshot a")
	r.say(row("a", "alert.police", 15), row("b", "alert.hazard", 900))
	d.advance(6 * time.Second)
	w.tells("entity a reported", "entity b reported") // the stream asked: nobody else is there
	r.say(row("b", "alert.hazard", 900))
	d.advance(6 * time.Second)
	w.tells("gone a")
	r.fail()
	d.advance(6 * time.Second)
	if e := w.next(); e.words(t) != "sources offline" {
		t.Errorf("an outage is told as %s", e.words(t))
	}
}

// TestStreamResumes says what a client gets that comes again.
func TestStreamResumes(t *testing.T) {
	d := newDesk(t)
	owner, _ := d.publish("Roadworks", row("a", "camera.speed", 10), row("b", "camera.speed", 20), row("c", "camera.speed", 30))
	feed := owner.registerPush("More")
	push := func(rows ...string) {
		t.Helper()
		d.push(*feed.Token, "["+strings.Join(rows, ",")+"]").want(t, http.StatusOK)
		d.settle()
	}
	push(row("d", "camera.speed", 40))
	d.advance(time.Minute)
	w := owner.watch(here)
	first := w.next()
	if first.words(t) != "snapshot a b c d" {
		t.Fatal(first.words(t))
	}
	w.close()
	d.advance(5 * time.Minute)
	push(row("e", "camera.speed", 50), `{"external_id":"d","kind":"camera.speed","lat":52,"lng":5,"properties":{},"ttl_seconds":1}`)
	d.advance(4 * time.Minute)
	again := owner.watch(here, "Last-Event-ID", first.id)
	entity, ids := again.next(), again.next()
	if entity.words(t) != "entity e reported" || ids.words(t) != "ids a b c e" {
		t.Errorf("resumed: %s, %s", entity.words(t), ids.words(t))
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
		"as somebody else":      {d.browser(), here, first.id},
		"with other parameters": {owner, "lat=52&lng=5.0001&radius=2000", first.id},
		"cut":                   {owner, here + "&limit=2", first.id},
		"unknown":               {owner, here, "moose"},
		"another process's":     {owner, here, parts[0] + "-0-zzz"},
		"of the future":         {owner, here, strconv.FormatInt(d.time().Add(time.Minute).UnixMilli(), 36) + "-" + parts[1] + "-" + parts[2]},
		"old":                   {owner, here, strconv.FormatInt(d.time().Add(-11*time.Minute).UnixMilli(), 36) + "-" + parts[1] + "-" + parts[2]},
	} {
		w := try.who.watch(try.query, "Last-Event-ID", try.id)
		if e := w.next(); e.name != "snapshot" {
			t.Errorf("%s: %s", name, e.words(t))
		}
		w.close()
		d.free()
	}
}

// free waits until all streams are closed on our side.
func (d *desk) free() {
	d.t.Helper()
	d.until("streams stay open", func() bool { return d.streams.Len() == 0 })
}

// until waits for something.
func (d *desk) until(otherwise string, so func() bool) {
	d.t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for !so() {
		select {
		case <-tick.C:
		case <-deadline:
			d.t.Fatal(otherwise)
		}
	}
}

// TestStreamIsRefused says who gets no stream, and why.
func TestStreamIsRefused(t *testing.T) {
	d := newDesk(t)
	d.settle()
	guest, driver := d.browser(), d.someone("driver@example.org", mapdata.Driver)
	for range 4 {
		guest.watch(here).tells("snapshot")
	}
	refused := guest.send(http.MethodGet, "/v2/stream?"+here, "").want(t, http.StatusTooManyRequests)
	if refused.Header.Get("Retry-After") == "" {
		t.Errorf("headers %v", refused.Header)
	}
	driver.watch(here).tells("snapshot") // an account has its own
	for name, path := range map[string]string{
		"nothing": "/v2/stream", "a box": "/v2/stream?" + here + "&bbox=1", "a source": "/v2/stream?" + here + "&sources=moose", "a kind": "/v2/stream?" + here + "&kinds=moose",
	} {
		if reply := driver.send(http.MethodGet, path, ""); reply.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %s", name, reply.Status)
		}
	}
	driver.send(http.MethodGet, "/v2/stream?"+here, "", "Authorization", "Bearer wsk_moose").want(t, http.StatusUnauthorized)
	if head := driver.send(http.MethodHead, "/v2/stream?"+here, ""); head.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("HEAD: %v", head.Header)
	}
	if got := d.streams.Len(); got != 5 {
		t.Errorf("%d streams", got)
	}
	d.endStreams()
	d.until("streams do not end", func() bool { return d.streams.Len() == 0 })
	guest.send(http.MethodGet, "/v2/stream?"+here, "").want(t, http.StatusServiceUnavailable)
}

// TestStreamEndsWell says that a stream that the service ends is an answer that is whole.
func TestStreamEndsWell(t *testing.T) {
	d := newDesk(t)
	d.settle()
	resp, err := d.browser().client.Get(d.server.URL + "/v2/stream?" + here)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	d.endStreams()
	var body bytes.Buffer
	if _, err := body.ReadFrom(resp.Body); err != nil {
		t.Errorf("the end is torn: %v", err)
	}
	if !strings.HasSuffix(body.String(), "\n\n") {
		t.Errorf("%q", body.String())
	}
}

// TestStreamLeavesNothing says that a client that left is forgotten.
func TestStreamLeavesNothing(t *testing.T) {
	d := newDesk(t)
	d.settle()
	guest := d.browser()
	opened := guest.watch(here)
	opened.tells("snapshot")
	opened.close()
	d.free()
	guest.client.CloseIdleConnections()
	was := goleak.IgnoreCurrent()
	for range 10 {
		var all []*watched
		for range 4 {
			w := guest.watch(here)
			w.tells("snapshot")
			all = append(all, w)
		}
		for _, w := range all {
			w.close()
		}
		d.free()
	}
	guest.client.CloseIdleConnections()
	if err := goleak.Find(was); err != nil {
		t.Error(err)
	}
}

// TestStreamCutsOffWhoDoesNotRead says that a client that reads nothing costs its stream, and not the service.
func TestStreamCutsOffWhoDoesNotRead(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a time-out")
	}
	t.Parallel()
	d := newDeskWith(t, deskLimits{manage: 10_000, requests: 1_000_000, entities: 0})
	owner := d.someone("owner@example.org", mapdata.Driver)
	feed := owner.registerPush("Roadworks")
	curator := d.someone("curator@example.org", mapdata.Curator)
	curator.send(http.MethodPost, feed.path()+"/approve", "").want(t, http.StatusOK)
	d.settle()
	conn, err := net.Dial("tcp", d.server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(conn, "GET /v2/stream?%s&limit=1000 HTTP/1.1\r\nHost: x\r\n\r\n", here); err != nil {
		t.Fatal(err)
	}
	d.until("no stream", func() bool { return d.streams.Len() == 1 })
	text := strings.Repeat("x", 15_000)
	began := time.Now()
	for version := 0; d.streams.Len() > 0; version++ {
		if time.Since(began) > 20*time.Second {
			t.Fatal("a client that does not read is still there")
		}
		var rows []string
		for i := range 200 {
			rows = append(rows, fmt.Sprintf(`{"external_id":"r%d","kind":"camera.speed","lat":52,"lng":5,"properties":{"text":"%d%s"}}`, i, version, text))
		}
		d.push(*feed.Token, "["+strings.Join(rows, ",")+"]").want(t, http.StatusOK)
		d.settle()
	}
}

// TestStreamEndsWithItsAccount says that a stream does not outlive the right to it: with every third sign of life, which
// makes once a minute, the caller is looked up.
func TestStreamEndsWithItsAccount(t *testing.T) {
	d := newDeskWith(t, deskLimits{manage: 10_000, requests: 60, entities: 10_000, beat: 50 * time.Millisecond})
	d.settle()
	driver := d.someone("driver@example.org", mapdata.Driver)
	w := driver.watch(here)
	w.tells("snapshot")
	driver.send(http.MethodPost, "/v2/auth/sign-out", "").want(t, http.StatusNoContent)
	select {
	case _, open := <-w.events:
		if open || !w.whole {
			t.Error("the stream goes on, or is torn off")
		}
		if w.beats != 2 {
			t.Errorf("the stream gave %d signs of life after the sign-out, want 2", w.beats)
		}
	case <-time.After(20 * time.Second):
		t.Error("the stream does not end")
	}
}

package httpapi_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi"
	"wayside/internal/http/httpapi/httpapitest"
)

// TestStreamSendsChanges follows an entity of a feed from its first row to its end.
func TestStreamSendsChanges(t *testing.T) {
	d := httpapitest.NewService(t)
	owner := d.SignedInAs("owner@example.org", mapdata.Driver)
	curator := d.SignedInAs("curator@example.org", mapdata.Curator)
	feed := owner.RegisterPush("Roadworks")
	d.Push(*feed.Token, "["+httpapitest.Row("a", "alert.police", 10)+"]").Want(t, http.StatusOK)
	d.WaitForIndex()
	guest := d.Browser()
	public, own := guest.OpenStream(httpapitest.StreamQuery), owner.OpenStream(httpapitest.StreamQuery)
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no", "Content-Encoding": "",
		"Vary": "Accept-Encoding, Authorization, Cookie",
	} {
		if got := public.Resp.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	first := public.Next()
	if first.Summary(t) != "snapshot" || first.Retry < 2000 || first.Retry > 5000 || first.ID == "" {
		t.Errorf("first %+v", first)
	}
	own.WantEvents("snapshot a")

	curator.Send(http.MethodPost, feed.Path()+"/approve", "").Want(t, http.StatusOK)
	public.WantEvents("entity a reported") // approval shows the existing entities
	d.Advance(time.Second)
	d.Push(*feed.Token, "["+httpapitest.Row("b", "alert.hazard", 20)+"]").Want(t, http.StatusOK)
	public.WantEvents("entity b reported")
	own.WantEvents("entity b reported")
	d.Advance(time.Second)
	d.Push(*feed.Token, "["+httpapitest.Row("b", "alert.hazard", 30)+"]").Want(t, http.StatusOK)
	public.WantEvents("entity b reported")
	own.WantEvents("entity b reported")
	// Entities that are unchanged, far away, or of other kinds cause no event.
	cameras := guest.OpenStream(httpapitest.StreamQuery + "&kinds=camera.speed")
	cameras.WantEvents("snapshot")
	d.Advance(time.Second)
	d.Push(*feed.Token, "["+httpapitest.Row("a", "alert.police", 10)+","+httpapitest.Row("far", "alert.police", 50_000)+"]").Want(t, http.StatusOK)
	d.Push(*feed.Token, "["+httpapitest.Row("c", "camera.speed", 40)+"]").Want(t, http.StatusOK)
	public.WantEvents("entity c reported")
	own.WantEvents("entity c reported")
	cameras.WantEvents("entity c reported")
	d.Push(*feed.Token, `[{"external_id":"b","kind":"alert.hazard","lat":52,"lng":5,"properties":{},"ttl_seconds":1}]`)
	public.WantEvents("gone b") // retired
	d.Advance(time.Hour - 2*time.Second)
	d.Push(*feed.Token, "["+httpapitest.Row("a", "alert.police", 10)+"]").Want(t, http.StatusOK)
	d.UpdateStreams()
	e := public.Next()
	if strings.Contains(e.Data, `"expires_at":"2026-11-21T09:00:03.000Z"`) {
		e = public.Next() // the stream polled between the step of the clock and the push
	}
	if !strings.Contains(e.Data, `"expires_at":"2026-11-21T10:00:01.000Z"`) {
		t.Errorf("a longer lifetime is sent as %s", e.Data)
	}
	d.Advance(time.Hour)
	d.UpdateStreams()
	public.WantEvents("gone a") // expired
	owner.Send(http.MethodDelete, feed.Path(), "").Want(t, http.StatusNoContent)
	public.WantEvents("gone c")
	cameras.WantEvents("gone c")
}

// TestStreamSendsVotes checks that votes, and entities that they hide or keep, are sent immediately, to each client as its role
// permits.
func TestStreamSendsVotes(t *testing.T) {
	r := newTestUpstream(t, httpapitest.Row("live", "alert.police", 10))
	d := newServiceWithUpstreams(t, r)
	owner, id := d.Publish("Roadworks", httpapitest.Row("a", "alert.accident", 500))
	guest, curator := d.Browser(), d.SignedInAs("curator@example.org", mapdata.Curator)
	public, own, all := guest.OpenStream(httpapitest.StreamQuery), owner.OpenStream(httpapitest.StreamQuery), curator.OpenStream(httpapitest.StreamQuery)
	for _, w := range []*httpapitest.Stream{public, own, all} {
		w.WantEvents("snapshot live a")
	}
	var drivers []*httpapitest.Browser
	for i := range 3 {
		drivers = append(drivers, d.SignedInAs(fmt.Sprintf("driver%d@example.org", i), mapdata.Driver))
	}
	for external, entity := range map[string]string{"a": "feed:" + id + ":v1:YQ", "live": "incident:v1:bGl2ZQ"} {
		drivers[0].Vote(entity, "confirm")
		for _, w := range []*httpapitest.Stream{public, own, all} {
			w.WantEvents("entity " + external + " reported")
		}
		drivers[0].Vote(entity, "dispute")
		for _, w := range []*httpapitest.Stream{public, own, all} {
			w.WantEvents("entity " + external + " disputed")
		}
		drivers[1].Vote(entity, "dispute")
		for _, w := range []*httpapitest.Stream{public, own, all} {
			w.WantEvents("entity " + external + " disputed")
		}
		drivers[2].Vote(entity, "dispute")
		public.WantEvents("gone " + external)
		all.WantEvents("entity " + external + " hidden")
		if external == "a" {
			own.WantEvents("entity a hidden") // the client is its owner
		} else {
			own.WantEvents("gone live")
		}
		drivers[2].Vote(entity, "vote")
		for _, w := range []*httpapitest.Stream{public, own, all} {
			w.WantEvents("entity " + external + " disputed")
		}
	}
}

// TestStreamSendsEndsOfSuppressions checks that the end of a suppression is sent without another event.
func TestStreamSendsEndsOfSuppressions(t *testing.T) {
	d := httpapitest.NewService(t)
	_, id := d.Publish("Roadworks", httpapitest.Row("a", "alert.road_closed", 500))
	for i := range 3 {
		d.SignedInAs(fmt.Sprintf("driver%d@example.org", i), mapdata.Driver).Vote("feed:"+id+":v1:YQ", "dispute")
	}
	d.WaitForIndex()
	w := d.Browser().OpenStream(httpapitest.StreamQuery)
	first := w.Next()
	if first.Summary(t) != "snapshot" {
		t.Fatal(first.Summary(t))
	}
	d.Advance(30 * time.Minute)
	// Any other change makes the hub read the clock, which the test has moved.
	d.Streams.Touched(mapdata.Touched{Returns: []mapdata.Return{{At: d.Time().Add(time.Hour)}}})
	w.WantEvents("entity a disputed")
}

// TestStreamSendsLiveIncidents checks that new, changed and removed incidents of upstreams are sent, that a stream itself calls
// upstreams, and that an outage is sent.
func TestStreamSendsLiveIncidents(t *testing.T) {
	r := newTestUpstream(t, httpapitest.Row("a", "alert.police", 10))
	d := httpapitest.NewServiceWith(t, httpapitest.Options{Manage: 10_000, Upstreams: []string{r.URL}, StreamPoll: 20 * time.Millisecond})
	d.WaitForIndex()
	w := d.Browser().OpenStream(httpapitest.StreamQuery)
	w.WantEvents("snapshot a")
	r.setRows(httpapitest.Row("a", "alert.police", 15), httpapitest.Row("b", "alert.hazard", 900))
	d.Advance(6 * time.Second)
	w.WantEvents("entity a reported", "entity b reported") // only this stream called the upstream
	r.setRows(httpapitest.Row("b", "alert.hazard", 900))
	d.Advance(6 * time.Second)
	w.WantEvents("gone a")
	r.fail()
	d.Advance(6 * time.Second)
	if e := w.Next(); e.Summary(t) != "sources offline" {
		t.Errorf("an outage is sent as %s", e.Summary(t))
	}
}

// TestStreamResumes checks the events that a client gets when it reconnects.
func TestStreamResumes(t *testing.T) {
	d := httpapitest.NewService(t)
	owner, _ := d.Publish("Roadworks", httpapitest.Row("a", "camera.speed", 10), httpapitest.Row("b", "camera.speed", 20), httpapitest.Row("c", "camera.speed", 30))
	feed := owner.RegisterPush("More")
	push := func(rows ...string) {
		t.Helper()
		d.Push(*feed.Token, "["+strings.Join(rows, ",")+"]").Want(t, http.StatusOK)
		d.WaitForIndex()
	}
	push(httpapitest.Row("d", "camera.speed", 40))
	d.Advance(time.Minute)
	w := owner.OpenStream(httpapitest.StreamQuery)
	first := w.Next()
	if first.Summary(t) != "snapshot a b c d" {
		t.Fatal(first.Summary(t))
	}
	w.Close()
	d.Advance(5 * time.Minute)
	push(httpapitest.Row("e", "camera.speed", 50), `{"external_id":"d","kind":"camera.speed","lat":52,"lng":5,"properties":{},"ttl_seconds":1}`)
	d.Advance(4 * time.Minute)
	again := owner.OpenStream(httpapitest.StreamQuery, "Last-Event-ID", first.ID)
	entity, ids := again.Next(), again.Next()
	if entity.Summary(t) != "entity e reported" || ids.Summary(t) != "ids a b c e" {
		t.Errorf("resumed: %s, %s", entity.Summary(t), ids.Summary(t))
	}
	if entity.ID != "" || ids.ID == first.ID || ids.ID == "" {
		t.Errorf("ids %q and %q", entity.ID, ids.ID)
	}
	again.Close()
	parts := strings.Split(first.ID, "-")
	for name, try := range map[string]struct {
		who       *httpapitest.Browser
		query, id string
	}{
		"another account":       {d.Browser(), httpapitest.StreamQuery, first.ID},
		"with other parameters": {owner, "lat=52&lng=5.0001&radius=2000", first.ID},
		"cut":                   {owner, httpapitest.StreamQuery + "&limit=2", first.ID},
		"unknown":               {owner, httpapitest.StreamQuery, "moose"},
		"another process's":     {owner, httpapitest.StreamQuery, parts[0] + "-0-zzz"},
		"of the future":         {owner, httpapitest.StreamQuery, strconv.FormatInt(d.Time().Add(time.Minute).UnixMilli(), 36) + "-" + parts[1] + "-" + parts[2]},
		"old":                   {owner, httpapitest.StreamQuery, strconv.FormatInt(d.Time().Add(-11*time.Minute).UnixMilli(), 36) + "-" + parts[1] + "-" + parts[2]},
	} {
		w := try.who.OpenStream(try.query, "Last-Event-ID", try.id)
		if e := w.Next(); e.Name != "snapshot" {
			t.Errorf("%s: %s", name, e.Summary(t))
		}
		w.Close()
		d.WaitForNoStreams()
	}
}

// TestStreamResumesFromHalfAMinuteEarlier checks that a client that resumes also gets changes up to 30 seconds before its last
// event, because the entities of a large snapshot can be read only some time after their time of change.
func TestStreamResumesFromHalfAMinuteEarlier(t *testing.T) {
	d := httpapitest.NewService(t)
	changed := d.Time()
	d.Publish("Roadworks", httpapitest.Row("a", "camera.speed", 10))
	d.Advance(time.Minute)
	guest := d.Browser()
	w := guest.OpenStream(httpapitest.StreamQuery)
	first := w.Next()
	w.Close()
	parts := strings.Split(first.ID, "-")
	for after, want := range map[time.Duration]string{
		29 * time.Second: "entity a reported",
		31 * time.Second: "ids a",
	} {
		id := strconv.FormatInt(changed.Add(after).UnixMilli(), 36) + "-" + parts[1] + "-" + parts[2]
		w := guest.OpenStream(httpapitest.StreamQuery, "Last-Event-ID", id)
		if got := w.Next().Summary(t); got != want {
			t.Errorf("an event %v after the change: %s, want %s", after, got, want)
		}
		w.Close()
		d.WaitForNoStreams()
	}
}

// TestStreamRefusals checks which requests get no stream, and the reasons.
func TestStreamRefusals(t *testing.T) {
	d := httpapitest.NewService(t)
	d.WaitForIndex()
	guest, driver := d.Browser(), d.SignedInAs("driver@example.org", mapdata.Driver)
	for range 4 {
		guest.OpenStream(httpapitest.StreamQuery).WantEvents("snapshot")
	}
	refused := guest.Send(http.MethodGet, "/v2/stream?"+httpapitest.StreamQuery, "").Want(t, http.StatusTooManyRequests)
	if refused.Header.Get("Retry-After") == "" {
		t.Errorf("headers %v", refused.Header)
	}
	driver.OpenStream(httpapitest.StreamQuery).WantEvents("snapshot") // an account has a separate limit
	for name, path := range map[string]string{
		"nothing": "/v2/stream", "a box": "/v2/stream?" + httpapitest.StreamQuery + "&bbox=1", "a source": "/v2/stream?" + httpapitest.StreamQuery + "&sources=moose", "a kind": "/v2/stream?" + httpapitest.StreamQuery + "&kinds=moose",
	} {
		if reply := driver.Send(http.MethodGet, path, ""); reply.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %s", name, reply.Status)
		}
	}
	driver.Send(http.MethodGet, "/v2/stream?"+httpapitest.StreamQuery, "", "Authorization", "Bearer wsk_moose").Want(t, http.StatusUnauthorized)
	if head := driver.Send(http.MethodHead, "/v2/stream?"+httpapitest.StreamQuery, ""); head.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("HEAD: %v", head.Header)
	}
	if got := d.Streams.Len(); got != 5 {
		t.Errorf("%d streams", got)
	}
	d.EndStreams()
	d.WaitFor("streams do not end", func() bool { return d.Streams.Len() == 0 })
	guest.Send(http.MethodGet, "/v2/stream?"+httpapitest.StreamQuery, "").Want(t, http.StatusServiceUnavailable)
}

// TestStreamEndsAsACompleteResponse checks that a stream that the service ends is a complete HTTP response.
func TestStreamEndsAsACompleteResponse(t *testing.T) {
	d := httpapitest.NewService(t)
	d.WaitForIndex()
	resp, err := d.Browser().Client.Get(d.Server.URL + "/v2/stream?" + httpapitest.StreamQuery)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	d.EndStreams()
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
	d := httpapitest.NewService(t)
	d.WaitForIndex()
	guest := d.Browser()
	opened := guest.OpenStream(httpapitest.StreamQuery)
	opened.WantEvents("snapshot")
	opened.Close()
	d.WaitForNoStreams()
	guest.Client.CloseIdleConnections()
	was := goleak.IgnoreCurrent()
	for range 10 {
		var all []*httpapitest.Stream
		for range 4 {
			w := guest.OpenStream(httpapitest.StreamQuery)
			w.WantEvents("snapshot")
			all = append(all, w)
		}
		for _, w := range all {
			w.Close()
		}
		d.WaitForNoStreams()
	}
	guest.Client.CloseIdleConnections()
	if err := goleak.Find(was); err != nil {
		t.Error(err)
	}
}

// TestStreamClosesSlowClients checks that a client that reads nothing loses its stream, and that the service continues.
func TestStreamClosesSlowClients(t *testing.T) {
	d := httpapitest.NewServiceWith(t, httpapitest.Options{Manage: 10_000, Requests: 1_000_000, Entities: 0, StreamWriteTimeout: 200 * time.Millisecond})
	owner := d.SignedInAs("owner@example.org", mapdata.Driver)
	feed := owner.RegisterPush("Roadworks")
	curator := d.SignedInAs("curator@example.org", mapdata.Curator)
	curator.Send(http.MethodPost, feed.Path()+"/approve", "").Want(t, http.StatusOK)
	d.WaitForIndex()
	conn, err := net.Dial("tcp", d.Server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(conn, "GET /v2/stream?%s&limit=1000 HTTP/1.1\r\nHost: x\r\n\r\n", httpapitest.StreamQuery); err != nil {
		t.Fatal(err)
	}
	d.WaitFor("no stream", func() bool { return d.Streams.Len() == 1 })
	text := strings.Repeat("x", 15_000)
	began := time.Now()
	for version := 0; d.Streams.Len() > 0; version++ {
		if time.Since(began) > httpapitest.EventTimeout {
			t.Fatal("the stream of a client that does not read is still open")
		}
		var rows []string
		for i := range 200 {
			rows = append(rows, fmt.Sprintf(`{"external_id":"r%d","kind":"camera.speed","lat":52,"lng":5,"properties":{"text":"%d%s"}}`, i, version, text))
		}
		d.Push(*feed.Token, "["+strings.Join(rows, ",")+"]").Want(t, http.StatusOK)
		d.WaitForIndex()
	}
}

// TestStreamEndsWithItsAccount checks that a stream does not outlive the session with which it began: every third heartbeat looks
// the caller up, for sessions that end by their age.
func TestStreamEndsWithItsAccount(t *testing.T) {
	if interval := httpapi.AccountCheckInterval(); interval > time.Minute {
		t.Errorf("by default the caller is looked up every %v", interval)
	}
	d := httpapitest.NewServiceWith(t, httpapitest.Options{Manage: 10_000, StreamHeartbeat: 20 * time.Millisecond})
	d.WaitForIndex()
	driver := d.SignedInAs("driver@example.org", mapdata.Driver)
	w := driver.OpenStream(httpapitest.StreamQuery)
	w.WantEvents("snapshot")
	d.Advance(mapdata.SessionIdle)
	select {
	case _, open := <-w.Events:
		if open || !w.Complete {
			t.Error("the stream continues, or ends incompletely")
		}
		if w.Heartbeats%3 != 2 {
			t.Errorf("the stream ended after %d heartbeats, want a multiple of three", w.Heartbeats)
		}
	case <-time.After(httpapitest.EventTimeout):
		t.Error("the stream does not end")
	}
}

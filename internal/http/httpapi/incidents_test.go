package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
)

// testUpstream is a real relay provider; tests set its answer.
type testUpstream struct {
	*httptest.Server
	rows  atomic.Pointer[string]
	calls atomic.Int64
}

func newTestUpstream(t *testing.T, rows ...string) *testUpstream {
	t.Helper()
	r := new(testUpstream)
	r.setRows(rows...)
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		r.calls.Add(1)
		rows := r.rows.Load()
		if rows == nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = fmt.Fprintf(w, `{"entities":[%s],"fetched_at_utc":null}`, *rows)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *testUpstream) setRows(rows ...string) {
	text := strings.Join(rows, ",")
	r.rows.Store(&text)
}

func (r *testUpstream) fail() { r.rows.Store(nil) }

func newServiceWithUpstreams(t *testing.T, roads ...*testUpstream) *httpapitest.Service {
	t.Helper()
	limits := httpapitest.Options{Manage: 10_000, Requests: 60, Entities: 10_000}
	for _, r := range roads {
		limits.Upstreams = append(limits.Upstreams, r.URL)
	}
	return httpapitest.NewServiceWith(t, limits)
}

func consensusOf(e map[string]any) string {
	return fmt.Sprint(e["status"], " ", e["confidence"], " ", e["confirm_count"], " ", e["dispute_count"])
}

// TestReadsWithIncidents checks Cache-Control, and which sources a read touches (D4.13, D4.15, D8.8).
func TestReadsWithIncidents(t *testing.T) {
	r := newTestUpstream(t, httpapitest.Row("a", "alert.police", 10))
	d := newServiceWithUpstreams(t, r)
	d.WaitForIndex()
	b := d.Browser()
	reply := b.Send(http.MethodGet, httpapitest.NearbyPath, "").Want(t, http.StatusOK)
	if reply.Header.Get("Cache-Control") != "no-store" || reply.Header.Get("ETag") != "" {
		t.Errorf("headers %v", reply.Header)
	}
	var a httpapitest.Answer
	reply.Decode(t, &a)
	e := a.Entities[0]
	if e["id"] != "incident:v1:YQ" || e["layer_slug"] != "incidents" || e["kind_id"] != "alert.police" || e["external_id"] != "a" ||
		consensusOf(e) != "reported 0.5 0 0" || e["expires_at"] != httpapitest.Start.Add(5*time.Minute).Format("2006-01-02T15:04:05.000Z") {
		t.Errorf("entity %v", e)
	}
	if len(a.Sources) != 1 || a.Sources[0]["id"] != "incidents" || a.Sources[0]["status"] != "online" {
		t.Errorf("sources %v", a.Sources)
	}
	for path, want := range map[string]int{
		httpapitest.NearbyPath + "&sources=incidents":                  1,
		httpapitest.NearbyPath + "&layers=incidents":                   1,
		httpapitest.NearbyPath + "&layers=moose":                       0,
		httpapitest.NearbyPath + "&kinds=alert.police":                 1,
		httpapitest.NearbyPath + "&kinds=traffic.jam":                  0,
		httpapitest.NearbyPath + "&sources=incidents&layers=moose":     0,
		httpapitest.NearbyPath + "&sources=incidents&layers=incidents": 1,
	} {
		if got := len(b.Read(path).Entities); got != want {
			t.Errorf("%s: %d entities, want %d", path, got, want)
		}
	}
	without := b.Send(http.MethodGet, httpapitest.NearbyPath+"&kinds=camera.speed", "").Want(t, http.StatusOK)
	if without.Header.Get("Cache-Control") != "public, max-age=10" || without.Header.Get("ETag") == "" || strings.Contains(without.Body, "incidents") {
		t.Errorf("a read without incidents: %v %s", without.Header, without.Body)
	}
	if unknown := b.Send(http.MethodGet, httpapitest.NearbyPath+"&sources=moose", ""); unknown.StatusCode != http.StatusBadRequest || !strings.Contains(unknown.Body, `"valid_ids":["incidents","osm-cameras","osm-chargers","drivers"]`) {
		t.Errorf("unknown source: %s", unknown.Body)
	}
	listed := b.Send(http.MethodGet, "/v2/sources", "").Want(t, http.StatusOK).Body
	for _, part := range []string{`"id":"incidents"`, `"source_type":"builtin"`, `"layer_slugs":["incidents"]`, `"traffic.jam"`, `"attribution":"© the upstreams"`} {
		if !strings.Contains(listed, part) {
			t.Errorf("the catalogue lacks %s: %s", part, listed)
		}
	}
	r.fail()
	d.Advance(time.Minute)
	if a := b.Read(httpapitest.NearbyPath); len(a.Entities) != 1 || a.Sources[0]["status"] != "offline" {
		t.Errorf("while the upstream fails: %+v", a)
	}
}

// TestIncidentsFromTheDatabase checks D8.9, the mode for going back to incidents from the database.
func TestIncidentsFromTheDatabase(t *testing.T) {
	r := newTestUpstream(t, httpapitest.Row("a", "alert.police", 10))
	d := httpapitest.NewServiceWith(t, httpapitest.Options{Manage: 100, Requests: 60, Entities: 10_000, Upstreams: []string{r.URL}, Stored: true})
	d.WaitForIndex()
	b := d.Browser()
	reply := b.Send(http.MethodGet, httpapitest.NearbyPath, "").Want(t, http.StatusOK)
	if reply.Header.Get("Cache-Control") != "public, max-age=10" || reply.Header.Get("ETag") == "" || !strings.Contains(reply.Body, "incident:v1:YQ") {
		t.Errorf("%v %s", reply.Header, reply.Body)
	}
	again := reply
	for tries := 0; again.StatusCode != http.StatusNotModified && tries < 100; tries++ { // the upstream's health may change once more after its first call
		again = b.Send(http.MethodGet, httpapitest.NearbyPath, "", "If-None-Match", again.Header.Get("ETag"))
	}
	if again.StatusCode != http.StatusNotModified {
		t.Errorf("again: %s", again.Status)
	}
	values, err := d.DB.Live().Get(t.Context(), []string{"pins/upstream-0/x/y"})
	if err != nil || len(values) != 1 {
		t.Errorf("%v, %v", values, err)
	}
	driver := d.SignedInAs("driver@example.org", mapdata.Driver)
	if e := driver.Vote("incident:v1:YQ", "confirm"); consensusOf(e) != "reported 0.67 1 0" {
		t.Errorf("voted %v", e)
	}
}

// TestVotesOnLiveIncidents checks D9 step by step: the id stays, counts change, the pin is hidden and shown again.
func TestVotesOnLiveIncidents(t *testing.T) {
	r := newTestUpstream(t, httpapitest.Row("a", "alert.police", 10))
	d := newServiceWithUpstreams(t, r)
	guest := d.Browser()
	d.WaitForIndex()
	id := guest.Read(httpapitest.NearbyPath).Entities[0]["id"].(string)
	guest.Send(http.MethodPost, "/v2/entities/"+id+"/confirm", "").Want(t, http.StatusUnauthorized)
	var drivers []*httpapitest.Browser
	for i := range 4 {
		drivers = append(drivers, d.SignedInAs(fmt.Sprintf("driver%d@example.org", i), mapdata.Driver))
	}
	curator := d.SignedInAs("curator@example.org", mapdata.Curator)
	now := func(b *httpapitest.Browser) string {
		d.WaitForIndex()
		a := b.Read(httpapitest.NearbyPath)
		if len(a.Entities) == 0 {
			return "nothing"
		}
		if a.Entities[0]["id"] != id {
			t.Errorf("the id changed to %v", a.Entities[0]["id"])
		}
		return consensusOf(a.Entities[0])
	}
	for _, step := range []struct {
		who        int
		what, want string
	}{
		{0, "confirm", "reported 0.67 1 0"},
		{0, "confirm", "reported 0.67 1 0"},
		{1, "confirm", "confirmed 0.75 2 0"},
		{0, "dispute", "disputed 0.5 1 1"},
		{1, "vote", "disputed 0.33 0 1"},
		{2, "dispute", "disputed 0.25 0 2"},
	} {
		if got := consensusOf(drivers[step.who].Vote(id, step.what)); got != step.want {
			t.Errorf("driver %d %s: answered %s, want %s", step.who, step.what, got, step.want)
		}
		if got := now(guest); got != step.want {
			t.Errorf("driver %d %s: read %s, want %s", step.who, step.what, got, step.want)
		}
	}
	until := httpapitest.Start.Add(30 * time.Minute).Format("2006-01-02T15:04:05.000Z")
	hidden := drivers[1].Vote(id, "dispute")
	if properties := hidden["properties"].(map[string]any); properties["disputed_until"] != until {
		t.Errorf("hidden %v", hidden)
	}
	if got := now(guest); got != "nothing" {
		t.Errorf("a guest sees %s", got)
	}
	if got := now(drivers[0]); got != "nothing" {
		t.Errorf("a driver sees %s", got)
	}
	if got := now(curator); got != "disputed 0.2 0 3" {
		t.Errorf("a curator sees %s", got)
	}
	guest.Send(http.MethodGet, "/v2/entities/"+id, "").Want(t, http.StatusNotFound)
	curator.Send(http.MethodGet, "/v2/entities/"+id, "").Want(t, http.StatusOK)
	d.Advance(30*time.Minute - time.Second)
	r.setRows(httpapitest.Row("a", "alert.police", 10))
	if got := now(guest); got != "nothing" {
		t.Errorf("before the suppression ends a guest sees %s", got)
	}
	d.Advance(time.Second)
	if got := now(guest); got != "disputed 0.2 0 3" {
		t.Errorf("after the suppression ended a guest sees %s", got)
	}
	drivers[0].Vote(id, "dispute")
	if got := now(guest); got != "nothing" {
		t.Errorf("hidden again, a guest sees %s", got)
	}
	if got := consensusOf(drivers[3].Vote(id, "confirm")); got != "disputed 0.33 1 3" {
		t.Errorf("a confirm answers %s", got)
	}
	if got := now(guest); got != "disputed 0.33 1 3" {
		t.Errorf("after the confirm a guest sees %s", got)
	}
	r.setRows()
	d.Advance(time.Minute)
	if got := now(curator); got != "nothing" {
		t.Errorf("a stored snapshot is shown: %s", got)
	}
	drivers[0].Send(http.MethodPost, "/v2/entities/"+id+"/confirm", "").Want(t, http.StatusNotFound)
	r.setRows(httpapitest.Row("a", "alert.police", 10))
	d.Advance(time.Minute)
	if got := now(guest); got != "disputed 0.33 1 3" {
		t.Errorf("the votes are lost: %s", got)
	}
}

// TestVotesOnFeeds checks D9.6, and the owner's view of D9.5.
func TestVotesOnFeeds(t *testing.T) {
	d := httpapitest.NewService(t)
	owner, feed := d.Publish("Ring", httpapitest.Row("a", "alert.police", 10))
	guest := d.Browser()
	id := guest.Read(httpapitest.NearbyPath).Entities[0]["id"].(string)
	var drivers []*httpapitest.Browser
	for i := range 3 {
		drivers = append(drivers, d.SignedInAs(fmt.Sprintf("driver%d@example.org", i), mapdata.Driver))
	}
	d.Advance(50 * time.Minute)
	e := drivers[0].Vote(id, "confirm")
	if want := httpapitest.Start.Add(80 * time.Minute).Format("2006-01-02T15:04:05.000Z"); e["expires_at"] != want || consensusOf(e) != "reported 0.67 1 0" || e["layer_slug"] != "ring" {
		t.Errorf("confirmed: %v, want expiry %s", e, want)
	}
	d.WaitForIndex()
	read := guest.Read(httpapitest.NearbyPath).Entities[0]
	if diff := cmp.Diff(e, read); diff != "" {
		t.Error("the response to a vote differs from a read", diff)
	}
	d.Advance(20 * time.Minute)
	if len(guest.Read(httpapitest.NearbyPath).Entities) != 1 {
		t.Error("a confirmed entity is gone at its old expiry")
	}
	for _, driver := range drivers {
		driver.Vote(id, "dispute")
	}
	d.WaitForIndex()
	if got := guest.Read(httpapitest.NearbyPath).Entities; len(got) != 0 {
		t.Errorf("a guest sees %v", got)
	}
	seen := owner.Read(httpapitest.NearbyPath).Entities
	if len(seen) != 1 || seen[0]["properties"].(map[string]any)["disputed_until"] == nil {
		t.Errorf("the owner sees %v", seen)
	}
	since := httpapitest.Start.Add(60 * time.Minute).Format(time.RFC3339)
	if got := owner.Read(httpapitest.NearbyPath + "&since=" + since).Entities; len(got) != 1 {
		t.Error("a vote counts as a change")
	}
	d.Advance(20 * time.Minute)
	drivers[0].Send(http.MethodPost, "/v2/entities/"+id+"/confirm", "").Want(t, http.StatusNotFound)
	_ = feed
}

// TestVotingRules checks which callers may vote, on which entities, and how often (D9.1, D11.2).
func TestVotingRules(t *testing.T) {
	r := newTestUpstream(t, httpapitest.Row("a", "alert.police", 10))
	d := newServiceWithUpstreams(t, r)
	d.WaitForIndex()
	driver := d.SignedInAs("driver@example.org", mapdata.Driver)
	driver.Read(httpapitest.NearbyPath)
	other := d.SignedInAs("other@example.org", mapdata.Driver)
	private := other.Register(`{"name": "Mine", "direction": "push"}`)
	d.Push(*private.Token, "["+httpapitest.Row("p", "alert.police", 10)+"]").Want(t, http.StatusOK)
	d.WaitForIndex()
	theirs := mapdata.EntityID(mapdata.SourceID("feed:"+private.ID()), "p")
	for _, id := range []string{"moose", "incident:v1:eA", "incident:v1:", "feed:moose:v1:eA", theirs} {
		driver.Send(http.MethodPost, "/v2/entities/"+id+"/dispute", "").Want(t, http.StatusNotFound)
		driver.Send(http.MethodGet, "/v2/entities/"+id, "").Want(t, http.StatusNotFound)
	}
	other.Send(http.MethodPost, "/v2/entities/"+theirs+"/confirm", "").Want(t, http.StatusForbidden) // their own (D9.8)
	const id = "incident:v1:YQ"
	driver.Send(http.MethodPost, "/v2/entities/"+id+"/dispute", "", "Sec-Fetch-Site", "cross-site").Want(t, http.StatusForbidden)
	for range 30 - 5 {
		driver.Vote(id, "dispute")
	}
	over := driver.Send(http.MethodPost, "/v2/entities/"+id+"/dispute", "").Want(t, http.StatusTooManyRequests)
	if over.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	if e := other.Vote(id, "vote"); consensusOf(e) != "disputed 0.33 0 1" {
		t.Errorf("25 disputes of one account count as %s", consensusOf(e))
	}
}

// TestMerging checks D10 over HTTP: one pin for each event, with all votes, merged before the limit applies.
func TestMerging(t *testing.T) {
	first := newTestUpstream(t, httpapitest.Row("a", "alert.police", 0), httpapitest.Row("jam", "traffic.jam", 1000))
	second := newTestUpstream(t, httpapitest.Row("b", "alert.police", 50), httpapitest.Row("c", "alert.hazard.ice", 500))
	d := newServiceWithUpstreams(t, first, second)
	_, feed := d.Publish("Ring", httpapitest.Row("f", "alert.police", 100), httpapitest.Row("g", "alert.hazard", 560), httpapitest.Row("cam", "camera.speed", 10), httpapitest.Row("far", "alert.police", 250))
	guest := d.Browser()
	driver := d.SignedInAs("driver@example.org", mapdata.Driver)
	ring := mapdata.SourceID("feed:" + feed)
	guest.Read(httpapitest.NearbyPath)
	driver.Vote(mapdata.EntityID(mapdata.Incidents, "b"), "confirm")
	driver.Vote(mapdata.EntityID(ring, "f"), "dispute")
	d.WaitForIndex()
	a := guest.Read(httpapitest.NearbyPath)
	want := []string{"a", "cam", "far", "c", "jam"}
	if diff := cmp.Diff(want, a.ExternalIDs()); diff != "" {
		t.Fatal(diff)
	}
	pin := a.Entities[0]
	merged := []any{
		map[string]any{"source": "incidents", "id": mapdata.EntityID(mapdata.Incidents, "b")},
		map[string]any{"source": string(ring), "id": mapdata.EntityID(ring, "f")},
	}
	if diff := cmp.Diff(merged, pin["properties"].(map[string]any)["merged_from"]); diff != "" || consensusOf(pin) != "disputed 0.5 1 1" {
		t.Errorf("%s %s", consensusOf(pin), diff)
	}
	if limited := guest.Read(httpapitest.NearbyPath + "&limit=3"); !slices.Equal(limited.ExternalIDs(), want[:3]) || limited.Truncated == nil {
		t.Errorf("limited: %v, truncated %v", limited.ExternalIDs(), limited.Truncated != nil)
	}
	if whole := guest.Read(httpapitest.NearbyPath + "&limit=5"); whole.Truncated != nil {
		t.Error("merged entities count towards the limit")
	}
	if alone := guest.Read(httpapitest.NearbyPath + "&sources=" + string(ring)); !slices.Equal(alone.ExternalIDs(), []string{"cam", "f", "far", "g"}) {
		t.Errorf("without incidents nothing is merged: %v", alone.ExternalIDs())
	}
	var x struct {
		Entity  map[string]any
		Explain struct {
			Votes      map[string]any
			Ends       map[string]any
			MergedInto map[string]any   `json:"merged_into"`
			MergedFrom []map[string]any `json:"merged_from"`
			Sources    []map[string]any
		}
	}
	driver.Send(http.MethodGet, "/v2/entities/"+mapdata.EntityID(ring, "f"), "").Want(t, http.StatusOK).Decode(t, &x)
	if x.Explain.MergedInto["id"] != "incident:v1:YQ" || x.Explain.Votes["yours"] != "dispute" || x.Explain.Ends["rule"] != "lifetime" || len(x.Explain.Sources) != 2 {
		t.Errorf("explained: %+v", x)
	}
	guest.Send(http.MethodGet, "/v2/entities/incident:v1:YQ", "").Want(t, http.StatusOK).Decode(t, &x)
	if len(x.Explain.MergedFrom) != 2 || x.Explain.Votes["yours"] != nil || x.Explain.Ends["rule"] != "freshness" || len(x.Explain.Sources) != 2 {
		t.Errorf("explained: %+v", x)
	}
	guest.Send(http.MethodGet, "/v2/entities/"+mapdata.EntityID(ring, "cam"), "").Want(t, http.StatusOK).Decode(t, &x)
	if x.Explain.Ends["rule"] != "when_retired" || x.Explain.Ends["at"] != nil {
		t.Errorf("explained: %+v", x)
	}
}

// TestUpstreamTextIsEscaped checks that text of an upstream reaches clients only inside JSON strings.
func TestUpstreamTextIsEscaped(t *testing.T) {
	text, err := os.ReadFile("../../feeds/format/waze/testdata/hostile_strings.json")
	if err != nil {
		t.Fatal(err)
	}
	var hostile []json.RawMessage
	if err := json.Unmarshal(text, &hostile); err != nil || len(hostile) < 60 {
		t.Fatalf("%d strings: %v", len(hostile), err)
	}
	r := newTestUpstream(t)
	d := newServiceWithUpstreams(t, r)
	d.WaitForIndex()
	b := d.Browser()
	for _, h := range hostile {
		r.setRows(
			fmt.Sprintf(`{"external_id":%s,"kind":"alert.police","lat":52,"lng":5,"properties":{}}`, h),
			fmt.Sprintf(`{"external_id":"p","kind":"alert.police","lat":52,"lng":5.001,"properties":{"street":%s,"more":[%s]}}`, h, h),
			fmt.Sprintf(`{"external_id":"k","kind":"alert.police","lat":52,"lng":5.002,"properties":{%s:1}}`, h),
			httpapitest.Row("good", "alert.police", 500),
		)
		d.Advance(time.Minute)
		reply := b.Send(http.MethodGet, httpapitest.NearbyPath, "").Want(t, http.StatusOK)
		if !json.Valid([]byte(reply.Body)) || reply.Header.Get("Content-Type") != "application/json" || reply.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v %s", h, reply.Header, reply.Body)
		}
		var a httpapitest.Answer
		reply.Decode(t, &a)
		if !slices.Contains(a.ExternalIDs(), "good") {
			t.Errorf("%s removes other entities: %v", h, a.ExternalIDs())
		}
		var want string
		_ = json.Unmarshal(h, &want)
		for _, e := range a.Entities {
			if e["external_id"] == "p" && e["properties"].(map[string]any)["street"] != want {
				t.Errorf("%s became %q", h, e["properties"])
			}
		}
	}
}

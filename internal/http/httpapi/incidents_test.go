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

// row returns a v1 row the given number of metres north of 52, 5.
func row(id, kind string, north float64) string {
	return fmt.Sprintf(`{"external_id":%q,"kind":%q,"lat":%.7f,"lng":5,"properties":{"street":"A2"}}`, id, kind, 52+north/111_195)
}

func newServiceWithUpstreams(t *testing.T, roads ...*testUpstream) *testService {
	t.Helper()
	limits := serviceOptions{manage: 10_000, requests: 60, entities: 10_000}
	for _, r := range roads {
		limits.upstreams = append(limits.upstreams, r.URL)
	}
	return newTestServiceWith(t, limits)
}

const nearbyPath = "/v2/entities/nearby?lat=52&lng=5&radius=2000"

func (b *browser) read(path string) answer {
	b.t.Helper()
	var a answer
	b.send(http.MethodGet, path, "").want(b.t, http.StatusOK).decode(b.t, &a)
	return a
}

// publish registers a feed, pushes rows and approves it.
func (d *testService) publish(name string, rows ...string) (owner *browser, id string) {
	d.t.Helper()
	owner = d.signedInAs(strings.ToLower(name)+"@example.org", mapdata.Driver)
	feed := owner.registerPush(name)
	d.push(*feed.Token, "["+strings.Join(rows, ",")+"]").want(d.t, http.StatusOK)
	curator := d.signedInAs("curator-of-"+strings.ToLower(name)+"@example.org", mapdata.Curator)
	curator.send(http.MethodPost, feed.path()+"/approve", "").want(d.t, http.StatusOK)
	d.waitForIndex()
	return owner, feed.id()
}

// vote casts a vote and returns the entity of the response.
func (b *browser) vote(id, what string) map[string]any {
	b.t.Helper()
	method := http.MethodPost
	if what == "vote" {
		method = http.MethodDelete
	}
	var a struct{ Entity map[string]any }
	body := `{"lat":52,"lng":5}` // the place of all voted entities in the tests: a vote from elsewhere does not count
	if method == http.MethodDelete {
		body = ""
	}
	b.send(method, "/v2/entities/"+id+"/"+what, body).want(b.t, http.StatusOK).decode(b.t, &a)
	return a.Entity
}

func consensusOf(e map[string]any) string {
	return fmt.Sprint(e["status"], " ", e["confidence"], " ", e["confirm_count"], " ", e["dispute_count"])
}

// TestReadsWithIncidents checks Cache-Control, and which sources a read touches (D4.13, D4.15, D8.8).
func TestReadsWithIncidents(t *testing.T) {
	r := newTestUpstream(t, row("a", "alert.police", 10))
	d := newServiceWithUpstreams(t, r)
	d.waitForIndex()
	b := d.browser()
	reply := b.send(http.MethodGet, nearbyPath, "").want(t, http.StatusOK)
	if reply.Header.Get("Cache-Control") != "no-store" || reply.Header.Get("ETag") != "" {
		t.Errorf("headers %v", reply.Header)
	}
	var a answer
	reply.decode(t, &a)
	e := a.Entities[0]
	if e["id"] != "incident:v1:YQ" || e["layer_slug"] != "incidents" || e["kind_id"] != "alert.police" || e["external_id"] != "a" ||
		consensusOf(e) != "reported 0.5 0 0" || e["expires_at"] != start.Add(5*time.Minute).Format("2006-01-02T15:04:05.000Z") {
		t.Errorf("entity %v", e)
	}
	if len(a.Sources) != 1 || a.Sources[0]["id"] != "incidents" || a.Sources[0]["status"] != "online" {
		t.Errorf("sources %v", a.Sources)
	}
	for path, want := range map[string]int{
		nearbyPath + "&sources=incidents":                  1,
		nearbyPath + "&layers=incidents":                   1,
		nearbyPath + "&layers=moose":                       0,
		nearbyPath + "&kinds=alert.police":                 1,
		nearbyPath + "&kinds=traffic.jam":                  0,
		nearbyPath + "&sources=incidents&layers=moose":     0,
		nearbyPath + "&sources=incidents&layers=incidents": 1,
	} {
		if got := len(b.read(path).Entities); got != want {
			t.Errorf("%s: %d entities, want %d", path, got, want)
		}
	}
	without := b.send(http.MethodGet, nearbyPath+"&kinds=camera.speed", "").want(t, http.StatusOK)
	if without.Header.Get("Cache-Control") != "public, max-age=10" || without.Header.Get("ETag") == "" || strings.Contains(without.body, "incidents") {
		t.Errorf("a read without incidents: %v %s", without.Header, without.body)
	}
	if unknown := b.send(http.MethodGet, nearbyPath+"&sources=moose", ""); unknown.StatusCode != http.StatusBadRequest || !strings.Contains(unknown.body, `"valid_ids":["incidents","osm-cameras","osm-chargers","drivers"]`) {
		t.Errorf("unknown source: %s", unknown.body)
	}
	listed := b.send(http.MethodGet, "/v2/sources", "").want(t, http.StatusOK).body
	for _, part := range []string{`"id":"incidents"`, `"source_type":"builtin"`, `"layer_slugs":["incidents"]`, `"traffic.jam"`, `"attribution":"© the upstreams"`} {
		if !strings.Contains(listed, part) {
			t.Errorf("the catalogue lacks %s: %s", part, listed)
		}
	}
	r.fail()
	d.advance(time.Minute)
	if a := b.read(nearbyPath); len(a.Entities) != 1 || a.Sources[0]["status"] != "offline" {
		t.Errorf("while the upstream fails: %+v", a)
	}
}

// TestIncidentsFromTheDatabase checks D8.9, the mode for going back to incidents from the database.
func TestIncidentsFromTheDatabase(t *testing.T) {
	r := newTestUpstream(t, row("a", "alert.police", 10))
	d := newTestServiceWith(t, serviceOptions{manage: 100, requests: 60, entities: 10_000, upstreams: []string{r.URL}, stored: true})
	d.waitForIndex()
	b := d.browser()
	reply := b.send(http.MethodGet, nearbyPath, "").want(t, http.StatusOK)
	if reply.Header.Get("Cache-Control") != "public, max-age=10" || reply.Header.Get("ETag") == "" || !strings.Contains(reply.body, "incident:v1:YQ") {
		t.Errorf("%v %s", reply.Header, reply.body)
	}
	again := b.send(http.MethodGet, nearbyPath, "", "If-None-Match", reply.Header.Get("ETag"))
	if again.StatusCode != http.StatusNotModified {
		t.Errorf("again: %s", again.Status)
	}
	values, err := d.db.Live().Get(t.Context(), []string{"pins/upstream-0/x/y"})
	if err != nil || len(values) != 1 {
		t.Errorf("%v, %v", values, err)
	}
	driver := d.signedInAs("driver@example.org", mapdata.Driver)
	if e := driver.vote("incident:v1:YQ", "confirm"); consensusOf(e) != "reported 0.67 1 0" {
		t.Errorf("voted %v", e)
	}
}

// TestVotesOnLiveIncidents checks D9 step by step: the id stays, counts change, the pin is hidden and shown again.
func TestVotesOnLiveIncidents(t *testing.T) {
	r := newTestUpstream(t, row("a", "alert.police", 10))
	d := newServiceWithUpstreams(t, r)
	guest := d.browser()
	d.waitForIndex()
	id := guest.read(nearbyPath).Entities[0]["id"].(string)
	guest.send(http.MethodPost, "/v2/entities/"+id+"/confirm", "").want(t, http.StatusUnauthorized)
	var drivers []*browser
	for i := range 4 {
		drivers = append(drivers, d.signedInAs(fmt.Sprintf("driver%d@example.org", i), mapdata.Driver))
	}
	curator := d.signedInAs("curator@example.org", mapdata.Curator)
	now := func(b *browser) string {
		d.waitForIndex()
		a := b.read(nearbyPath)
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
		if got := consensusOf(drivers[step.who].vote(id, step.what)); got != step.want {
			t.Errorf("driver %d %s: answered %s, want %s", step.who, step.what, got, step.want)
		}
		if got := now(guest); got != step.want {
			t.Errorf("driver %d %s: read %s, want %s", step.who, step.what, got, step.want)
		}
	}
	until := start.Add(30 * time.Minute).Format("2006-01-02T15:04:05.000Z")
	hidden := drivers[1].vote(id, "dispute")
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
	guest.send(http.MethodGet, "/v2/entities/"+id, "").want(t, http.StatusNotFound)
	curator.send(http.MethodGet, "/v2/entities/"+id, "").want(t, http.StatusOK)
	d.advance(30*time.Minute - time.Second)
	r.setRows(row("a", "alert.police", 10))
	if got := now(guest); got != "nothing" {
		t.Errorf("before the suppression ends a guest sees %s", got)
	}
	d.advance(time.Second)
	if got := now(guest); got != "disputed 0.2 0 3" {
		t.Errorf("after the suppression ended a guest sees %s", got)
	}
	drivers[0].vote(id, "dispute")
	if got := now(guest); got != "nothing" {
		t.Errorf("hidden again, a guest sees %s", got)
	}
	if got := consensusOf(drivers[3].vote(id, "confirm")); got != "disputed 0.33 1 3" {
		t.Errorf("a confirm answers %s", got)
	}
	if got := now(guest); got != "disputed 0.33 1 3" {
		t.Errorf("after the confirm a guest sees %s", got)
	}
	r.setRows()
	d.advance(time.Minute)
	if got := now(curator); got != "nothing" {
		t.Errorf("a stored snapshot is shown: %s", got)
	}
	drivers[0].send(http.MethodPost, "/v2/entities/"+id+"/confirm", "").want(t, http.StatusNotFound)
	r.setRows(row("a", "alert.police", 10))
	d.advance(time.Minute)
	if got := now(guest); got != "disputed 0.33 1 3" {
		t.Errorf("the votes are lost: %s", got)
	}
}

// TestVotesOnFeeds checks D9.6, and the owner's view of D9.5.
func TestVotesOnFeeds(t *testing.T) {
	d := newTestService(t)
	owner, feed := d.publish("Ring", row("a", "alert.police", 10))
	guest := d.browser()
	id := guest.read(nearbyPath).Entities[0]["id"].(string)
	var drivers []*browser
	for i := range 3 {
		drivers = append(drivers, d.signedInAs(fmt.Sprintf("driver%d@example.org", i), mapdata.Driver))
	}
	d.advance(50 * time.Minute)
	e := drivers[0].vote(id, "confirm")
	if want := start.Add(80 * time.Minute).Format("2006-01-02T15:04:05.000Z"); e["expires_at"] != want || consensusOf(e) != "reported 0.67 1 0" || e["layer_slug"] != "ring" {
		t.Errorf("confirmed: %v, want expiry %s", e, want)
	}
	d.waitForIndex()
	read := guest.read(nearbyPath).Entities[0]
	if diff := cmp.Diff(e, read); diff != "" {
		t.Error("the response to a vote differs from a read", diff)
	}
	d.advance(20 * time.Minute)
	if len(guest.read(nearbyPath).Entities) != 1 {
		t.Error("a confirmed entity is gone at its old expiry")
	}
	for _, driver := range drivers {
		driver.vote(id, "dispute")
	}
	d.waitForIndex()
	if got := guest.read(nearbyPath).Entities; len(got) != 0 {
		t.Errorf("a guest sees %v", got)
	}
	seen := owner.read(nearbyPath).Entities
	if len(seen) != 1 || seen[0]["properties"].(map[string]any)["disputed_until"] == nil {
		t.Errorf("the owner sees %v", seen)
	}
	since := start.Add(60 * time.Minute).Format(time.RFC3339)
	if got := owner.read(nearbyPath + "&since=" + since).Entities; len(got) != 1 {
		t.Error("a vote counts as a change")
	}
	d.advance(20 * time.Minute)
	drivers[0].send(http.MethodPost, "/v2/entities/"+id+"/confirm", "").want(t, http.StatusNotFound)
	_ = feed
}

// TestVotingRules checks which callers may vote, on which entities, and how often (D9.1, D11.2).
func TestVotingRules(t *testing.T) {
	r := newTestUpstream(t, row("a", "alert.police", 10))
	d := newServiceWithUpstreams(t, r)
	d.waitForIndex()
	driver := d.signedInAs("driver@example.org", mapdata.Driver)
	driver.read(nearbyPath)
	other := d.signedInAs("other@example.org", mapdata.Driver)
	private := other.register(`{"name": "Mine", "direction": "push"}`)
	d.push(*private.Token, "["+row("p", "alert.police", 10)+"]").want(t, http.StatusOK)
	d.waitForIndex()
	theirs := mapdata.EntityID(mapdata.SourceID("feed:"+private.id()), "p")
	for _, id := range []string{"moose", "incident:v1:eA", "incident:v1:", "feed:moose:v1:eA", theirs} {
		driver.send(http.MethodPost, "/v2/entities/"+id+"/dispute", "").want(t, http.StatusNotFound)
		driver.send(http.MethodGet, "/v2/entities/"+id, "").want(t, http.StatusNotFound)
	}
	other.send(http.MethodPost, "/v2/entities/"+theirs+"/confirm", "").want(t, http.StatusForbidden) // their own (D9.8)
	const id = "incident:v1:YQ"
	driver.send(http.MethodPost, "/v2/entities/"+id+"/dispute", "", "Sec-Fetch-Site", "cross-site").want(t, http.StatusForbidden)
	for range 30 - 5 {
		driver.vote(id, "dispute")
	}
	over := driver.send(http.MethodPost, "/v2/entities/"+id+"/dispute", "").want(t, http.StatusTooManyRequests)
	if over.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	if e := other.vote(id, "vote"); consensusOf(e) != "disputed 0.33 0 1" {
		t.Errorf("25 disputes of one account count as %s", consensusOf(e))
	}
}

// TestMerging checks D10 over HTTP: one pin for each event, with all votes, merged before the limit applies.
func TestMerging(t *testing.T) {
	first := newTestUpstream(t, row("a", "alert.police", 0), row("jam", "traffic.jam", 1000))
	second := newTestUpstream(t, row("b", "alert.police", 50), row("c", "alert.hazard.ice", 500))
	d := newServiceWithUpstreams(t, first, second)
	_, feed := d.publish("Ring", row("f", "alert.police", 100), row("g", "alert.hazard", 560), row("cam", "camera.speed", 10), row("far", "alert.police", 250))
	guest := d.browser()
	driver := d.signedInAs("driver@example.org", mapdata.Driver)
	ring := mapdata.SourceID("feed:" + feed)
	guest.read(nearbyPath)
	driver.vote(mapdata.EntityID(mapdata.Incidents, "b"), "confirm")
	driver.vote(mapdata.EntityID(ring, "f"), "dispute")
	d.waitForIndex()
	a := guest.read(nearbyPath)
	want := []string{"a", "cam", "far", "c", "jam"}
	if diff := cmp.Diff(want, a.externalIDs()); diff != "" {
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
	if limited := guest.read(nearbyPath + "&limit=3"); !slices.Equal(limited.externalIDs(), want[:3]) || limited.Truncated == nil {
		t.Errorf("limited: %v, truncated %v", limited.externalIDs(), limited.Truncated != nil)
	}
	if whole := guest.read(nearbyPath + "&limit=5"); whole.Truncated != nil {
		t.Error("merged entities count towards the limit")
	}
	if alone := guest.read(nearbyPath + "&sources=" + string(ring)); !slices.Equal(alone.externalIDs(), []string{"cam", "f", "far", "g"}) {
		t.Errorf("without incidents nothing is merged: %v", alone.externalIDs())
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
	driver.send(http.MethodGet, "/v2/entities/"+mapdata.EntityID(ring, "f"), "").want(t, http.StatusOK).decode(t, &x)
	if x.Explain.MergedInto["id"] != "incident:v1:YQ" || x.Explain.Votes["yours"] != "dispute" || x.Explain.Ends["rule"] != "lifetime" || len(x.Explain.Sources) != 2 {
		t.Errorf("explained: %+v", x)
	}
	guest.send(http.MethodGet, "/v2/entities/incident:v1:YQ", "").want(t, http.StatusOK).decode(t, &x)
	if len(x.Explain.MergedFrom) != 2 || x.Explain.Votes["yours"] != nil || x.Explain.Ends["rule"] != "freshness" || len(x.Explain.Sources) != 2 {
		t.Errorf("explained: %+v", x)
	}
	guest.send(http.MethodGet, "/v2/entities/"+mapdata.EntityID(ring, "cam"), "").want(t, http.StatusOK).decode(t, &x)
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
	d.waitForIndex()
	b := d.browser()
	for _, h := range hostile {
		r.setRows(
			fmt.Sprintf(`{"external_id":%s,"kind":"alert.police","lat":52,"lng":5,"properties":{}}`, h),
			fmt.Sprintf(`{"external_id":"p","kind":"alert.police","lat":52,"lng":5.001,"properties":{"street":%s,"more":[%s]}}`, h, h),
			fmt.Sprintf(`{"external_id":"k","kind":"alert.police","lat":52,"lng":5.002,"properties":{%s:1}}`, h),
			row("good", "alert.police", 500),
		)
		d.advance(time.Minute)
		reply := b.send(http.MethodGet, nearbyPath, "").want(t, http.StatusOK)
		if !json.Valid([]byte(reply.body)) || reply.Header.Get("Content-Type") != "application/json" || reply.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v %s", h, reply.Header, reply.body)
		}
		var a answer
		reply.decode(t, &a)
		if !slices.Contains(a.externalIDs(), "good") {
			t.Errorf("%s removes other entities: %v", h, a.externalIDs())
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

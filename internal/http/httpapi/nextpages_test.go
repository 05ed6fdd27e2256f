package httpapi_test

import (
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"wayside/internal/feeds/ingest"
	"wayside/internal/ground/mapdata"
)

// TestNextStepsAfterSigningIn checks that the page after signing in names the next step of each role.
func TestNextStepsAfterSigningIn(t *testing.T) {
	d := newTestService(t)
	owner, curator := d.signedInAs("owner@example.com", mapdata.Driver), d.signedInAs("curator@example.com", mapdata.Curator)
	contains(t, owner.page("/account", 200), "What next?", "Register a feed", "Validate data", "Connect your car", "Open the map")
	address, token := owner.newFeed(pushFields("Roads"))
	body := owner.page("/account", 200)
	contains(t, body, "Your feed", "Roads", "No data yet · Pending review")
	if !strings.Contains(body, `<a href="`+address+`"><strong>`) {
		t.Error("the feed without data is not linked")
	}
	d.push(token, entityRows(2)).want(t, 200)
	if strings.Contains(owner.page("/account", 200), `<a href="`+address+`"><strong>`) {
		t.Error("a feed that needs nothing is named")
	}
	body = curator.page("/sign-in", 200)
	contains(t, body, "You are signed in", "Review 1 feed")
	if !strings.Contains(body, `href="`+strings.Replace(address, "/feeds/", "/review/", 1)+`"`) {
		t.Error("the feed that waits is not linked")
	}
	own, _ := curator.newFeed(pushFields("Own"))
	if body := curator.page("/account", 200); strings.Contains(body, strings.Replace(own, "/feeds/", "/review/", 1)) || !strings.Contains(body, "Review 1 feed") {
		t.Error("a curator is sent to decide on a feed of their own")
	}
}

// TestTestRow checks that the row that a new provider pastes expires soon, closes no road, and can be removed on the page.
func TestTestRow(t *testing.T) {
	d := newTestService(t)
	owner := d.signedInAs("owner@example.com", mapdata.Driver)
	answer := owner.form("/feeds/new", pushFields("Roads")).want(t, 200)
	sent := regexp.MustCompile(`-d '(\[.*\])' http`).FindStringSubmatch(html.UnescapeString(answer.body))
	if sent == nil {
		t.Fatalf("no command: %s", answer.body)
	}
	var rows []struct {
		ID   string `json:"external_id"`
		Kind string
		TTL  int `json:"ttl_seconds"`
	}
	if err := json.Unmarshal([]byte(sent[1]), &rows); err != nil || len(rows) != 1 || rows[0].ID != "delete-me" || rows[0].Kind != "alert.hazard" || rows[0].TTL != 600 {
		t.Fatalf("the test row is %s (%v)", sent[1], err)
	}
	token := regexp.MustCompile(`wsp_[0-9A-Za-z]{46}`).FindString(answer.body)
	address := regexp.MustCompile(`/feeds/[0-9a-f-]{36}`).FindString(answer.body)
	contains(t, owner.page(address+"/token", 200), "Waiting for the first push")
	d.push(token, sent[1]).want(t, 200)
	contains(t, owner.page(address+"/token", 200), "Push received: 1 accepted, 0 rejected.")
	if strings.Contains(owner.page(address, 200), "Remove the test row") {
		t.Error("the only row is offered to be removed")
	}
	d.push(token, entityRows(2)).want(t, 200)
	contains(t, owner.page(address, 200), "Your test row is still on the map", "3 entities")
	curator := d.signedInAs("curator@example.com", mapdata.Curator)
	if strings.Contains(curator.page(address, 200), "Remove the test row") {
		t.Error("a curator is offered to remove an owner's row")
	}
	contains(t, owner.form(address+"/remove-test-row", nil).want(t, 200).body, "The test row is removed.", "2 entities")
	if strings.Contains(owner.page(address, 200), "Your test row is still") {
		t.Error("a removed row is offered to be removed")
	}
	d.push(token, sent[1]).want(t, 200)
	d.advance(11 * time.Minute)
	d.push(token, entityRows(3)).want(t, 200)
	if strings.Contains(owner.page(address, 200), "Your test row is still") {
		t.Error("an expired row is offered to be removed")
	}
}

// TestFeedChanged checks that a script learns of a push and of entities that expire, and of nothing else as time passes, and that
// its requests do not use up the limit on management.
func TestFeedChanged(t *testing.T) {
	d := newTestServiceWith(t, serviceOptions{manage: 8, requests: 60, entities: 10_000})
	owner := d.signedInAs("owner@example.com", mapdata.Driver)
	address, token := owner.newFeed(pushFields("Roads"))
	version := func() string {
		t.Helper()
		found := regexp.MustCompile(`data-live-version="([0-9a-f]{16})"`).FindStringSubmatch(owner.page(address, 200))
		if found == nil {
			t.Fatal("the page names no version")
		}
		return found[1]
	}
	before := version()
	for range 20 {
		owner.send(http.MethodGet, address+"/changed?since="+before, "").want(t, http.StatusNoContent)
	}
	d.advance(30 * time.Second)
	owner.send(http.MethodGet, address+"/changed?since="+before, "").want(t, http.StatusNoContent)
	d.push(token, entityRows(1)).want(t, 200)
	changed := owner.send(http.MethodGet, address+"/changed?since="+before, "").want(t, http.StatusOK)
	if now := version(); changed.body != now || now == before {
		t.Errorf("changed to %q, the page has %q, before %q", changed.body, now, before)
	}
	d.advance(time.Minute)
	d.push(token, `{}`).want(t, 400)
	owner.send(http.MethodGet, address+"/changed?since="+changed.body, "").want(t, http.StatusOK)

	d.push(token, `[{"external_id":"brief","kind":"alert.hazard","lat":52,"lng":5,"ttl_seconds":60,"properties":{}}]`).want(t, 200)
	held := version()
	d.advance(59 * time.Second)
	owner.send(http.MethodGet, address+"/changed?since="+held, "").want(t, http.StatusNoContent)
	d.advance(2 * time.Second)
	owner.send(http.MethodGet, address+"/changed?since="+held, "").want(t, http.StatusOK)
}

// TestTypesPage checks that guests see every type with an example row, which is accepted unchanged.
func TestTypesPage(t *testing.T) {
	d := newTestService(t)
	body := d.browser().page("/types", 200)
	contains(t, body, "Types of entities", "Ice, snow or a slippery surface.", "Stays until it is removed")
	examples := regexp.MustCompile(`(?s)<pre[^>]*><code>(.*?)</code></pre>`).FindAllStringSubmatch(body, -1)
	if len(examples) != mapdata.KindCount {
		t.Fatalf("%d examples of %d types", len(examples), mapdata.KindCount)
	}
	for i, e := range examples {
		checked, err := ingest.Check(strings.NewReader(html.UnescapeString(e[1])), d.time())
		if err != nil || checked.Report.Accepted != 1 || len(checked.Warnings) > 0 || checked.Kinds[mapdata.Kind(i)] != 1 {
			t.Errorf("%s: %+v, %v", mapdata.Kind(i).ID(), checked, err)
		}
		if !strings.Contains(body, `id="`+mapdata.Kind(i).ID()+`"`) {
			t.Errorf("%s cannot be linked to", mapdata.Kind(i).ID())
		}
	}
	for _, p := range mapdata.Properties() {
		if !strings.Contains(body, "<code>"+p.Name+"</code>") || strings.Contains(body, ">property."+p.Name+"<") {
			t.Errorf("the page does not explain %s", p.Name)
		}
	}
	contains(t, d.signedInAs("a@example.org", mapdata.Driver).form("/check", url.Values{"json": {`[{"external_id":"a","kind":"x","lat":1,"lng":1,"properties":{}}]`}}).want(t, 200).body,
		"Unknown kind. Check the spelling; all of them: Types of entities.")
}

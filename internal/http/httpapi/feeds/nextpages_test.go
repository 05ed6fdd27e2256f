package feeds_test

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
	"wayside/internal/http/httpapi/httpapitest"
)

// TestNextStepsAfterSigningIn checks that the page after signing in names the next step of each role.
func TestNextStepsAfterSigningIn(t *testing.T) {
	d := httpapitest.NewService(t)
	owner, curator := d.SignedInAs("owner@example.com", mapdata.Driver), d.SignedInAs("curator@example.com", mapdata.Curator)
	httpapitest.Contains(t, owner.Page("/account", 200), "What next?", "Register a feed", "Validate data", "Connect your car", "Open the map")
	address, token := owner.NewFeed(pushFields("Roads"))
	body := owner.Page("/account", 200)
	httpapitest.Contains(t, body, "Your feed", "Roads", "No data yet · Pending review")
	if !strings.Contains(body, `<a href="`+address+`"><strong>`) {
		t.Error("the feed without data is not linked")
	}
	d.Push(token, entityRows(2)).Want(t, 200)
	if strings.Contains(owner.Page("/account", 200), `<a href="`+address+`"><strong>`) {
		t.Error("a feed that needs nothing is named")
	}
	body = curator.Page("/sign-in", 200)
	httpapitest.Contains(t, body, "You are signed in", "Review 1 feed")
	if !strings.Contains(body, `href="`+strings.Replace(address, "/feeds/", "/review/", 1)+`"`) {
		t.Error("the feed that waits is not linked")
	}
	own, _ := curator.NewFeed(pushFields("Own"))
	if body := curator.Page("/account", 200); strings.Contains(body, strings.Replace(own, "/feeds/", "/review/", 1)) || !strings.Contains(body, "Review 1 feed") {
		t.Error("a curator is sent to decide on a feed of their own")
	}
}

// TestTestRow checks that the row that a new provider pastes expires soon, closes no road, and can be removed on the page.
func TestTestRow(t *testing.T) {
	d := httpapitest.NewService(t)
	owner := d.SignedInAs("owner@example.com", mapdata.Driver)
	answer := owner.Form("/feeds/new", pushFields("Roads")).Want(t, 200)
	sent := regexp.MustCompile(`-d '(\[.*\])' http`).FindStringSubmatch(html.UnescapeString(answer.Body))
	if sent == nil {
		t.Fatalf("no command: %s", answer.Body)
	}
	var rows []struct {
		ID   string `json:"external_id"`
		Kind string
		TTL  int `json:"ttl_seconds"`
	}
	if err := json.Unmarshal([]byte(sent[1]), &rows); err != nil || len(rows) != 1 || rows[0].ID != "delete-me" || rows[0].Kind != "alert.hazard" || rows[0].TTL != 600 {
		t.Fatalf("the test row is %s (%v)", sent[1], err)
	}
	token := regexp.MustCompile(`wsp_[0-9A-Za-z]{46}`).FindString(answer.Body)
	address := regexp.MustCompile(`/feeds/[0-9a-f-]{36}`).FindString(answer.Body)
	httpapitest.Contains(t, owner.Page(address+"/token", 200), "Waiting for the first push")
	d.Push(token, sent[1]).Want(t, 200)
	httpapitest.Contains(t, owner.Page(address+"/token", 200), "Push received: 1 accepted, 0 rejected.")
	if strings.Contains(owner.Page(address, 200), "Remove the test row") {
		t.Error("the only row is offered to be removed")
	}
	d.Push(token, entityRows(2)).Want(t, 200)
	httpapitest.Contains(t, owner.Page(address, 200), "Your test row is still on the map", "3 entities")
	curator := d.SignedInAs("curator@example.com", mapdata.Curator)
	if strings.Contains(curator.Page(address, 200), "Remove the test row") {
		t.Error("a curator is offered to remove an owner's row")
	}
	httpapitest.Contains(t, owner.Form(address+"/remove-test-row", nil).Want(t, 200).Body, "The test row is removed.", "2 entities")
	if strings.Contains(owner.Page(address, 200), "Your test row is still") {
		t.Error("a removed row is offered to be removed")
	}
	d.Push(token, sent[1]).Want(t, 200)
	d.Advance(11 * time.Minute)
	d.Push(token, entityRows(3)).Want(t, 200)
	if strings.Contains(owner.Page(address, 200), "Your test row is still") {
		t.Error("an expired row is offered to be removed")
	}
}

// TestFeedChanged checks that a script learns of a push and of entities that expire, and of nothing else as time passes, and that
// its requests do not use up the limit on management.
func TestFeedChanged(t *testing.T) {
	d := httpapitest.NewServiceWith(t, httpapitest.Options{Manage: 8, Requests: 60, Entities: 10_000})
	owner := d.SignedInAs("owner@example.com", mapdata.Driver)
	address, token := owner.NewFeed(pushFields("Roads"))
	version := func() string {
		t.Helper()
		found := regexp.MustCompile(`data-live-version="([0-9a-f]{16})"`).FindStringSubmatch(owner.Page(address, 200))
		if found == nil {
			t.Fatal("the page names no version")
		}
		return found[1]
	}
	before := version()
	for range 20 {
		owner.Send(http.MethodGet, address+"/changed?since="+before, "").Want(t, http.StatusNoContent)
	}
	d.Advance(30 * time.Second)
	owner.Send(http.MethodGet, address+"/changed?since="+before, "").Want(t, http.StatusNoContent)
	d.Push(token, entityRows(1)).Want(t, 200)
	changed := owner.Send(http.MethodGet, address+"/changed?since="+before, "").Want(t, http.StatusOK)
	if now := version(); changed.Body != now || now == before {
		t.Errorf("changed to %q, the page has %q, before %q", changed.Body, now, before)
	}
	d.Advance(time.Minute)
	d.Push(token, `{}`).Want(t, 400)
	owner.Send(http.MethodGet, address+"/changed?since="+changed.Body, "").Want(t, http.StatusOK)

	d.Push(token, `[{"external_id":"brief","kind":"alert.hazard","lat":52,"lng":5,"ttl_seconds":60,"properties":{}}]`).Want(t, 200)
	held := version()
	d.Advance(59 * time.Second)
	owner.Send(http.MethodGet, address+"/changed?since="+held, "").Want(t, http.StatusNoContent)
	d.Advance(2 * time.Second)
	owner.Send(http.MethodGet, address+"/changed?since="+held, "").Want(t, http.StatusOK)
}

// TestTypesPage checks that guests see every type with an example row, which is accepted unchanged.
func TestTypesPage(t *testing.T) {
	d := httpapitest.NewService(t)
	body := d.Browser().Page("/types", 200)
	httpapitest.Contains(t, body, "Types of entities", "Ice, snow or a slippery surface.", "Stays until it is removed")
	examples := regexp.MustCompile(`(?s)<pre[^>]*><code>(.*?)</code></pre>`).FindAllStringSubmatch(body, -1)
	if len(examples) != mapdata.KindCount {
		t.Fatalf("%d examples of %d types", len(examples), mapdata.KindCount)
	}
	for i, e := range examples {
		checked, err := ingest.Check(strings.NewReader(html.UnescapeString(e[1])), d.Time())
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
	httpapitest.Contains(t, d.SignedInAs("a@example.org", mapdata.Driver).Form("/check", url.Values{"json": {`[{"external_id":"a","kind":"x","lat":1,"lng":1,"properties":{}}]`}}).Want(t, 200).Body,
		"Unknown kind. Check the spelling; all of them: Types of entities.")
}

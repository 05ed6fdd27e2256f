package httpapi_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"wayside/internal/ground/mapdata"
)

// TestAPIDecisionsRequireAPasskey checks that if the operator requires a passkey for decisions, the API requires it like the pages
// (F3, D11.9).
func TestAPIDecisionsRequireAPasskey(t *testing.T) {
	d := newTestServiceWith(t, serviceOptions{manage: 10_000, requests: 60, entities: 10_000, base: passkeyBase, reviewPasskey: true})
	owner, curator := d.signedInAs("owner@example.org", mapdata.Driver), d.signedInAs("curator@example.org", mapdata.Curator)
	feed := owner.registerPush("Roads")
	decide := func(b *browser) [2]reply {
		return [2]reply{b.send(http.MethodPost, feed.path()+"/approve", ""), b.send(http.MethodPost, feed.path()+"/reject", `{"note": "no"}`)}
	}
	key, _ := curator.addPasskey()
	for _, r := range decide(curator) {
		r.wantProblem(t, http.StatusForbidden, "passkey-required")
	}
	if got := owner.send(http.MethodGet, feed.path(), "").feedOf(t)["review_state"]; got != "pending" {
		t.Errorf("the feed is %v", got)
	}
	curator.finish("/v2/auth/passkey/confirm/finish", key.get(curator.begin("/v2/auth/passkey/confirm/begin"))).want(t, http.StatusNoContent)
	for _, r := range decide(curator) {
		r.want(t, http.StatusOK)
	}
	for _, r := range decide(d.anotherBrowser("curator@example.org")) { // the passkey of another session does not count
		r.wantProblem(t, http.StatusForbidden, "passkey-required")
	}
}

// TestNobodyDecidesOnTheirOwnFeed checks that neither the API nor the page lets a curator decide on the curator's own feed, and
// that the page explains it (D11.9).
func TestNobodyDecidesOnTheirOwnFeed(t *testing.T) {
	d := newTestService(t)
	curator, other := d.signedInAs("curator@example.org", mapdata.Curator), d.signedInAs("other@example.org", mapdata.Admin)
	feed := curator.registerPush("Roads")
	curator.send(http.MethodPost, feed.path()+"/approve", "").wantProblem(t, http.StatusForbidden, "forbidden")
	curator.send(http.MethodPost, feed.path()+"/reject", `{"note": "no"}`).wantProblem(t, http.StatusForbidden, "forbidden")
	page := curator.page("/review/"+feed.id(), http.StatusOK)
	contains(t, page, "another curator has to decide")
	contains(t, page, "wayside feed approve "+feed.id()) // as the only curator does
	if strings.Contains(page, "/approve") || strings.Contains(page, "/reject") {
		t.Error("the page has forms that are refused")
	}
	version := feed.Feed["review_version"].(string)
	refused := curator.form("/review/"+feed.id()+"/approve", url.Values{"version": {version}}).want(t, http.StatusForbidden)
	contains(t, refused.body, "another curator has to decide")
	other.send(http.MethodPost, feed.path()+"/approve", "").want(t, http.StatusOK)
	curator.send(http.MethodPost, feed.path()+"/approve", "").wantProblem(t, http.StatusForbidden, "forbidden")
}

// TestCuratorsSeePrivateFeedsWhileTheyWait checks that a private feed is hidden from curators, with its entities, once it is
// decided on, and that it does not wait in their queue (F19).
func TestCuratorsSeePrivateFeedsWhileTheyWait(t *testing.T) {
	d := newTestService(t)
	owner, curator := d.signedInAs("owner@example.org", mapdata.Driver), d.signedInAs("curator@example.org", mapdata.Curator)
	private := owner.register(`{"name": "Mine", "direction": "push", "visibility": "private"}`)
	public := owner.registerPush("Roads")
	reads := []string{private.path(), private.path() + "/entities", "/feeds/" + private.id(), "/feeds/" + private.id() + "/list", "/review/" + private.id()}
	for _, path := range reads {
		curator.send(http.MethodGet, path, "").want(t, http.StatusOK)
	}
	contains(t, curator.page("/review/"+public.id(), http.StatusOK), "Mine")
	seen := `{"version": "` + private.Feed["review_version"].(string) + `"}`
	curator.send(http.MethodPost, private.path()+"/approve", seen).feedOf(t)
	curator.send(http.MethodPost, private.path()+"/approve", seen).feedOf(t) // sending the same form twice does not fail
	curator.send(http.MethodPost, private.path()+"/approve", "").want(t, http.StatusNotFound)
	owner.send(http.MethodPatch, private.path(), `{"name": "Still mine"}`).feedOf(t)
	curator.send(http.MethodPost, private.path()+"/approve", seen).want(t, http.StatusNotFound) // nor does the answer reveal its current name
	for _, path := range reads {
		curator.send(http.MethodGet, path, "").want(t, http.StatusNotFound)
		if !strings.HasPrefix(path, "/review") {
			owner.send(http.MethodGet, path, "").want(t, http.StatusOK)
		}
	}
	curator.send(http.MethodPost, private.path()+"/reject", `{"note": "no"}`).want(t, http.StatusNotFound)
	if strings.Contains(curator.page("/review/"+public.id(), http.StatusOK), "Mine") {
		t.Error("the review of another feed names a private feed that was decided on")
	}
	owner.send(http.MethodPatch, private.path(), `{"visibility": "public"}`).feedOf(t)
	curator.send(http.MethodGet, private.path(), "").feedOf(t) // it waits again
}

// TestCuratorsDoNotSeeQueries checks that only the owner sees the query of a pull URL, because it may contain a key (F19).
func TestCuratorsDoNotSeeQueries(t *testing.T) {
	d := newTestService(t)
	owner, curator := d.signedInAs("owner@example.org", mapdata.Driver), d.signedInAs("curator@example.org", mapdata.Curator)
	const secret = "k3y-in-a-query"
	feed := owner.register(`{"name": "Roads", "direction": "pull", "visibility": "public", "pull_url": "https://roads.example.com/rows.json?key=` + secret + `"}`)
	if got := owner.send(http.MethodGet, feed.path(), "").feedOf(t)["pull_url"]; got != "https://roads.example.com/rows.json?key="+secret {
		t.Errorf("the owner sees %v", got)
	}
	contains(t, owner.page("/feeds/"+feed.id(), http.StatusOK), secret)
	seen := curator.send(http.MethodGet, feed.path(), "").feedOf(t)
	if seen["pull_url"] != "https://roads.example.com/rows.json?…" {
		t.Errorf("the curator sees %v", seen["pull_url"])
	}
	page, _ := fieldsOf(t, curator.send(http.MethodGet, "/review/"+feed.id(), "").want(t, http.StatusOK), "/review/"+feed.id()+"/reject")
	version := page.Get("version")
	owner.send(http.MethodPatch, feed.path(), `{"pull_url": "https://roads.example.com/rows.json?key=other-`+secret+`", "name": "Streets"}`).feedOf(t)
	page.Set("note", "no")
	for path, r := range map[string]reply{
		"review":        curator.send(http.MethodGet, "/review/"+feed.id(), ""),
		"feed":          curator.send(http.MethodGet, "/feeds/"+feed.id(), ""),
		"queue":         curator.send(http.MethodGet, "/review", ""),
		"queue, API":    curator.send(http.MethodGet, "/v2/review/feeds", ""),
		"audit":         curator.send(http.MethodGet, "/audit", ""),
		"changed, API":  curator.send(http.MethodPost, feed.path()+"/approve", `{"version": "`+version+`"}`).want(t, http.StatusConflict),
		"changed":       curator.form("/review/"+feed.id()+"/reject", page).want(t, http.StatusConflict),
		"approved, API": curator.send(http.MethodPost, feed.path()+"/approve", "").want(t, http.StatusOK),
		"list":          curator.send(http.MethodGet, "/v2/feeds", ""),
		"approved":      curator.send(http.MethodGet, "/review/"+feed.id(), ""),
	} {
		if strings.Contains(r.body, secret) {
			t.Errorf("%s shows the query", path)
		}
	}
	stale := curator.form("/review/"+feed.id()+"/reject", page).want(t, http.StatusConflict)
	contains(t, stale.body, "Roads", "https://roads.example.com/rows.json?…")
}

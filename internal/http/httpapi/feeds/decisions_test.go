package feeds_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
)

// TestAPIDecisionsRequireAPasskey checks that if the operator requires a passkey for decisions, the API requires it like the pages
// (F3, D11.9).
func TestAPIDecisionsRequireAPasskey(t *testing.T) {
	d := httpapitest.NewServiceWith(t, httpapitest.Options{Manage: 10_000, Requests: 60, Entities: 10_000, Base: httpapitest.PasskeyBase, ReviewPasskey: true})
	owner, curator := d.SignedInAs("owner@example.org", mapdata.Driver), d.SignedInAs("curator@example.org", mapdata.Curator)
	feed := owner.RegisterPush("Roads")
	decide := func(b *httpapitest.Browser) [2]httpapitest.Reply {
		return [2]httpapitest.Reply{b.Send(http.MethodPost, feed.Path()+"/approve", ""), b.Send(http.MethodPost, feed.Path()+"/reject", `{"note": "no"}`)}
	}
	key, _ := curator.AddPasskey()
	for _, r := range decide(curator) {
		r.WantProblem(t, http.StatusForbidden, "passkey-required")
	}
	if got := owner.Send(http.MethodGet, feed.Path(), "").FeedOf(t)["review_state"]; got != "pending" {
		t.Errorf("the feed is %v", got)
	}
	curator.Finish("/v2/auth/passkey/confirm/finish", key.Get(curator.Begin("/v2/auth/passkey/confirm/begin"))).Want(t, http.StatusNoContent)
	for _, r := range decide(curator) {
		r.Want(t, http.StatusOK)
	}
	for _, r := range decide(d.AnotherBrowser("curator@example.org")) { // the passkey of another session does not count
		r.WantProblem(t, http.StatusForbidden, "passkey-required")
	}
}

// TestNobodyDecidesOnTheirOwnFeed checks that neither the API nor the page lets a curator decide on the curator's own feed, and
// that the page explains it (D11.9).
func TestNobodyDecidesOnTheirOwnFeed(t *testing.T) {
	d := httpapitest.NewService(t)
	curator, other := d.SignedInAs("curator@example.org", mapdata.Curator), d.SignedInAs("other@example.org", mapdata.Admin)
	feed := curator.RegisterPush("Roads")
	curator.Send(http.MethodPost, feed.Path()+"/approve", "").WantProblem(t, http.StatusForbidden, "forbidden")
	curator.Send(http.MethodPost, feed.Path()+"/reject", `{"note": "no"}`).WantProblem(t, http.StatusForbidden, "forbidden")
	page := curator.Page("/review/"+feed.ID(), http.StatusOK)
	httpapitest.Contains(t, page, "another curator has to decide")
	httpapitest.Contains(t, page, "wayside feed approve "+feed.ID()) // as the only curator does
	if strings.Contains(page, "/approve") || strings.Contains(page, "/reject") {
		t.Error("the page has forms that are refused")
	}
	version := feed.Feed["review_version"].(string)
	refused := curator.Form("/review/"+feed.ID()+"/approve", url.Values{"version": {version}}).Want(t, http.StatusForbidden)
	httpapitest.Contains(t, refused.Body, "another curator has to decide")
	other.Send(http.MethodPost, feed.Path()+"/approve", "").Want(t, http.StatusOK)
	curator.Send(http.MethodPost, feed.Path()+"/approve", "").WantProblem(t, http.StatusForbidden, "forbidden")
}

// TestCuratorsSeePrivateFeedsWhileTheyWait checks that a private feed is hidden from curators, with its entities, once it is
// decided on, and that it does not wait in their queue (F19).
func TestCuratorsSeePrivateFeedsWhileTheyWait(t *testing.T) {
	d := httpapitest.NewService(t)
	owner, curator := d.SignedInAs("owner@example.org", mapdata.Driver), d.SignedInAs("curator@example.org", mapdata.Curator)
	private := owner.Register(`{"name": "Mine", "direction": "push", "visibility": "private"}`)
	public := owner.RegisterPush("Roads")
	reads := []string{private.Path(), private.Path() + "/entities", "/feeds/" + private.ID(), "/feeds/" + private.ID() + "/list", "/review/" + private.ID()}
	for _, path := range reads {
		curator.Send(http.MethodGet, path, "").Want(t, http.StatusOK)
	}
	httpapitest.Contains(t, curator.Page("/review/"+public.ID(), http.StatusOK), "Mine")
	seen := `{"version": "` + private.Feed["review_version"].(string) + `"}`
	curator.Send(http.MethodPost, private.Path()+"/approve", seen).FeedOf(t)
	curator.Send(http.MethodPost, private.Path()+"/approve", seen).FeedOf(t) // sending the same form twice does not fail
	curator.Send(http.MethodPost, private.Path()+"/approve", "").Want(t, http.StatusNotFound)
	owner.Send(http.MethodPatch, private.Path(), `{"name": "Still mine"}`).FeedOf(t)
	curator.Send(http.MethodPost, private.Path()+"/approve", seen).Want(t, http.StatusNotFound) // nor does the answer reveal its current name
	for _, path := range reads {
		curator.Send(http.MethodGet, path, "").Want(t, http.StatusNotFound)
		if !strings.HasPrefix(path, "/review") {
			owner.Send(http.MethodGet, path, "").Want(t, http.StatusOK)
		}
	}
	curator.Send(http.MethodPost, private.Path()+"/reject", `{"note": "no"}`).Want(t, http.StatusNotFound)
	if strings.Contains(curator.Page("/review/"+public.ID(), http.StatusOK), "Mine") {
		t.Error("the review of another feed names a private feed that was decided on")
	}
	owner.Send(http.MethodPatch, private.Path(), `{"visibility": "public"}`).FeedOf(t)
	curator.Send(http.MethodGet, private.Path(), "").FeedOf(t) // it waits again
}

// TestCuratorsDoNotSeeQueries checks that only the owner sees the query of a pull URL, because it may contain a key (F19).
func TestCuratorsDoNotSeeQueries(t *testing.T) {
	d := httpapitest.NewService(t)
	owner, curator := d.SignedInAs("owner@example.org", mapdata.Driver), d.SignedInAs("curator@example.org", mapdata.Curator)
	const secret = "k3y-in-a-query"
	feed := owner.Register(`{"name": "Roads", "direction": "pull", "visibility": "public", "pull_url": "https://roads.example.com/rows.json?key=` + secret + `"}`)
	if got := owner.Send(http.MethodGet, feed.Path(), "").FeedOf(t)["pull_url"]; got != "https://roads.example.com/rows.json?key="+secret {
		t.Errorf("the owner sees %v", got)
	}
	httpapitest.Contains(t, owner.Page("/feeds/"+feed.ID(), http.StatusOK), secret)
	seen := curator.Send(http.MethodGet, feed.Path(), "").FeedOf(t)
	if seen["pull_url"] != "https://roads.example.com/rows.json?…" {
		t.Errorf("the curator sees %v", seen["pull_url"])
	}
	page, _ := httpapitest.FieldsOf(t, curator.Send(http.MethodGet, "/review/"+feed.ID(), "").Want(t, http.StatusOK), "/review/"+feed.ID()+"/reject")
	version := page.Get("version")
	owner.Send(http.MethodPatch, feed.Path(), `{"pull_url": "https://roads.example.com/rows.json?key=other-`+secret+`", "name": "Streets"}`).FeedOf(t)
	page.Set("note", "no")
	for path, r := range map[string]httpapitest.Reply{
		"review":        curator.Send(http.MethodGet, "/review/"+feed.ID(), ""),
		"feed":          curator.Send(http.MethodGet, "/feeds/"+feed.ID(), ""),
		"queue":         curator.Send(http.MethodGet, "/review", ""),
		"queue, API":    curator.Send(http.MethodGet, "/v2/review/feeds", ""),
		"audit":         curator.Send(http.MethodGet, "/audit", ""),
		"changed, API":  curator.Send(http.MethodPost, feed.Path()+"/approve", `{"version": "`+version+`"}`).Want(t, http.StatusConflict),
		"changed":       curator.Form("/review/"+feed.ID()+"/reject", page).Want(t, http.StatusConflict),
		"approved, API": curator.Send(http.MethodPost, feed.Path()+"/approve", "").Want(t, http.StatusOK),
		"list":          curator.Send(http.MethodGet, "/v2/feeds", ""),
		"approved":      curator.Send(http.MethodGet, "/review/"+feed.ID(), ""),
	} {
		if strings.Contains(r.Body, secret) {
			t.Errorf("%s shows the query", path)
		}
	}
	stale := curator.Form("/review/"+feed.ID()+"/reject", page).Want(t, http.StatusConflict)
	httpapitest.Contains(t, stale.Body, "Roads", "https://roads.example.com/rows.json?…")
}

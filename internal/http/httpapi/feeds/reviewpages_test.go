package feeds_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
)

// reviewVersion returns the version in the form of a review page.
func reviewVersion(t *testing.T, body string) string {
	t.Helper()
	found := regexp.MustCompile(`name="version" value="([0-9a-f]{96})"`).FindStringSubmatch(body)
	if found == nil {
		t.Fatalf("the page shows no version: %s", body)
	}
	return found[1]
}

// entityRows returns n rows of one kind.
func entityRows(n int) string {
	rows := make([]string, n)
	for i := range rows {
		rows[i] = fmt.Sprintf(`{"external_id":"e%d","kind":"camera.speed","lat":52.%03d,"lng":4.9,"properties":{}}`, i, 370+i)
	}
	return "[" + strings.Join(rows, ",") + "]"
}

// TestReviewByPages checks that a curator finds a feed in the queue with everything that a decision needs, rejects it, and approves
// it after a fix.
func TestReviewByPages(t *testing.T) {
	d := httpapitest.NewService(t)
	owner, curator := d.SignedInAs("owner@example.com", mapdata.Driver), d.SignedInAs("curator@example.com", mapdata.Curator)
	httpapitest.Contains(t, curator.Page("/review", 200), "Nothing to review")
	address, token := owner.NewFeed(pushFields("Cameras"))
	owner.NewFeed(url.Values{"direction": {"push"}, "visibility": {"private"}, "name": {"Mine"}, "pull_interval_seconds": {"300"}})
	d.Push(token, entityRows(3)).Want(t, 200)
	d.Push(token, `[{"external_id":"x","kind":"none","lat":52,"lng":5,"properties":{}}]`).Want(t, 200)
	d.Advance(time.Hour)
	review := strings.Replace(address, "/feeds/", "/review/", 1)
	httpapitest.Contains(t, curator.Page("/review", 200), "1 feed pending review", "1 private feed", "Owner: owner@example.com", "1 hour ago")
	body := curator.Page(review, 200)
	httpapitest.Contains(t, body, "owner@example.com", "Sample rows", "e0", "3 entities", "unknown_kind", "Never approved", "Mine", "will be e-mailed", "feed registered")

	answer := curator.Form(review+"/reject", url.Values{"version": {reviewVersion(t, body)}, "note": {" "}}).Want(t, http.StatusUnprocessableEntity)
	httpapitest.Contains(t, answer.Body, "Enter a note")
	answer = curator.Form(review+"/reject", url.Values{"version": {reviewVersion(t, body)}, "note": {"Row x is wrong."}}).Want(t, 200)
	httpapitest.Contains(t, answer.Body, "Rejected. The owner will be e-mailed your note", "Row x is wrong.")
	httpapitest.Contains(t, owner.Page(address, 200), "A curator rejected this feed", "Row x is wrong.")

	owner.Form(address+"/edit", url.Values{"name": {"Cameras"}, "description": {"Mended."}, "visibility": {"public"}}).Want(t, 200)
	body = curator.Page(review, 200)
	httpapitest.Contains(t, body, "pending review again", "Pending review")
	httpapitest.Contains(t, curator.Form(review+"/approve", url.Values{"version": {reviewVersion(t, body)}}).Want(t, 200).Body, "Approved. The owner will be e-mailed")
	owner.Form(address+"/edit", url.Values{"name": {"Police"}, "description": {"Mended."}, "visibility": {"public"}}).Want(t, 200)
	body = curator.Page(review, 200)
	httpapitest.Contains(t, body, "Changed since the approval", "Cameras", "Police", "registered or changed less than a minute ago")
	httpapitest.Contains(t, curator.Page("/review", 200), "1 feed pending review")
	httpapitest.Contains(t, owner.Page(address, 200), "Change pending review", "Live", "Your feeds Cameras")
	if !strings.Contains(owner.Page(address+"/edit", 200), `value="Police"`) {
		t.Error("the form does not hold the change that waits")
	}
	curator.Form(review+"/reject", url.Values{"version": {reviewVersion(t, body)}, "note": {"Traps are cameras."}}).Want(t, 200)
	httpapitest.Contains(t, owner.Page(address, 200), "The change was rejected", "Traps are cameras.", "Live")
	httpapitest.Contains(t, curator.Page(review, 200), "Revoke approval")

	emails, err := d.DB.DueEmails(t.Context(), d.Time(), d.Time(), 10)
	if err != nil || len(emails) != 3 || emails[2].Kind != mapdata.EmailChangeRejected {
		t.Errorf("e-mails %+v, %v; want 3", emails, err)
	}
	entries, err := d.DB.Audit(t.Context(), &mapdata.AuditQuery{Actions: mapdata.AuditDecisions(), Limit: 10})
	if err != nil || len(entries) != 5 || entries[0].Via != mapdata.ViaPage || entries[0].Reviewed.Name != "Police" {
		t.Errorf("audit %+v, %v", entries, err)
	}
}

// TestStaleReviewIsRefused checks that if the owner changes the feed meanwhile, the decision is refused and the page shows the
// changes.
func TestStaleReviewIsRefused(t *testing.T) {
	d := httpapitest.NewService(t)
	owner := d.SignedInAs("owner@example.com", mapdata.Driver)
	one, two := d.SignedInAs("one@example.com", mapdata.Curator), d.SignedInAs("two@example.com", mapdata.Admin)
	address, _ := owner.NewFeed(pushFields("Cameras"))
	review := strings.Replace(address, "/feeds/", "/review/", 1)
	seen := reviewVersion(t, one.Page(review, 200))
	owner.Form(address+"/edit", url.Values{"name": {"Traps"}, "visibility": {"public"}}).Want(t, 200)
	for _, what := range []string{"/approve", "/reject"} {
		answer := one.Form(review+what, url.Values{"version": {seen}, "note": {"as typed"}}).Want(t, http.StatusConflict)
		httpapitest.Contains(t, answer.Body, "This changed while you were reviewing it", "Name Now: Traps")
		if what == "/reject" {
			httpapitest.Contains(t, answer.Body, "as typed")
		}
		if now := reviewVersion(t, answer.Body); now == seen {
			t.Error("the page shows the old version again")
		}
	}
	one.Form(review+"/approve", nil).Want(t, http.StatusBadRequest)
	one.Form(review+"/approve", url.Values{"version": {"x"}}).Want(t, http.StatusUnprocessableEntity)

	// Two curators decide concurrently.
	seen = reviewVersion(t, one.Page(review, 200))
	one.Form(review+"/approve", url.Values{"version": {seen}}).Want(t, 200)
	httpapitest.Contains(t, two.Form(review+"/reject", url.Values{"version": {seen}, "note": {"no"}}).Want(t, http.StatusConflict).Body, "Review Now: Approved")
	httpapitest.Contains(t, two.Form(review+"/approve", url.Values{"version": {seen}}).Want(t, 200).Body, "approved")
	emails, err := d.DB.DueEmails(t.Context(), d.Time(), d.Time(), 10)
	if err != nil || len(emails) != 1 {
		t.Errorf("%d e-mails, %v; want 1", len(emails), err)
	}

	// Another site's page decides nothing.
	seen = reviewVersion(t, one.Page(review, 200))
	one.Form(review+"/reject", url.Values{"version": {seen}, "note": {"no"}}, "Sec-Fetch-Site", "cross-site").Want(t, http.StatusForbidden)
	if f := one.Send(http.MethodGet, "/v2"+address, "").FeedOf(t); f["review_state"] != "approved" {
		t.Errorf("decided from elsewhere: %v", f["review_state"])
	}
}

// TestStaleReviewShowsTheDifference checks that a refused decision shows field by field what the page showed and what is stored
// now, in the curator's language.
func TestStaleReviewShowsTheDifference(t *testing.T) {
	d := httpapitest.NewService(t)
	owner, curator := d.SignedInAs("owner@example.com", mapdata.Driver), d.SignedInAs("curator@example.com", mapdata.Curator)
	curator.Form("/language", url.Values{"language": {"de"}, "back": {"/account"}}).Want(t, 200)
	fields := pushFields("Kameras")
	fields.Set("description", "Eins\nzwei <b>")
	fields.Set("attribution", "Stadt")
	address, _ := owner.NewFeed(fields)
	review := strings.Replace(address, "/feeds/", "/review/", 1)
	form, _ := httpapitest.FieldsOf(t, curator.Send(http.MethodGet, review, "").Want(t, 200), review+"/approve")
	if form.Get("seen") == "" {
		t.Fatalf("the form does not contain the shown values: %v", form)
	}
	owner.Form(address+"/edit", url.Values{"name": {"Fallen"}, "description": {"Drei"}, "attribution": {""}, "visibility": {"private"}}).Want(t, 200)
	form.Set("note", "wie getippt")
	stale := curator.Form(review+"/reject", form).Want(t, http.StatusConflict)
	httpapitest.Contains(t, stale.Body,
		"Das hat sich während Ihrer Prüfung geändert", "Es wurde keine Entscheidung gespeichert.",
		"Name Sie sahen: Kameras Jetzt: Fallen", "Sie sahen: Eins zwei <b> Jetzt: Drei", "Sie sahen: Stadt Jetzt: –",
		"Sie sahen: Öffentlich Jetzt: Privat", "Erneut prüfen", "wie getippt")
	checkGerman(t, stale.Body, []string{"is now", "private", "public"})

	// The page ignores forged values in a form.
	forged := url.Values{"version": form["version"], "seen": {`{"Reviewed": {"Name": "Erfunden"}}`}, "note": {"x"}}
	again := curator.Form(review+"/reject", forged).Want(t, http.StatusConflict)
	httpapitest.Contains(t, again.Body, "Name Jetzt: Fallen")
	if strings.Contains(httpapitest.TextOf(t, again.Body), "Erfunden") {
		t.Error("the page shows a forged value")
	}
	anew, _ := httpapitest.FieldsOf(t, stale, review+"/approve")
	httpapitest.Contains(t, curator.Form(review+"/approve", anew).Want(t, 200).Body, "Freigegeben")
	curator.Send(http.MethodGet, review, "").Want(t, http.StatusNotFound) // only its owner may read an approved private feed (D11.9)

	// The note of another curator is part of the difference.
	owner.Form(address+"/edit", url.Values{"name": {"Fallen"}, "visibility": {"public"}}).Want(t, 200)
	curator.Send(http.MethodPost, "/v2"+address+"/approve", "").Want(t, 200)
	form, _ = httpapitest.FieldsOf(t, curator.Send(http.MethodGet, review, "").Want(t, 200), review+"/reject")
	form.Set("note", "Eins")
	d.SignedInAs("second@example.com", mapdata.Curator).Form(review+"/reject", form).Want(t, 200)
	form.Set("note", "Zwei")
	httpapitest.Contains(t, curator.Form(review+"/reject", form).Want(t, http.StatusConflict).Body,
		"Sie sahen: Freigegeben Jetzt: Abgelehnt", "Anmerkung für den Besitzer Sie sahen: – Jetzt: Eins")
}

// TestAuditPages checks that curators see decisions, that admins see all entries, and that the list is paged and can be filtered.
func TestAuditPages(t *testing.T) {
	d := httpapitest.NewService(t)
	owner := d.SignedInAs("owner@example.com", mapdata.Driver)
	curator, admin := d.SignedInAs("curator@example.com", mapdata.Curator), d.SignedInAs("admin@example.com", mapdata.Admin)
	address, _ := owner.NewFeed(pushFields("Cameras"))
	id := strings.TrimPrefix(address, "/feeds/")
	curator.Send(http.MethodPost, "/v2/feeds/"+id+"/approve", "").Want(t, 200)
	for range 60 {
		owner.Send(http.MethodPost, "/v2/feeds/"+id+"/rotate-token", "").Want(t, 200)
	}
	owner.Send(http.MethodGet, "/audit", "").Want(t, http.StatusForbidden)
	body := curator.Page("/audit", 200)
	httpapitest.Contains(t, body, "approved", "by curator@example.com", "via API")
	if strings.Contains(body, "push token replaced") {
		t.Error("a curator sees changes of secrets")
	}
	body = admin.Page("/audit", 200)
	httpapitest.Contains(t, body, "push token replaced", "by owner@example.com", "Older entries")
	older := regexp.MustCompile(`/audit\?before=\d+`).FindString(body)
	httpapitest.Contains(t, admin.Page(older, 200), "feed registered", "approved")
	httpapitest.Contains(t, admin.Page("/audit?feed="+id, 200), "Cameras")
	httpapitest.Contains(t, admin.Page("/audit?account=Curator@example.com", 200), "approved")
	httpapitest.Contains(t, admin.Page("/audit?feed=x&account=nobody@example.com", 422), "A feed ID has 36 characters", "Unknown account")
	owner.Form(address+"/delete", nil).Want(t, 200)
	httpapitest.Contains(t, admin.Page("/audit", 200), "feed deleted", id)
}

// TestPublicSourcePages checks that the pages list only public sources, each with a map of its public entities.
func TestPublicSourcePages(t *testing.T) {
	d := httpapitest.NewService(t)
	owner, curator, guest := d.SignedInAs("owner@example.com", mapdata.Driver), d.SignedInAs("curator@example.com", mapdata.Curator), d.Browser()
	httpapitest.Contains(t, guest.Page("/sources", 200), "No public sources yet")
	address, token := owner.NewFeed(pushFields("Cameras"))
	id := strings.TrimPrefix(address, "/feeds/")
	d.Push(token, entityRows(5)).Want(t, 200)
	source := "/sources/feed:" + id
	guest.Page(source, 404)
	guest.Send(http.MethodGet, "/v2"+source+"/entities", "").Want(t, 404)
	owner.Form(address+"/edit", url.Values{"name": {"Cameras"}, "attribution": {"© Town"}, "description": {"All."}, "visibility": {"public"}}).Want(t, 200)
	curator.Send(http.MethodPost, "/v2/feeds/"+id+"/approve", "").Want(t, 200)
	d.WaitForIndex()
	httpapitest.Contains(t, guest.Page("/sources", 200), "Cameras", "© Town", "5 entities", "OK", "Speed camera")
	httpapitest.Contains(t, guest.Page(source, 200), "All.", "© Town", "feed:"+id)
	body := guest.Send(http.MethodGet, "/v2"+source+"/entities", "").Want(t, 200).Body
	if n := strings.Count(body, `"type":"Feature"`); n != 5 || strings.Contains(body, "owner@example.com") {
		t.Errorf("%d entities on the map of a source: %s", n, body)
	}
	httpapitest.Contains(t, guest.Page("/status", 200), "All systems operational", "1 source", "test")
	owner.Form(address+"/pause", nil).Want(t, 200)
	d.WaitForIndex()
	guest.Page(source, 404)
	guest.Page("/sources/incidents", 404)
	guest.Page("/sources/feed:x", 404)
}

// TestReviewPagesEscapeText checks that hostile text stays text on the pages of curators and of everybody.
func TestReviewPagesEscapeText(t *testing.T) {
	t.Parallel()
	d := httpapitest.NewService(t)
	owner := d.SignedInAs("owner@example.com", mapdata.Driver)
	curator, guest := d.SignedInAs("curator@example.com", mapdata.Curator), d.Browser()
	pages := func(text string) map[string]string {
		d.Advance(time.Minute)
		quoted := fmt.Sprintf("%q", text)
		address, token := owner.NewFeed(url.Values{"direction": {"push"}, "visibility": {"public"}, "name": {"first"}, "description": {"first"}, "pull_interval_seconds": {"300"}})
		id := strings.TrimPrefix(address, "/feeds/")
		d.Push(token, fmt.Sprintf(`[{"external_id":%s,"kind":"camera.speed","lat":52,"lng":5,"properties":{%s:%s}},{"external_id":%s,"kind":%s,"lat":52,"lng":5,"properties":{}}]`,
			quoted, quoted, quoted, quoted, quoted)).Want(t, 200)
		curator.Send(http.MethodPost, "/v2/feeds/"+id+"/approve", "").Want(t, 200)
		fields := url.Values{
			"name": {text}, "description": {text}, "attribution": {text}, "licence": {text}, "layer_name": {text}, "visibility": {"public"},
			"spec_url": {"https://example.org/" + url.PathEscape(text)},
		}
		owner.Form(address+"/edit", fields).Want(t, 200)
		d.WaitForIndex()
		review := "/review/" + id
		all := map[string]string{
			"a served feed": curator.Page(review, 200), "sources": guest.Page("/sources", 200), "source": guest.Page("/sources/feed:"+id, 200),
		}
		seen := reviewVersion(t, all["a served feed"])
		owner.Form(address+"/edit", url.Values{
			"name": {text + "."}, "description": {text}, "attribution": {text}, "licence": {text + "."}, "layer_name": {text}, "visibility": {"public"},
		}).Want(t, 200)
		all["stale"] = curator.Form(review+"/reject", url.Values{"version": {seen}, "note": {text}}).Want(t, 409).Body
		all["bad version"] = curator.Form(review+"/reject", url.Values{"version": {text}, "note": {text}}).Want(t, 422).Body
		all["rejected"] = curator.Form(review+"/reject", url.Values{"version": {reviewVersion(t, all["stale"])}, "note": {text}}).Want(t, 200).Body
		owner.Form(address+"/edit", url.Values{"name": {text}, "description": {text}, "visibility": {"public"}}).Want(t, 200)
		all["queue"] = curator.Page("/review", 200)
		all["log of a feed"] = curator.Page("/audit?feed="+id, 200)
		all["bad filter"] = curator.Page("/audit?"+url.Values{"feed": {text}, "account": {text}}.Encode(), 422)
		d.WaitForIndex() // the rejected feed is not in the index
		all["bad page"] = guest.Page("/sources?"+url.Values{"from": {text}, "done": {text}}.Encode(), 200)
		owner.Form(address+"/delete", nil).Want(t, 200)
		return all
	}
	known, knownPairs := map[string]map[string]int{}, map[string]map[string]bool{}
	for name, body := range pages("harmless") {
		known[name], knownPairs[name] = countElements(t, body)
	}
	for _, text := range payloads() {
		for name, body := range pages(text) {
			count, pairs := countElements(t, body)
			for tag, n := range count {
				if n != known[name][tag] {
					t.Errorf("%s with %q: %d <%s>, without %d", name, text, n, tag, known[name][tag])
				}
			}
			for pair := range pairs {
				if !knownPairs[name][pair] {
					t.Errorf("%s with %q: <%s>", name, text, pair)
				}
			}
		}
	}
}

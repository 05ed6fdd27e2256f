package httpapi_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
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
	d := newTestService(t)
	owner, curator := d.signedInAs("owner@example.com", mapdata.Driver), d.signedInAs("curator@example.com", mapdata.Curator)
	contains(t, curator.page("/review", 200), "Nothing to review")
	address, token := owner.newFeed(pushFields("Cameras"))
	owner.newFeed(url.Values{"direction": {"push"}, "visibility": {"private"}, "name": {"Mine"}, "pull_interval_seconds": {"300"}})
	d.push(token, entityRows(3)).want(t, 200)
	d.push(token, `[{"external_id":"x","kind":"none","lat":52,"lng":5,"properties":{}}]`).want(t, 200)
	d.advance(time.Hour)
	review := strings.Replace(address, "/feeds/", "/review/", 1)
	contains(t, curator.page("/review", 200), "1 feed pending review", "1 private feed", "Owner: owner@example.com", "1 hour ago")
	body := curator.page(review, 200)
	contains(t, body, "owner@example.com", "Sample rows", "e0", "3 entities", "unknown_kind", "Never approved", "Mine", "will be e-mailed", "feed registered")

	answer := curator.form(review+"/reject", url.Values{"version": {reviewVersion(t, body)}, "note": {" "}}).want(t, http.StatusUnprocessableEntity)
	contains(t, answer.body, "Enter a note")
	answer = curator.form(review+"/reject", url.Values{"version": {reviewVersion(t, body)}, "note": {"Row x is wrong."}}).want(t, 200)
	contains(t, answer.body, "Rejected. The owner will be e-mailed your note", "Row x is wrong.")
	contains(t, owner.page(address, 200), "A curator rejected this feed", "Row x is wrong.")

	owner.form(address+"/edit", url.Values{"name": {"Cameras"}, "description": {"Mended."}, "visibility": {"public"}}).want(t, 200)
	body = curator.page(review, 200)
	contains(t, body, "pending review again", "Pending review")
	contains(t, curator.form(review+"/approve", url.Values{"version": {reviewVersion(t, body)}}).want(t, 200).body, "Approved. The owner will be e-mailed")
	owner.form(address+"/edit", url.Values{"name": {"Police"}, "description": {"Mended."}, "visibility": {"public"}}).want(t, 200)
	body = curator.page(review, 200)
	contains(t, body, "Changed since the approval", "Cameras", "Police", "registered or changed less than a minute ago")
	contains(t, curator.page("/review", 200), "1 feed pending review")
	contains(t, owner.page(address, 200), "Change pending review", "Live", "Your feeds Cameras")
	if !strings.Contains(owner.page(address+"/edit", 200), `value="Police"`) {
		t.Error("the form does not hold the change that waits")
	}
	curator.form(review+"/reject", url.Values{"version": {reviewVersion(t, body)}, "note": {"Traps are cameras."}}).want(t, 200)
	contains(t, owner.page(address, 200), "The change was rejected", "Traps are cameras.", "Live")
	contains(t, curator.page(review, 200), "Revoke approval")

	emails, err := d.db.DueEmails(t.Context(), d.time(), d.time(), 10)
	if err != nil || len(emails) != 3 || emails[2].Kind != mapdata.EmailChangeRejected {
		t.Errorf("e-mails %+v, %v; want 3", emails, err)
	}
	entries, err := d.db.Audit(t.Context(), &mapdata.AuditQuery{Actions: mapdata.AuditDecisions(), Limit: 10})
	if err != nil || len(entries) != 5 || entries[0].Via != mapdata.ViaPage || entries[0].Reviewed.Name != "Police" {
		t.Errorf("audit %+v, %v", entries, err)
	}
}

// TestStaleReviewIsRefused checks that if the owner changes the feed meanwhile, the decision is refused and the page shows the
// changes.
func TestStaleReviewIsRefused(t *testing.T) {
	d := newTestService(t)
	owner := d.signedInAs("owner@example.com", mapdata.Driver)
	one, two := d.signedInAs("one@example.com", mapdata.Curator), d.signedInAs("two@example.com", mapdata.Admin)
	address, _ := owner.newFeed(pushFields("Cameras"))
	review := strings.Replace(address, "/feeds/", "/review/", 1)
	seen := reviewVersion(t, one.page(review, 200))
	owner.form(address+"/edit", url.Values{"name": {"Traps"}, "visibility": {"public"}}).want(t, 200)
	for _, what := range []string{"/approve", "/reject"} {
		answer := one.form(review+what, url.Values{"version": {seen}, "note": {"as typed"}}).want(t, http.StatusConflict)
		contains(t, answer.body, "This changed while you were reviewing it", "Name Now: Traps")
		if what == "/reject" {
			contains(t, answer.body, "as typed")
		}
		if now := reviewVersion(t, answer.body); now == seen {
			t.Error("the page shows the old version again")
		}
	}
	one.form(review+"/approve", nil).want(t, http.StatusBadRequest)
	one.form(review+"/approve", url.Values{"version": {"x"}}).want(t, http.StatusUnprocessableEntity)

	// Two curators decide concurrently.
	seen = reviewVersion(t, one.page(review, 200))
	one.form(review+"/approve", url.Values{"version": {seen}}).want(t, 200)
	contains(t, two.form(review+"/reject", url.Values{"version": {seen}, "note": {"no"}}).want(t, http.StatusConflict).body, "Review Now: Approved")
	contains(t, two.form(review+"/approve", url.Values{"version": {seen}}).want(t, 200).body, "approved")
	emails, err := d.db.DueEmails(t.Context(), d.time(), d.time(), 10)
	if err != nil || len(emails) != 1 {
		t.Errorf("%d e-mails, %v; want 1", len(emails), err)
	}

	// Another site's page decides nothing.
	seen = reviewVersion(t, one.page(review, 200))
	one.form(review+"/reject", url.Values{"version": {seen}, "note": {"no"}}, "Sec-Fetch-Site", "cross-site").want(t, http.StatusForbidden)
	if f := one.send(http.MethodGet, "/v2"+address, "").feedOf(t); f["review_state"] != "approved" {
		t.Errorf("decided from elsewhere: %v", f["review_state"])
	}
}

// TestStaleReviewShowsTheDifference checks that a refused decision shows field by field what the page showed and what is stored
// now, in the curator's language.
func TestStaleReviewShowsTheDifference(t *testing.T) {
	d := newTestService(t)
	owner, curator := d.signedInAs("owner@example.com", mapdata.Driver), d.signedInAs("curator@example.com", mapdata.Curator)
	curator.form("/language", url.Values{"language": {"de"}, "back": {"/account"}}).want(t, 200)
	fields := pushFields("Kameras")
	fields.Set("description", "Eins\nzwei <b>")
	fields.Set("attribution", "Stadt")
	address, _ := owner.newFeed(fields)
	review := strings.Replace(address, "/feeds/", "/review/", 1)
	form, _ := fieldsOf(t, curator.send(http.MethodGet, review, "").want(t, 200), review+"/approve")
	if form.Get("seen") == "" {
		t.Fatalf("the form does not contain the shown values: %v", form)
	}
	owner.form(address+"/edit", url.Values{"name": {"Fallen"}, "description": {"Drei"}, "attribution": {""}, "visibility": {"private"}}).want(t, 200)
	form.Set("note", "wie getippt")
	stale := curator.form(review+"/reject", form).want(t, http.StatusConflict)
	contains(t, stale.body,
		"Das hat sich während Ihrer Prüfung geändert", "Es wurde keine Entscheidung gespeichert.",
		"Name Sie sahen: Kameras Jetzt: Fallen", "Sie sahen: Eins zwei <b> Jetzt: Drei", "Sie sahen: Stadt Jetzt: –",
		"Sie sahen: Öffentlich Jetzt: Privat", "Erneut prüfen", "wie getippt")
	checkGerman(t, stale.body, []string{"is now", "private", "public"})

	// The page ignores forged values in a form.
	forged := url.Values{"version": form["version"], "seen": {`{"Reviewed": {"Name": "Erfunden"}}`}, "note": {"x"}}
	again := curator.form(review+"/reject", forged).want(t, http.StatusConflict)
	contains(t, again.body, "Name Jetzt: Fallen")
	if strings.Contains(textOf(t, again.body), "Erfunden") {
		t.Error("the page shows a forged value")
	}
	anew, _ := fieldsOf(t, stale, review+"/approve")
	contains(t, curator.form(review+"/approve", anew).want(t, 200).body, "Freigegeben")
	curator.send(http.MethodGet, review, "").want(t, http.StatusNotFound) // only its owner may read an approved private feed (D11.9)

	// The note of another curator is part of the difference.
	owner.form(address+"/edit", url.Values{"name": {"Fallen"}, "visibility": {"public"}}).want(t, 200)
	curator.send(http.MethodPost, "/v2"+address+"/approve", "").want(t, 200)
	form, _ = fieldsOf(t, curator.send(http.MethodGet, review, "").want(t, 200), review+"/reject")
	form.Set("note", "Eins")
	d.signedInAs("second@example.com", mapdata.Curator).form(review+"/reject", form).want(t, 200)
	form.Set("note", "Zwei")
	contains(t, curator.form(review+"/reject", form).want(t, http.StatusConflict).body,
		"Sie sahen: Freigegeben Jetzt: Abgelehnt", "Anmerkung für den Besitzer Sie sahen: – Jetzt: Eins")
}

// TestAuditPages checks that curators see decisions, that admins see all entries, and that the list is paged and can be filtered.
func TestAuditPages(t *testing.T) {
	d := newTestService(t)
	owner := d.signedInAs("owner@example.com", mapdata.Driver)
	curator, admin := d.signedInAs("curator@example.com", mapdata.Curator), d.signedInAs("admin@example.com", mapdata.Admin)
	address, _ := owner.newFeed(pushFields("Cameras"))
	id := strings.TrimPrefix(address, "/feeds/")
	curator.send(http.MethodPost, "/v2/feeds/"+id+"/approve", "").want(t, 200)
	for range 60 {
		owner.send(http.MethodPost, "/v2/feeds/"+id+"/rotate-token", "").want(t, 200)
	}
	owner.send(http.MethodGet, "/audit", "").want(t, http.StatusForbidden)
	body := curator.page("/audit", 200)
	contains(t, body, "approved", "by curator@example.com", "via API")
	if strings.Contains(body, "push token replaced") {
		t.Error("a curator sees changes of secrets")
	}
	body = admin.page("/audit", 200)
	contains(t, body, "push token replaced", "by owner@example.com", "Older entries")
	older := regexp.MustCompile(`/audit\?before=\d+`).FindString(body)
	contains(t, admin.page(older, 200), "feed registered", "approved")
	contains(t, admin.page("/audit?feed="+id, 200), "Cameras")
	contains(t, admin.page("/audit?account=Curator@example.com", 200), "approved")
	contains(t, admin.page("/audit?feed=x&account=nobody@example.com", 422), "A feed ID has 36 characters", "Unknown account")
	owner.form(address+"/delete", nil).want(t, 200)
	contains(t, admin.page("/audit", 200), "feed deleted", id)
}

// TestPublicSourcePages checks that the pages list only public sources, each with a map of its public entities.
func TestPublicSourcePages(t *testing.T) {
	d := newTestService(t)
	owner, curator, guest := d.signedInAs("owner@example.com", mapdata.Driver), d.signedInAs("curator@example.com", mapdata.Curator), d.browser()
	contains(t, guest.page("/sources", 200), "No public sources yet")
	address, token := owner.newFeed(pushFields("Cameras"))
	id := strings.TrimPrefix(address, "/feeds/")
	d.push(token, entityRows(5)).want(t, 200)
	source := "/sources/feed:" + id
	guest.page(source, 404)
	guest.send(http.MethodGet, "/v2"+source+"/entities", "").want(t, 404)
	owner.form(address+"/edit", url.Values{"name": {"Cameras"}, "attribution": {"© Town"}, "description": {"All."}, "visibility": {"public"}}).want(t, 200)
	curator.send(http.MethodPost, "/v2/feeds/"+id+"/approve", "").want(t, 200)
	d.waitForIndex()
	contains(t, guest.page("/sources", 200), "Cameras", "© Town", "5 entities", "OK", "Speed camera")
	contains(t, guest.page(source, 200), "All.", "© Town", "feed:"+id)
	body := guest.send(http.MethodGet, "/v2"+source+"/entities", "").want(t, 200).body
	if n := strings.Count(body, `"type":"Feature"`); n != 5 || strings.Contains(body, "owner@example.com") {
		t.Errorf("%d entities on the map of a source: %s", n, body)
	}
	contains(t, guest.page("/status", 200), "All systems operational", "1 source", "test")
	owner.form(address+"/pause", nil).want(t, 200)
	d.waitForIndex()
	guest.page(source, 404)
	guest.page("/sources/incidents", 404)
	guest.page("/sources/feed:x", 404)
}

// TestReviewPagesEscapeText checks that hostile text stays text on the pages of curators and of everybody.
func TestReviewPagesEscapeText(t *testing.T) {
	t.Parallel()
	d := newTestService(t)
	owner := d.signedInAs("owner@example.com", mapdata.Driver)
	curator, guest := d.signedInAs("curator@example.com", mapdata.Curator), d.browser()
	pages := func(text string) map[string]string {
		d.advance(time.Minute)
		quoted := fmt.Sprintf("%q", text)
		address, token := owner.newFeed(url.Values{"direction": {"push"}, "visibility": {"public"}, "name": {"first"}, "description": {"first"}, "pull_interval_seconds": {"300"}})
		id := strings.TrimPrefix(address, "/feeds/")
		d.push(token, fmt.Sprintf(`[{"external_id":%s,"kind":"camera.speed","lat":52,"lng":5,"properties":{%s:%s}},{"external_id":%s,"kind":%s,"lat":52,"lng":5,"properties":{}}]`,
			quoted, quoted, quoted, quoted, quoted)).want(t, 200)
		curator.send(http.MethodPost, "/v2/feeds/"+id+"/approve", "").want(t, 200)
		fields := url.Values{
			"name": {text}, "description": {text}, "attribution": {text}, "licence": {text}, "layer_name": {text}, "visibility": {"public"},
			"spec_url": {"https://example.org/" + url.PathEscape(text)},
		}
		owner.form(address+"/edit", fields).want(t, 200)
		d.waitForIndex()
		review := "/review/" + id
		all := map[string]string{
			"a served feed": curator.page(review, 200), "sources": guest.page("/sources", 200), "source": guest.page("/sources/feed:"+id, 200),
		}
		seen := reviewVersion(t, all["a served feed"])
		owner.form(address+"/edit", url.Values{
			"name": {text + "."}, "description": {text}, "attribution": {text}, "licence": {text + "."}, "layer_name": {text}, "visibility": {"public"},
		}).want(t, 200)
		all["stale"] = curator.form(review+"/reject", url.Values{"version": {seen}, "note": {text}}).want(t, 409).body
		all["bad version"] = curator.form(review+"/reject", url.Values{"version": {text}, "note": {text}}).want(t, 422).body
		all["rejected"] = curator.form(review+"/reject", url.Values{"version": {reviewVersion(t, all["stale"])}, "note": {text}}).want(t, 200).body
		owner.form(address+"/edit", url.Values{"name": {text}, "description": {text}, "visibility": {"public"}}).want(t, 200)
		all["queue"] = curator.page("/review", 200)
		all["log of a feed"] = curator.page("/audit?feed="+id, 200)
		all["bad filter"] = curator.page("/audit?"+url.Values{"feed": {text}, "account": {text}}.Encode(), 422)
		d.waitForIndex() // the rejected feed is not in the index
		all["bad page"] = guest.page("/sources?"+url.Values{"from": {text}, "done": {text}}.Encode(), 200)
		owner.form(address+"/delete", nil).want(t, 200)
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

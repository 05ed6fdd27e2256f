package httpapi_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
)

// TestQueueAfterADecision checks that the queue marks each feed's state, and a decision leads to the feed that waits next.
func TestQueueAfterADecision(t *testing.T) {
	d := newTestService(t)
	owner, curator := d.signedInAs("owner@example.com", mapdata.Driver), d.signedInAs("curator@example.com", mapdata.Curator)
	var paths []string
	for _, name := range []string{"Empty", "Full"} {
		address, token := owner.newFeed(pushFields(name))
		paths = append(paths, strings.Replace(address, "/feeds/", "/review/", 1))
		if name == "Full" {
			d.push(token, entityRows(3)).want(t, 200)
		}
		d.advance(time.Minute)
	}
	own, _ := curator.newFeed(pushFields("Own"))
	contains(t, curator.page("/review", 200), "Empty Push No data yet 0 entities", "Full Push OK 3 entities", "Your own")
	answer := curator.form(paths[0]+"/reject", url.Values{"version": {reviewVersion(t, curator.page(paths[0], 200))}, "note": {"No."}}).want(t, 200)
	if got := answer.Request.URL.Path; got != paths[1] {
		t.Errorf("a decision leads to %s", got)
	}
	contains(t, answer.body, "Rejected. The owner will be e-mailed your note.", "Empty", "This is the next feed in the queue.", "Review: Full")
	answer = curator.form(paths[1]+"/approve", url.Values{"version": {reviewVersion(t, curator.page(paths[1], 200))}}).want(t, 200)
	if got := answer.Request.URL.Path; got != paths[1] || strings.Contains(answer.body, "next feed in the queue") {
		t.Errorf("with only %s of their own left: %s", own, got)
	}
}

// TestReasonsReachTheOwnerInTheirLanguage checks that a reason that the curator did not edit is stored in the owner's language.
func TestReasonsReachTheOwnerInTheirLanguage(t *testing.T) {
	const english = "Another feed already publishes the same data."
	for _, c := range []struct{ reason, note, want string }{
		{"duplicate", "", "Ein anderer Feed veröffentlicht dieselben Daten bereits."},
		{"", english + "\r\nSee “Roads”.", "Ein anderer Feed veröffentlicht dieselben Daten bereits. See “Roads”."},
		{"duplicate", english, "Ein anderer Feed veröffentlicht dieselben Daten bereits."},
		{"", english + " Sorry.", english + " Sorry."},
		{"unheard-of", "No.", "No."},
	} {
		d := newTestService(t)
		owner, curator := d.signedInAs("owner@example.com", mapdata.Driver), d.signedInAs("curator@example.com", mapdata.Curator)
		owner.form("/language", url.Values{"language": {"de"}, "back": {"/account"}}).want(t, 200)
		address, _ := owner.newFeed(pushFields("Roads"))
		review := strings.Replace(address, "/feeds/", "/review/", 1)
		body := curator.page(review, 200)
		contains(t, body, "The owner reads Deutsch", "Duplicate")
		if !strings.Contains(body, `data-text="`+english) {
			t.Error("the reason is not offered in the curator's language")
		}
		curator.form(review+"/reject", url.Values{"version": {reviewVersion(t, body)}, "reason": {c.reason}, "note": {c.note}}).want(t, 200)
		contains(t, owner.page(address, 200), c.want)
		if n := strings.Count(textOf(t, owner.page(address, 200)), "dieselben Daten"); n > 1 {
			t.Errorf("%q, %q: the reason is told %d times", c.reason, c.note, n)
		}
	}
}

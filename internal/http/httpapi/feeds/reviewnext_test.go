package feeds_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
)

// TestQueueAfterADecision checks that the queue marks each feed's state, and a decision leads to the feed that waits next.
func TestQueueAfterADecision(t *testing.T) {
	d := httpapitest.NewService(t)
	owner, curator := d.SignedInAs("owner@example.com", mapdata.Driver), d.SignedInAs("curator@example.com", mapdata.Curator)
	var paths []string
	for _, name := range []string{"Empty", "Full"} {
		address, token := owner.NewFeed(pushFields(name))
		paths = append(paths, strings.Replace(address, "/feeds/", "/review/", 1))
		if name == "Full" {
			d.Push(token, entityRows(3)).Want(t, 200)
		}
		d.Advance(time.Minute)
	}
	own, _ := curator.NewFeed(pushFields("Own"))
	httpapitest.Contains(t, curator.Page("/review", 200), "Empty Push No data yet 0 entities", "Full Push OK 3 entities", "Your own")
	answer := curator.Form(paths[0]+"/reject", url.Values{"version": {reviewVersion(t, curator.Page(paths[0], 200))}, "note": {"No."}}).Want(t, 200)
	if got := answer.Request.URL.Path; got != paths[1] {
		t.Errorf("a decision leads to %s", got)
	}
	httpapitest.Contains(t, answer.Body, "Rejected. The owner will be e-mailed your note.", "Empty", "This is the next feed in the queue.", "Review: Full")
	answer = curator.Form(paths[1]+"/approve", url.Values{"version": {reviewVersion(t, curator.Page(paths[1], 200))}}).Want(t, 200)
	if got := answer.Request.URL.Path; got != paths[1] || strings.Contains(answer.Body, "next feed in the queue") {
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
		d := httpapitest.NewService(t)
		owner, curator := d.SignedInAs("owner@example.com", mapdata.Driver), d.SignedInAs("curator@example.com", mapdata.Curator)
		owner.Form("/language", url.Values{"language": {"de"}, "back": {"/account"}}).Want(t, 200)
		address, _ := owner.NewFeed(pushFields("Roads"))
		review := strings.Replace(address, "/feeds/", "/review/", 1)
		body := curator.Page(review, 200)
		httpapitest.Contains(t, body, "The owner reads Deutsch", "Duplicate")
		if !strings.Contains(body, `data-text="`+english) {
			t.Error("the reason is not offered in the curator's language")
		}
		curator.Form(review+"/reject", url.Values{"version": {reviewVersion(t, body)}, "reason": {c.reason}, "note": {c.note}}).Want(t, 200)
		httpapitest.Contains(t, owner.Page(address, 200), c.want)
		if n := strings.Count(httpapitest.TextOf(t, owner.Page(address, 200)), "dieselben Daten"); n > 1 {
			t.Errorf("%q, %q: the reason is told %d times", c.reason, c.note, n)
		}
	}
}

package httpapi_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/ground/mapdata"
)

// callEvery lets virtual time pass, looks every minute for whom to e-mail, over more than three hours every ten minutes until the last
// ten, and returns the e-mails that were queued.
func (d *testService) callEvery(minutes int) []mapdata.Email {
	d.t.Helper()
	for left := minutes; left > 0; {
		step := 1
		if minutes > 3*60 && left > 10 {
			step = 10
		}
		left -= step
		if err := d.feeds.Call(d.t.Context()); err != nil {
			d.t.Fatal(err)
		}
		d.advance(time.Duration(step) * time.Minute)
	}
	return d.takeEmails()
}

// takeEmails empties the outbox.
func (d *testService) takeEmails() []mapdata.Email {
	d.t.Helper()
	all, err := d.db.DueEmails(d.t.Context(), d.time(), d.time(), 1000)
	if err != nil {
		d.t.Fatal(err)
	}
	for i := range all {
		if err := d.db.EmailSent(d.t.Context(), all[i].ID); err != nil {
			d.t.Fatal(err)
		}
	}
	return all
}

// signedInAnew returns another browser that is signed in to an account.
func (d *testService) signedInAnew(email string) *browser {
	d.t.Helper()
	link, err := d.accounts.LoginLink(d.t.Context(), email)
	if err != nil {
		d.t.Fatal(err)
	}
	b := d.browser()
	b.send(http.MethodPost, "/v2/auth/verify", fmt.Sprintf(`{"token": %q}`, link)).want(d.t, http.StatusOK)
	return b
}

// told describes e-mails without the parts that every e-mail has.
func told(all []mapdata.Email) []string {
	var lines []string
	for _, e := range all {
		lines = append(lines, e.Address+" "+string(e.Kind)+" "+strings.Join(strings.Fields(e.Data["feed_name"]+" "+e.Data["feeds"]), " "))
	}
	return lines
}

// TestCuratorsAreCalled checks the e-mails with which a curator works for two days.
func TestCuratorsAreCalled(t *testing.T) {
	d := newTestService(t)
	owner, curator := d.signedInAs("owner@example.com", mapdata.Driver), d.signedInAs("curator@example.com", mapdata.Curator)
	quiet := d.signedInAs("quiet@example.com", mapdata.Admin)
	quiet.send(http.MethodPatch, "/v2/account", `{"review_emails": false}`).want(t, 200)
	d.takeEmails()
	want := func(got []mapdata.Email, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, told(got)); diff != "" {
			t.Errorf("e-mails (-want +got):\n%s", diff)
		}
	}
	want(d.callEvery(10))
	owner.newFeed(url.Values{"direction": {"push"}, "visibility": {"private"}, "name": {"Mine"}, "pull_interval_seconds": {"300"}})
	want(d.callEvery(1))
	first := owner.register(`{"name": "Cameras", "direction": "push", "visibility": "public"}`)
	want(d.callEvery(1), "curator@example.com review_waiting 0 Cameras")
	d.advance(time.Hour)
	police := owner.register(`{"name": "Police", "direction": "push", "visibility": "public"}`)
	curator.register(`{"name": "The curator's", "direction": "push", "visibility": "public"}`)
	want(d.callEvery(19*60 - 3))
	want(d.callEvery(5), "curator@example.com review_reminder 1200 Cameras")
	want(d.callEvery(2*60), "curator@example.com review_reminder 1261 Cameras 1200 Police")
	curator.send(http.MethodPost, first.path()+"/approve", "").want(t, 200)
	want(d.callEvery(3*60), "owner@example.com feed_approved Cameras", "curator@example.com review_digest 1379 Police")

	contains(t, curator.page("/account", 200), "E-mails about reviews", "These e-mails are on.")
	contains(t, curator.form("/account/review-emails", url.Values{"emails": {"off"}}).want(t, 200).body, "E-mails about reviews are off", "These e-mails are off.")
	want(d.callEvery(24 * 60))
	contains(t, curator.send(http.MethodGet, "/v2/account", "").want(t, 200).body, `"review_emails":false`)
	contains(t, curator.form("/account/review-emails", url.Values{"emails": {"on"}}).want(t, 200).body, "E-mails about reviews are on")
	if got := told(d.callEvery(1)); len(got) != 1 || !strings.Contains(got[0], "review_digest") {
		t.Errorf("after turning them on: %q", got)
	}
	curator.send(http.MethodPost, "/v2/feeds/"+police.id()+"/approve", "").want(t, 200)
	d.callEvery(15)
	owner.submitApp(nil)
	curator.submitApp(nil)
	want(d.callEvery(1), "curator@example.com review_waiting 0a Charging")

	if strings.Contains(owner.page("/account", 200), "about reviews") {
		t.Error("a driver's page offers e-mails about reviews")
	}
	owner.form("/account/review-emails", url.Values{"emails": {"on"}}).want(t, http.StatusForbidden)
}

// TestStatusShowsTheMedianOfReviews checks that /status shows how long reviews took in the last 30 days.
func TestStatusShowsTheMedianOfReviews(t *testing.T) {
	d := newTestService(t)
	owner, curator := d.signedInAs("owner@example.com", mapdata.Driver), d.signedInAs("curator@example.com", mapdata.Curator)
	contains(t, owner.page("/status", 200), "No decisions in the last 30 days.")
	for i, waits := range []time.Duration{time.Hour, 3 * time.Hour, 40 * time.Hour} {
		f := owner.register(`{"name": "Feed ` + string(rune('A'+i)) + `", "direction": "push", "visibility": "public"}`)
		d.advance(waits)
		curator.send(http.MethodPost, f.path()+"/reject", `{"note": "no"}`).want(t, 200)
		d.advance(time.Hour)
		// A changed decision is not a review.
		curator.send(http.MethodPost, f.path()+"/approve", "").want(t, 200)
	}
	contains(t, owner.page("/status", 200), "3 hours from registration to decision")
	d.advance(29*24*time.Hour + 10*time.Minute)
	owner, curator = d.signedInAnew("owner@example.com"), d.signedInAnew("curator@example.com")
	contains(t, owner.page("/status", 200), "40 hours from registration to decision")
	f := owner.register(`{"name": "Feed Z", "direction": "push", "visibility": "public"}`)
	d.advance(6 * time.Minute)
	curator.send(http.MethodPost, f.path()+"/approve", "").want(t, 200)
	d.advance(6 * time.Minute)
	contains(t, owner.page("/status", 200), "20 hours from registration to decision")
}

// TestProvidersAreCalled checks that the owner of feeds in trouble gets one e-mail for each trouble.
func TestProvidersAreCalled(t *testing.T) {
	d := newTestService(t)
	owner := d.signedInAs("owner@example.com", mapdata.Driver)
	f := owner.register(`{"name": "Jams", "direction": "push"}`)
	d.takeEmails()
	batch := func(good, bad int) string {
		var all []string
		for i := range good + bad {
			kind := "traffic.jam"
			if i >= good {
				kind = "none"
			}
			all = append(all, fmt.Sprintf(`{"external_id":"r%d","kind":%q,"lat":52,"lng":5,"properties":{}}`, i, kind))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	push := func(good, bad int, want ...string) {
		t.Helper()
		d.push(*f.Token, batch(good, bad)).want(t, 200)
		if diff := cmp.Diff(want, told(d.callEvery(1))); diff != "" {
			t.Errorf("e-mails (-want +got):\n%s", diff)
		}
	}
	push(50, 5)
	push(10, 39)
	push(34, 16, "owner@example.com feed_rejections Jams")
	push(0, 50)
	push(50, 0)
	d.push(*f.Token, "no JSON").want(t, 400)
	d.advance(24*time.Hour - 10*time.Minute)
	if got := told(d.callEvery(60)); len(got) != 1 || got[0] != "owner@example.com feed_silent Jams" {
		t.Errorf("after a day without a push: %q", got)
	}
	if got := told(d.callEvery(48 * 60)); got != nil {
		t.Errorf("while it stays silent: %q", got)
	}
	push(50, 0)
	push(40, 10, "owner@example.com feed_rejections Jams")

	address, _ := owner.newFeed(url.Values{
		"direction": {"pull"}, "visibility": {"private"}, "name": {"Roads"}, "pull_url": {"https://data.example.org/a.json"}, "pull_interval_seconds": {"60"},
	})
	for failures := 1; failures <= 20; failures++ {
		d.pollFails(address, failures, failures < 20, mapdata.Attempt{Outcome: mapdata.OutcomeTimeout})
		emails := d.takeEmails()
		if failures != 10 && emails != nil {
			t.Errorf("after failure %d: %q", failures, told(emails))
		}
		if failures == 10 && (len(emails) != 1 || emails[0].Kind != mapdata.EmailFailing || emails[0].Data["outcome"] != "timeout") {
			t.Errorf("after the 10th failure: %+v", emails)
		}
		d.advance(time.Minute)
	}
}

// TestReviewShowsWhoLooks checks that a curator who opens a review sees who opened it within the last ten minutes.
func TestReviewShowsWhoLooks(t *testing.T) {
	d := newTestService(t)
	owner := d.signedInAs("owner@example.com", mapdata.Driver)
	one, two := d.signedInAs("one@example.com", mapdata.Curator), d.signedInAs("two@example.com", mapdata.Curator)
	f := owner.registerPush("Cameras")
	review := "/review/" + f.id()
	const looking = "Also reviewing:"
	for range 2 {
		if strings.Contains(one.page(review, 200), looking) {
			t.Error("a curator is shown to themselves")
		}
	}
	d.advance(3 * time.Minute)
	contains(t, two.page(review, 200), looking+" one@example.com (3 minutes ago)")
	contains(t, one.page(review, 200), looking+" two@example.com")
	if strings.Contains(one.page("/review/"+owner.registerPush("Others").id(), 200), looking) {
		t.Error("a look at one review is shown at another")
	}
	d.advance(10 * time.Minute)
	if err := d.db.Prune(t.Context(), d.time()); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(two.page(review, 200), looking) {
		t.Error("a look is shown after ten minutes")
	}
	owner.page(review, http.StatusForbidden)
}

// TestVotesByDays checks that the owner of a feed and curators see the votes on it for each of the last 30 days.
func TestVotesByDays(t *testing.T) {
	d := newTestService(t)
	owner, id := d.publish("Voted", row("a", "camera.speed", 0), row("b", "camera.speed", 50))
	days := func(b *browser) string {
		d.advance(time.Minute)
		return strings.TrimSpace(b.send(http.MethodGet, "/v2/feeds/"+id+"/votes", "").want(t, 200).body)
	}
	if got := days(owner); got != `{"days":[]}` {
		t.Errorf("before any vote: %s", got)
	}
	contains(t, owner.page("/feeds/"+id, 200), "No votes in the last 30 days.")
	drivers := []*browser{d.signedInAs("one@example.com", mapdata.Driver), d.signedInAs("two@example.com", mapdata.Curator)}
	first := d.time()
	for _, e := range drivers[0].read(nearbyPath).Entities {
		drivers[0].vote(e["id"].(string), "confirm")
		drivers[1].vote(e["id"].(string), "dispute")
	}
	d.advance(24 * time.Hour)
	drivers[1].vote(drivers[1].read(nearbyPath).Entities[0]["id"].(string), "confirm") // a changed vote
	second := d.time()
	want := fmt.Sprintf(`{"days":[{"day":%q,"confirms":1,"disputes":0},{"day":%q,"confirms":2,"disputes":1}]}`,
		second.Format(time.DateOnly), first.Format(time.DateOnly))
	if got := days(owner); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := days(drivers[1]); got != want {
		t.Errorf("a curator gets %s, want %s", got, want)
	}
	contains(t, owner.page("/feeds/"+id, 200), "Driver votes", "Confirmed", "Disputed")
	drivers[0].send(http.MethodGet, "/v2/feeds/"+id+"/votes", "").want(t, http.StatusNotFound)
	d.advance(29 * 24 * time.Hour)
	again := d.signedInAnew("voted@example.org")
	if got := days(again); strings.Contains(got, first.Format(time.DateOnly)) {
		t.Errorf("after 30 days: %s", got)
	}
}

package feeds_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
)

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
	d := httpapitest.NewService(t)
	owner, curator := d.SignedInAs("owner@example.com", mapdata.Driver), d.SignedInAs("curator@example.com", mapdata.Curator)
	quiet := d.SignedInAs("quiet@example.com", mapdata.Admin)
	quiet.Send(http.MethodPatch, "/v2/account", `{"review_emails": false}`).Want(t, 200)
	d.TakeEmails()
	want := func(got []mapdata.Email, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, told(got)); diff != "" {
			t.Errorf("e-mails (-want +got):\n%s", diff)
		}
	}
	want(d.CallEvery(10))
	owner.NewFeed(url.Values{"direction": {"push"}, "visibility": {"private"}, "name": {"Mine"}, "pull_interval_seconds": {"300"}})
	want(d.CallEvery(1))
	first := owner.Register(`{"name": "Cameras", "direction": "push", "visibility": "public"}`)
	want(d.CallEvery(1), "curator@example.com review_waiting 0 Cameras")
	d.Advance(time.Hour)
	police := owner.Register(`{"name": "Police", "direction": "push", "visibility": "public"}`)
	curator.Register(`{"name": "The curator's", "direction": "push", "visibility": "public"}`)
	want(d.CallEvery(19*60 - 3))
	want(d.CallEvery(5), "curator@example.com review_reminder 1200 Cameras")
	want(d.CallEvery(2*60), "curator@example.com review_reminder 1261 Cameras 1200 Police")
	curator.Send(http.MethodPost, first.Path()+"/approve", "").Want(t, 200)
	want(d.CallEvery(3*60), "owner@example.com feed_approved Cameras", "curator@example.com review_digest 1379 Police")

	httpapitest.Contains(t, curator.Page("/account", 200), "E-mails about reviews", "These e-mails are on.")
	httpapitest.Contains(t, curator.Form("/account/review-emails", url.Values{"emails": {"off"}}).Want(t, 200).Body, "E-mails about reviews are off", "These e-mails are off.")
	want(d.CallEvery(24 * 60))
	httpapitest.Contains(t, curator.Send(http.MethodGet, "/v2/account", "").Want(t, 200).Body, `"review_emails":false`)
	httpapitest.Contains(t, curator.Form("/account/review-emails", url.Values{"emails": {"on"}}).Want(t, 200).Body, "E-mails about reviews are on")
	if got := told(d.CallEvery(1)); len(got) != 1 || !strings.Contains(got[0], "review_digest") {
		t.Errorf("after turning them on: %q", got)
	}
	curator.Send(http.MethodPost, "/v2/feeds/"+police.ID()+"/approve", "").Want(t, 200)
	d.CallEvery(15)
	owner.SubmitApp(nil)
	curator.SubmitApp(nil)
	want(d.CallEvery(1), "curator@example.com review_waiting 0a Charging")

	if strings.Contains(owner.Page("/account", 200), "about reviews") {
		t.Error("a driver's page offers e-mails about reviews")
	}
	owner.Form("/account/review-emails", url.Values{"emails": {"on"}}).Want(t, http.StatusForbidden)
}

// TestStatusShowsTheMedianOfReviews checks that /status shows how long reviews took in the last 30 days.
func TestStatusShowsTheMedianOfReviews(t *testing.T) {
	d := httpapitest.NewService(t)
	owner, curator := d.SignedInAs("owner@example.com", mapdata.Driver), d.SignedInAs("curator@example.com", mapdata.Curator)
	httpapitest.Contains(t, owner.Page("/status", 200), "No decisions in the last 30 days.")
	for i, waits := range []time.Duration{time.Hour, 3 * time.Hour, 40 * time.Hour} {
		f := owner.Register(`{"name": "Feed ` + string(rune('A'+i)) + `", "direction": "push", "visibility": "public"}`)
		d.Advance(waits)
		curator.Send(http.MethodPost, f.Path()+"/reject", `{"note": "no"}`).Want(t, 200)
		d.Advance(time.Hour)
		// A changed decision is not a review.
		curator.Send(http.MethodPost, f.Path()+"/approve", "").Want(t, 200)
	}
	httpapitest.Contains(t, owner.Page("/status", 200), "3 hours from registration to decision")
	d.Advance(29*24*time.Hour + 10*time.Minute)
	owner, curator = d.SignedInAnew("owner@example.com"), d.SignedInAnew("curator@example.com")
	httpapitest.Contains(t, owner.Page("/status", 200), "40 hours from registration to decision")
	f := owner.Register(`{"name": "Feed Z", "direction": "push", "visibility": "public"}`)
	d.Advance(6 * time.Minute)
	curator.Send(http.MethodPost, f.Path()+"/approve", "").Want(t, 200)
	d.Advance(6 * time.Minute)
	httpapitest.Contains(t, owner.Page("/status", 200), "20 hours from registration to decision")
}

// TestProvidersAreCalled checks that the owner of feeds in trouble gets one e-mail for each trouble.
func TestProvidersAreCalled(t *testing.T) {
	d := httpapitest.NewService(t)
	owner := d.SignedInAs("owner@example.com", mapdata.Driver)
	f := owner.Register(`{"name": "Jams", "direction": "push"}`)
	d.TakeEmails()
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
		d.Push(*f.Token, batch(good, bad)).Want(t, 200)
		if diff := cmp.Diff(want, told(d.CallEvery(1))); diff != "" {
			t.Errorf("e-mails (-want +got):\n%s", diff)
		}
	}
	push(50, 5)
	push(10, 39)
	push(34, 16, "owner@example.com feed_rejections Jams")
	push(0, 50)
	push(50, 0)
	d.Push(*f.Token, "no JSON").Want(t, 400)
	d.Advance(24*time.Hour - 10*time.Minute)
	if got := told(d.CallEvery(60)); len(got) != 1 || got[0] != "owner@example.com feed_silent Jams" {
		t.Errorf("after a day without a push: %q", got)
	}
	if got := told(d.CallEvery(48 * 60)); got != nil {
		t.Errorf("while it stays silent: %q", got)
	}
	push(50, 0)
	push(40, 10, "owner@example.com feed_rejections Jams")

	address, _ := owner.NewFeed(url.Values{
		"direction": {"pull"}, "visibility": {"private"}, "name": {"Roads"}, "pull_url": {"https://data.example.org/a.json"}, "pull_interval_seconds": {"60"},
	})
	for failures := 1; failures <= 20; failures++ {
		d.PollFails(address, failures, failures < 20, mapdata.Attempt{Outcome: mapdata.OutcomeTimeout})
		emails := d.TakeEmails()
		if failures != 10 && emails != nil {
			t.Errorf("after failure %d: %q", failures, told(emails))
		}
		if failures == 10 && (len(emails) != 1 || emails[0].Kind != mapdata.EmailFailing || emails[0].Data["outcome"] != "timeout") {
			t.Errorf("after the 10th failure: %+v", emails)
		}
		d.Advance(time.Minute)
	}
}

// TestReviewShowsWhoLooks checks that a curator who opens a review sees who opened it within the last ten minutes.
func TestReviewShowsWhoLooks(t *testing.T) {
	d := httpapitest.NewService(t)
	owner := d.SignedInAs("owner@example.com", mapdata.Driver)
	one, two := d.SignedInAs("one@example.com", mapdata.Curator), d.SignedInAs("two@example.com", mapdata.Curator)
	f := owner.RegisterPush("Cameras")
	review := "/review/" + f.ID()
	const looking = "Also reviewing:"
	for range 2 {
		if strings.Contains(one.Page(review, 200), looking) {
			t.Error("a curator is shown to themselves")
		}
	}
	d.Advance(3 * time.Minute)
	httpapitest.Contains(t, two.Page(review, 200), looking+" one@example.com (3 minutes ago)")
	httpapitest.Contains(t, one.Page(review, 200), looking+" two@example.com")
	if strings.Contains(one.Page("/review/"+owner.RegisterPush("Others").ID(), 200), looking) {
		t.Error("a look at one review is shown at another")
	}
	d.Advance(10 * time.Minute)
	if err := d.DB.Prune(t.Context(), d.Time()); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(two.Page(review, 200), looking) {
		t.Error("a look is shown after ten minutes")
	}
	owner.Page(review, http.StatusForbidden)
}

// TestVotesByDays checks that the owner of a feed and curators see the votes on it for each of the last 30 days.
func TestVotesByDays(t *testing.T) {
	d := httpapitest.NewService(t)
	owner, id := d.Publish("Voted", httpapitest.Row("a", "camera.speed", 0), httpapitest.Row("b", "camera.speed", 50))
	days := func(b *httpapitest.Browser) string {
		d.Advance(time.Minute)
		return strings.TrimSpace(b.Send(http.MethodGet, "/v2/feeds/"+id+"/votes", "").Want(t, 200).Body)
	}
	if got := days(owner); got != `{"days":[]}` {
		t.Errorf("before any vote: %s", got)
	}
	httpapitest.Contains(t, owner.Page("/feeds/"+id, 200), "No votes in the last 30 days.")
	drivers := []*httpapitest.Browser{d.SignedInAs("one@example.com", mapdata.Driver), d.SignedInAs("two@example.com", mapdata.Curator)}
	first := d.Time()
	for _, e := range drivers[0].Read(httpapitest.NearbyPath).Entities {
		drivers[0].Vote(e["id"].(string), "confirm")
		drivers[1].Vote(e["id"].(string), "dispute")
	}
	d.Advance(24 * time.Hour)
	drivers[1].Vote(drivers[1].Read(httpapitest.NearbyPath).Entities[0]["id"].(string), "confirm") // a changed vote
	second := d.Time()
	want := fmt.Sprintf(`{"days":[{"day":%q,"confirms":1,"disputes":0},{"day":%q,"confirms":2,"disputes":1}]}`,
		second.Format(time.DateOnly), first.Format(time.DateOnly))
	if got := days(owner); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := days(drivers[1]); got != want {
		t.Errorf("a curator gets %s, want %s", got, want)
	}
	httpapitest.Contains(t, owner.Page("/feeds/"+id, 200), "Driver votes", "Confirmed", "Disputed")
	drivers[0].Send(http.MethodGet, "/v2/feeds/"+id+"/votes", "").Want(t, http.StatusNotFound)
	d.Advance(29 * 24 * time.Hour)
	again := d.SignedInAnew("voted@example.org")
	if got := days(again); strings.Contains(got, first.Format(time.DateOnly)) {
		t.Errorf("after 30 days: %s", got)
	}
}

package httpapi_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
)

// TestNewAccountsHideNothing checks D9.8 in virtual time: votes of accounts that first signed in less than votes.trust_after ago
// count for status and confidence, and hide no pin, of a feed or of an upstream. The same votes a day later do.
func TestNewAccountsHideNothing(t *testing.T) {
	r := newTestUpstream(t, httpapitest.Row("live", "alert.police", 10))
	d := httpapitest.NewServiceWith(t, httpapitest.Options{
		Manage: 10_000, Requests: 60, Entities: 10_000, Upstreams: []string{r.URL}, TrustAfter: 24 * time.Hour,
	})
	rows := "[" + httpapitest.Row("a", "alert.construction", 500) + "]"
	owner := d.SignedInAs("ring@example.org", mapdata.Driver)
	feed := owner.RegisterPush("Ring")
	d.Push(*feed.Token, rows).Want(t, http.StatusOK)
	d.Approve(feed)
	d.WaitForIndex()
	guest := d.Browser()
	shown := func(id string) string {
		d.WaitForIndex()
		for _, e := range guest.Read(httpapitest.NearbyPath).Entities {
			if e["id"] == id {
				return consensusOf(e)
			}
		}
		return "hidden"
	}
	pins := []string{mapdata.EntityID(mapdata.Incidents, "live"), mapdata.EntityID(mapdata.SourceID("feed:"+feed.ID()), "a")}
	var drivers [4]*httpapitest.Browser
	for i := range drivers {
		drivers[i] = d.SignedInAs(fmt.Sprintf("driver%d@example.org", i), mapdata.Driver)
	}
	dispute := func(when, want string) {
		t.Helper()
		for _, id := range pins {
			guest.Read(httpapitest.NearbyPath)
			for _, driver := range drivers[:3] {
				driver.Vote(id, "dispute")
			}
			if got := shown(id); got != want {
				t.Errorf("%s: three disputes make %s %q, want %q", when, id, got, want)
			}
		}
	}
	dispute("at the first sign-in", "disputed 0.2 0 3")
	d.Advance(24*time.Hour - time.Second)
	r.setRows(httpapitest.Row("live", "alert.police", 10))
	for _, driver := range drivers[:3] { // a session is used, and another one begins: neither counts as the first sign-in
		driver.Send(http.MethodGet, "/v2/account", "").Want(t, http.StatusOK)
	}
	d.AnotherBrowser("driver0@example.org")
	dispute("a second before a day is over", "disputed 0.2 0 3")
	d.Advance(time.Second)
	r.setRows(httpapitest.Row("live", "alert.police", 10))
	for i := range drivers {
		d.Drove(fmt.Sprintf("driver%d@example.org", i))
	}
	if got := shown(pins[1]); got != "disputed 0.2 0 3" {
		t.Errorf("votes that were cast before the day was over hide the pin after it: %s", got)
	}
	dispute("a day after the first sign-in", "hidden")

	late := d.SignedInAs("late@example.org", mapdata.Driver)
	for _, id := range pins {
		late.Vote(id, "confirm")
		if got := shown(id); got != "hidden" {
			t.Errorf("the confirm of a new account shows %s again: %s", id, got)
		}
		drivers[3].Vote(id, "confirm")
		if got := shown(id); got != "disputed 0.43 2 3" {
			t.Errorf("the confirm of a known account leaves %s %q", id, got)
		}
	}
}

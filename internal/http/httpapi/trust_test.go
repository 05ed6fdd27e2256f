package httpapi_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
)

// TestNewAccountsHideNothing checks D9.8 in virtual time: votes of accounts that first signed in less than votes.trust_after ago
// count for status and confidence, and hide no pin, of a feed or of an upstream. The same votes a day later do.
func TestNewAccountsHideNothing(t *testing.T) {
	r := newTestUpstream(t, row("live", "alert.police", 10))
	d := newTestServiceWith(t, serviceOptions{
		manage: 10_000, requests: 60, entities: 10_000, upstreams: []string{r.URL}, trustAfter: 24 * time.Hour,
	})
	rows := "[" + row("a", "alert.construction", 500) + "]"
	owner := d.signedInAs("ring@example.org", mapdata.Driver)
	feed := owner.registerPush("Ring")
	d.push(*feed.Token, rows).want(t, http.StatusOK)
	d.approve(feed)
	d.waitForIndex()
	guest := d.browser()
	shown := func(id string) string {
		d.waitForIndex()
		for _, e := range guest.read(nearbyPath).Entities {
			if e["id"] == id {
				return consensusOf(e)
			}
		}
		return "hidden"
	}
	pins := []string{mapdata.EntityID(mapdata.Incidents, "live"), mapdata.EntityID(mapdata.SourceID("feed:"+feed.id()), "a")}
	var drivers [4]*browser
	for i := range drivers {
		drivers[i] = d.signedInAs(fmt.Sprintf("driver%d@example.org", i), mapdata.Driver)
	}
	dispute := func(when, want string) {
		t.Helper()
		for _, id := range pins {
			guest.read(nearbyPath)
			for _, driver := range drivers[:3] {
				driver.vote(id, "dispute")
			}
			if got := shown(id); got != want {
				t.Errorf("%s: three disputes make %s %q, want %q", when, id, got, want)
			}
		}
	}
	dispute("at the first sign-in", "disputed 0.2 0 3")
	d.advance(24*time.Hour - time.Second)
	r.setRows(row("live", "alert.police", 10))
	for _, driver := range drivers[:3] { // a session is used, and another one begins: neither counts as the first sign-in
		driver.send(http.MethodGet, "/v2/account", "").want(t, http.StatusOK)
	}
	d.anotherBrowser("driver0@example.org")
	dispute("a second before a day is over", "disputed 0.2 0 3")
	d.advance(time.Second)
	r.setRows(row("live", "alert.police", 10))
	for i := range drivers {
		d.drove(fmt.Sprintf("driver%d@example.org", i))
	}
	if got := shown(pins[1]); got != "disputed 0.2 0 3" {
		t.Errorf("votes that were cast before the day was over hide the pin after it: %s", got)
	}
	dispute("a day after the first sign-in", "hidden")

	late := d.signedInAs("late@example.org", mapdata.Driver)
	for _, id := range pins {
		late.vote(id, "confirm")
		if got := shown(id); got != "hidden" {
			t.Errorf("the confirm of a new account shows %s again: %s", id, got)
		}
		drivers[3].vote(id, "confirm")
		if got := shown(id); got != "disputed 0.43 2 3" {
			t.Errorf("the confirm of a known account leaves %s %q", id, got)
		}
	}
}

package httpapi_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
)

// TestDeactivationHides checks D4.16: a feed that a person deactivates is hidden immediately, from reads, streams and the
// catalogue, except from its owner and from curators, and its entities that have not expired come back with it.
func TestDeactivationHides(t *testing.T) {
	d := newTestService(t)
	owner, id := d.publish("Town", row("camera", "camera.speed", 0), row("police", "alert.police", 200))
	guest := d.browser()
	source, all := "&sources=feed:"+id, []string{"camera", "police"}
	stream := guest.openStream("lat=52&lng=5&radius=1000")
	if got := stream.summary(1); !slices.Equal(got, []string{"snapshot camera police"}) {
		t.Fatal(got)
	}
	set := func(body string) {
		owner.send(http.MethodPatch, "/v2/feeds/"+id, body).want(t, http.StatusOK)
		d.waitForIndex()
	}

	set(`{"active": false}`)
	if got := d.nearbyIDs(guest); len(got) != 0 {
		t.Errorf("a guest reads %v", got)
	}
	if body := guest.send(http.MethodGet, nearbyPath, "").want(t, http.StatusOK).body; strings.Contains(body, id) {
		t.Errorf("the answer names the source: %s", body)
	}
	guest.send(http.MethodGet, nearbyPath+source, "").want(t, http.StatusBadRequest)
	guest.send(http.MethodGet, "/v2/entities/"+mapdata.EntityID(mapdata.SourceID("feed:"+id), "camera"), "").want(t, http.StatusNotFound)
	if got := d.nearbyIDs(owner); !slices.Equal(got, all) {
		t.Errorf("the owner reads %v", got)
	}
	d.signedInAs("else@example.org", mapdata.Driver).send(http.MethodGet, "/v2/feeds/"+id, "").want(t, http.StatusNotFound)
	d.signedInAs("curator@example.org", mapdata.Curator).send(http.MethodGet, "/v2/feeds/"+id, "").want(t, http.StatusOK)
	gone := stream.summary(2)
	if slices.Sort(gone); !slices.Equal(gone, []string{"gone camera", "gone police"}) {
		t.Errorf("the stream says %v", gone)
	}
	if page := owner.page("/feeds/"+id, http.StatusOK); !strings.Contains(page, "hidden") {
		t.Error("the feed's page does not say that it is hidden")
	}

	d.advance(30 * time.Minute)
	set(`{"active": true}`)
	if got := d.nearbyIDs(guest); !slices.Equal(got, all) {
		t.Errorf("active again, a guest reads %v", got)
	}
	set(`{"active": false}`)
	d.advance(time.Hour)
	set(`{"active": true}`)
	if got := d.nearbyIDs(guest); !slices.Equal(got, []string{"camera"}) {
		t.Errorf("later, a guest reads %v", got)
	}
}

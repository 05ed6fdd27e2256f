package httpapi_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
)

// TestDeactivationHides checks D4.16: a feed that a person deactivates is hidden immediately, from reads, streams and the
// catalogue, except from its owner and from curators, and its entities that have not expired come back with it.
func TestDeactivationHides(t *testing.T) {
	d := httpapitest.NewService(t)
	owner, id := d.Publish("Town", httpapitest.Row("camera", "camera.speed", 0), httpapitest.Row("police", "alert.police", 200))
	guest := d.Browser()
	source, all := "&sources=feed:"+id, []string{"camera", "police"}
	stream := guest.OpenStream("lat=52&lng=5&radius=1000")
	if got := stream.Summary(1); !slices.Equal(got, []string{"snapshot camera police"}) {
		t.Fatal(got)
	}
	set := func(body string) {
		owner.Send(http.MethodPatch, "/v2/feeds/"+id, body).Want(t, http.StatusOK)
		d.WaitForIndex()
	}

	set(`{"active": false}`)
	if got := d.NearbyIDs(guest); len(got) != 0 {
		t.Errorf("a guest reads %v", got)
	}
	if body := guest.Send(http.MethodGet, httpapitest.NearbyPath, "").Want(t, http.StatusOK).Body; strings.Contains(body, id) {
		t.Errorf("the answer names the source: %s", body)
	}
	guest.Send(http.MethodGet, httpapitest.NearbyPath+source, "").Want(t, http.StatusBadRequest)
	guest.Send(http.MethodGet, "/v2/entities/"+mapdata.EntityID(mapdata.SourceID("feed:"+id), "camera"), "").Want(t, http.StatusNotFound)
	if got := d.NearbyIDs(owner); !slices.Equal(got, all) {
		t.Errorf("the owner reads %v", got)
	}
	d.SignedInAs("else@example.org", mapdata.Driver).Send(http.MethodGet, "/v2/feeds/"+id, "").Want(t, http.StatusNotFound)
	d.SignedInAs("curator@example.org", mapdata.Curator).Send(http.MethodGet, "/v2/feeds/"+id, "").Want(t, http.StatusOK)
	gone := stream.Summary(2)
	if slices.Sort(gone); !slices.Equal(gone, []string{"gone camera", "gone police"}) {
		t.Errorf("the stream says %v", gone)
	}
	if page := owner.Page("/feeds/"+id, http.StatusOK); !strings.Contains(page, "hidden") {
		t.Error("the feed's page does not say that it is hidden")
	}

	d.Advance(30 * time.Minute)
	set(`{"active": true}`)
	if got := d.NearbyIDs(guest); !slices.Equal(got, all) {
		t.Errorf("active again, a guest reads %v", got)
	}
	set(`{"active": false}`)
	d.Advance(time.Hour)
	set(`{"active": true}`)
	if got := d.NearbyIDs(guest); !slices.Equal(got, []string{"camera"}) {
		t.Errorf("later, a guest reads %v", got)
	}
}

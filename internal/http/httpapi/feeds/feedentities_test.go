package feeds_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
)

// collection is the GeoJSON that a map reads.
type collection struct {
	Type      string `json:"type"`
	Truncated *bool  `json:"truncated"`
	Features  []struct {
		Type     string `json:"type"`
		ID       string `json:"id"`
		Geometry struct {
			Type        string     `json:"type"`
			Coordinates [2]float64 `json:"coordinates"`
		} `json:"geometry"`
		Properties map[string]any `json:"properties"`
	} `json:"features"`
}

func TestFeedEntities(t *testing.T) {
	d := httpapitest.NewService(t)
	owner, other := d.SignedInAs("owner@example.com", mapdata.Driver), d.SignedInAs("other@example.com", mapdata.Driver)
	curator, guest := d.SignedInAs("curator@example.com", mapdata.Curator), d.Browser()
	f := owner.Register(`{"name":"Roads","direction":"push","visibility":"private"}`)
	d.Push(*f.Token, `[
		{"external_id":"b","kind":"camera.speed","lat":52.5,"lng":4.25,"properties":{"road":"A2"}},
		{"external_id":"a","kind":"alert.police","lat":52,"lng":-4,"properties":{}}]`).Want(t, http.StatusOK)
	path := f.Path() + "/entities"
	answer := owner.Send(http.MethodGet, path, "").Want(t, http.StatusOK)
	if got := answer.Header.Get("Content-Type"); got != "application/geo+json" {
		t.Errorf("Content-Type %q", got)
	}
	var got collection
	answer.Decode(t, &got)
	if got.Type != "FeatureCollection" || got.Truncated == nil || *got.Truncated || len(got.Features) != 2 {
		t.Fatalf("%+v", got)
	}
	police, camera := got.Features[0], got.Features[1]
	if want := mapdata.EntityID(mapdata.SourceID("feed:"+f.ID()), "b"); camera.ID != want || camera.Geometry.Coordinates != [2]float64{4.25, 52.5} || camera.Geometry.Type != "Point" {
		t.Errorf("%+v, want id %s", camera, want)
	}
	want := map[string]any{
		"external_id": "b", "kind_id": "camera.speed", "first_seen_at": "2026-11-21T08:00:00.000Z", "last_seen_at": "2026-11-21T08:00:00.000Z",
		"expires_at": nil, "properties": map[string]any{"road": "A2"},
	}
	if diff := cmp.Diff(want, camera.Properties); diff != "" {
		t.Errorf("properties (-want +got):\n%s", diff)
	}
	if police.Properties["expires_at"] != "2026-11-21T09:00:00.000Z" {
		t.Errorf("expires_at %v", police.Properties["expires_at"])
	}

	t.Run("others", func(t *testing.T) {
		curator.Send(http.MethodGet, path, "").Want(t, http.StatusOK)
		other.Send(http.MethodGet, path, "").Want(t, http.StatusNotFound)
		guest.Send(http.MethodGet, path, "").Want(t, http.StatusUnauthorized)
	})
	t.Run("limit", func(t *testing.T) {
		var got collection
		owner.Send(http.MethodGet, path+"?limit=1", "").Want(t, http.StatusOK).Decode(t, &got)
		if len(got.Features) != 1 || !*got.Truncated || got.Features[0].Properties["external_id"] != "a" {
			t.Errorf("%+v", got)
		}
		owner.Send(http.MethodGet, path+"?limit=99999999999999999999", "").Want(t, http.StatusOK)
		owner.Send(http.MethodGet, path+"?limit=0", "").Want(t, http.StatusBadRequest)
	})
	t.Run("not twice", func(t *testing.T) {
		tag := answer.Header.Get("Etag")
		if again := owner.Send(http.MethodGet, path, "", "If-None-Match", tag); tag == "" || again.StatusCode != http.StatusNotModified {
			t.Errorf("ETag %q, then %d", tag, again.StatusCode)
		}
		d.Advance(time.Minute)
		d.Push(*f.Token, fmt.Sprintf(`[{"external_id":"a","kind":"alert.police","lat":52,"lng":-4,"properties":{"n":%d}}]`, 1)).Want(t, http.StatusOK)
		if again := owner.Send(http.MethodGet, path, "", "If-None-Match", tag); again.StatusCode != http.StatusOK {
			t.Errorf("after a change: %d", again.StatusCode)
		}
	})
}

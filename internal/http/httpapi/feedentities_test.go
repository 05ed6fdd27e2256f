package httpapi_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/ground/mapdata"
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
	d := newTestService(t)
	owner, other := d.signedInAs("owner@example.com", mapdata.Driver), d.signedInAs("other@example.com", mapdata.Driver)
	curator, guest := d.signedInAs("curator@example.com", mapdata.Curator), d.browser()
	f := owner.register(`{"name":"Roads","direction":"push","visibility":"private"}`)
	d.push(*f.Token, `[
		{"external_id":"b","kind":"camera.speed","lat":52.5,"lng":4.25,"properties":{"road":"A2"}},
		{"external_id":"a","kind":"alert.police","lat":52,"lng":-4,"properties":{}}]`).want(t, http.StatusOK)
	path := f.path() + "/entities"
	answer := owner.send(http.MethodGet, path, "").want(t, http.StatusOK)
	if got := answer.Header.Get("Content-Type"); got != "application/geo+json" {
		t.Errorf("Content-Type %q", got)
	}
	var got collection
	answer.decode(t, &got)
	if got.Type != "FeatureCollection" || got.Truncated == nil || *got.Truncated || len(got.Features) != 2 {
		t.Fatalf("%+v", got)
	}
	police, camera := got.Features[0], got.Features[1]
	if want := mapdata.EntityID(mapdata.SourceID("feed:"+f.id()), "b"); camera.ID != want || camera.Geometry.Coordinates != [2]float64{4.25, 52.5} || camera.Geometry.Type != "Point" {
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
		curator.send(http.MethodGet, path, "").want(t, http.StatusOK)
		other.send(http.MethodGet, path, "").want(t, http.StatusNotFound)
		guest.send(http.MethodGet, path, "").want(t, http.StatusUnauthorized)
	})
	t.Run("limit", func(t *testing.T) {
		var got collection
		owner.send(http.MethodGet, path+"?limit=1", "").want(t, http.StatusOK).decode(t, &got)
		if len(got.Features) != 1 || !*got.Truncated || got.Features[0].Properties["external_id"] != "a" {
			t.Errorf("%+v", got)
		}
		owner.send(http.MethodGet, path+"?limit=99999999999999999999", "").want(t, http.StatusOK)
		owner.send(http.MethodGet, path+"?limit=0", "").want(t, http.StatusBadRequest)
	})
	t.Run("not twice", func(t *testing.T) {
		tag := answer.Header.Get("Etag")
		if again := owner.send(http.MethodGet, path, "", "If-None-Match", tag); tag == "" || again.StatusCode != http.StatusNotModified {
			t.Errorf("ETag %q, then %d", tag, again.StatusCode)
		}
		d.advance(time.Minute)
		d.push(*f.Token, fmt.Sprintf(`[{"external_id":"a","kind":"alert.police","lat":52,"lng":-4,"properties":{"n":%d}}]`, 1)).want(t, http.StatusOK)
		if again := owner.send(http.MethodGet, path, "", "If-None-Match", tag); again.StatusCode != http.StatusOK {
			t.Errorf("after a change: %d", again.StatusCode)
		}
	})
}

package httpapi_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
)

const hereAsked = "/v2/entities/nearby?lat=52.37&lng=4.9&radius=1000"

// TestNearbyAsGeoJSON checks the shape of D17.39: the provider's properties whose names are taken are left out, all others are
// kept.
func TestNearbyAsGeoJSON(t *testing.T) {
	s := httpapitest.NewReadService(t, nil)
	f := httpapitest.Feed(1, nil)
	f.Attribution, f.Licence = "© City", "CC0-1.0"
	closed := httpapitest.Entity(t, f, "closed", "alert.road_closed", 52.37, 4.9)
	closed.Line = []geo.Point{{Lat: 52.37, Lng: 4.9}, {Lat: 52.371, Lng: 4.901}}
	closed.Properties = []byte(`{"street":"Mill \"Road\"","id":"theirs","title":"<b>","geom":7,"lanes":[1,{"a":null}]}`)
	plain := httpapitest.Entity(t, f, `a"b`, "camera.speed", 52.3701, 4.9)
	plain.Properties = []byte(`{"street":5}`)
	s.AddFeed(f, closed, plain)
	type feature struct {
		Type, ID   string
		Geometry   map[string]any
		Properties map[string]any
	}
	var got struct {
		Type            string
		Features        []feature
		Sources         []map[string]any
		NetworksApplied []string `json:"networks_applied"`
		FetchedAt       string   `json:"fetched_at_utc"`
		Truncated       bool
	}
	resp, body := s.Get(hereAsked + "&f=geojson&geometry=line&limit=2")
	if err := json.Unmarshal(body, &got); err != nil || resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "application/geo+json" {
		t.Fatalf("%s %s %v: %s", resp.Status, resp.Header.Get("Content-Type"), err, body)
	}
	ids := []string{mapdata.EntityID(f.ID.SourceID(), "closed"), mapdata.EntityID(f.ID.SourceID(), `a"b`)}
	common := func(id, external, kind, title string, expires any) map[string]any {
		return map[string]any{
			"id": id, "layer_slug": "layer-1", "kind_id": kind, "external_id": external, "first_seen_at": "2026-11-21T08:00:00.000Z",
			"last_seen_at": "2026-11-21T08:00:00.000Z", "expires_at": expires, "status": "reported", "confidence": 0.5,
			"confirm_count": 0.0, "dispute_count": 0.0, "title": title, "attribution": "© City", "licence": "CC0-1.0",
		}
	}
	want := []feature{
		{"Feature", ids[0], map[string]any{"type": "LineString", "coordinates": []any{[]any{4.9, 52.37}, []any{4.901, 52.371}}}, common(ids[0], "closed", "alert.road_closed", `Road closed, Mill "Road"`, "2026-11-22T08:00:00.000Z")},
		{"Feature", ids[1], map[string]any{"type": "Point", "coordinates": []any{4.9, 52.3701}}, common(ids[1], `a"b`, "camera.speed", "Speed camera", nil)},
	}
	want[0].Properties["street"], want[0].Properties["geom"], want[0].Properties["lanes"] = `Mill "Road"`, 7.0, []any{1.0, map[string]any{"a": nil}}
	want[1].Properties["street"] = 5.0
	if diff := cmp.Diff(want, got.Features); diff != "" {
		t.Error(diff)
	}
	if got.Type != "FeatureCollection" || len(got.Sources) != 1 || len(got.NetworksApplied) != 1 || got.FetchedAt == "" || got.Truncated {
		t.Errorf("beside the features: %s", body)
	}
	_, body = s.Get(hereAsked + "&f=geojson&limit=1")
	got.Features = nil
	if err := json.Unmarshal(body, &got); err != nil || !got.Truncated || got.Features[0].Geometry["type"] != "Point" {
		t.Errorf("%v: %s", err, body)
	}
}

// TestFormOfNearby checks which form a client gets, that caches keep the forms apart, and that unknown forms are refused.
func TestFormOfNearby(t *testing.T) {
	s := httpapitest.NewReadService(t, nil)
	f := httpapitest.Feed(1, nil)
	s.AddFeed(f, httpapitest.Entity(t, f, "a", "camera.speed", 52.37, 4.9))
	const geoJSON = "application/geo+json"
	tests := []struct {
		query, accept, want string
	}{
		{"", "", "application/json"},
		{"", "*/*", "application/json"},
		{"", geoJSON, geoJSON},
		{"", "application/json;q=0.5, application/geo+json", geoJSON},
		{"", "application/json, application/geo+json;q=0.5", "application/json"},
		{"", "application/geo+json;q=0", "application/json"},
		{"", `application/geo+json;q="`, "application/json"},
		{"&f=json", geoJSON, "application/json"},
		{"&f=geojson", "application/json", geoJSON},
	}
	tags := make(map[string]string)
	for _, tt := range tests {
		header := []string{"Accept", tt.accept}
		if tt.accept == "" {
			header = nil
		}
		resp, body := s.Get(hereAsked+tt.query, header...)
		if got := resp.Header.Get("Content-Type"); got != tt.want {
			t.Errorf("%q, Accept %q: %s, want %s", tt.query, tt.accept, got, tt.want)
		}
		if got := resp.Header.Get("Vary"); got != "Accept, Accept-Encoding, Authorization, Cookie" {
			t.Errorf("Vary: %s", got)
		}
		tags[tt.want] = resp.Header.Get("ETag")
		if again, _ := s.Get(hereAsked+tt.query, append(header, "If-None-Match", resp.Header.Get("ETag"))...); again.StatusCode != http.StatusNotModified {
			t.Errorf("%q, Accept %q: %s for the same version: %s", tt.query, tt.accept, again.Status, body)
		}
	}
	if len(tags) != 2 || tags[geoJSON] == tags["application/json"] {
		t.Errorf("tags: %v", tags)
	}
	for query, want := range map[string]string{"&f=kml": "f unknown_form", "&geometry=area": "geometry unknown_geometry"} {
		resp, body := s.Get(hereAsked + query)
		var problem struct {
			Errors []struct{ Parameter, Code string }
		}
		if err := json.Unmarshal(body, &problem); err != nil || resp.StatusCode != http.StatusBadRequest || len(problem.Errors) != 1 || problem.Errors[0].Parameter+" "+problem.Errors[0].Code != want {
			t.Errorf("%s: %s %s", query, resp.Status, body)
		}
	}
}

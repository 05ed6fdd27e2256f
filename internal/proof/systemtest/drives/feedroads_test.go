package drives

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"wayside/internal/proof/systemtest"
)

// TestFeedPageShowsRoads checks that the page of a feed shows its owner the effects of its pins on roads, before the feed is
// approved and after.
func TestFeedPageShowsRoads(t *testing.T) {
	t.Parallel()
	s := systemtest.NewService(t, "[limits]\nguest_routes_per_minute = 100000\nmanage_per_minute = 100000\n")
	town := twoBridges(t)
	s.ImportDrawing(town)
	s.Start(nil)
	owner := s.SignIn("owner@example.org")
	resp, body := owner.Do(http.MethodPost, "/v2/feeds", map[string]any{"name": "works", "direction": "push", "visibility": "public"})
	var feed struct {
		Feed struct{ ID string }
		Push string `json:"push_ingest_token"`
	}
	if err := json.Unmarshal(body, &feed); err != nil {
		t.Fatalf("%d %s", resp.StatusCode, body)
	}
	page := func() string {
		t.Helper()
		resp, body := owner.Do(http.MethodGet, "/feeds/"+feed.Feed.ID, nil)
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("%d %s", resp.StatusCode, body)
		}
		return string(body)
	}
	if strings.Contains(page(), "Effect on routes") {
		t.Error("a feed without pins has an effect on routes")
	}
	b, c, e := town.Place(t, "b"), town.Place(t, "c"), town.Place(t, "e")
	pins := []systemtest.Row{
		{ExternalID: "slow", Kind: "traffic.jam", Lat: e.Lat, Lng: (b.Lng + c.Lng) / 2, Properties: map[string]any{"bearing": 90, "speed_kmh": 5}},
		{ExternalID: "<b>shut", Kind: "alert.road_closed", Lat: (b.Lat + c.Lat) / 2, Lng: (b.Lng + c.Lng) / 2, Properties: map[string]any{}},
		{ExternalID: "hit", Kind: "alert.accident", Lat: (b.Lat + e.Lat) / 2, Lng: b.Lng, Properties: map[string]any{}},
		{ExternalID: "away", Kind: "alert.road_closed", Lat: b.Lat + 0.001, Lng: b.Lng, Properties: map[string]any{}},
		{ExternalID: "camera", Kind: "camera.speed", Lat: b.Lat, Lng: b.Lng, Properties: map[string]any{}},
	}
	resp, body = (&systemtest.Client{Service: s}).Do(http.MethodGet, "/sources", nil)
	if page := string(body); resp.StatusCode != http.StatusOK || !strings.Contains(page, "Roads, search and map:") || !strings.Contains(page, "https://www.openstreetmap.org/copyright") {
		t.Errorf("the list of sources does not name the region: %s", page)
	}
	if resp, body := owner.Do(http.MethodPost, "/v2/feeds/"+feed.Push+"/entities", pins); resp.StatusCode != http.StatusOK || !strings.Contains(string(body), `"errors":[]`) {
		t.Fatalf("push: %d %s", resp.StatusCode, body)
	}
	shows := func(what, counts string) {
		t.Helper()
		var got string
		systemtest.Eventually(t, what, func() bool {
			got = page()
			return strings.Count(got, "<td>"+counts+"</td>") == 3
		})
		for _, want := range []string{
			"Effect on routes", "<bdi>Short Bridge</bdi>", "Closed</td>", ">600 m<", "Both</td>", "<bdi>Long Bridge</bdi>", "20 % of the usual speed", "One</td>",
			"Unnamed road", "90 s longer", "1 entity is more than 35 m", "© OpenStreetMap contributors", "https://www.openstreetmap.org/copyright", "Roads, search and map:", "&lt;b&gt;shut", "/v2/navigation/conditions?entity=feed",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: the page lacks %q", what, want)
			}
		}
		if strings.Index(got, "Short Bridge") > strings.Index(got, "Long Bridge") {
			t.Errorf("%s: the closure is not the first", what)
		}
	}
	shows("before the feed is approved", "No")
	s.CLI("feed", "approve", feed.Feed.ID)
	shows("after it is", "Yes")
	if resp, body := (&systemtest.Client{Service: s}).Do(http.MethodGet, "/feeds/"+feed.Feed.ID, nil); strings.Contains(string(body), "Short Bridge") {
		t.Errorf("a guest sees the page: %d", resp.StatusCode)
	}
}

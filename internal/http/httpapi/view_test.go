package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"wayside/internal/http/httpapi/httpapitest"
	"wayside/internal/http/httpapi/public"
	"wayside/internal/roads/basemap/world"
)

// TestOverlayView reads pins and clusters over the antimeridian.
func TestOverlayView(t *testing.T) {
	s := httpapitest.NewReadService(t, nil)
	s.AddJams(3)
	const fiji = "bbox=175,-20,-175,-15&zoom=6"
	a := s.View(fiji)
	if len(a.Entities) != 3 || a.Clusters != nil || len(a.Sources) != 1 || a.Entities[0]["kind_id"] != "traffic.jam" {
		t.Errorf("few: %d pins, clusters %v, sources %v", len(a.Entities), a.Clusters, a.Sources)
	}
	if a := s.View("bbox=-175,-20,175,-15&zoom=2"); len(a.Entities) != 0 {
		t.Errorf("the other way round the globe: %d pins", len(a.Entities))
	}
	s.AddJams(600)
	a = s.View(fiji)
	total := 0
	for _, c := range a.Clusters {
		total += c.Count
		if c.KindID != "traffic.jam" || c.Lat < -20 || c.Lat > -15 || c.Lng < 175 && c.Lng > -175 || !strings.HasPrefix(c.ID, "tile/") {
			t.Errorf("%+v", c)
		}
	}
	if total != 600 || len(a.Entities) != 0 || len(a.Clusters) < 2 || len(a.Sources) != 1 {
		t.Errorf("many: %d in %d clusters, %d pins, sources %v", total, len(a.Clusters), len(a.Entities), a.Sources)
	}
	if a := s.View(fiji + "&kinds=alert.police"); a.Clusters != nil || len(a.Entities) != 0 {
		t.Errorf("another kind: %+v", a)
	}
	resp, _ := s.Get("/v2/overlay/view?" + fiji)
	if again, _ := s.Get("/v2/overlay/view?"+fiji, "If-None-Match", resp.Header.Get("ETag")); again.StatusCode != http.StatusNotModified || resp.Header.Get("Cache-Control") != "public, max-age=10" {
		t.Errorf("the same view again: %s, %v", again.Status, resp.Header)
	}
}

// TestKindsOff checks that the page can leave out a subtype alone, which the parameter kinds cannot, and that a name of an older
// release hides nothing.
func TestKindsOff(t *testing.T) {
	s := httpapitest.NewReadService(t, nil)
	f := httpapitest.Feed(1, nil)
	s.AddFeed(f, httpapitest.Entity(t, f, "hazard", "alert.hazard", 52, 4), httpapitest.Entity(t, f, "fog", "alert.hazard.fog", 52.1, 4), httpapitest.Entity(t, f, "jam", "traffic.jam", 52.2, 4))
	for off, want := range map[string]int{
		"": 3, "alert.hazard.fog": 2, "alert.hazard": 1, "alert.hazard,traffic.jam": 0, "alert.ufo": 3,
	} {
		if a := s.View("bbox=3,51,5,53&zoom=9&kinds_off=" + off); len(a.Entities) != want {
			t.Errorf("%q: %d pins, want %d", off, len(a.Entities), want)
		}
	}
	resp, body := s.Get("/v2/overlay/nearest?lat=52.2&lng=4&kinds_off=traffic.jam")
	httpapitest.CheckAnswer(t, resp, body)
	if !strings.Contains(string(body), "alert.hazard.fog") {
		t.Errorf("nearest: %s", body)
	}
	if _, body := s.Get("/v2/overlay/nearest?lat=52.2&lng=4&kinds_off=traffic.jam,alert.hazard"); !strings.HasPrefix(string(body), `{"nearest":null`) {
		t.Errorf("all hidden: %s", body)
	}
}

// TestOverlayViewErrors checks that each wrong parameter is named.
func TestOverlayViewErrors(t *testing.T) {
	s := httpapitest.NewReadService(t, nil)
	for query, want := range map[string]string{
		"":                               "bbox is required",
		"zoom=4":                         "bbox is required",
		"bbox=1,2,3,4":                   "zoom is required",
		"bbox=1,2,3&zoom=4":              "bbox must be west,south,east,north",
		"bbox=1,2,3,x&zoom=4":            "bbox must be west,south,east,north",
		"bbox=1,2,3,NaN&zoom=4":          "bbox must be west,south,east,north",
		"bbox=1,5,3,4&zoom=4":            "bbox must be west,south,east,north",
		"bbox=-181,2,3,4&zoom=4":         "bbox must be west,south,east,north",
		"bbox=1,2,3,4&zoom=23":           "zoom must be between 0 and 22",
		"bbox=1,2,3,4&zoom=-1":           "zoom must be between 0 and 22",
		"bbox=1,2,3,4&zoom=4&kinds=ufo":  "is not a kind",
		"bbox=1,2,3,4&zoom=4&sources=no": "is not a source you may read",
	} {
		resp, body := s.Get("/v2/overlay/view?" + query)
		if resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(body), want) {
			t.Errorf("%q: %s, want %q in %s", query, resp.Status, want, body)
		}
		httpapitest.CheckAnswer(t, resp, body)
	}
}

// TestOverlayReadsAreBounded checks that the reads of the page count against the limit on reads, and that no other origin can use
// them, not even one that may read the API.
func TestOverlayReadsAreBounded(t *testing.T) {
	for _, path := range []string{"/v2/overlay/view?bbox=1,2,3,4&zoom=4", "/v2/overlay/nearest?lat=1&lng=2"} {
		s := httpapitest.NewReadService(t, func(d *public.Deps) {
			d.Limits.GuestReads, d.CORSOrigins = 1, []string{"https://other.example"}
		})
		resp, body := s.Get(path, "Origin", "https://other.example")
		if resp.StatusCode != http.StatusOK || resp.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %s %v %s", path, resp.Status, resp.Header, body)
		}
		if resp, _ := s.Get(path); resp.StatusCode != http.StatusTooManyRequests {
			t.Errorf("%s again: %s", path, resp.Status)
		}
	}
}

// TestOverlayNearest reads the nearest entity and its distance.
func TestOverlayNearest(t *testing.T) {
	s := httpapitest.NewReadService(t, nil)
	resp, body := s.Get("/v2/overlay/nearest?lat=52&lng=4")
	httpapitest.CheckAnswer(t, resp, body)
	if !strings.HasPrefix(string(body), `{"nearest":null,"fetched_at_utc":`) {
		t.Errorf("nothing anywhere: %s", body)
	}
	f := httpapitest.Feed(1, nil)
	s.AddFeed(f, httpapitest.Entity(t, f, "jam", "traffic.jam", 53, 4))
	resp, body = s.Get("/v2/overlay/nearest?lat=52&lng=4")
	httpapitest.CheckAnswer(t, resp, body)
	if want := `{"nearest":{"distance_m":111195,"entity":{"id":"`; !strings.HasPrefix(string(body), want) || !strings.Contains(string(body), `,"place":null}`) {
		t.Errorf("%s, want %s", body, want)
	}
	if resp, body := s.Get("/v2/overlay/nearest?lat=52&lng=4&bbox=1,2,3,4"); resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(body), "bbox_not_accepted") {
		t.Errorf("with a box: %s %s", resp.Status, body)
	}
}

// TestExtentInOverlayConfig checks that the page starts where the data is.
func TestExtentInOverlayConfig(t *testing.T) {
	s := httpapitest.NewReadService(t, nil)
	s.AddJams(3)
	resp, body := s.Get("/v2/overlay/config")
	httpapitest.CheckAnswer(t, resp, body)
	if want := `"extent":{"west":179.8999,"south":-17.0001,"east":-179.8999,"north":-16.998}`; !strings.Contains(string(body), want) || resp.Header.Get("Cache-Control") != "public, max-age=60" {
		t.Errorf("%s, want %s", body, want)
	}
}

// TestPlaceOfTheNearest checks that a large place describes where the nearest entity is, unless it is far from that.
func TestPlaceOfTheNearest(t *testing.T) {
	places, err := world.Open()
	if err != nil {
		t.Fatal(err)
	}
	s := httpapitest.NewReadService(t, func(d *public.Deps) { d.Places = places })
	f := httpapitest.Feed(1, nil)
	s.AddFeed(f, httpapitest.Entity(t, f, "town", "traffic.jam", 52.37, 4.9), httpapitest.Entity(t, f, "ocean", "traffic.jam", 40, -40))
	for at, want := range map[string]string{
		"lat=51&lng=6":   `"place":{"name":"Amsterdam","distance_m":`,
		"lat=41&lng=-38": `"place":null`,
	} {
		resp, body := s.Get("/v2/overlay/nearest?" + at)
		httpapitest.CheckAnswer(t, resp, body)
		if !strings.Contains(string(body), want) {
			t.Errorf("%s: %s, want %s", at, body, want)
		}
	}
}

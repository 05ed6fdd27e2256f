package region

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"wayside/internal/ground/geo"
	"wayside/internal/proof/systemtest"
	"wayside/internal/roads/basemap/mvt"
	"wayside/internal/roads/osmpbf"
	"wayside/internal/roads/roadtest"
)

// hostileStairs returns a road that turns at each node. Each piece, and the object at its end, has one of the hostile names in
// every tag that the import reads.
func hostileStairs(t *testing.T) *roadtest.Network {
	n := roadtest.MapAt(t, geo.Point{Lat: 52, Lng: 5}, 100, "a-b", roadtest.Way("ab", "highway=residential, name=First Street"))
	at, before := n.Nodes[1], int64('b')
	for i, name := range roadtest.HostileNames() {
		id := int64(1000 + 10*i)
		if i%2 == 0 {
			at.Lat += 1_000_000
		} else {
			at.Lng += 1_500_000
		}
		all := func(tags ...osmpbf.Tag) osmpbf.Tags {
			for k := range tags {
				if tags[k].Value == "" {
					tags[k].Value = name
				}
			}
			return tags
		}
		n.Nodes = append(n.Nodes,
			osmpbf.Node{ID: id, Lat: at.Lat, Lng: at.Lng, Tags: all(osmpbf.Tag{Key: "highway", Value: "motorway_junction"}, osmpbf.Tag{Key: "ref"}, osmpbf.Tag{Key: "name"})},
			osmpbf.Node{ID: id + 1, Lat: at.Lat + 100_000, Lng: at.Lng, Tags: all(
				osmpbf.Tag{Key: "highway", Value: "speed_camera"}, osmpbf.Tag{Key: "maxspeed"}, osmpbf.Tag{Key: "direction"}, osmpbf.Tag{Key: "name"}, osmpbf.Tag{Key: "ref"})},
			osmpbf.Node{ID: id + 2, Lat: at.Lat, Lng: at.Lng + 200_000, Tags: all(osmpbf.Tag{Key: "amenity", Value: "charging_station"}, osmpbf.Tag{Key: "name"},
				osmpbf.Tag{Key: "operator"}, osmpbf.Tag{Key: "network"}, osmpbf.Tag{Key: "capacity"}, osmpbf.Tag{Key: "socket:type2"}, osmpbf.Tag{Key: "socket:type2:output"})},
			osmpbf.Node{ID: id + 3, Lat: at.Lat, Lng: at.Lng + 300_000, Tags: all(osmpbf.Tag{Key: "place", Value: "village"}, osmpbf.Tag{Key: "name"}, osmpbf.Tag{Key: "name:de"}, osmpbf.Tag{Key: "population"})},
			osmpbf.Node{ID: id + 4, Lat: at.Lat, Lng: at.Lng + 400_000, Tags: all(osmpbf.Tag{Key: "addr:housenumber"}, osmpbf.Tag{Key: "addr:street"}, osmpbf.Tag{Key: "addr:city"}, osmpbf.Tag{Key: "addr:postcode"})})
		n.Ways = append(n.Ways,
			osmpbf.Way{ID: id, Refs: []int64{before, id}, Tags: all(
				osmpbf.Tag{Key: "highway", Value: "primary"}, osmpbf.Tag{Key: "name"}, osmpbf.Tag{Key: "name:it"}, osmpbf.Tag{Key: "ref"}, osmpbf.Tag{Key: "destination"},
				osmpbf.Tag{Key: "destination:ref"}, osmpbf.Tag{Key: "junction:ref"}, osmpbf.Tag{Key: "turn:lanes"}, osmpbf.Tag{Key: "lanes"}, osmpbf.Tag{Key: "maxspeed"})},
			osmpbf.Way{ID: id + 1, Refs: []int64{id, id + 3}, Tags: all(osmpbf.Tag{Key: "highway", Value: "residential"}, osmpbf.Tag{Key: "name"}, osmpbf.Tag{Key: "oneway"})})
		before = id
	}
	return n
}

// checkTexts checks that all texts of an answer are valid UTF-8 without control characters.
func checkTexts(t *testing.T, what string, value any) {
	t.Helper()
	switch v := value.(type) {
	case string:
		if !utf8.ValidString(v) || strings.ContainsFunc(v, unicode.IsControl) {
			t.Errorf("%s has %.80q", what, v)
		}
	case []any:
		for _, one := range v {
			checkTexts(t, what, one)
		}
	case map[string]any:
		for _, one := range v {
			checkTexts(t, what, one)
		}
	}
}

// TestRegionOfHostileNames imports a road along which everything has an absurd name, and requests every answer in which the names
// appear.
func TestRegionOfHostileNames(t *testing.T) {
	t.Parallel()
	s := systemtest.StartService(t, systemtest.Unlimited)
	guest := &systemtest.Client{Service: s, HTTP: http.Client{Timeout: 30 * time.Second}}
	n := hostileStairs(t)
	done := importRegion(s, writeFile(t, "hostile.osm.pbf", n.PBF(t)))
	if done.Left["unusable_names"] == 0 || done.Left["invalid_lanes"] == 0 {
		t.Errorf("left out are %v", done.Left)
	}
	systemtest.Eventually(t, "the sources are there", func() bool { _, ids := listSources(t, guest); return len(ids) == 2 })
	ask := func(path string, want ...int) (body []byte) {
		t.Helper()
		resp, body := guest.Do(http.MethodGet, path, nil)
		ok := false
		for _, status := range want {
			ok = ok || resp.StatusCode == status
		}
		if !ok {
			t.Errorf("%.120s: %d %.300s", path, resp.StatusCode, body)
		}
		if strings.Contains(resp.Header.Get("Content-Type"), "json") {
			var value any
			if err := json.Unmarshal(body, &value); err != nil {
				t.Errorf("%.120s: %v", path, err)
			}
			checkTexts(t, path[:min(len(path), 80)], value)
		}
		return body
	}
	from, to := n.Place(t, "a"), n.Nodes[len(n.Nodes)-5].Point()
	for _, language := range []string{"en", "de", "fr", "nl", "es", "it"} {
		body := ask(fmt.Sprintf("/v2/navigation/route/v1/driving/%f,%f;%f,%f?steps=true&banner_instructions=true&voice_instructions=true&annotations=true&language=%s",
			from.Lng, from.Lat, to.Lng, to.Lat, language), http.StatusOK)
		if strings.Count(string(body), `"announcement"`) < len(roadtest.HostileNames()) {
			t.Errorf("%s: little is told: %.300s", language, body)
		}
	}
	for _, name := range roadtest.HostileNames() {
		ask("/v2/geocode/api?lat=52&lon=5&limit=50&"+url.Values{"q": {name}}.Encode(), http.StatusOK, http.StatusBadRequest)
	}
	for k := range n.Nodes {
		if k%5 == 2 {
			at := n.Nodes[k].Point()
			x, y := mvt.Mercator(14, at.Lat, at.Lng)
			ask(fmt.Sprintf("/map/tiles/14/%d/%d", int(x), int(y)), http.StatusOK)
			ask(fmt.Sprintf("/v2/geocode/reverse?lat=%f&lon=%f&limit=50", at.Lat, at.Lng), http.StatusOK)
			ask(fmt.Sprintf("/v2/entities/nearby?lat=%f&lng=%f&radius=5000", at.Lat, at.Lng), http.StatusOK)
		}
	}
	for _, page := range []string{"/regions", "/sources", "/sources/osm-cameras", "/sources/osm-chargers", "/status"} {
		if body := string(ask(page, http.StatusOK)); strings.Contains(body, "<script>alert(1)") {
			t.Errorf("%s has a script of a name", page)
		}
	}
	ask("/readyz", http.StatusOK)
}

package navigation_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"wayside/internal/http/httpapi/httpapitest"
	"wayside/internal/http/httpapi/public"
)

// locations returns places in the form of Valhalla's requests, with more members for the first.
func locations(t *testing.T, names, more string) string {
	t.Helper()
	var all []string
	for name := range strings.SplitSeq(names, "") {
		at := httpapitest.DrawnTown(t).Place(t, name)
		all = append(all, fmt.Sprintf(`{"lat":%.6f,"lon":%.6f%s}`, at.Lat, at.Lng, more))
		more = ""
	}
	return `"locations":[` + strings.Join(all, ",") + `]`
}

// TestValhallaIsAnsweredAsOSRM compares answers with those of the service route to the same request in OSRM's form (D15.19).
func TestValhallaIsAnsweredAsOSRM(t *testing.T) {
	s := httpapitest.NewNavigationService(t, nil)
	for _, c := range []struct{ names, first, members, options string }{
		{"12", "", ``, "geometries=polyline6"},
		{"12", "", `,"shape_format":"polyline5"`, "geometries=polyline"},
		{"12", "", `,"shape_format":"geojson","alternates":2`, "geometries=geojson&alternatives=2"},
		{"12", "", `,"shape_format":"no_shape"`, "geometries=polyline6&overview=false"},
		{"12", "", `,"banner_instructions":true,"voice_instructions":true,"directions_options":{"language":"de-DE","units":"miles"}`, "geometries=polyline6&banner_instructions=true&voice_instructions=true&language=de-DE&voice_units=imperial"},
		{"12", "", `,"directions_type":"none"`, "geometries=polyline6&steps=false"},
		{"12", "", `,"costing_options":{"auto":{"use_highways":0}}`, "geometries=polyline6&exclude=motorway"},
		{"12", `,"heading":270,"heading_tolerance":45`, ``, "geometries=polyline6&bearings=270,45;"},
		{"12", `,"preferred_side":"opposite"`, ``, "geometries=polyline6&approaches=opposite;"},
		{"1f2", "", ``, "geometries=polyline6&continue_straight=false"},
	} {
		status, got := s.AskValhalla(`{"costing":"auto","format":"osrm",` + locations(t, c.names, c.first) + c.members + `}`)
		options := c.options
		if !strings.Contains(options, "overview") {
			options += "&overview=full"
		}
		if !strings.Contains(options, "steps") {
			options += "&steps=true"
		}
		_, want := s.Get("/v2/navigation/route/v1/driving/" + httpapitest.PathOf(t, c.names) + "?" + options)
		if status != http.StatusOK || !bytes.Equal(got, want) {
			t.Errorf("%s%s: %d\n%s\nOSRM's is\n%s", c.first, c.members, status, got, want)
		}
	}
}

// TestValhallaAvoids checks that a route avoids a place and a polygon, and that unsupported requests are refused.
func TestValhallaAvoids(t *testing.T) {
	s := httpapitest.NewNavigationService(t, nil)
	town := httpapitest.DrawnTown(t)
	b, c := town.Place(t, "b"), town.Place(t, "c")
	lat, lng := b.Lat, (b.Lng+c.Lng)/2
	distance := func(members string) float64 {
		t.Helper()
		status, text := s.AskValhalla(`{"costing":"auto",` + locations(t, "12", "") + members + `}`)
		var answer struct {
			Routes []struct{ Distance float64 }
		}
		if err := json.Unmarshal(text, &answer); err != nil || status != http.StatusOK || len(answer.Routes) == 0 {
			t.Fatalf("%s: %d %s (%v)", members, status, text, err)
		}
		return answer.Routes[0].Distance
	}
	straight := distance("")
	place := fmt.Sprintf(`,"exclude_locations":[{"lat":%f,"lon":%f}]`, lat, lng)
	polygon := fmt.Sprintf(`,"exclude_polygons":[[[%f,%f],[%f,%f],[%f,%f]]]`, lng-0.0001, lat-0.0001, lng+0.0001, lat-0.0001, lng, lat+0.0001)
	if around := distance(place); around < straight+100 || distance(polygon) != around {
		t.Errorf("%.1f m straight, %.1f m around a place, %.1f m around a polygon", straight, around, distance(polygon))
	}
	for members, code := range map[string]string{
		`,"exclude_polygons":[` + strings.Repeat("[[0,0],[0,0],[0,0]],", 50) + `[[0,0],[0,0],[0,0]]]`: "TooBig",
		`,"exclude_polygons":[[[0,0],[0,5],[5,5]]]`:                                                   "TooBig",
		`,"exclude_polygons":[[[0,0],[0,1]]]`:                                                         "InvalidValue",
		`,"alternates":4`:                                                                             "TooBig",
		`,"format":"pbf"`:                                                                             "InvalidValue",
		`,"costing":"truck"`:                                                                          "InvalidValue",
		`,"alternates":[]`:                                                                            "InvalidQuery",
	} {
		status, text := s.AskValhalla(`{"costing":"auto",` + locations(t, "12", "") + members + `}`)
		if status != http.StatusBadRequest || !strings.Contains(string(text), `"code":"`+code+`"`) {
			t.Errorf("%s: %d %s, want %s", members, status, text, code)
		}
	}
	if resp, text := s.Get(httpapitest.ValhallaRoute); resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(text), "InvalidQuery") {
		t.Errorf("without a request: %s %s", resp.Status, text)
	}
}

// TestValhallaCounts checks that each request counts as a route, also one that is refused.
func TestValhallaCounts(t *testing.T) {
	s := httpapitest.NewNavigationService(t, func(d *public.Deps) { d.Limits.GuestRoutes = 2 })
	body := `{"costing":"auto",` + locations(t, "12", "") + `}`
	for i, want := range []int{200, 400, 429} {
		if i == 1 {
			body = `{}`
		}
		if resp, text := s.Post(httpapitest.ValhallaRoute, body); resp.StatusCode != want {
			t.Errorf("%s %s, want %d", resp.Status, text, want)
		}
	}
}

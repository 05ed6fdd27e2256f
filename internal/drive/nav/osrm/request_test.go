package osrm_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/osrm"
	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
)

// request returns a request without options, changed by change.
func request(s osrm.Service, count int, change func(r *osrm.Request)) *osrm.Request {
	r := &osrm.Request{Service: s, Hints: true, Number: 1, Scale: 1}
	if s == osrm.Table {
		r.Annotations = osrm.Duration
	}
	for i := range count {
		r.Places.Coordinates = append(r.Places.Coordinates, geo.Point{Lng: 1 + float64(i), Lat: 2})
	}
	change(r)
	return r
}

func TestOptions(t *testing.T) {
	type change = func(r *osrm.Request)
	two := "1,2;2,2"
	const all = osrm.Duration | osrm.NodeIDs | osrm.Distance | osrm.Weight | osrm.Datasources | osrm.Speed
	for _, c := range []struct {
		service osrm.Service
		url     string
		body    string // the members after the coordinates; "-": a body cannot express it
		change  change
	}{
		{osrm.Route, two, ``, func(*osrm.Request) {}},
		{osrm.Route, "1.0,+2.;2e0,.2E1.json", `"format":"json"`, func(*osrm.Request) {}},
		{osrm.Route, "polyline(_seK_ibE?_ibE)", "-", func(*osrm.Request) {}},
		{osrm.Route, two + "?bearings=90,20;", `"bearings":[[90,20],null]`, func(r *osrm.Request) {
			r.Places.Bearings = []nav.Bearing{{Given: true, Value: 90, Range: 20}, {}}
		}},
		{osrm.Route, two + "?radiuses=10.5;unlimited", `"radiuses":[10.5,"unlimited"]`, func(r *osrm.Request) { r.Places.Radiuses = []float64{10.5, nav.Unlimited} }},
		{osrm.Route, two + "?radiuses=;0", `"radiuses":[null,0]`, func(r *osrm.Request) { r.Places.Radiuses = []float64{nav.Unlimited, 0} }},
		{osrm.Route, two + "?approaches=curb;", `"approaches":["curb",null]`, func(r *osrm.Request) { r.Places.Approaches = []nav.Approach{nav.Curb, nav.Unrestricted} }},
		{osrm.Route, two + "?approaches=opposite;unrestricted", `"approaches":["opposite","unrestricted"]`, func(r *osrm.Request) {
			r.Places.Approaches = []nav.Approach{nav.Opposite, nav.Unrestricted}
		}},
		{osrm.Route, two + "?exclude=toll,ferry", `"exclude":["toll","ferry"]`, func(r *osrm.Request) { r.Places.Exclude = graph.Toll | graph.Ferry }},
		{osrm.Route, two + "?exclude=none", `"exclude":["none"]`, func(*osrm.Request) {}},
		{osrm.Route, two + "?hints=abc-_=;&generate_hints=false", `"hints":["abc-_=",null],"generate_hints":false`, func(r *osrm.Request) { r.Hints = false }},
		{osrm.Route, two + "?snapping=any&skip_waypoints=true", `"snapping":"any","skip_waypoints":true`, func(r *osrm.Request) {
			r.Places.AnyRoad, r.SkipWaypoints = true, true
		}},
		{osrm.Route, two + "?alternatives=true", `"alternatives":true`, func(r *osrm.Request) { r.Alternatives = 1 }},
		{osrm.Route, two + "?alternatives=3", `"alternatives":3`, func(r *osrm.Request) { r.Alternatives = 3 }},
		{osrm.Route, two + "?alternatives=false&continue_straight=false", `"alternatives":false,"continue_straight":false`, func(r *osrm.Request) { r.Straight = nav.TurnsAllowed }},
		{osrm.Route, two + "?continue_straight=default", `"continue_straight":"default"`, func(*osrm.Request) {}},
		{osrm.Route, two + "?steps=true&geometries=geojson&overview=full", `"steps":true,"geometries":"geojson","overview":"full"`, func(r *osrm.Request) {
			r.Steps, r.Geometries, r.Overview = true, osrm.GeoJSON, osrm.Full
		}},
		{osrm.Route, two + "?geometries=polyline6&overview=false", `"geometries":"polyline6","overview":"false"`, func(r *osrm.Request) {
			r.Geometries, r.Overview = osrm.Polyline6, osrm.NoOverview
		}},
		{osrm.Route, two + "?overview=by_legs&annotations=true", `"overview":"by_legs","annotations":true`, func(r *osrm.Request) { r.Overview, r.Annotations = osrm.ByLegs, all }},
		{osrm.Route, two + "?annotations=maxspeed,congestion,nodes", `"annotations":["maxspeed","congestion","nodes"]`, func(r *osrm.Request) {
			r.Annotations = osrm.MaxSpeed | osrm.Congestion | osrm.NodeIDs
		}},
		{osrm.Route, two + "?annotations=false&waypoints=0;1", `"annotations":false,"waypoints":[0,1]`, func(r *osrm.Request) { r.Waypoints = []int{0, 1} }},
		{osrm.Route, two + "?banner_instructions=true&voice_instructions=true&voice_units=imperial&language=pt-BR&roundabout_exits=false", `"banner_instructions":true,"voice_instructions":true,"voice_units":"imperial","language":"pt-BR","roundabout_exits":false`, func(r *osrm.Request) {
			r.Banners, r.Voice, r.Imperial, r.Language, r.JoinExits = true, true, true, "pt-BR", true
		}},
		{osrm.Route, two + "?roundabout_exits=true&voice_units=metric", `"roundabout_exits":true`, func(*osrm.Request) {}},
		{osrm.Nearest, "1,2?number=7", "-", func(r *osrm.Request) { r.Places.Coordinates, r.Number = r.Places.Coordinates[:1], 7 }},
		{osrm.Table, two + "?sources=0&destinations=all", `"sources":[0]`, func(r *osrm.Request) { r.Sources = []int{0} }},
		{osrm.Table, two + "?annotations=duration,distance&fallback_speed=1.5&fallback_coordinate=snapped&scale_factor=2", `"annotations":["duration","distance"],"fallback_speed":1.5,"fallback_coordinate":"snapped","scale_factor":2`, func(r *osrm.Request) {
			r.Annotations, r.FallbackSpeed, r.FallbackSnapped, r.Scale = osrm.Duration|osrm.Distance, 1.5, true, 2
		}},
		{osrm.Match, two + "?timestamps=5;9&gaps=ignore&tidy=true", `"timestamps":[5,9],"gaps":"ignore","tidy":true`, func(r *osrm.Request) {
			r.Timestamps, r.IgnoreGaps, r.Tidy = []int64{5, 9}, true, true
		}},
	} {
		want := request(c.service, 2, c.change)
		got, err := osrm.ParseURL(c.service, c.url, 18)
		if err != nil {
			t.Errorf("%s: %v", c.url, err)
		} else if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(osrm.Request{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.url, diff)
		}
		if c.body == "-" {
			continue
		}
		body := `{"coordinates":[[1,2],[2,2]]`
		if c.body != "" {
			body += "," + c.body
		}
		got, err = osrm.ParseBody(c.service, []byte(body+"}"))
		if err != nil {
			t.Errorf("%s: %v", body, err)
		} else if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(osrm.Request{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
	}
}

// TestRefusedRequests checks the error messages against OSRM's scenarios, and inputs that OSRM does not cover.
func TestRefusedRequests(t *testing.T) {
	malformed := func(position int) string {
		return fmt.Sprintf("InvalidQuery: Query string malformed close to position %d", position)
	}
	for _, c := range []struct {
		service   osrm.Service
		url, want string
	}{
		{osrm.Route, "-74697224,5.191564", malformed(18)},
		{osrm.Route, "1", malformed(19)},
		{osrm.Route, "1,1", "InvalidOptions: Number of coordinates needs to be at least two."},
		{osrm.Route, "1,1,1", malformed(21)},
		{osrm.Route, "x", malformed(18)},
		{osrm.Route, "x,y", malformed(18)},
		{osrm.Route, "1,1;", malformed(21)},
		{osrm.Route, "1,1;1", malformed(23)},
		{osrm.Route, "1,1;1,1,1", malformed(25)},
		{osrm.Route, "1,1;x", malformed(21)},
		{osrm.Route, "NaN,1;1,1", malformed(18)},
		{osrm.Route, "inf,1;1,1", malformed(18)},
		{osrm.Route, "0x1,1;1,1", malformed(19)},
		{osrm.Route, "1e999,1;1,1", malformed(18)},
		{osrm.Route, "1_0,1;1,1", malformed(19)},
		{osrm.Route, "1,1;1,1?", malformed(26)},
		{osrm.Route, "1,1;1,1?nonsense=1", malformed(26)},
		{osrm.Route, "1,1;1,1?number=1", malformed(26)},
		{osrm.Route, "1,1;1,1?steps=maybe", malformed(32)},
		{osrm.Route, "1,1;1,1?steps=true&steps", malformed(36)},
		{osrm.Route, "1,1;1,1?bearings=90", malformed(37)},
		{osrm.Route, "1,1;1,1?bearings=99999,1;", malformed(35)},
		{osrm.Route, "1,1;1,1?bearings=90,1", "InvalidOptions: Number of elements in bearings size 1 does not match coordinate size 2"},
		{osrm.Route, "1,1;1,1?bearings=361,1;", "InvalidOptions: A bearing takes 0 to 360 degrees, and a range of 0 to 180."},
		{osrm.Route, "1,1;1,1?radiuses=1", "InvalidOptions: Number of elements in radiuses size 1 does not match coordinate size 2"},
		{osrm.Route, "1,1;1,1?radiuses=-1;1", "InvalidOptions: A radius takes 0 or more metres."},
		{osrm.Route, "1,1;1,1?hints=abc", "InvalidOptions: Number of elements in hints size 1 does not match coordinate size 2"},
		{osrm.Route, "1,1;1,1?exclude=boats", "InvalidValue: Exclude flag combination is not supported."},
		{osrm.Route, "1,1;1,1?waypoints=0;2", "InvalidOptions: An index is not that of a coordinate."},
		{osrm.Route, "1,1;1,1.flatbuffers", "InvalidOptions: The format flatbuffers is not offered; use json."},
		{osrm.Route, "polyline(\x01)", malformed(27)},
		{osrm.Route, "polyline(_p~iF~ps|U", malformed(37)},
		{osrm.Nearest, "1,1;1,1", "InvalidOptions: Only one input coordinate is supported"},
		{osrm.Nearest, "1,1?number=0", "InvalidOptions: number must be 1 or more."},
		{osrm.Table, "1,1;1,1?sources=2", "InvalidOptions: An index is not that of a coordinate."},
		{osrm.Table, "1,1;1,1?fallback_speed=0", "InvalidOptions: fallback_speed must be > 0"},
		{osrm.Table, "1,1;1,1?scale_factor=0", "InvalidOptions: scale_factor must be > 0"},
		{osrm.Match, "1,1;1,1?timestamps=1", "InvalidOptions: Number of elements in timestamps size 1 does not match coordinate size 2"},
	} {
		_, err := osrm.ParseURL(c.service, c.url, 18)
		if err == nil || err.Error() != c.want {
			t.Errorf("%q: %v, want %s", c.url, err, c.want)
		}
	}
	for _, body := range []string{
		``, `[]`, `{`, `{}`, `{"coordinates":1}`, `{"coordinates":[[1]]}`, `{"coordinates":[[1,2],[1e30,2]]}`, `{"coordinates":"1,2;3,4"}`,
		`{"coordinates":[[1,2],[3,4]],"coordinates":[]}`, `{"coordinates":[[1,2],[3,4]]} x`, `{"coordinates":[[1,2],[3,4]],"stepps":true}`,
		`{"coordinates":[[1,2],[3,4]],"steps":"true&alternatives=3"}`, `{"coordinates":[[1,2],[3,4]],"bearings":[1,2]}`,
		`{"coordinates":[[1,2],[3,4]],"waypoints":{"a":1}}`, strings.Repeat(`[`, 100_000),
	} {
		_, err := osrm.ParseBody(osrm.Route, []byte(body))
		var refused *nav.Error
		if !errors.As(err, &refused) || refused.Code != nav.InvalidQuery {
			t.Errorf("%.60q: %v", body, err)
		}
	}
}

// FuzzURL checks that every text is parsed, or refused in OSRM's words.
func FuzzURL(f *testing.F) {
	for _, text := range []string{
		"1,2;3,4", "polyline(_p~iF~ps|U_ulLnnqC)?steps=true", "1,2;3,4?bearings=1,2;&radiuses=;unlimited&approaches=curb;", "1,2;3,4.json?annotations=true",
		"NaN,1;inf,1e999", "1,2;3,4?sources=0;1&destinations=all", "1,2?timestamps=99999999999999999999", strings.Repeat("1,2;", 10_000) + "1,2",
	} {
		f.Add(uint8(0), text)
		f.Add(uint8(2), text)
	}
	f.Fuzz(func(t *testing.T, service uint8, text string) {
		s := osrm.Service(service % 4)
		r, err := osrm.ParseURL(s, text, 0)
		var refused *nav.Error
		if err != nil && !errors.As(err, &refused) {
			t.Fatalf("%q: %v", text, err)
		}
		if err == nil && (r.Cost() < 1 || r.Cost() > 1<<20 || len(r.Places.Coordinates) == 0) {
			t.Fatalf("%q costs %d", text, r.Cost())
		}
		_, err = osrm.ParseBody(s, []byte(text))
		if err != nil && !errors.As(err, &refused) {
			t.Fatalf("%q: %v", text, err)
		}
	})
}

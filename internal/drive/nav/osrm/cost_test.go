package osrm_test

import (
	"fmt"
	"strings"
	"testing"

	"wayside/internal/drive/nav/osrm"
	"wayside/internal/drive/nav/valhalla"
)

// TestCost checks the costs of requests: by places, by the options for each leg, and by the distance between the places
// of a trace (T1, T6).
func TestCost(t *testing.T) {
	const all = "?steps=true&annotations=true&geometries=geojson&overview=full&banner_instructions=true&voice_instructions=true"
	places := func(count int, metres float64) string { // to the north
		var list []string
		for i := range count {
			list = append(list, fmt.Sprintf("7.42,%.6f", 43.7+float64(i)*metres/111_195))
		}
		return strings.Join(list, ";")
	}
	for _, c := range []struct {
		name    string
		service osrm.Service
		url     string
		want    int
	}{
		{"a way", osrm.Route, places(2, 10_000), 1},
		{"a way with all that the page asks for", osrm.Route, places(2, 10_000) + all, 1},
		{"its alternatives", osrm.Route, places(2, 10_000) + "?alternatives=3", 2},
		{"a tour of ten", osrm.Route, places(10, 1000), 3},
		{"a tour of a hundred", osrm.Route, places(100, 1000), 25},
		{"a tour of a hundred, and its megabytes (T6)", osrm.Route, places(100, 1000) + all + "&alternatives=3", 46},
		{"a way across a continent, whose bytes count once they are there", osrm.Route, places(2, 3_000_000) + all, 2},
		{"nearest", osrm.Nearest, "7.42,43.7?number=100", 1},
		{"a table of 10 × 10", osrm.Table, places(10, 1000), 1},
		{"a table of 100 × 100", osrm.Table, places(100, 1000), 100},
		{"a short trace", osrm.Match, places(20, 25), 2},
		{"a trace of five hundred", osrm.Match, places(500, 25), 26},
		{"with a second of a motorway between", osrm.Match, places(500, 36), 26},
		{"with ten seconds of one between (T1)", osrm.Match, places(500, 360), 90},
		{"across the town and back", osrm.Match, places(20, 1000), 21},
		{"more places than there may be", osrm.Match, places(5000, 0), 31},
	} {
		q, err := osrm.ParseURL(c.service, c.url, 0)
		if err != nil {
			t.Fatal(c.name, err)
		}
		if got := q.Cost(); got != c.want {
			t.Errorf("%s: %d routes, want %d (%d bytes)", c.name, got, c.want, q.AnswerBytes())
		}
	}
	q, err := valhalla.Parse([]byte(`{"locations":[{"lat":43.7,"lon":7.42},{"lat":44.0,"lon":7.42}],"costing":"auto","exclude_locations":[{"lat":43.8,"lon":7.4}]}`))
	if err != nil || q.Cost() != 10 {
		t.Errorf("a way that leaves roads out: %d routes, want 10 (%v)", q.Cost(), err)
	}
}

// TestRadiusOfTraces checks that the radius of a place of a trace is bounded (T1).
func TestRadiusOfTraces(t *testing.T) {
	for radius, ok := range map[string]bool{"100": true, "101": false, "1000000000": false} {
		if _, err := osrm.ParseURL(osrm.Match, "7.42,43.7;7.43,43.7?radiuses=5;"+radius, 0); (err == nil) != ok {
			t.Errorf("%s m: %v", radius, err)
		}
		if _, err := osrm.ParseURL(osrm.Route, "7.42,43.7;7.43,43.7?radiuses=5;"+radius, 0); err != nil {
			t.Errorf("%s m of a route: %v", radius, err)
		}
	}
}

// TestFarPlacesCostLittleBeforeTheyAreFound checks that a place far outside the region does not use up an address's
// routes for a minute, because the answer may be an error, and a long answer is counted once it exists.
func TestFarPlacesCostLittleBeforeTheyAreFound(t *testing.T) {
	q, err := osrm.ParseURL(osrm.Route, "5,52;-30,0.5?steps=true&annotations=true&geometries=geojson&overview=full&banner_instructions=true&voice_instructions=true", 0)
	if err != nil {
		t.Fatal(err)
	}
	if cost := q.Cost(); cost > 4 {
		t.Errorf("a route of 6 400 km costs %d before it is found", cost)
	}
	if more := q.CostOfBytes(20 << 20); more < 100 {
		t.Errorf("an answer of 20 MiB costs %d more", more)
	}
}

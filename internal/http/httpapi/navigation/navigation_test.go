package navigation_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"wayside/internal/http/httpapi/httpapitest"
	"wayside/internal/http/httpapi/public"
)

var update = flag.Bool("update", false, "write the answers in docs/navigation.md anew")

// TestNavigationAnswers sends requests to every service with its options, by GET and by POST, and compares the answers with
// openapi.json.
func TestNavigationAnswers(t *testing.T) {
	s := httpapitest.NewNavigationService(t, nil)
	places := httpapitest.PathOf(t, "12")
	var pairs [][2]float64
	for pair := range strings.SplitSeq(places, ";") {
		var p [2]float64
		if _, err := fmt.Sscanf(pair, "%g,%g", &p[0], &p[1]); err != nil {
			t.Fatal(err)
		}
		pairs = append(pairs, p)
	}
	for _, c := range []struct{ service, names, options, body string }{
		{"route", "12", "", ""},
		{"route", "12", "steps=true&annotations=true&overview=full&geometries=geojson&alternatives=2", `"steps":true,"annotations":true,"overview":"full","geometries":"geojson","alternatives":2`},
		{"route", "12", "annotations=maxspeed,congestion&overview=by_legs&geometries=polyline6", `"annotations":["maxspeed","congestion"],"overview":"by_legs","geometries":"polyline6"`},
		{"route", "12", "skip_waypoints=true&overview=false", `"skip_waypoints":true,"overview":"false"`},
		{"nearest", "1", "number=3", ""},
		{"table", "12", "annotations=duration,distance&fallback_speed=5", `"annotations":["duration","distance"],"fallback_speed":5`},
		{"match", "12", "steps=true&radiuses=30;30", `"steps":true,"radiuses":[30,30]`},
	} {
		path := "/v2/navigation/" + c.service + "/v1/driving"
		resp, got := s.Get(path + "/" + httpapitest.PathOf(t, c.names) + "?" + c.options)
		if resp.StatusCode != http.StatusOK || resp.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s?%s: %s %s", c.service, c.options, resp.Status, got)
		}
		httpapitest.CheckAgainstSchema(t, http.MethodGet, path[:len(path)-len("driving")]+"{profile}/{coordinates}", resp.StatusCode, got)
		if c.service == "nearest" {
			continue
		}
		text, err := json.Marshal(pairs)
		if err != nil {
			t.Fatal(err)
		}
		body := `{"coordinates":` + string(text)
		if c.body != "" {
			body += "," + c.body
		}
		resp, posted := s.Post(path, body+"}")
		httpapitest.CheckAgainstSchema(t, http.MethodPost, path[:len(path)-len("driving")]+"{profile}", resp.StatusCode, posted)
		if !bytes.Equal(got, posted) {
			t.Errorf("%s?%s: GET and POST differ:\n%s%s", c.service, c.options, got, posted)
		}
	}
}

// TestNavigationErrors checks each code and its status.
func TestNavigationErrors(t *testing.T) {
	s := httpapitest.NewNavigationService(t, nil)
	places := httpapitest.PathOf(t, "12")
	for _, c := range []struct {
		path   string
		status int
		code   string
	}{
		{"route/v1/driving/" + places, 200, "Ok"},
		{"route/v1/car/" + places, 200, "Ok"},
		{"route/v1/driving-traffic/" + places, 200, "Ok"},
		{"route/v1/mapbox/driving-traffic/" + places, 200, "Ok"},
		{"route/v1/mapbox%2Fdriving-traffic/" + places, 200, "Ok"},
		{"route/v1/driving/" + places + ".json?steps=true", 200, "Ok"},
		{"route/v1/driving/" + url.PathEscape("polyline(??_ibE_ibE)"), 400, "NoSegment"},
		{"route/v1/foot/" + places, 400, "InvalidValue"},
		{"trip/v1/driving/" + places, 400, "InvalidService"},
		{"tile/v1/driving/tile(1,2,3).mvt", 400, "InvalidService"},
		{"route/v2/driving/" + places, 400, "InvalidVersion"},
		{"route/v1/driving/", 400, "InvalidUrl"},
		{"route/v1", 400, "InvalidUrl"},
		{"route/v1/driving/" + places + "?steps=%zz", 400, "InvalidUrl"},
		{"route/v1/driving/1,2;3", 400, "InvalidQuery"},
		{"route/v1/driving/1,2", 400, "InvalidOptions"},
		{"route/v1/driving/181,2;1,1", 400, "InvalidValue"},
		{"route/v1/driving/50,50;51,51", 400, "NoSegment"},
		{"route/v1/driving/" + httpapitest.PathOf(t, "13"), 400, "NoRoute"},
		{"route/v1/driving/" + places + "?alternatives=4", 400, "TooBig"},
		{"route/v1/driving/" + strings.Repeat("1,1;", 2000) + "1,1", 400, "TooBig"},
		{"table/v1/driving/" + strings.Repeat("1,1;", 100) + "1,1", 400, "TooBig"},
		{"match/v1/driving/" + strings.Repeat("1,1;", 500) + "1,1", 400, "TooBig"},
		{"nearest/v1/driving/1,1?number=101", 400, "TooBig"},
		{"match/v1/driving/50,50;51,51", 400, "NoSegment"},
		{"match/v1/driving/" + httpapitest.PathOf(t, "13"), 400, "NoMatch"},
	} {
		resp, body := s.Get("/v2/navigation/" + c.path)
		var got struct{ Code, Message string }
		if err := json.Unmarshal(body, &got); err != nil || resp.StatusCode != c.status || got.Code != c.code || c.status != 200 && got.Message == "" {
			t.Errorf("%.80s: %s %.300s, want %d %s", c.path, resp.Status, body, c.status, c.code)
		}
	}
	off := httpapitest.NewReadService(t, nil)
	resp, body := off.Get("/v2/navigation/route/v1/driving/" + places)
	if resp.StatusCode != http.StatusServiceUnavailable || !bytes.Contains(body, []byte(`"NoRegion"`)) {
		t.Errorf("without a region: %s %s", resp.Status, body)
	}
	for _, c := range []struct {
		body, media string
		status      int
	}{{"{", "application/json", 400}, {"{}", "text/plain", 415}, {`{"coordinates":"` + strings.Repeat("x", 600<<10) + `"}`, "application/json", 413}} {
		if resp, body := s.Post("/v2/navigation/route/v1/driving", c.body, "Content-Type", c.media); resp.StatusCode != c.status {
			t.Errorf("%.20s: %s %s", c.body, resp.Status, body)
		}
	}
}

// TestNavigationLimits checks D15.23: routes have separate limits, and a table counts by its pairs.
func TestNavigationLimits(t *testing.T) {
	s := httpapitest.NewNavigationService(t, func(d *public.Deps) { d.Limits.GuestRoutes = 3 })
	route := "/v2/navigation/route/v1/driving/" + httpapitest.PathOf(t, "12")
	wait := func(resp *http.Response, after string) {
		t.Helper()
		if resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") != after {
			t.Errorf("%s, Retry-After %q, want %s", resp.Status, resp.Header.Get("Retry-After"), after)
		}
	}
	for i := range 3 {
		path := route
		if i == 1 {
			path = "/v2/navigation/route/v1/driving/nonsense" // a wrong request counts too
		}
		resp, body := s.Get(path)
		if resp.StatusCode == http.StatusTooManyRequests || resp.Header.Get("RateLimit-Policy") != `"default";q=3;w=60` {
			t.Fatalf("%s %s", resp.Status, body)
		}
	}
	resp, body := s.Get(route)
	wait(resp, "20")
	httpapitest.CheckAgainstSchema(t, http.MethodGet, "/v2/navigation/route/v1/{profile}/{coordinates}", resp.StatusCode, body)
	resp, _ = s.Post("/v2/navigation/route/v1/driving", "{")
	wait(resp, "20")
	resp, _ = s.Get("/v2/navigation/trip/v1/driving/1,1")
	wait(resp, "20")
	if resp, _ := s.Get("/v2/kinds"); resp.StatusCode != http.StatusOK {
		t.Errorf("reads count apart: %s", resp.Status)
	}
	s.Advance(time.Minute)
	table := "/v2/navigation/table/v1/driving/" + strings.Repeat(httpapitest.PathOf(t, "1")+";", 14) + httpapitest.PathOf(t, "2") // 225 pairs
	if resp, body := s.Get(table); resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %s", resp.Status, body)
	}
	resp, _ = s.Get(route)
	wait(resp, "20")
}

// TestNavigationAcrossOrigins checks that a page of an allowed origin may send requests, by POST too.
func TestNavigationAcrossOrigins(t *testing.T) {
	const friend, path = "https://friend.example.org", "/v2/navigation/route/v1/driving"
	s := httpapitest.NewNavigationService(t, func(d *public.Deps) { d.CORSOrigins = []string{friend} })
	req, err := http.NewRequestWithContext(t.Context(), http.MethodOptions, s.Server.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Origin", friend)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if got := resp.Header; got.Get("Access-Control-Allow-Origin") != friend || got.Get("Access-Control-Allow-Methods") != "GET, POST" ||
		got.Get("Access-Control-Allow-Headers") != "Authorization, Content-Type" {
		t.Errorf("%s %v", resp.Status, got)
	}
	resp, body := s.Post(path, `{"coordinates":"polyline(??)"}`, "Origin", friend, "Sec-Fetch-Site", "cross-site")
	if resp.StatusCode != http.StatusBadRequest || resp.Header.Get("Access-Control-Allow-Origin") != friend {
		t.Errorf("%s %s", resp.Status, body)
	}
}

// TestNavigationIsPrivate checks that neither the log nor the arguments of metrics contain a place (D13.1).
func TestNavigationIsPrivate(t *testing.T) {
	var log bytes.Buffer
	var observed []string
	s := httpapitest.NewNavigationService(t, func(d *public.Deps) {
		d.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		d.Observe = func(pattern string, _ int, _ time.Duration) { observed = append(observed, pattern) }
	})
	for _, path := range []string{"route/v1/driving/7.654321,43.123456;7.654322,43.1", "route/v1/x/7.654321,43.123456", "7.654321/v1/driving/43.123456", "route/v1/driving/7.654321,43.123456?%zz", "table/v1/driving/7.654321,43.123456"} {
		s.Get("/v2/navigation/" + path)
	}
	s.Server.Close()
	if told := log.String() + strings.Join(observed, " "); len(observed) != 5 || strings.Contains(told, "654321") || strings.Contains(told, "123456") {
		t.Errorf("%s %v", log.String(), observed)
	}
}

var navigationExample = regexp.MustCompile("(?s)```http\nGET ([^\n]+)\n```\n\n```json\n(.*?)```")

// TestNavigationPage makes the answers on docs/navigation.md again and compares them.
func TestNavigationPage(t *testing.T) {
	const page = "../../../../docs/navigation.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	s := httpapitest.NewNavigationService(t, func(d *public.Deps) { d.Geocoder = geocoderOf(t, httpapitest.DrawnTown(t)) })
	examples := 0
	made := navigationExample.ReplaceAllFunc(text, func(example []byte) []byte {
		examples++
		parts := navigationExample.FindSubmatch(example)
		_, answer := s.Get(string(parts[1]))
		var indented bytes.Buffer
		if err := json.Indent(&indented, answer, "", " "); err != nil {
			t.Error(err)
		}
		return fmt.Appendf(nil, "```http\nGET %s\n```\n\n```json\n%s```", parts[1], indented.Bytes())
	})
	if *update {
		if err := os.WriteFile(page, made, 0o600); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(made, text) {
		t.Errorf("the examples of %s are not what the service answers; -update writes them anew", page)
	}
	if examples < 4 {
		t.Errorf("%d examples", examples)
	}
}

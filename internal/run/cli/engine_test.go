package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestRemoteEngine checks a service whose routes come from another server with OSRM's API, which knows none of its conditions:
// routes avoid the pushed closures, warn where they cannot, and are refused while the other server is unreachable. The other server
// is this program too.
func TestRemoteEngine(t *testing.T) {
	t.Parallel()
	town := twoBridges(t)
	other := newService(t, "[limits]\nguest_routes_per_minute = 100000\n")
	other.importDrawing(town)
	other.start(nil)

	s := newService(t, "[limits]\nguest_routes_per_minute = 100000\n[navigation]\nengine = \"osrm\"\nengine_url = \""+other.base+"/v2/navigation\"\n")
	s.importDrawing(town)
	s.start(nil)
	guest := &client{s: s}
	if got := guest.route(town, "a", "d"); got.Code != "Ok" || got.detours() {
		t.Fatalf("without conditions: %+v", got)
	}
	owner := s.signIn("owner@example.org")
	feed := owner.register("closures")
	push := func(id, a, b string) {
		t.Helper()
		from, to := town.Place(t, a), town.Place(t, b)
		pin := row{id, "alert.road_closed", (from.Lat + to.Lat) / 2, (from.Lng + to.Lng) / 2, map[string]any{}}
		if resp, answer := owner.do(http.MethodPost, "/v2/feeds/"+feed.token+"/entities", []row{pin}); resp.StatusCode != http.StatusOK {
			t.Fatalf("push: %d %s", resp.StatusCode, answer)
		}
	}
	push("short", "b", "c")
	eventually(t, "the route goes round the closure", func() bool {
		got := guest.route(town, "a", "d")
		return got.detours() && len(got.Routes[0].Wayside.Avoided) == 1
	})
	push("long", "e", "f")
	a, d := town.Place(t, "a"), town.Place(t, "d")
	path := fmt.Sprintf("/v2/navigation/route/v1/driving/%f,%f;%f,%f", a.Lng, a.Lat, d.Lng, d.Lat)
	eventually(t, "the route warns", func() bool {
		_, body := guest.do(http.MethodGet, path, nil)
		return strings.Contains(string(body), "drives a road that is closed: ")
	})
	if resp, body := guest.do(http.MethodPost, "/v2/navigation/sessions", map[string]any{"coordinates": [][2]float64{{a.Lng, a.Lat}, {d.Lng, d.Lat}}}); resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(body), "NotImplemented") {
		t.Errorf("a session: %d %s", resp.StatusCode, body)
	}
	if doctor, _ := s.tryCLI("doctor"); !strings.Contains(doctor, "osrm answers at "+other.base) {
		t.Errorf("doctor: %s", doctor)
	}
	status := func() string { _, page := guest.do(http.MethodGet, "/status", nil); return string(page) }
	if !strings.Contains(status(), "Routes are found by the engine") {
		t.Errorf("the page about the service does not name the engine")
	}

	if err := other.terminate(); err != nil {
		t.Fatal(err)
	}
	resp, body := guest.do(http.MethodGet, path, nil)
	var refused struct{ Code string }
	if err := json.Unmarshal(body, &refused); err != nil || resp.StatusCode != http.StatusServiceUnavailable || refused.Code != "NoEngine" || resp.Header.Get("Retry-After") == "" {
		t.Errorf("without the engine: %d %s", resp.StatusCode, body)
	}
	if !strings.Contains(status(), "does not answer") {
		t.Errorf("the page about the service does not say that the engine is away")
	}
	if log := s.log.String(); strings.Count(log, "does not answer") != 1 || strings.Contains(log, "route/v1") {
		t.Errorf("the log: %s", log)
	}
}

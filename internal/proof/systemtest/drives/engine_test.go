package drives

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"wayside/internal/proof/systemtest"
)

// TestRemoteEngine checks a service whose routes come from another server with OSRM's API, which knows none of its conditions:
// routes avoid the pushed closures, warn where they cannot, and are refused while the other server is unreachable. The other server
// is this program too.
func TestRemoteEngine(t *testing.T) {
	t.Parallel()
	town := twoBridges(t)
	other := systemtest.NewService(t, "[limits]\nguest_routes_per_minute = 100000\n")
	other.ImportDrawing(town)
	other.Start(nil)

	s := systemtest.NewService(t, "[limits]\nguest_routes_per_minute = 100000\n[navigation]\nengine = \"osrm\"\nengine_url = \""+other.Base+"/v2/navigation\"\n")
	s.ImportDrawing(town)
	s.Start(nil)
	guest := &systemtest.Client{Service: s}
	if got := routeOf(guest, town, "a", "d"); got.Code != "Ok" || got.detours() {
		t.Fatalf("without conditions: %+v", got)
	}
	owner := s.SignIn("owner@example.org")
	feed := owner.Register("closures")
	push := func(id, a, b string) {
		t.Helper()
		from, to := town.Place(t, a), town.Place(t, b)
		pin := systemtest.Row{ExternalID: id, Kind: "alert.road_closed", Lat: (from.Lat + to.Lat) / 2, Lng: (from.Lng + to.Lng) / 2, Properties: map[string]any{}}
		if resp, answer := owner.Do(http.MethodPost, "/v2/feeds/"+feed.Token+"/entities", []systemtest.Row{pin}); resp.StatusCode != http.StatusOK {
			t.Fatalf("push: %d %s", resp.StatusCode, answer)
		}
	}
	push("short", "b", "c")
	systemtest.Eventually(t, "the route goes round the closure", func() bool {
		got := routeOf(guest, town, "a", "d")
		return got.detours() && len(got.Routes[0].Wayside.Avoided) == 1
	})
	push("long", "e", "f")
	a, d := town.Place(t, "a"), town.Place(t, "d")
	path := fmt.Sprintf("/v2/navigation/route/v1/driving/%f,%f;%f,%f", a.Lng, a.Lat, d.Lng, d.Lat)
	systemtest.Eventually(t, "the route warns", func() bool {
		_, body := guest.Do(http.MethodGet, path, nil)
		return strings.Contains(string(body), "drives a road that is closed: ")
	})
	if resp, body := guest.Do(http.MethodPost, "/v2/navigation/sessions", map[string]any{"coordinates": [][2]float64{{a.Lng, a.Lat}, {d.Lng, d.Lat}}}); resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(body), "NotImplemented") {
		t.Errorf("a session: %d %s", resp.StatusCode, body)
	}
	if doctor, _ := s.TryCLI("doctor"); !strings.Contains(doctor, "osrm answers at "+other.Base) {
		t.Errorf("doctor: %s", doctor)
	}
	status := func() string { _, page := guest.Do(http.MethodGet, "/status", nil); return string(page) }
	if !strings.Contains(status(), "Routes are found by the engine") {
		t.Errorf("the page about the service does not name the engine")
	}

	if err := other.Terminate(); err != nil {
		t.Fatal(err)
	}
	resp, body := guest.Do(http.MethodGet, path, nil)
	var refused struct{ Code string }
	if err := json.Unmarshal(body, &refused); err != nil || resp.StatusCode != http.StatusServiceUnavailable || refused.Code != "NoEngine" || resp.Header.Get("Retry-After") == "" {
		t.Errorf("without the engine: %d %s", resp.StatusCode, body)
	}
	if !strings.Contains(status(), "does not answer") {
		t.Errorf("the page about the service does not say that the engine is away")
	}
	if log := s.Log.String(); strings.Count(log, "does not answer") != 1 || strings.Contains(log, "route/v1") {
		t.Errorf("the log: %s", log)
	}
}

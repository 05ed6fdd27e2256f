package drives

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"wayside/internal/proof/systemtest"
	"wayside/internal/roads/roadtest"
)

// carriageways returns a network with a road of two carriageways and a camera on each, and a street beside it with a camera for
// traffic to the west.
func carriageways(t *testing.T) *roadtest.Network {
	return roadtest.Map(t, 20, `
		h-------------------------------m--------------3--------g
		a------1------------------------k--------------2--------d

		e------4------------------------q--------------5--------f
	`,
		roadtest.Way("akd", "highway=primary, oneway=yes, name=Ring, maxspeed=50"),
		roadtest.Way("gmh", "highway=primary, oneway=yes, name=Ring, maxspeed=50"),
		roadtest.Way("eqf", "highway=residential, maxspeed=50"),
		roadtest.Way("ah", "highway=primary"), roadtest.Way("dg", "highway=primary"),
		roadtest.Way("ae", "highway=residential"), roadtest.Way("df", "highway=residential"),
		roadtest.Node("k", "highway=speed_camera, maxspeed=50"),
		roadtest.Node("m", "highway=speed_camera, maxspeed=50"),
		roadtest.Node("q", "highway=speed_camera, maxspeed=30, direction=270"))
}

// roadAlerts is an answer of GET /v2/alerts.
type roadAlerts struct {
	Along, State *string
	Alerts       []struct {
		Entity struct {
			ExternalID string `json:"external_id"`
		}
		Distance float64 `json:"distance_m"`
		Match    string
		Announce bool
	}
}

// TestAlertsAlongRoads checks that a driver is warned only of the camera of the driver's carriageway and direction, on the route of
// a session and without one, and that without a region the cone decides (D15.22).
func TestAlertsAlongRoads(t *testing.T) {
	t.Parallel()
	s := systemtest.NewService(t, "[limits]\nguest_routes_per_minute = 100000\nguest_reads_per_minute = 100000\n")
	town := carriageways(t)
	s.ImportDrawing(town)
	s.Start(nil)
	guest := &systemtest.Client{Service: s, HTTP: http.Client{Timeout: time.Minute}}
	camera := func(node string) string { return fmt.Sprintf("node/%d", town.NodeID(t, node)) }
	ask := func(place string, heading int, more string) (got roadAlerts, summary []string) {
		t.Helper()
		at := town.Place(t, place)
		resp, body := guest.Do(http.MethodGet, fmt.Sprintf("/v2/alerts?lat=%.6f&lng=%.6f&heading=%d&speed=14&kinds=camera.speed%s", at.Lat, at.Lng, heading, more), nil)
		if err := json.Unmarshal(body, &got); err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s %s (%v)", resp.Status, body, err)
		}
		for _, a := range got.Alerts {
			summary = append(summary, fmt.Sprintf("%s %s %.0f", a.Entity.ExternalID, a.Match, a.Distance))
		}
		return got, summary
	}
	systemtest.Eventually(t, "the cameras are there", func() bool { _, all := ask("1", 90, ""); return len(all) > 0 })
	wants := func(place string, heading int, more, along string, want ...string) roadAlerts {
		t.Helper()
		got, all := ask(place, heading, more)
		if got.Along == nil || *got.Along != along || !slices.Equal(all, want) {
			t.Errorf("from %s to %d°: %v along %v, want %v along %s", place, heading, all, got.Along, want, along)
		}
		if got.State == nil || len(*got.State) > 512 {
			t.Errorf("the state %v", got.State)
		}
		return got
	}
	ahead := []string{camera("k") + " road 500", camera("m") + " road 1480"} // the ring leads back on the other carriageway
	first := wants("1", 90, "", "probable", ahead...)
	if !first.Alerts[0].Announce && first.Alerts[0].Distance < 160 || first.Alerts[1].Announce {
		t.Errorf("announced: %+v", first.Alerts)
	}
	wants("3", 270, "", "probable", camera("m")+" road 300", camera("k")+" road 1600")
	wants("4", 90, "", "probable", camera("m")+" road 1520") // but not that of its own road for the other direction
	wants("5", 270, "", "probable", camera("q")+" road 300", camera("k")+" road 1620")
	wants("1", 90, "&state="+*first.State, "probable", ahead...)
	for _, state := range []string{"x", "AAAA", strings.Repeat("A", 500)} {
		wants("1", 90, "&state="+state, "probable", ahead...)
	}
	if resp, body := guest.Do(http.MethodGet, "/v2/alerts?lat=0&lng=0&speed=0&state="+strings.Repeat("A", 513), nil); resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(body), "state") {
		t.Errorf("a state of 513 bytes: %s %s", resp.Status, body)
	}

	from, to := town.Place(t, "1"), town.Place(t, "5")
	resp, body := guest.Do(http.MethodPost, "/v2/navigation/sessions", map[string]any{"coordinates": [][2]float64{{from.Lng, from.Lat}, {to.Lng, to.Lat}}})
	var session struct{ ID string }
	if err := json.Unmarshal(body, &session); err != nil || resp.StatusCode != http.StatusCreated {
		t.Fatalf("%s %s", resp.Status, body)
	}
	wants("1", 90, "&session="+session.ID, "route", camera("k")+" road 500")
	wants("4", 90, "&session="+session.ID, "probable", camera("m")+" road 1520") // off the route
	wants("1", 90, "&session=unknown", "probable", ahead...)
	wantEventsEnd(t, s, guest, session.ID)
	if log := s.Log.String(); strings.Contains(log, *first.State) {
		t.Error("the log has the state of a driver")
	}
}

// wantEventsEnd reads the events of a session until the stopping service ends them, and checks that they end cleanly.
func wantEventsEnd(t *testing.T, s *systemtest.Service, c *systemtest.Client, id string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.Base+"/v2/navigation/sessions/"+id+"/events", http.NoBody)
	systemtest.Must(t, err)
	resp, err := c.HTTP.Do(req)
	systemtest.Must(t, err)
	defer resp.Body.Close()
	began := time.Now()
	systemtest.Must(t, s.Terminate())
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("with a stream of events it took %v to stop", took)
	}
	if text, err := io.ReadAll(resp.Body); err != nil || !strings.HasPrefix(string(text), "event: route\n") {
		t.Errorf("the events %.100q ended with %v, want their end", text, err)
	}
}

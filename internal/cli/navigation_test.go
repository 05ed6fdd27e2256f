package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"wayside/internal/geo"
	"wayside/internal/roads/roadtest"
)

// twoBridges is a town with a short way over one bridge and a longer one over another.
func twoBridges(t *testing.T) *roadtest.Network {
	return roadtest.MapAt(t, geo.Point{Lat: 45, Lng: 9}, 100, `
		a--b-----c--d
		   |     |
		   e-----f
	`,
		roadtest.Ways("ab cd be fc", "highway=residential"),
		roadtest.Way("bc", "highway=residential, name=Short Bridge"),
		roadtest.Way("ef", "highway=residential, name=Long Bridge"),
	)
}

// route is what a test reads of a route.
type route struct {
	Code   string
	Routes []struct {
		Distance float64
		Wayside  struct {
			MetricVersion uint64 `json:"metric_version"`
			Conditions    []string
			Avoided       []string
		}
	}
}

// route asks for the way from one node of a drawing to another.
func (c *client) route(n *roadtest.Network, from, to string) route {
	c.s.t.Helper()
	a, b := n.Place(c.s.t, from), n.Place(c.s.t, to)
	resp, body := c.do(http.MethodGet, fmt.Sprintf("/v2/navigation/route/v1/driving/%f,%f;%f,%f", a.Lng, a.Lat, b.Lng, b.Lat), nil)
	var got route
	if err := json.Unmarshal(body, &got); err != nil || resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusBadRequest {
		c.s.t.Fatalf("route: %d %s", resp.StatusCode, body)
	}
	return got
}

// detours tells whether the first route is the long one.
func (r *route) detours() bool { return len(r.Routes) > 0 && r.Routes[0].Distance > 1500 }

// importDrawing imports the extract of a drawing at the command line.
func (s *serviceProcess) importDrawing(n *roadtest.Network) {
	s.t.Helper()
	file := filepath.Join(s.t.TempDir(), "town.osm.pbf")
	if err := os.WriteFile(file, n.PBF(s.t), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.cli("region", "import", file)
}

// A closure that was pushed is driven around, as soon as it can be read; and no longer once it is retired, expired, disputed away or its
// feed is gone. After a restart it stands before the service is ready (D15.17).
func TestRoutesAvoidWhatWasPushed(t *testing.T) {
	t.Parallel()
	s := newService(t, "[limits]\nguest_routes_per_minute = 100000\n")
	town := twoBridges(t)
	s.importDrawing(town)
	s.start(nil)
	guest := &client{s: s}
	direct := guest.route(town, "a", "d")
	if direct.Code != "Ok" || direct.detours() {
		t.Fatalf("without conditions: %+v", direct)
	}

	owner := s.signIn("owner@example.org")
	feed := owner.register("closures")
	bridge := town.Place(t, "b")
	bridge.Lng = (bridge.Lng + town.Place(t, "c").Lng) / 2
	push := func(more map[string]any) {
		t.Helper()
		pin := map[string]any{"external_id": "bridge", "kind": "alert.road_closed", "lat": bridge.Lat, "lng": bridge.Lng, "properties": map[string]any{}}
		maps.Copy(pin, more)
		if resp, answer := owner.do(http.MethodPost, "/v2/feeds/"+feed.token+"/entities", []any{pin}); resp.StatusCode != http.StatusOK || !strings.Contains(string(answer), `"errors":[]`) {
			t.Fatalf("push: %d %s", resp.StatusCode, answer)
		}
	}
	shows := func(what string, closed bool) route {
		t.Helper()
		began := time.Now()
		var got route
		eventually(t, what, func() bool {
			got = guest.route(town, "a", "d")
			return got.Code == "Ok" && got.detours() == closed
		})
		t.Logf("%s: after %s", what, time.Since(began).Round(time.Millisecond))
		return got
	}

	push(nil)
	around := shows("closed", true)
	if len(around.Routes[0].Wayside.Avoided) != 1 || len(around.Routes[0].Wayside.Conditions) != 0 || around.Routes[0].Wayside.MetricVersion <= direct.Routes[0].Wayside.MetricVersion {
		t.Errorf("the route around the closure says %+v", around.Routes[0].Wayside)
	}
	if err := s.terminate(); err != nil {
		t.Fatal(err)
	}
	s.start(nil)
	if got := guest.route(town, "a", "d"); !got.detours() {
		t.Errorf("the first route after a restart: %+v", got)
	}
	id := around.Routes[0].Wayside.Avoided[0]
	driver := s.signIn("driver@example.org")
	driver.vote(id, "dispute")
	eventually(t, "a disputed closure costs time", func() bool {
		got := guest.route(town, "a", "d")
		return slices.Contains(got.Routes[0].Wayside.Conditions, id) || got.detours()
	})
	push(map[string]any{"ttl_seconds": 1})
	shows("open", false)
	push(nil)
	driver.do(http.MethodDelete, "/v2/entities/"+id+"/vote", nil)
	shows("closed again", true)
	s.cli("feed", "delete", feed.id)
	shows("the feed is gone", false)
}

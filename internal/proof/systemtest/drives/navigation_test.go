package drives

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/proof/systemtest"
	"wayside/internal/roads/roadtest"
)

// twoBridges returns a town with a short way over one bridge and a longer one over another.
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

// route is the part of a route that a test reads.
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

// route requests the route from one node of a drawing to another.
func routeOf(c *systemtest.Client, n *roadtest.Network, from, to string) route {
	c.Service.T.Helper()
	a, b := n.Place(c.Service.T, from), n.Place(c.Service.T, to)
	resp, body := c.Do(http.MethodGet, fmt.Sprintf("/v2/navigation/route/v1/driving/%f,%f;%f,%f", a.Lng, a.Lat, b.Lng, b.Lat), nil)
	var got route
	if err := json.Unmarshal(body, &got); err != nil || resp.StatusCode != http.StatusOK && got.Code == "" {
		c.Service.T.Fatalf("route: %d %s", resp.StatusCode, body)
	}
	return got
}

// detours reports whether the first route is the long one.
func (r *route) detours() bool { return len(r.Routes) > 0 && r.Routes[0].Distance > 1500 }

// TestRoutesAvoidWhatWasPushed checks that routes avoid a pushed closure as soon as it can be read, and no longer once it is
// retired, expired, disputed away or its feed is gone. After a restart the closure is in force before the service is ready
// (D15.17).
func TestRoutesAvoidWhatWasPushed(t *testing.T) {
	t.Parallel()
	s := systemtest.NewService(t, "[limits]\nguest_routes_per_minute = 100000\n[drivers]\ntrust_after = \"0s\"\n")
	town := twoBridges(t)
	s.ImportDrawing(town)
	s.Start(nil)
	guest := &systemtest.Client{Service: s}
	direct := routeOf(guest, town, "a", "d")
	if direct.Code != "Ok" || direct.detours() {
		t.Fatalf("without conditions: %+v", direct)
	}

	owner := s.SignIn("owner@example.org")
	feed := owner.Register("closures")
	bridge := town.Place(t, "b")
	bridge.Lng = (bridge.Lng + town.Place(t, "c").Lng) / 2
	push := func(more map[string]any) {
		t.Helper()
		pin := map[string]any{"external_id": "bridge", "kind": "alert.road_closed", "lat": bridge.Lat, "lng": bridge.Lng, "properties": map[string]any{}}
		maps.Copy(pin, more)
		if resp, answer := owner.Do(http.MethodPost, "/v2/feeds/"+feed.Token+"/entities", []any{pin}); resp.StatusCode != http.StatusOK || !strings.Contains(string(answer), `"errors":[]`) {
			t.Fatalf("push: %d %s", resp.StatusCode, answer)
		}
	}
	shows := func(what string, closed bool) route {
		t.Helper()
		began := time.Now()
		var got route
		systemtest.Eventually(t, what, func() bool {
			got = routeOf(guest, town, "a", "d")
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
	if err := s.Terminate(); err != nil {
		t.Fatal(err)
	}
	s.Start(nil)
	if got := routeOf(guest, town, "a", "d"); !got.detours() {
		t.Errorf("the first route after a restart: %+v", got)
	}
	id := around.Routes[0].Wayside.Avoided[0]
	driver, second := s.SignIn("driver@example.org"), s.SignIn("second@example.org")
	for _, c := range []*systemtest.Client{driver, second} { // a single driver does not open a road
		votesAt(c, bridge, id, "dispute")
	}
	systemtest.Eventually(t, "a disputed closure costs time", func() bool {
		got := routeOf(guest, town, "a", "d")
		return slices.Contains(got.Routes[0].Wayside.Conditions, id) || got.detours()
	})
	push(map[string]any{"ttl_seconds": 1})
	shows("open", false)
	push(nil)
	driver.Do(http.MethodDelete, "/v2/entities/"+id+"/vote", nil)
	second.Do(http.MethodDelete, "/v2/entities/"+id+"/vote", nil)
	shows("closed again", true)
	s.CLI("feed", "delete", feed.ID)
	shows("the feed is gone", false)

	// A report of drivers closes a road once two accounts support it (D17.37).
	if got := reportClosure(s, driver, bridge); got != http.StatusCreated {
		t.Errorf("a report: %d", got)
	}
	if got := routeOf(guest, town, "a", "d"); got.detours() || len(conditionsAt(s, driver, bridge)) != 1 || len(conditionsAt(s, guest, bridge)) != 0 {
		t.Errorf("a report that its author alone reads: %+v", got)
	}
	if got := reportClosure(s, second, bridge); got != http.StatusOK {
		t.Errorf("a second report: %d", got)
	}
	shows("reported by two", true)
}

// reportClosure reports a closed road.
func reportClosure(s *systemtest.Service, c *systemtest.Client, at geo.Point) (status int) {
	s.T.Helper()
	resp, _ := c.Do(http.MethodPost, "/v2/reports", map[string]any{"kind": "alert.road_closed", "lat": at.Lat, "lng": at.Lng})
	return resp.StatusCode
}

// conditionsAt requests the conditions in force at a place.
func conditionsAt(s *systemtest.Service, c *systemtest.Client, at geo.Point) []condition {
	s.T.Helper()
	return conditions(c, fmt.Sprintf("lat=%v&lng=%v&radius=100", at.Lat, at.Lng))
}

// conditions requests the conditions in force near a place, or because of one entity.
func conditions(c *systemtest.Client, query string) (list []condition) {
	c.Service.T.Helper()
	resp, body := c.Do(http.MethodGet, "/v2/navigation/conditions?"+query, nil)
	var got struct {
		Conditions    []condition
		MetricVersion uint64 `json:"metric_version"`
	}
	if err := json.Unmarshal(body, &got); err != nil || resp.StatusCode != http.StatusOK {
		c.Service.T.Fatalf("conditions: %d %s", resp.StatusCode, body)
	}
	return got.Conditions
}

// condition is the part of a condition that a test reads.
type condition struct {
	EntityID string `json:"entity_id"`
	Effect   string
	Factor   float64
	InForce  bool `json:"in_force"`
	Arcs     []struct {
		OSMWay   int64 `json:"osm_way"`
		Geometry struct{ Coordinates [][2]float64 }
		Length   float64 `json:"length_m"`
	}
}

// TestConditions checks that conditions list the arcs that an entity closes or slows, and that the owner of a feed sees its effects
// before it is approved, while others do not (D15.17).
func TestConditions(t *testing.T) {
	t.Parallel()
	s := systemtest.NewService(t, "[limits]\nguest_routes_per_minute = 100000\nguest_reads_per_minute = 100000\naccount_reads_per_minute = 100000\n")
	town := twoBridges(t)
	s.Start(nil)
	guest := &systemtest.Client{Service: s}
	if resp, body := guest.Do(http.MethodGet, "/v2/navigation/conditions?lat=45&lng=9", nil); resp.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(body), "NoRegion") {
		t.Errorf("without a region: %d %s", resp.StatusCode, body)
	}
	s.ImportDrawing(town)
	systemtest.Eventually(t, "the running service takes the region over", func() bool { return routeOf(guest, town, "a", "d").Code == "Ok" })

	owner := s.SignIn("owner@example.org")
	resp, body := owner.Do(http.MethodPost, "/v2/feeds", map[string]any{"name": "works", "direction": "push", "visibility": "public"})
	var feed struct {
		Feed struct{ ID string }
		Push string `json:"push_ingest_token"`
	}
	if err := json.Unmarshal(body, &feed); err != nil {
		t.Fatalf("%d %s", resp.StatusCode, body)
	}
	b, c := town.Place(t, "b"), town.Place(t, "c")
	pins := []systemtest.Row{
		{ExternalID: "closed", Kind: "alert.road_closed", Lat: (b.Lat + c.Lat) / 2, Lng: (b.Lng + c.Lng) / 2, Properties: map[string]any{"bearing": 90}},
		{ExternalID: "works", Kind: "alert.construction", Lat: b.Lat, Lng: b.Lng, Properties: map[string]any{"line": [][2]float64{{b.Lng, b.Lat - 0.0001}, {town.Place(t, "e").Lng, town.Place(t, "e").Lat}}}},
	}
	if resp, body := owner.Do(http.MethodPost, "/v2/feeds/"+feed.Push+"/entities", pins); resp.StatusCode != http.StatusOK || !strings.Contains(string(body), `"errors":[]`) {
		t.Fatalf("push: %d %s", resp.StatusCode, body)
	}
	around := fmt.Sprintf("lat=%f&lng=%f&radius=2000", b.Lat, b.Lng)
	systemtest.Eventually(t, "the owner of a pending feed sees what it would do", func() bool {
		list := conditions(owner, around)
		return len(list) == 2 && !list[0].InForce && !list[1].InForce
	})
	if list := conditions(guest, around); len(list) != 0 {
		t.Errorf("a guest sees %+v of a pending feed", list)
	}
	s.CLI("feed", "approve", feed.Feed.ID)
	var list []condition
	systemtest.Eventually(t, "the conditions are in force", func() bool { list = conditions(guest, around); return len(list) == 2 })
	works, closed := list[0], list[1]
	if works.Effect != "slower" || works.Factor != 0.8 || len(works.Arcs) != 1 || works.Arcs[0].OSMWay != town.WayID(t, "be") || !works.InForce {
		t.Errorf("works: %+v", works)
	}
	if closed.Effect != "closed" || len(closed.Arcs) != 1 || closed.Arcs[0].OSMWay != town.WayID(t, "bc") || closed.Arcs[0].Length < 590 || closed.Arcs[0].Length > 610 {
		t.Errorf("closed: %+v", closed)
	}
	if line := closed.Arcs[0].Geometry.Coordinates; len(line) != 2 || line[0][0] >= line[1][0] {
		t.Errorf("the arc runs %v, and not eastwards", line)
	}
	if one := conditions(guest, "entity="+url.QueryEscape(closed.EntityID)); len(one) != 1 || one[0].EntityID != closed.EntityID {
		t.Errorf("of one entity: %+v", one)
	}
	if resp, _ := guest.Do(http.MethodGet, "/v2/navigation/conditions?lat=91&lng=9&radius=60000", nil); resp.StatusCode != http.StatusUnprocessableEntity && resp.StatusCode != http.StatusBadRequest {
		t.Errorf("bad parameters: %d", resp.StatusCode)
	}
}

package drives

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"wayside/internal/proof/systemtest"
)

// TestConditionsCountInTime checks that a closure takes effect at most 100 ms after the 200 of its push, and so does its end, and
// that each change has a higher version (D15.17). It compares the median of several closures, because other tests run at the same
// time.
func TestConditionsCountInTime(t *testing.T) {
	t.Parallel()
	s := systemtest.NewService(t, "[limits]\nguest_routes_per_minute = 1000000\npushes_per_minute = 100000\n")
	town := twoBridges(t)
	s.ImportDrawing(town)
	s.Start(nil)
	guest, owner := &systemtest.Client{Service: s}, s.SignIn("owner@example.org")
	feed := owner.Register("closures")
	b, c := town.Place(t, "b"), town.Place(t, "c")
	var waits []time.Duration
	version := uint64(0)
	for i := range 30 {
		shut := i%2 == 0
		pin := map[string]any{"external_id": "bridge", "kind": "alert.road_closed", "lat": b.Lat, "lng": (b.Lng + c.Lng) / 2, "properties": map[string]any{}}
		if !shut {
			pin["ttl_seconds"] = 1
		}
		if resp, answer := owner.Do(http.MethodPost, "/v2/feeds/"+feed.Token+"/entities", []any{pin}); resp.StatusCode != http.StatusOK {
			t.Fatalf("push: %d %s", resp.StatusCode, answer)
		}
		began := time.Now()
		var got route
		for got = routeOf(guest, town, "a", "d"); got.detours() != shut && time.Since(began) < 10*time.Second; got = routeOf(guest, town, "a", "d") {
		}
		waits = append(waits, time.Since(began))
		if now := got.Routes[0].Wayside.MetricVersion; now <= version {
			t.Errorf("version %d after %d", now, version)
		} else {
			version = now
		}
	}
	slices.Sort(waits)
	t.Logf("from a 200 to the route: median %s, most %s", waits[len(waits)/2], waits[len(waits)-1])
	if median := waits[len(waits)/2]; median > 100*time.Millisecond {
		t.Errorf("a change counts after %s", median)
	}
}

// TestConditionsAreBounded checks that an answer with conditions has at most 200 entities and 2 000 arcs.
func TestConditionsAreBounded(t *testing.T) {
	t.Parallel()
	s := systemtest.NewService(t, "[limits]\nguest_reads_per_minute = 100000\n")
	town := twoBridges(t)
	s.ImportDrawing(town)
	s.Start(nil)
	guest, owner := &systemtest.Client{Service: s}, s.SignIn("owner@example.org")
	feed := owner.Register("works")
	b, c := town.Place(t, "b"), town.Place(t, "c")
	var around [][2]float64
	for _, name := range strings.Split("abefcbcd", "") {
		p := town.Place(t, name)
		around = append(around, [2]float64{p.Lng, p.Lat})
	}
	list := func(properties map[string]any) (entities, arcs int, truncated bool) {
		t.Helper()
		var pins []systemtest.Row
		for i := range 300 {
			pins = append(pins, systemtest.Row{ExternalID: fmt.Sprint("works ", i), Kind: "alert.construction", Lat: b.Lat, Lng: (b.Lng + c.Lng) / 2, Properties: properties})
		}
		if resp, answer := owner.Do(http.MethodPost, "/v2/feeds/"+feed.Token+"/entities", pins); resp.StatusCode != http.StatusOK || !strings.Contains(string(answer), `"errors":[]`) {
			t.Fatalf("push: %d %s", resp.StatusCode, answer)
		}
		var got struct {
			Conditions []condition
			Truncated  bool
		}
		systemtest.Eventually(t, "the works are in force", func() bool {
			_, body := guest.Do(http.MethodGet, fmt.Sprintf("/v2/navigation/conditions?lat=%f&lng=%f", b.Lat, b.Lng), nil)
			if err := json.Unmarshal(body, &got); err != nil {
				t.Fatal(err)
			}
			return len(got.Conditions) >= 160 && len(got.Conditions[0].Arcs) > 2 == (properties["line"] != nil)
		})
		for _, c := range got.Conditions {
			arcs += len(c.Arcs)
		}
		return len(got.Conditions), arcs, got.Truncated
	}
	if entities, arcs, truncated := list(map[string]any{}); entities != 200 || arcs != 400 || !truncated {
		t.Errorf("%d entities with %d arcs, truncated: %t", entities, arcs, truncated)
	}
	if entities, arcs, truncated := list(map[string]any{"line": around, "both_directions": true}); entities < 100 || entities >= 200 || arcs > 2000 || arcs < 1900 || !truncated {
		t.Errorf("%d entities with %d arcs, truncated: %t", entities, arcs, truncated)
	}
}

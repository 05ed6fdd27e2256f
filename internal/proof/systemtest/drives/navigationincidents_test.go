package drives

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"wayside/internal/proof/systemtest"
)

// TestRoutesTellIncidents checks that a route lists the entities that were pushed onto its way, in the words of their source
// (D15.18).
func TestRoutesTellIncidents(t *testing.T) {
	t.Parallel()
	s := systemtest.NewService(t, "[limits]\nguest_routes_per_minute = 100000\n")
	town := twoBridges(t)
	s.ImportDrawing(town)
	s.Start(nil)
	guest, owner := &systemtest.Client{Service: s}, s.SignIn("owner@example.org")
	feed := owner.Register("works")
	b, c := town.Place(t, "b"), town.Place(t, "c")
	push := func(properties map[string]any) {
		t.Helper()
		pin := systemtest.Row{ExternalID: "bridge", Kind: "alert.construction", Lat: (b.Lat + c.Lat) / 2, Lng: (b.Lng + c.Lng) / 2, Properties: properties}
		if resp, answer := owner.Do(http.MethodPost, "/v2/feeds/"+feed.Token+"/entities", []any{pin}); resp.StatusCode != http.StatusOK || !strings.Contains(string(answer), `"errors":[]`) {
			t.Fatalf("push: %d %s", resp.StatusCode, answer)
		}
	}
	type incident struct {
		ID, Type, Description, Impact string
		KindID                        string `json:"kind_id"`
		End                           string `json:"end_time"`
		Closed                        bool
		Roads                         []string `json:"affected_road_names"`
		First                         int      `json:"geometry_index_start"`
		Last                          int      `json:"geometry_index_end"`
	}
	incidents := func() []incident {
		t.Helper()
		from, to := town.Place(t, "a"), town.Place(t, "d")
		_, body := guest.Do(http.MethodGet, fmt.Sprintf("/v2/navigation/route/v1/driving/%f,%f;%f,%f", from.Lng, from.Lat, to.Lng, to.Lat), nil)
		var got struct {
			Routes []struct {
				Legs    []struct{ Incidents []incident }
				Wayside struct{ Conditions []string }
			}
		}
		if err := json.Unmarshal(body, &got); err != nil || len(got.Routes) != 1 || len(got.Routes[0].Wayside.Conditions) > 1 {
			t.Fatalf("%v: %s", err, body)
		}
		return got.Routes[0].Legs[0].Incidents
	}
	if on := incidents(); on == nil || len(on) != 0 {
		t.Errorf("without conditions: %v", on)
	}
	push(map[string]any{"description": " New\n\tbridge,\u200b one lane ", "ends_at": "2126-08-01T14:00:00+02:00"})
	want := incident{Type: "construction", Description: "New bridge, one lane", Impact: "minor", KindID: "alert.construction", End: "2126-08-01T12:00:00.000Z", Roads: []string{"Short Bridge"}, First: 1, Last: 2}
	holds := func(what string) {
		t.Helper()
		var on []incident
		systemtest.Eventually(t, what, func() bool {
			if on = incidents(); len(on) != 1 || on[0].ID == "" {
				return false
			}
			on[0].ID = ""
			return fmt.Sprint(on[0]) == fmt.Sprint(want)
		})
	}
	holds("works are told")
	push(map[string]any{"description": strings.Repeat("é", 400)})
	want.Description, want.End = strings.Repeat("é", 300), ""
	holds("other words are told")
	push(map[string]any{})
	want.Description = "Road works"
	holds("without words of its own, the kind is told")
}

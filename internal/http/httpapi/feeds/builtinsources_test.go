package feeds_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"wayside/internal/entities/nearby"
	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
)

// TestBuiltinSourcesAreKnown checks that the built-in sources are known even if they are empty (D4.5), and which reads may be
// cached (D4.13): none that may contain drivers' reports.
func TestBuiltinSourcesAreKnown(t *testing.T) {
	t.Parallel()
	with := httpapitest.NewServiceWith(t, httpapitest.Options{Manage: 10_000, Requests: 60, Entities: 10_000, Reports: true})
	without := httpapitest.NewService(t)
	with.SignedInAs("ann@example.org", mapdata.Driver).Reports(http.StatusCreated, "alert.police", 0)
	with.WaitForIndex()
	const cached, fresh = "public, max-age=10", "no-store"
	for _, tt := range []struct {
		query         string
		with, without string // Cache-Control
		entities      int    // with drivers' reports; otherwise none
	}{
		{"", fresh, cached, 1},
		{"&sources=drivers", fresh, cached, 1},
		{"&sources=incidents,drivers", fresh, cached, 1},
		{"&layers=drivers", fresh, cached, 1},
		{"&sources=drivers&kinds=charger.supercharger", cached, cached, 0},
		{"&sources=incidents", cached, cached, 0},
		{"&sources=osm-cameras,osm-chargers", cached, cached, 0},
	} {
		for service, want := range map[*httpapitest.Service]string{with: tt.with, without: tt.without} {
			resp := service.Browser().Send(http.MethodGet, httpapitest.NearbyPath+tt.query, "").Want(t, http.StatusOK)
			var got struct{ Entities []any }
			resp.Decode(t, &got)
			entities := tt.entities
			if service == without {
				entities = 0
			}
			if cc := resp.Header.Get("Cache-Control"); cc != want || len(got.Entities) != entities {
				t.Errorf("%q, reports %v: Cache-Control %q, want %q; %d entities, want %d", tt.query, service == with, cc, want, len(got.Entities), entities)
			}
		}
	}
	var refused struct {
		ValidIDs []string `json:"valid_ids"`
	}
	without.Browser().Send(http.MethodGet, httpapitest.NearbyPath+"&sources=weather", "").Want(t, http.StatusBadRequest).Decode(t, &refused)
	if want := []string{"incidents", "osm-cameras", "osm-chargers", "drivers"}; !slices.Equal(refused.ValidIDs, want) {
		t.Errorf("valid ids: %v, want %v", refused.ValidIDs, want)
	}
}

// TestViewsOfReportsAreNotCached checks that what the page for cars reads may not be cached where drivers' reports are among what it
// asks for: clusters count them, and nothing found may be a report a moment later (D4.13).
func TestViewsOfReportsAreNotCached(t *testing.T) {
	t.Parallel()
	d := httpapitest.NewServiceWith(t, httpapitest.Options{Manage: 10_000, Requests: 60, Entities: 10_000, Reports: true})
	rows := make([]string, nearby.MaxPins+1)
	for i := range rows {
		rows[i] = fmt.Sprintf(`{"external_id":"%d","kind":"traffic.jam","lat":%g,"lng":5,"properties":{}}`, i, 52+float64(i)/1000)
	}
	d.Publish("Jams", rows...)
	for _, tt := range []struct{ path, begins, cached string }{
		{"view?bbox=4,51,6,53&zoom=6", `{"entities":[],`, "no-store"},
		{"view?bbox=4,51,6,53&zoom=6&kinds=charger.supercharger", `{"entities":[],`, "public, max-age=10"},
		{"nearest?lat=52&lng=5", `{"nearest":{`, "no-store"},
		{"nearest?lat=52&lng=5&kinds=alert.accident", `{"nearest":null`, "no-store"},
		{"nearest?lat=52&lng=5&kinds=camera.speed", `{"nearest":null`, "public, max-age=10"},
	} {
		resp := d.Browser().Send(http.MethodGet, "/v2/overlay/"+tt.path, "").Want(t, http.StatusOK)
		if cc := resp.Header.Get("Cache-Control"); cc != tt.cached || !strings.HasPrefix(resp.Body, tt.begins) {
			t.Errorf("%s: Cache-Control %q, want %q; %.200s", tt.path, cc, tt.cached, resp.Body)
		}
	}
}

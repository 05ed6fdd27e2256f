package httpapi_test

import (
	"net/http"
	"slices"
	"testing"

	"wayside/internal/mapdata"
)

// TestBuiltinSourcesAreKnown checks that the built-in sources are known even if they are empty (D4.5), and which reads may be
// cached (D4.13): none that may contain drivers' reports.
func TestBuiltinSourcesAreKnown(t *testing.T) {
	t.Parallel()
	with := newTestServiceWith(t, serviceOptions{manage: 10_000, requests: 60, entities: 10_000, reports: true})
	without := newTestService(t)
	with.signedInAs("ann@example.org", mapdata.Driver).reports(http.StatusCreated, "alert.police", 0)
	with.waitForIndex()
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
		for service, want := range map[*testService]string{with: tt.with, without: tt.without} {
			resp := service.browser().send(http.MethodGet, nearbyPath+tt.query, "").want(t, http.StatusOK)
			var got struct{ Entities []any }
			resp.decode(t, &got)
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
	without.browser().send(http.MethodGet, nearbyPath+"&sources=weather", "").want(t, http.StatusBadRequest).decode(t, &refused)
	if want := []string{"incidents", "osm-cameras", "osm-chargers", "drivers"}; !slices.Equal(refused.ValidIDs, want) {
		t.Errorf("valid ids: %v, want %v", refused.ValidIDs, want)
	}
}

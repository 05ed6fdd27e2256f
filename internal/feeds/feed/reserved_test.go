package feed_test

import (
	"errors"
	"testing"

	"wayside/internal/feeds/feed"
	"wayside/internal/ground/mapdata"
)

// TestReservedNames checks that no feed and no layer can have a name that could be taken for that of a built-in source
// (D5.8).
func TestReservedNames(t *testing.T) {
	ts := newTestService(t)
	_, by := ts.newAccount("owner@example.com", mapdata.Driver)
	for name, want := range map[string]bool{
		"incidents": true, "Incidents": true, "INCIDENTS of the A10": true, "incidents-berlin": true, " incidents ": true,
		"lncidents": true, "1ncidents": true, "іnсіdеntѕ": true, "Ιncidents": true, "ｉｎｃｉｄｅｎｔｓ": true, "in-ci dents": true, "íncidents": true,
		"drivers": true, "Drivers’ reports": true, "osm-cameras": true, "OSM Cameras": true, "osrn carneras": true, "osm_chargers": true, "0sm chargers": true,
		"A10 incidents": false, "Incident reports": false, "OSM": false, "Road works": false, "Truck drivers": false, "Иркутск": false,
	} {
		for _, field := range []string{"name", "layer_name"} {
			r := pullOf("https://a.example/1")
			if field == "name" {
				r.Name = ptr(name)
			} else {
				r.LayerName = ptr(name)
			}
			err := ts.CheckRegistration(r)
			var invalid *mapdata.InvalidError
			got := errors.As(err, &invalid) && len(invalid.Fields) == 1 && invalid.Fields[0].Code == "reserved" && invalid.Fields[0].Field == field
			if got != want || err != nil && !want {
				t.Errorf("%s %q: %v", field, name, err)
			}
		}
	}
	v, _ := ts.register(by, pullOf("https://a.example/1"))
	var invalid *mapdata.InvalidError
	if _, err := ts.Patch(t.Context(), by, v.ID, &feed.Patch{Settings: feed.Settings{LayerName: ptr("Drivers")}}); !errors.As(err, &invalid) {
		t.Errorf("changed to a reserved name: %v", err)
	}
}

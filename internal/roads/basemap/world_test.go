package basemap

import (
	"testing"
)

// TestWorldBelowTheMap checks that the overview is drawn first, alone or below the operator's map, and that it is
// covered if that map has a coast of its own but draws no land.
func TestWorldBelowTheMap(t *testing.T) {
	world := World{Tiles: "http://wayside.test/map/world/{z}/{x}/{y}", HighestZoom: 4, Attribution: "Somebody"}
	for name, tt := range map[string]struct {
		style   map[string]any
		covered bool
	}{
		"alone":                     {WorldStyle(Look{}, world), false},
		"below land":                {archiveWith(t, "roads", "earth").Style(Look{}, Source{Tiles: "x"}, &world), false},
		"below water without land":  {archiveWith(t, "roads").Style(Look{}, Source{Tiles: "x"}, &world), true},
		"below OpenMapTiles":        {archiveWith(t, "transportation").Style(Look{}, Source{Tiles: "x"}, &world), true},
		"below a map by night":      {archiveWith(t, "streets").Style(Look{Theme: Night}, Source{Tiles: "x"}, &world), true},
		"below a map without names": {archiveWith(t, "roads", "earth").Style(Look{NoNames: true}, Source{Tiles: "x"}, &world), false},
	} {
		sources, _ := tt.style["sources"].(map[string]any)
		source, _ := sources["world"].(map[string]any)
		if source["attribution"] != "Somebody" || source["maxzoom"] != 4 {
			t.Errorf("%s: source %v", name, source)
		}
		layers, _ := tt.style["layers"].([]Layer)
		if layers[0]["id"] != "sea" || layers[1]["id"] != "world-land-0" {
			t.Errorf("%s: begins with %v and %v", name, layers[0]["id"], layers[1]["id"])
		}
		last, cover := 0, -1
		for i, l := range layers {
			switch l["source"] {
			case "world":
				last = i
			case "covered":
				cover = i
			}
		}
		if _, ok := sources["covered"]; ok != tt.covered || (cover > last) != tt.covered {
			t.Errorf("%s: covered %v by layer %d, above %d; want %v", name, ok, cover, last, tt.covered)
		}
	}
}

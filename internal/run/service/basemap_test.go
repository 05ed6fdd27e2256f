package service

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/http/httpapi"
	"wayside/internal/roads/basemap"
	"wayside/internal/run/config"
)

// TestOpenBaseMap checks the base map's attribution, style and origins for each kind of configuration.
func TestOpenBaseMap(t *testing.T) {
	town, broken := filepath.Join(t.TempDir(), "town.pmtiles"), filepath.Join(t.TempDir(), "broken.pmtiles")
	file, err := os.Create(town)
	if err != nil {
		t.Fatal(err)
	}
	plan := basemap.Plan{Type: basemap.MVT, Attribution: "© Town"}
	if err := errors.Join(basemap.Write(file, plan, []basemap.Tile{{Data: []byte("tile")}}), file.Close()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(broken, []byte("no map"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		cfg     config.Map
		want    *httpapi.BaseMap
		archive bool
		problem string
	}{
		{cfg: config.Map{}},
		{cfg: config.Map{PMTiles: town}, archive: true, want: &httpapi.BaseMap{StyleURL: "/map/style.json", Attribution: "© Town"}},
		{cfg: config.Map{PMTiles: town, Attribution: "© Me"}, archive: true, want: &httpapi.BaseMap{StyleURL: "/map/style.json", Attribution: "© Me"}},
		{
			cfg:  config.Map{StyleURL: "https://tiles.example.org:8443/day.json?key=1", Attribution: "© Them"},
			want: &httpapi.BaseMap{StyleURL: "https://tiles.example.org:8443/day.json?key=1", Attribution: "© Them", Origins: []string{"https://tiles.example.org:8443"}},
		},
		{cfg: config.Map{PMTiles: broken}, problem: "map.pmtiles: " + broken + " is not a PMTiles archive"},
		{cfg: config.Map{PMTiles: broken + ".none"}, problem: "map.pmtiles: " + broken + ".none cannot be opened"},
	} {
		about, err := openBaseMap(tt.cfg)
		if tt.problem != "" {
			if err == nil || !strings.HasPrefix(err.Error(), tt.problem) {
				t.Errorf("%v: %v", tt.cfg, err)
			}
			continue
		}
		if err != nil || (about != nil && about.Archive != nil) != tt.archive {
			t.Fatalf("%v: %v, %v", tt.cfg, about, err)
		}
		if tt.archive {
			defer about.Archive.Close()
			about.Archive = nil
		}
		if diff := cmp.Diff(tt.want, about); diff != "" {
			t.Errorf("%v: %s", tt.cfg, diff)
		}
	}
}

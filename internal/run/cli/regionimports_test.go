package cli

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// importsJSON is a part of GET /v2/regions/imports.
type importsJSON struct {
	Import *struct {
		State, Problem string
		RegionID       string `json:"region_id"`
		Steps          int
	}
	Extracts []struct{ Name string }
	Regions  []struct {
		ID      string
		Current bool
	}
}

func (c *client) imports(t *testing.T) (got importsJSON) {
	t.Helper()
	resp, body := c.do(http.MethodGet, "/v2/regions/imports", nil)
	if resp.StatusCode != http.StatusOK || json.Unmarshal(body, &got) != nil {
		t.Fatalf("imports: %d %s", resp.StatusCode, body)
	}
	return got
}

// startImport imports files of the folder of extracts.
func (c *client) startImport(t *testing.T, files ...string) {
	t.Helper()
	if resp, answer := c.do(http.MethodPost, "/v2/regions/imports", map[string]any{"files": files}); resp.StatusCode != http.StatusAccepted {
		t.Fatalf("the import does not begin: %d %s", resp.StatusCode, answer)
	}
}

// putExtract copies an extract into the folder from which admins import.
func (s *serviceProcess) putExtract(name, from string) {
	s.t.Helper()
	content, err := os.ReadFile(from)
	mustBe(s.t, err)
	folder := filepath.Join(s.dir, "extracts")
	mustBe(s.t, os.MkdirAll(folder, 0o700))
	mustBe(s.t, os.WriteFile(filepath.Join(folder, name), content, 0o600))
}

// TestAdminsImportRegions imports files by the API, as a page does: a bad one, a good one, one whose import is cancelled, and one
// during which the service stops.
func TestAdminsImportRegions(t *testing.T) {
	t.Parallel()
	s := startService(t, unlimited)
	admin := s.signIn("admin@example.org")
	s.cli("account", "role", "--email", "admin@example.org", "admin")
	ended := func(state string) func() bool {
		return func() bool { i := admin.imports(t).Import; return i != nil && i.State == state }
	}
	s.putExtract("bad.osm.pbf", writeFile(t, "x", []byte("<?xml version='1.0'?><osm/>")))
	s.putExtract("town.osm.pbf", drawCameraTown(t, "Town", "50"))
	s.putExtract("large.osm.pbf", drawTown(t, "Large", 300))

	admin.startImport(t, "bad.osm.pbf")
	eventually(t, "the bad file is refused", ended("failed"))
	if got := admin.imports(t); got.Import.Problem != "bad.osm.pbf: block at byte 0: the file is XML, not PBF" || len(got.Regions) != 0 || len(got.Extracts) != 3 {
		t.Errorf("after a bad file: %+v", got)
	}
	admin.startImport(t, "town.osm.pbf")
	eventually(t, "the good file is imported", ended("done"))
	done := admin.imports(t)
	if len(done.Regions) != 1 || !done.Regions[0].Current || done.Regions[0].ID != done.Import.RegionID || done.Import.Steps < 4 {
		t.Errorf("after a good file: %+v", done)
	}
	eventually(t, "its camera is on the map", func() bool { return admin.camera(t)["maxspeed_kmh"] == 50.0 })
	if resp, body := (&client{s: s}).do(http.MethodGet, "/v2/regions", nil); resp.StatusCode != http.StatusOK || !strings.Contains(string(body), done.Import.RegionID) || resp.Header.Get("Cache-Control") != "public, max-age=60" {
		t.Errorf("the regions: %d %s", resp.StatusCode, body)
	}
	if resp, body := (&client{s: s}).do(http.MethodGet, "/regions", nil); resp.StatusCode != http.StatusOK || !strings.Contains(string(body), done.Import.RegionID) || strings.Contains(string(body), "town.osm.pbf") {
		t.Errorf("the page: %d %s", resp.StatusCode, body)
	}

	admin.startImport(t, "large.osm.pbf")
	if resp, _ := admin.do(http.MethodPost, "/v2/regions/imports", map[string]any{"files": []string{"town.osm.pbf"}}); resp.StatusCode != http.StatusConflict {
		t.Errorf("a second import: %d", resp.StatusCode)
	}
	if resp, body := admin.do(http.MethodDelete, "/v2/regions/imports", nil); resp.StatusCode != http.StatusNoContent {
		t.Errorf("cancelling: %d %s", resp.StatusCode, body)
	}
	eventually(t, "the import is cancelled", ended("cancelled"))
	want := []string{done.Import.RegionID + ".region", "current"}
	left := func() bool {
		files := listRegion(t, s.dir)
		slices.Sort(files)
		slices.Sort(want)
		return slices.Equal(files, want)
	}
	if !left() {
		t.Errorf("a cancelled import left %q", listRegion(t, s.dir))
	}

	admin.startImport(t, "large.osm.pbf")
	began := time.Now()
	mustBe(t, s.terminate())
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("the service stopped after %v", took)
	}
	if !left() {
		t.Errorf("a stopped import left %q", listRegion(t, s.dir))
	}
	s.start(nil)
	if resp, body := admin.do(http.MethodDelete, "/v2/regions/"+done.Import.RegionID, nil); resp.StatusCode != http.StatusNoContent {
		t.Errorf("removing: %d %s", resp.StatusCode, body)
	}
	eventually(t, "its camera is gone", func() bool { return admin.camera(t) == nil })
	if log := s.cli("audit", "--limit", "20"); strings.Count(log, "region.import") != 4 || !strings.Contains(log, "region.cancel") || !strings.Contains(log, "region.remove") {
		t.Errorf("the audit log: %s", log)
	}
}

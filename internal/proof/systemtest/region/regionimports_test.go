package region

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"wayside/internal/proof/systemtest"
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

func imports(t *testing.T, c *systemtest.Client) (got importsJSON) {
	t.Helper()
	resp, body := c.Do(http.MethodGet, "/v2/regions/imports", nil)
	if resp.StatusCode != http.StatusOK || json.Unmarshal(body, &got) != nil {
		t.Fatalf("imports: %d %s", resp.StatusCode, body)
	}
	return got
}

// startImport imports files of the folder of extracts.
func startImport(t *testing.T, c *systemtest.Client, files ...string) {
	t.Helper()
	if resp, answer := c.Do(http.MethodPost, "/v2/regions/imports", map[string]any{"files": files}); resp.StatusCode != http.StatusAccepted {
		t.Fatalf("the import does not begin: %d %s", resp.StatusCode, answer)
	}
}

// putExtract copies an extract into the folder from which admins import.
func putExtract(s *systemtest.Service, name, from string) {
	s.T.Helper()
	content, err := os.ReadFile(from)
	systemtest.Must(s.T, err)
	folder := filepath.Join(s.Dir, "extracts")
	systemtest.Must(s.T, os.MkdirAll(folder, 0o700))
	systemtest.Must(s.T, os.WriteFile(filepath.Join(folder, name), content, 0o600))
}

// TestAdminsImportRegions imports files by the API, as a page does: a bad one, a good one, one whose import is cancelled, and one
// during which the service stops.
func TestAdminsImportRegions(t *testing.T) {
	t.Parallel()
	s := systemtest.StartService(t, systemtest.Unlimited)
	admin := s.SignIn("admin@example.org")
	s.CLI("account", "role", "--email", "admin@example.org", "admin")
	ended := func(state string) func() bool {
		return func() bool { i := imports(t, admin).Import; return i != nil && i.State == state }
	}
	putExtract(s, "bad.osm.pbf", writeFile(t, "x", []byte("<?xml version='1.0'?><osm/>")))
	putExtract(s, "town.osm.pbf", drawCameraTown(t, "Town", "50"))
	putExtract(s, "large.osm.pbf", drawTown(t, "Large", 300))

	startImport(t, admin, "bad.osm.pbf")
	systemtest.Eventually(t, "the bad file is refused", ended("failed"))
	if got := imports(t, admin); got.Import.Problem != "bad.osm.pbf: block at byte 0: the file is XML, not PBF" || len(got.Regions) != 0 || len(got.Extracts) != 3 {
		t.Errorf("after a bad file: %+v", got)
	}
	startImport(t, admin, "town.osm.pbf")
	systemtest.Eventually(t, "the good file is imported", ended("done"))
	done := imports(t, admin)
	if len(done.Regions) != 1 || !done.Regions[0].Current || done.Regions[0].ID != done.Import.RegionID || done.Import.Steps < 4 {
		t.Errorf("after a good file: %+v", done)
	}
	systemtest.Eventually(t, "its camera is on the map", func() bool { return camera(t, admin)["maxspeed_kmh"] == 50.0 })
	if resp, body := (&systemtest.Client{Service: s}).Do(http.MethodGet, "/v2/regions", nil); resp.StatusCode != http.StatusOK || !strings.Contains(string(body), done.Import.RegionID) || resp.Header.Get("Cache-Control") != "public, max-age=60" {
		t.Errorf("the regions: %d %s", resp.StatusCode, body)
	}
	if resp, body := (&systemtest.Client{Service: s}).Do(http.MethodGet, "/regions", nil); resp.StatusCode != http.StatusOK || !strings.Contains(string(body), done.Import.RegionID) || strings.Contains(string(body), "town.osm.pbf") {
		t.Errorf("the page: %d %s", resp.StatusCode, body)
	}

	startImport(t, admin, "large.osm.pbf")
	if resp, _ := admin.Do(http.MethodPost, "/v2/regions/imports", map[string]any{"files": []string{"town.osm.pbf"}}); resp.StatusCode != http.StatusConflict {
		t.Errorf("a second import: %d", resp.StatusCode)
	}
	if resp, body := admin.Do(http.MethodDelete, "/v2/regions/imports", nil); resp.StatusCode != http.StatusNoContent {
		t.Errorf("cancelling: %d %s", resp.StatusCode, body)
	}
	systemtest.Eventually(t, "the import is cancelled", ended("cancelled"))
	want := []string{done.Import.RegionID + ".region", "current"}
	left := func() bool {
		files := listRegion(t, s.Dir)
		slices.Sort(files)
		slices.Sort(want)
		return slices.Equal(files, want)
	}
	if !left() {
		t.Errorf("a cancelled import left %q", listRegion(t, s.Dir))
	}

	startImport(t, admin, "large.osm.pbf")
	began := time.Now()
	systemtest.Must(t, s.Terminate())
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("the service stopped after %v", took)
	}
	if !left() {
		t.Errorf("a stopped import left %q", listRegion(t, s.Dir))
	}
	s.Start(nil)
	if resp, body := admin.Do(http.MethodDelete, "/v2/regions/"+done.Import.RegionID, nil); resp.StatusCode != http.StatusNoContent {
		t.Errorf("removing: %d %s", resp.StatusCode, body)
	}
	systemtest.Eventually(t, "its camera is gone", func() bool { return camera(t, admin) == nil })
	if log := s.CLI("audit", "--limit", "20"); strings.Count(log, "region.import") != 4 || !strings.Contains(log, "region.cancel") || !strings.Contains(log, "region.remove") {
		t.Errorf("the audit log: %s", log)
	}
}

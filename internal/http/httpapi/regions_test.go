package httpapi_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wayside/internal/ground/mapdata"
	"wayside/internal/roads/region"
	"wayside/internal/roads/region/imports"
)

// heldRegionID is the region that heldRegion makes.
const heldRegionID = "0123456789abcdef"

// newImports returns a service that imports nothing, because nothing runs it.
func (d *testService) newImports(log *slog.Logger) *imports.Service {
	return imports.New(imports.Config{
		Folder: region.Folder(filepath.Join(d.dir, "region")), Extracts: filepath.Join(d.dir, "extracts"), Audit: d.db, Now: d.time, Log: log,
	})
}

// heldRegion writes a region file, which cannot be read.
func (d *testService) heldRegion(t *testing.T) string {
	t.Helper()
	d.write(t, "region/"+heldRegionID+".region", "no region")
	return heldRegionID
}

func (d *testService) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(d.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestImportsTakeFilesOfTheFolderAlone checks that files cannot be imported by names that lead out of the folder of extracts, or to
// no file.
func TestImportsTakeFilesOfTheFolderAlone(t *testing.T) {
	t.Parallel()
	d := newTestService(t)
	admin := d.signedInAs("admin@example.org", mapdata.Admin)
	d.write(t, "extracts/town.osm.pbf", "x")
	d.write(t, "extracts/notes.txt", "x")
	d.write(t, "extracts/sub/deep.osm.pbf", "x")
	d.write(t, "secret.osm.pbf", "x")
	for link, to := range map[string]string{"out.osm.pbf": "../secret.osm.pbf", "in.osm.pbf": "town.osm.pbf", "dir.osm.pbf": "sub"} {
		if err := os.Symlink(to, filepath.Join(d.dir, "extracts", link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{
		"../secret.osm.pbf", "..", ".", "", "sub/deep.osm.pbf", filepath.Join(d.dir, "secret.osm.pbf"), "out.osm.pbf", "in.osm.pbf", "dir.osm.pbf", "notes.txt",
		"absent.osm.pbf", "-h.pbf", "--data-dir.pbf", ".hidden.pbf", "town.osm.pbf\x00.pbf", `..\secret.osm.pbf`, strings.Repeat("a", 5000) + ".pbf",
	} {
		name, err := json.Marshal([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		text := `{"files": ` + string(name) + `}`
		if resp := admin.send(http.MethodPost, "/v2/regions/imports", text); resp.StatusCode != http.StatusUnprocessableEntity && resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%q: %d %s", name, resp.StatusCode, resp.body)
		}
	}
	for text, want := range map[string]string{
		`{}`:                                   `"required"`,
		`{"files": "town.osm.pbf"}`:            `"invalid_type"`,
		`{"files": ["town.osm.pbf"], "to": 1}`: `"unknown_field"`,
		`{"files": ["town.osm.pbf"], "without": ["roads"]}`: `"unknown_product"`,
	} {
		if resp := admin.send(http.MethodPost, "/v2/regions/imports", text).want(t, http.StatusUnprocessableEntity); !strings.Contains(resp.body, want) {
			t.Errorf("%s: %s", text, resp.body)
		}
	}
	var listed struct {
		Extracts []struct{ Name string }
		Import   any
	}
	admin.send(http.MethodGet, "/v2/regions/imports", "").want(t, http.StatusOK).decode(t, &listed)
	if len(listed.Extracts) != 1 || listed.Extracts[0].Name != "town.osm.pbf" || listed.Import != nil {
		t.Errorf("it lists %+v", listed)
	}

	admin.send(http.MethodPost, "/v2/regions/imports", `{"files": ["town.osm.pbf"], "without": ["cameras"]}`).want(t, http.StatusAccepted)
	admin.send(http.MethodPost, "/v2/regions/imports", `{"files": ["town.osm.pbf"]}`).want(t, http.StatusConflict)
	admin.send(http.MethodDelete, "/v2/regions/imports", "").want(t, http.StatusNoContent)
	admin.send(http.MethodDelete, "/v2/regions/imports", "").want(t, http.StatusConflict)
	admin.send(http.MethodDelete, "/v2/regions/"+d.heldRegion(t), "").want(t, http.StatusNoContent)
	admin.send(http.MethodDelete, "/v2/regions/"+heldRegionID, "").want(t, http.StatusNotFound)
	admin.send(http.MethodDelete, "/v2/regions/current", "").want(t, http.StatusNotFound)

	var log struct {
		Entries []struct{ Action, Subject, Note string }
	}
	admin.send(http.MethodGet, "/v2/audit", "").want(t, http.StatusOK).decode(t, &log)
	var got []string
	for _, e := range log.Entries {
		if strings.HasPrefix(e.Action, "region.") {
			got = append(got, strings.TrimSpace(e.Action+" "+e.Subject+" "+e.Note))
		}
	}
	want := []string{"region.remove " + heldRegionID, "region.cancel", "region.import  town.osm.pbf (without cameras)"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("the audit log has %q, want %q", got, want)
	}
}

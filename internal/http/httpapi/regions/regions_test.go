package regions_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
)

// TestImportsTakeFilesOfTheFolderAlone checks that files cannot be imported by names that lead out of the folder of extracts, or to
// no file.
func TestImportsTakeFilesOfTheFolderAlone(t *testing.T) {
	t.Parallel()
	d := httpapitest.NewService(t)
	admin := d.SignedInAs("admin@example.org", mapdata.Admin)
	d.Write(t, "extracts/town.osm.pbf", "x")
	d.Write(t, "extracts/notes.txt", "x")
	d.Write(t, "extracts/sub/deep.osm.pbf", "x")
	d.Write(t, "secret.osm.pbf", "x")
	for link, to := range map[string]string{"out.osm.pbf": "../secret.osm.pbf", "in.osm.pbf": "town.osm.pbf", "dir.osm.pbf": "sub"} {
		if err := os.Symlink(to, filepath.Join(d.Dir, "extracts", link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{
		"../secret.osm.pbf", "..", ".", "", "sub/deep.osm.pbf", filepath.Join(d.Dir, "secret.osm.pbf"), "out.osm.pbf", "in.osm.pbf", "dir.osm.pbf", "notes.txt",
		"absent.osm.pbf", "-h.pbf", "--data-dir.pbf", ".hidden.pbf", "town.osm.pbf\x00.pbf", `..\secret.osm.pbf`, strings.Repeat("a", 5000) + ".pbf",
	} {
		name, err := json.Marshal([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		text := `{"files": ` + string(name) + `}`
		if resp := admin.Send(http.MethodPost, "/v2/regions/imports", text); resp.StatusCode != http.StatusUnprocessableEntity && resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%q: %d %s", name, resp.StatusCode, resp.Body)
		}
	}
	for text, want := range map[string]string{
		`{}`:                                   `"required"`,
		`{"files": "town.osm.pbf"}`:            `"invalid_type"`,
		`{"files": ["town.osm.pbf"], "to": 1}`: `"unknown_field"`,
		`{"files": ["town.osm.pbf"], "without": ["roads"]}`: `"unknown_product"`,
	} {
		if resp := admin.Send(http.MethodPost, "/v2/regions/imports", text).Want(t, http.StatusUnprocessableEntity); !strings.Contains(resp.Body, want) {
			t.Errorf("%s: %s", text, resp.Body)
		}
	}
	var listed struct {
		Extracts []struct{ Name string }
		Import   any
	}
	admin.Send(http.MethodGet, "/v2/regions/imports", "").Want(t, http.StatusOK).Decode(t, &listed)
	if len(listed.Extracts) != 1 || listed.Extracts[0].Name != "town.osm.pbf" || listed.Import != nil {
		t.Errorf("it lists %+v", listed)
	}

	admin.Send(http.MethodPost, "/v2/regions/imports", `{"files": ["town.osm.pbf"], "without": ["cameras"]}`).Want(t, http.StatusAccepted)
	admin.Send(http.MethodPost, "/v2/regions/imports", `{"files": ["town.osm.pbf"]}`).Want(t, http.StatusConflict)
	admin.Send(http.MethodDelete, "/v2/regions/imports", "").Want(t, http.StatusNoContent)
	admin.Send(http.MethodDelete, "/v2/regions/imports", "").Want(t, http.StatusConflict)
	admin.Send(http.MethodDelete, "/v2/regions/"+d.HeldRegion(t), "").Want(t, http.StatusNoContent)
	admin.Send(http.MethodDelete, "/v2/regions/"+httpapitest.HeldRegionID, "").Want(t, http.StatusNotFound)
	admin.Send(http.MethodDelete, "/v2/regions/current", "").Want(t, http.StatusNotFound)

	var log struct {
		Entries []struct{ Action, Subject, Note string }
	}
	admin.Send(http.MethodGet, "/v2/audit", "").Want(t, http.StatusOK).Decode(t, &log)
	var got []string
	for _, e := range log.Entries {
		if strings.HasPrefix(e.Action, "region.") {
			got = append(got, strings.TrimSpace(e.Action+" "+e.Subject+" "+e.Note))
		}
	}
	want := []string{"region.remove " + httpapitest.HeldRegionID, "region.cancel", "region.import  town.osm.pbf (without cameras)"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("the audit log has %q, want %q", got, want)
	}
}

package region

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"wayside/internal/proof/systemtest"
	"wayside/internal/roads/osmpbf"
)

// rowsWritten is logged when the rows of a built-in source are stored.
const rowsWritten = "a built-in source has the rows of the region"

// drawCameraTown writes an extract of a street with a camera and a charger, and returns its path.
func drawCameraTown(t *testing.T, word string, limit string) string {
	t.Helper()
	return drawCameraTownAt(t, time.Time{}, word, limit)
}

// drawCameraTownAt writes an extract with the data of a day.
func drawCameraTownAt(t *testing.T, day time.Time, word, limit string) string {
	t.Helper()
	var out bytes.Buffer
	w, err := osmpbf.NewWriter(&out, osmpbf.WriterOptions{AsOf: day})
	systemtest.Must(t, err)
	for id := range int64(5) {
		systemtest.Must(t, w.Node(osmpbf.Node{ID: id + 1, Lat: 52_000_000_000, Lng: 5_000_000_000 + id*1_500_000}))
	}
	systemtest.Must(t, errors.Join(
		w.Node(osmpbf.Node{ID: 10, Lat: 52_000_100_000, Lng: 5_001_500_000, Tags: osmpbf.Tags{{Key: "highway", Value: "speed_camera"}, {Key: "maxspeed", Value: limit}}}),
		w.Node(osmpbf.Node{ID: 11, Lat: 52_000_200_000, Lng: 5_003_000_000, Tags: osmpbf.Tags{{Key: "amenity", Value: "charging_station"}}}),
		w.Way(osmpbf.Way{ID: 1, Refs: []int64{1, 2, 3, 4, 5}, Tags: osmpbf.Tags{{Key: "highway", Value: "residential"}, {Key: "name", Value: word}}}),
		w.Close()))
	return writeFile(t, word+".osm.pbf", out.Bytes())
}

// builtinSource is a part of a source of the list.
type builtinSource struct {
	ID, Attribution, Licence string
	Type                     string `json:"source_type"`
}

// listSources returns the sources that a guest sees, without that of drivers' reports, which every service has.
func listSources(t *testing.T, c *systemtest.Client) (all []builtinSource, ids []string) {
	t.Helper()
	resp, body := c.Do(http.MethodGet, "/v2/sources", nil)
	var got struct{ Sources []builtinSource }
	if resp.StatusCode != http.StatusOK || json.Unmarshal(body, &got) != nil {
		t.Fatalf("the sources: %d %s", resp.StatusCode, body)
	}
	all = slices.DeleteFunc(got.Sources, func(s builtinSource) bool { return s.ID == "drivers" })
	for _, s := range all {
		ids = append(ids, s.ID)
	}
	return all, ids
}

// camera reads the camera of the town; nil: there is none.
func camera(t *testing.T, c *systemtest.Client) map[string]any {
	t.Helper()
	resp, body := c.Do(http.MethodGet, "/v2/entities/nearby?lat=52&lng=5&radius=5000&sources=osm-cameras", nil)
	var got struct {
		Entities []struct {
			ExternalID string `json:"external_id"`
			Properties map[string]any
		}
	}
	systemtest.Must(t, json.Unmarshal(body, &got))
	if resp.StatusCode != http.StatusOK || len(got.Entities) != 1 || got.Entities[0].ExternalID != "node/10" {
		return nil
	}
	return got.Entities[0].Properties
}

// TestBuiltinSourcesFollowTheRegion checks that cameras and chargers appear with an import, change with the next, stay over a
// restart, and disappear with the region, or if an import leaves out their product.
func TestBuiltinSourcesFollowTheRegion(t *testing.T) {
	t.Parallel()
	s := systemtest.StartService(t, systemtest.Unlimited)
	guest := &systemtest.Client{Service: s, HTTP: http.Client{Timeout: time.Minute}}
	sources := func(want ...string) func() bool {
		return func() bool { _, ids := listSources(t, guest); return slices.Equal(ids, want) }
	}
	if !sources()() {
		t.Error("there are sources without a region")
	}
	first := importRegion(s, drawCameraTown(t, "First", "50"))
	watch := s.Watch()
	systemtest.Eventually(t, "both sources are listed", sources("osm-cameras", "osm-chargers"))
	systemtest.Eventually(t, "the camera is there", func() bool { return camera(t, guest)["maxspeed_kmh"] == 50.0 })
	if took := watch.Took(); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	all, _ := listSources(t, guest)
	if one := all[0]; one.Type != "builtin" || one.Attribution != "© OpenStreetMap contributors" || one.Licence != "ODbL-1.0" {
		t.Errorf("the source: %+v", one)
	}
	for path, want := range map[string]string{"/sources": "Cameras of OpenStreetMap", "/sources/osm-cameras": "© OpenStreetMap contributors", "/v2/sources/osm-cameras/entities": "node/10"} {
		if resp, body := guest.Do(http.MethodGet, path, nil); resp.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("%s: %d, want %q in %s", path, resp.StatusCode, want, body)
		}
	}

	systemtest.Must(t, s.Terminate())
	s.Start(nil)
	systemtest.Eventually(t, "the sources are there after a restart", sources("osm-cameras", "osm-chargers"))
	importRegion(s, drawCameraTown(t, "Second", "80"))
	systemtest.Eventually(t, "the camera is the next region's", func() bool { return camera(t, guest)["maxspeed_kmh"] == 80.0 })
	systemtest.Eventually(t, "it is logged", func() bool { return strings.Contains(s.Log.String(), rowsWritten) })
	if log := s.Log.String(); strings.Count(log, rowsWritten) != 1 { // of the camera; the charger is the same, and a restart writes nothing
		t.Errorf("written: %s", log)
	}

	var bare importedJSON
	systemtest.Must(t, json.Unmarshal([]byte(s.CLI("region", "import", "--json", "--without", "chargers", drawCameraTown(t, "First", "50"))), &bare))
	if bare.ID == first.ID {
		t.Errorf("without a product it is the same region %s", bare.ID)
	}
	systemtest.Eventually(t, "the product that is left out is gone", sources("osm-cameras"))
	s.CLI("region", "remove", bare.ID)
	systemtest.Eventually(t, "they are gone with the region", sources())
	if camera(t, guest) != nil {
		t.Error("the camera is still there")
	}
	importRegion(s, drawCameraTown(t, "First", "50"))
	systemtest.Eventually(t, "they are back with the region", sources("osm-cameras", "osm-chargers"))
}

// TestLawHidesBuiltinCameras checks that areas of law apply to the cameras of a region too.
func TestLawHidesBuiltinCameras(t *testing.T) {
	t.Parallel()
	law := writeFile(t, "law.geojson", []byte(`{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"name":"here","hide":["camera.speed"]},
		"geometry":{"type":"Polygon","coordinates":[[[4,51],[6,51],[6,53],[4,53],[4,51]]]}}]}`))
	s := systemtest.StartService(t, systemtest.Unlimited+fmt.Sprintf("\n[law]\nfile = %q\n", law))
	guest := &systemtest.Client{Service: s, HTTP: http.Client{Timeout: time.Minute}}
	importRegion(s, drawCameraTown(t, "First", "50"))
	systemtest.Eventually(t, "the sources are listed", func() bool { _, ids := listSources(t, guest); return len(ids) == 2 })
	if camera(t, guest) != nil {
		t.Error("the camera is shown where law hides it")
	}
	resp, body := guest.Do(http.MethodGet, "/v2/entities/nearby?lat=52&lng=5&radius=5000&sources=osm-chargers", nil)
	if resp.StatusCode != http.StatusOK || !strings.Contains(string(body), "node/11") {
		t.Errorf("the charger is hidden too: %d %s", resp.StatusCode, body)
	}
}

// TestBuiltinSourcesBelongToNobody checks what operators can and cannot do to a built-in source.
func TestBuiltinSourcesBelongToNobody(t *testing.T) {
	t.Parallel()
	s := systemtest.StartService(t, systemtest.Unlimited)
	guest := &systemtest.Client{Service: s, HTTP: http.Client{Timeout: time.Minute}}
	importRegion(s, drawCameraTown(t, "First", "50"))
	listed := func() bool { _, ids := listSources(t, guest); return slices.Contains(ids, "osm-cameras") }
	systemtest.Eventually(t, "the source is listed", listed)
	if out := s.CLI("account", "list"); strings.Count(strings.TrimSpace(out), "\n") > 0 {
		t.Errorf("accounts: %s", out)
	}
	if resp, body := guest.Do(http.MethodGet, "/v2/feeds/00000000-0000-8000-8000-000000000002", nil); resp.StatusCode == http.StatusOK {
		t.Errorf("as a feed of a provider: %s", body)
	}
	const id = "00000000-0000-8000-8000-000000000002"
	for _, command := range [][]string{{"feed", "delete", id}, {"feed", "remove", id, "--reason", "x"}} {
		if _, err := s.TryCLI(command...); err == nil || !strings.Contains(err.Error(), "goes with its region") {
			t.Errorf("%v: %v", command, err)
		}
	}
	s.CLI("feed", "pause", id, "--reason", "They are wrong.")
	systemtest.Eventually(t, "the paused source is hidden", func() bool { return !listed() && camera(t, guest) == nil })
	importRegion(s, drawCameraTown(t, "Second", "80"))
	s.CLI("feed", "resume", id)
	systemtest.Eventually(t, "the resumed source is the next region's", func() bool { return camera(t, guest)["maxspeed_kmh"] == 80.0 })
}

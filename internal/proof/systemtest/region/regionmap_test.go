package region

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"wayside/internal/proof/systemtest"
	"wayside/internal/roads/basemap/mvt"
)

// TestTheRegionHasTheMap imports regions into a running service without a configured map, and checks that each brings its map, with
// a separate address, version and entity tags, and that the map disappears with the region.
func TestTheRegionHasTheMap(t *testing.T) {
	t.Parallel()
	s := systemtest.StartService(t, systemtest.Unlimited)
	guest := &systemtest.Client{Service: s, HTTP: http.Client{Timeout: time.Minute}}
	type tileJSON struct {
		Version, Attribution string
		Tiles                []string
		Bounds               [4]float64
		MaxZoom              int
	}
	describe := func() (status int, d tileJSON) {
		resp, body := guest.Do(http.MethodGet, "/map/tilejson", nil)
		if resp.StatusCode == http.StatusOK {
			systemtest.Must(t, json.Unmarshal(body, &d))
		}
		return resp.StatusCode, d
	}
	if status, _ := describe(); status != http.StatusNotFound {
		t.Fatalf("without a region: %d", status)
	}
	versions := map[string]bool{}
	tags := map[string]bool{}
	for _, name := range []string{"North", "South"} {
		region := importRegion(s, drawTown(t, name, 12))
		watch := s.Watch()
		var d tileJSON
		systemtest.Eventually(t, "the map is that of the region", func() bool {
			_, d = describe()
			return strings.HasSuffix(d.Version, "+"+region.Version)
		})
		if took := watch.Took(); took > 5*time.Second {
			t.Errorf("%s: taken over after %v", name, took)
		}
		if want := `<a href="https://www.openstreetmap.org/copyright">© OpenStreetMap contributors</a>`; d.Attribution != want || d.MaxZoom != 14 {
			t.Errorf("%s: %+v", name, d)
		}
		if !strings.HasSuffix(d.Tiles[0], "/map/tiles/{z}/{x}/{y}?v="+region.Version) {
			t.Errorf("%s: tiles are at %q", name, d.Tiles)
		}
		x, y := mvt.Mercator(14, (d.Bounds[1]+d.Bounds[3])/2, (d.Bounds[0]+d.Bounds[2])/2)
		resp, body := guest.Do(http.MethodGet, fmt.Sprintf("/map/tiles/14/%d/%d", int(x), int(y)), nil)
		roads, err := mvt.Read(body, "roads")
		if err != nil || resp.StatusCode != http.StatusOK || len(roads) == 0 {
			t.Errorf("%s: a tile of %d with %d bytes and %d roads, %v", name, resp.StatusCode, len(body), len(roads), err)
		}
		versions[d.Version], tags[resp.Header.Get("Etag")] = true, true
		if _, page := guest.Do(http.MethodGet, "/v2/overlay/config", nil); !strings.Contains(string(page), `"attribution":"© OpenStreetMap contributors"`) {
			t.Errorf("%s: the page for cars gets %s", name, page)
		}
		if _, style := guest.Do(http.MethodGet, "/map/style.json", nil); !strings.Contains(string(style), "?v="+region.Version) {
			t.Errorf("%s: the style is %.300s", name, style)
		}
	}
	if len(versions) != 2 || len(tags) != 2 {
		t.Errorf("two regions have the versions %v and the tags %v", versions, tags)
	}
	bare := importRegion(s, drawTown(t, "South", 12), "--without", "tiles")
	systemtest.Eventually(t, "a region without a map", func() bool {
		status, _ := describe()
		_, version, _, err := routeVersion(guest)
		return err == nil && version == bare.Version && status == http.StatusNotFound
	})
	if _, style := guest.Do(http.MethodGet, "/map/style.json", nil); strings.Contains(string(style), "/map/tiles/") || !strings.Contains(string(style), "/map/world/") {
		t.Errorf("the style without a map is %.300s", style)
	}
}

package httpapi_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"image/png"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wayside/internal/http/httpapi"
	"wayside/internal/http/httpapi/httpapitest"
	"wayside/internal/http/httpapi/public"
	"wayside/internal/roads/basemap"
	"wayside/internal/roads/basemap/world"
)

// newMapService returns a service with a map of two tiles.
func newMapService(t *testing.T, kind basemap.TileType) *httpapitest.ReadService {
	t.Helper()
	name := filepath.Join(t.TempDir(), "map.pmtiles")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	plan := basemap.Plan{
		Type: kind, Bounds: basemap.Bounds{West: 4.9, South: 51.9, East: 5.1, North: 52.1}, Center: [3]float64{5, 52, 13},
		Attribution: "the file's own", Layers: []basemap.VectorLayer{{ID: "roads", Fields: map[string]string{"kind": "String"}, MaxZoom: 14}},
	}
	if err := basemap.Write(f, plan, []basemap.Tile{{Z: 1, X: 1, Y: 0, Data: bytes.Repeat([]byte("tile "), 400)}, {Z: 3, X: 4, Y: 2, Data: []byte("b")}}); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	archive, err := basemap.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { archive.Close() })
	return httpapitest.NewReadService(t, func(deps *public.Deps) {
		deps.BaseMap = func() *httpapi.BaseMap {
			return &httpapi.BaseMap{Archive: archive, StyleURL: "/map/style.json", Attribution: "© <Somebody>"}
		}
		deps.Limits.GuestReads = 1 // tiles must not count against it
	})
}

// TestTiles checks the properties on which map libraries rely: the tile, its type, its encoding, and its Cache-Control.
func TestTiles(t *testing.T) {
	whole := strings.Repeat("tile ", 400)
	for _, tt := range []struct {
		name           string
		kind           basemap.TileType
		path, accept   string
		status         int
		encoding, want string
	}{
		{"packed", basemap.MVT, "1/1/0", "zstd;q=1, gzip;q=0.2", 200, "gzip", whole},
		{"not packed", basemap.MVT, "1/1/0", "", 200, "", whole},
		{"gzip refused", basemap.MVT, "1/1/0", "gzip;q=0, *", 200, "", whole},
		{"picture", basemap.PNG, "1/1/0", "gzip", 200, "", whole},
		{"none there", basemap.MVT, "3/4/3", "gzip", 204, "", ""},
		{"zoom between", basemap.MVT, "2/0/0", "gzip", 204, "", ""},
		{"zoom beyond", basemap.MVT, "14/0/0", "gzip", 204, "", ""},
		{"column beyond", basemap.MVT, "1/2/0", "gzip", 404, "", ""},
		{"row beyond", basemap.MVT, "1/0/2", "gzip", 404, "", ""},
		{"no zoom", basemap.MVT, "27/0/0", "gzip", 404, "", ""},
		{"zoom of 64 bits", basemap.MVT, "18446744073709551615/0/0", "gzip", 404, "", ""},
		{"no number", basemap.MVT, "1/-1/0", "gzip", 404, "", ""},
		{"with an ending", basemap.MVT, "1/1/0.mvt", "gzip", 404, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newMapService(t, tt.kind)
			for range 3 { // no limit counts them
				resp, body := s.Get("/map/tiles/"+tt.path, "Accept-Encoding", tt.accept)
				if resp.StatusCode != tt.status || resp.Header.Get("Content-Encoding") != tt.encoding {
					t.Fatalf("%s, %q: %s", resp.Status, resp.Header.Get("Content-Encoding"), body)
				}
				httpapitest.CheckAnswer(t, resp, body)
				if tt.status == http.StatusNotFound {
					return
				}
				if got := resp.Header.Get("Cache-Control"); got != "public, max-age=86400" {
					t.Errorf("Cache-Control %q", got)
				}
				if tt.encoding == "gzip" {
					body = gunzip(t, body)
				}
				if string(body) != tt.want {
					t.Errorf("%q", body)
				}
				if tt.want != "" && resp.Header.Get("Content-Type") != tt.kind.MediaType() {
					t.Errorf("Content-Type %q", resp.Header.Get("Content-Type"))
				}
				if resp, _ := s.Get("/map/tiles/"+tt.path, "If-None-Match", resp.Header.Get("Etag")); resp.StatusCode != http.StatusNotModified {
					t.Errorf("with its own ETag: %s", resp.Status)
				}
			}
		})
	}
}

func gunzip(t *testing.T, b []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestArchiveByRanges checks that PMTiles readers can read the archive by range requests.
func TestArchiveByRanges(t *testing.T) {
	s := newMapService(t, basemap.MVT)
	_, all := s.Get("/map/archive.pmtiles")
	if !bytes.HasPrefix(all, []byte("PMTiles\x03")) {
		t.Fatalf("%q", all[:20])
	}
	for _, tt := range []struct {
		ranges string
		status int
		want   string
	}{
		{"bytes=0-6", 206, "PMTiles"},
		{"bytes=-3", 206, string(all[len(all)-3:])},
		{"bytes=999999-", 416, ""},
		{"lines=1-2", 416, ""},
		{"", 200, string(all)},
	} {
		resp, body := s.Get("/map/archive.pmtiles", "Range", tt.ranges)
		if resp.StatusCode != tt.status || tt.want != "" && string(body) != tt.want {
			t.Errorf("%q: %s: %.20q", tt.ranges, resp.Status, body)
		}
		httpapitest.CheckAnswer(t, resp, body)
	}
	resp, _ := s.Get("/map/archive.pmtiles")
	if resp, _ := s.Get("/map/archive.pmtiles", "If-None-Match", resp.Header.Get("Etag")); resp.StatusCode != http.StatusNotModified {
		t.Errorf("with its own ETag: %s", resp.Status)
	}
}

// TestMapStyle checks that a style refers only to this service's tiles, under the address at which the service was called, that it
// may be cached only under the public address, and that it names no foreign host (F21).
func TestMapStyle(t *testing.T) {
	s := newMapService(t, basemap.MVT)
	seen := map[string]bool{}
	for _, path := range []string{"/map/style.json", "/map/style.json?theme=night", "/map/style.json?language=de", "/map/style.json?names=false", "/map/tilejson"} {
		resp, body := s.Get(path)
		httpapitest.CheckAnswer(t, resp, body)
		if seen[string(body)] {
			t.Errorf("%s is the same as another", path)
		}
		seen[string(body)] = true
		tiles := s.Server.URL + "/map/tiles/{z}/{x}/{y}?v="
		if !strings.Contains(string(body), tiles) || strings.Count(string(body), "http") != 1 {
			t.Errorf("%s: does not refer to %s only: %s", path, tiles, body)
		}
	}
	for host, want := range map[string]struct{ tiles, cache string }{
		"wayside.test":     {"http://wayside.test/map/tiles/", "public, max-age=300"},
		"evil.example.org": {"http://wayside.test/map/tiles/", "no-store"},
		"localhost:1":      {"http://localhost:1/map/tiles/", "no-store"},
	} {
		resp := s.GetAs(host, "/map/tilejson")
		if got := resp.Header.Get("Cache-Control"); got != want.cache {
			t.Errorf("%s: Cache-Control %q", host, got)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.Server.URL+"/map/style.json", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		styled, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(styled.Body)
		_ = styled.Body.Close()
		if err != nil || !strings.Contains(string(text), want.tiles) {
			t.Errorf("%s: %v, no tiles at %s in %s", host, err, want.tiles, text)
		}
	}
	_, body := s.Get("/map/tilejson")
	var about struct{ Attribution string }
	if err := json.Unmarshal(body, &about); err != nil || about.Attribution != "© &lt;Somebody&gt;" {
		t.Errorf("%q %v: the attribution is not escaped", about.Attribution, err)
	}
	for _, query := range []string{"theme=dusk", "language=d", "language=DE", "language=%22%5D", "names=no"} {
		resp, body := s.Get("/map/style.json?" + query)
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %s", query, resp.Status)
		}
		httpapitest.CheckAnswer(t, resp, body)
	}
}

// TestWorld checks a service without a configured map: its style draws the built-in overview, whose tiles may be cached.
func TestWorld(t *testing.T) {
	overview, err := world.Open()
	if err != nil {
		t.Fatal(err)
	}
	s := httpapitest.NewReadService(t, func(deps *public.Deps) { deps.World = overview.Archive })
	resp, body := s.Get("/map/style.json?theme=night")
	httpapitest.CheckAnswer(t, resp, body)
	tiles := s.Server.URL + "/map/world/{z}/{x}/{y}?v="
	if !strings.Contains(string(body), tiles) || strings.Count(string(body), "http") != 1 {
		t.Errorf("the style does not refer to %s only: %s", tiles, body)
	}
	for path, want := range map[string]int{"0/0/0": 200, "4/8/5": 200, "4/0/9": 204, "5/0/0": 204, "1/2/0": 404} {
		resp, body := s.Get("/map/world/"+path, "Accept-Encoding", "gzip")
		httpapitest.CheckAnswer(t, resp, body)
		if resp.StatusCode != want {
			t.Errorf("%s: %s, want %d", path, resp.Status, want)
		}
		if got := resp.Header.Get("Cache-Control"); want < 300 && got != "public, max-age=86400" {
			t.Errorf("%s: Cache-Control %q", path, got)
		}
	}
}

// TestMapRoutesWithoutAMap checks the responses of a service without a map and without a demo.
func TestMapRoutesWithoutAMap(t *testing.T) {
	s := httpapitest.NewReadService(t, nil)
	for path, want := range map[string]int{
		"/map/tiles/0/0/0": 404, "/map/archive.pmtiles": 404, "/map/tilejson": 404, "/demo/drive.json": 404, "/map/style.json": 200,
	} {
		resp, body := s.Get(path)
		if resp.StatusCode != want {
			t.Errorf("%s: %s", path, resp.Status)
		}
		httpapitest.CheckAnswer(t, resp, body)
	}
	_, body := s.Get("/map/style.json")
	var style struct{ Layers []map[string]any }
	if err := json.Unmarshal(body, &style); err != nil || len(style.Layers) != 1 || style.Layers[0]["type"] != "background" {
		t.Errorf("%v: %s", err, body)
	}
}

// TestDemoDrive checks that the demo's drive is served unchanged.
func TestDemoDrive(t *testing.T) {
	const drive = `{"coordinates":[[5,52]],"speeds":[14]}`
	s := httpapitest.NewReadService(t, func(deps *public.Deps) { deps.Demo = &httpapi.Demo{Drive: []byte(drive)} })
	resp, body := s.Get("/demo/drive.json")
	if string(body) != drive {
		t.Errorf("%s: %s", resp.Status, body)
	}
	httpapitest.CheckAnswer(t, resp, body)
}

// TestMapIcons checks the files of the icons that the style names, which need no map.
func TestMapIcons(t *testing.T) {
	s := newMapService(t, basemap.MVT)
	for _, file := range []string{"sprite.json", "sprite@2x.json", "sprite.png", "sprite@2x.png"} {
		resp, body := s.Get("/map/icons/" + file)
		if strings.HasSuffix(file, ".json") {
			httpapitest.CheckAnswer(t, resp, body)
		} else if _, err := png.Decode(bytes.NewReader(body)); err != nil || resp.Header.Get("Content-Type") != "image/png" {
			t.Errorf("%s: %q, %v", file, resp.Header.Get("Content-Type"), err)
		}
		if resp.Header.Get("Cache-Control") != "public, max-age=300" || len(body) == 0 {
			t.Errorf("%s: %d bytes, Cache-Control %q", file, len(body), resp.Header.Get("Cache-Control"))
		}
		if resp, _ := s.Get("/map/icons/"+file, "If-None-Match", resp.Header.Get("Etag")); resp.StatusCode != http.StatusNotModified {
			t.Errorf("%s with its own ETag: %s", file, resp.Status)
		}
	}
	if resp, _ := s.Get("/map/icons/other.png"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("other icons: %s", resp.Status)
	}
}

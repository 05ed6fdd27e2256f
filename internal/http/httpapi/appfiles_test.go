package httpapi_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"wayside/internal/http/httpapi/httpapitest"
	"wayside/internal/http/httpapi/public"
)

// TestManifest checks that the manifest and every icon that it names exist, with the declared types.
func TestManifest(t *testing.T) {
	s := httpapitest.NewReadService(t, nil)
	resp, body := s.Get("/manifest.webmanifest")
	if got := resp.Header.Get("Content-Type"); got != "application/manifest+json" {
		t.Errorf("Content-Type %q", got)
	}
	var manifest struct {
		StartURL string `json:"start_url"`
		Icons    []struct {
			Src, Type string
		}
	}
	if err := json.Unmarshal(body, &manifest); err != nil {
		t.Fatal(err)
	}
	if manifest.StartURL != "/" || len(manifest.Icons) == 0 {
		t.Errorf("%s", body)
	}
	for _, icon := range manifest.Icons {
		resp, _ := s.Get(icon.Src)
		if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != icon.Type {
			t.Errorf("%s: %s, %s", icon.Src, resp.Status, resp.Header.Get("Content-Type"))
		}
	}
	for path, want := range map[string]string{
		"/favicon.ico": "image/x-icon", "/robots.txt": "text/plain; charset=utf-8", "/app/apple-touch-icon.png": "image/png",
	} {
		if resp, _ := s.Get(path); resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != want {
			t.Errorf("%s: %s, %s", path, resp.Status, resp.Header.Get("Content-Type"))
		}
	}
	if resp, _ := s.Get("/app/nothing.png"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("a missing icon: %s", resp.Status)
	}
}

// releaseIn reads the release at the beginning of the service worker.
func releaseIn(t *testing.T, worker []byte) (version string, files []string) {
	t.Helper()
	line, _, _ := strings.Cut(string(worker), ";\n")
	var release struct {
		Version string
		Files   []string
	}
	if err := json.Unmarshal([]byte(strings.TrimPrefix(line, "self.release = ")), &release); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return release.Version, release.Files
}

// TestServiceWorkerNamesItsRelease checks that the worker contains the version of the page's files and their names, so that its
// bytes change with each release, and that the page's policy allows it and the manifest.
func TestServiceWorkerNamesItsRelease(t *testing.T) {
	built := func(script string) fstest.MapFS {
		files := maps.Clone(smallOverlay(script).(fstest.MapFS))
		files["sw.js"] = &fstest.MapFile{Data: []byte("work()")}
		return files
	}
	s := httpapitest.NewOverlayService(t, built("a()"))
	_, page := s.Get("/")
	resp, worker := s.Get("/sw.js")
	version, files := releaseIn(t, worker)
	if !strings.Contains(string(page), `"/overlay/`+version+`/index.js"`) {
		t.Errorf("the page is not of release %s: %s", version, page)
	}
	if !slices.Equal(files, []string{"index.js"}) {
		t.Errorf("files %v", files)
	}
	if !strings.HasSuffix(string(worker), "work()") || resp.Header.Get("Cache-Control") != "no-cache" || resp.Header.Get("Content-Type") != "text/javascript; charset=utf-8" {
		t.Errorf("%s, %v", worker, resp.Header)
	}
	_, other := httpapitest.NewOverlayService(t, built("b()")).Get("/sw.js")
	if after, _ := releaseIn(t, other); after == version {
		t.Error("another release has the same worker")
	}
	if resp, _ := s.Get("/overlay/" + version + "/sw.js"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("the worker under a second address: %s", resp.Status)
	}
	if resp, _ := httpapitest.NewOverlayService(t, smallOverlay("a()")).Get("/sw.js"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("a worker that was not built: %s", resp.Status)
	}
}

// TestPageDescribesItself checks that the parts of the page that other services show of a link have complete addresses.
func TestPageDescribesItself(t *testing.T) {
	source, err := os.ReadFile("../../../web/overlay/index.html")
	if err != nil {
		t.Fatal(err)
	}
	_, page := httpapitest.NewOverlayService(t, fstest.MapFS{"index.html": {Data: source}}).Get("/")
	for _, want := range []string{
		`<meta name="description"`, `<meta name="theme-color"`, `<meta property="og:title"`, `<link rel="manifest" href="/manifest.webmanifest">`,
		`<meta property="og:image" content="http://wayside.test/app/icon-512.png">`,
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

// TestMissingAddress checks that a browser gets a page in its language, and a program a problem document, as does a browser beyond
// the limit on pages.
func TestMissingAddress(t *testing.T) {
	s := httpapitest.NewReadService(t, func(d *public.Deps) { d.Limits.GuestReads = 1 })
	if resp, body := s.Get("/nothing"); resp.StatusCode != http.StatusNotFound || resp.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("a program: %s %s", resp.Status, body)
	}
	resp, body := s.Get("/nothing", "Accept", "text/html,application/xhtml+xml,*/*;q=0.8", "Accept-Language", "de")
	if resp.StatusCode != http.StatusNotFound || resp.Header.Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(string(body), "Nicht gefunden") {
		t.Errorf("a browser: %s %s", resp.Status, body)
	}
	if got := resp.Header.Get("Vary"); !strings.Contains(got, "Accept") {
		t.Errorf("Vary: %s", got)
	}
	resp, _ = s.Get("/nothing", "Accept", "text/html")
	if resp.StatusCode != http.StatusNotFound || resp.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("beyond the limit: %s, %s", resp.Status, resp.Header.Get("Content-Type"))
	}
	if resp, _ := s.Get("/openapi.json"); resp.StatusCode != http.StatusPermanentRedirect || resp.Header.Get("Location") != "/v2/openapi.json" {
		t.Errorf("/openapi.json: %s, %s", resp.Status, resp.Header.Get("Location"))
	}
}

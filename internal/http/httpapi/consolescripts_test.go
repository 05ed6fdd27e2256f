package httpapi_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"wayside/internal/http/httpapi/httpapitest"
	"wayside/internal/http/httpapi/public"
	"wayside/web"
)

// TestConsoleScriptsImportTheOverlaysLibrary checks that the console's scripts load the map library from the same URL as the
// overlay, so that a browser caches it once. web/test/console.test.ts loads a page with its script.
func TestConsoleScriptsImportTheOverlaysLibrary(t *testing.T) {
	scripts, err := web.Console()
	if err != nil {
		t.Fatal(err)
	}
	s := httpapitest.NewReadService(t, func(d *public.Deps) { d.Overlay, d.Scripts = httpapitest.BuiltOverlay(t), scripts })
	resp, script := s.Get("/console/older/map.js")
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Cache-Control") != "no-cache" ||
		resp.Header.Get("Content-Type") != "text/javascript; charset=utf-8" || resp.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("the script of another version: %s, %v", resp.Status, resp.Header)
	}
	if resp, _ := s.Get("/console/older/map.css"); resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/css; charset=utf-8" {
		t.Errorf("the style sheet: %s, %v", resp.Status, resp.Header)
	}
	if resp, _ := s.Get("/console/older/index.html"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("a missing file: %s", resp.Status)
	}
	library := regexp.MustCompile(`/overlay/[0-9a-z]+/map-library\.js`).FindString(string(script))
	_, page := s.Get("/")
	if library == "" || !strings.Contains(string(page), `"`+library+`"`) {
		t.Errorf("the script imports %q, which the page for cars does not load", library)
	}
	if resp, _ := s.Get(library); resp.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" {
		t.Errorf("the library: %s, %v", resp.Status, resp.Header)
	}
}

func TestServiceWithoutConsoleScripts(t *testing.T) {
	s := httpapitest.NewReadService(t, nil)
	if resp, _ := s.Get("/console/x/map.js"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("got %s", resp.Status)
	}
}

package httpapi_test

import (
	"bytes"
	"io"
	"io/fs"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/gzip"

	"wayside/internal/http/httpapi"
	"wayside/internal/http/httpapi/httpapitest"
	"wayside/internal/http/httpapi/public"
	"wayside/web"
)

// TestOverlayLoadsNothingFromElsewhere parses the page as a browser does (D13.4): its policy, its elements, and every
// file in it.
func TestOverlayLoadsNothingFromElsewhere(t *testing.T) {
	s := httpapitest.NewOverlayService(t, httpapitest.BuiltOverlay(t))
	resp, page := s.Get("/")
	for name, want := range map[string]string{
		"Content-Security-Policy": httpapitest.WantOverlayPolicy, "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-cache",
		"Permissions-Policy": "geolocation=(self)", "Referrer-Policy": "same-origin", "X-Content-Type-Options": "nosniff",
	} {
		if got := resp.Header.Get(name); got != want {
			t.Errorf("%s is %q, not %q", name, got, want)
		}
	}
	scripts := 0
	for _, e := range httpapitest.Elements(t, page) {
		if e.Data == "style" || e.Data == "iframe" || e.Data == "base" || e.Data == "object" {
			t.Errorf("the page holds <%s>", e.Data)
		}
		attributes := map[string]string{}
		for _, a := range e.Attr {
			attributes[a.Key] = a.Val
			if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
				t.Errorf("<%s> has %s", e.Data, a.Key)
			}
			if !httpapitest.AddressAttributes[a.Key] {
				continue
			}
			if !strings.HasPrefix(a.Val, "/") || strings.HasPrefix(a.Val, "//") {
				t.Errorf("<%s %s=%q> leads elsewhere", e.Data, a.Key, a.Val)
			} else if resp, _ := s.Get(a.Val); resp.StatusCode != http.StatusOK {
				t.Errorf("%s: %s", a.Val, resp.Status)
			}
		}
		if e.Data == "script" {
			scripts++
			if attributes["src"] == "" || e.FirstChild != nil {
				t.Error("a script stands in the page itself")
			}
		}
	}
	if scripts == 0 {
		t.Error("the page has no script")
	}
}

// smallOverlay returns a page of three files.
func smallOverlay(script string) fs.FS {
	return fstest.MapFS{
		"index.html": {Data: []byte(`<!doctype html><script type="module" src="/overlay/index.js"></script>`)},
		"index.js":   {Data: []byte(script)},
		"a.txt":      {Data: []byte("a")},
	}
}

var versionIn = regexp.MustCompile(`"(/overlay/[0-9a-z]+/)index\.js"`)

// TestOverlayFilesAreVersioned checks that the page's references to its files contain a version that changes with any of them, so
// that they may be cached forever, and that the page itself is revalidated.
func TestOverlayFilesAreVersioned(t *testing.T) {
	script := strings.Repeat("let a = 1;\n", 1000)
	s := httpapitest.NewOverlayService(t, smallOverlay(script))
	resp, page := s.Get("/")
	folder := versionIn.FindSubmatch(page)
	if folder == nil {
		t.Fatalf("the page names no version: %s", page)
	}
	if got, _ := s.Get("/", "If-None-Match", resp.Header.Get("ETag")); got.StatusCode != http.StatusNotModified {
		t.Errorf("the same page again: %s", got.Status)
	}
	address := string(folder[1]) + "index.js"
	resp, body := s.Get(address)
	if string(body) != script || resp.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" ||
		resp.Header.Get("Content-Type") != "text/javascript; charset=utf-8" || resp.Header.Get("Content-Security-Policy") != httpapitest.WantOverlayPolicy {
		t.Errorf("%s: %d bytes, %v", address, len(body), resp.Header)
	}
	if resp, body := s.Get("/overlay/older/index.js"); string(body) != script || resp.Header.Get("Cache-Control") != "no-cache" {
		t.Errorf("a file of another version: %d bytes, %v", len(body), resp.Header)
	}
	if resp, _ := s.Get(string(folder[1]) + "index.html"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("the page under a second address: %s", resp.Status)
	}
	resp, packed := s.Get(address, "Accept-Encoding", "gzip")
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := io.ReadAll(z); err != nil || string(plain) != script || resp.Header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("compressed: %v, %d bytes, %v", err, len(plain), resp.Header)
	}
	_, other := httpapitest.NewOverlayService(t, smallOverlay(script+" ")).Get("/")
	if found := versionIn.FindSubmatch(other); found == nil || string(found[1]) == string(folder[1]) {
		t.Errorf("another script has the same version %q", folder[1])
	}
}

// TestOverlayConfig checks the response with and without a base map.
func TestOverlayConfig(t *testing.T) {
	const path = "/v2/overlay/config"
	resp, body := httpapitest.NewOverlayService(t, nil).Get(path)
	if got, want := strings.TrimSpace(string(body)), `{"version":"1.2.3","base_map":null,"primary_network":"tesla","demo":false,"extent":null}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := resp.Header.Get("Cache-Control"); got != "no-cache" { // data may arrive at any moment
		t.Errorf("Cache-Control %q", got)
	}
	httpapitest.CheckAnswer(t, resp, body)
	s := httpapitest.NewReadService(t, func(d *public.Deps) {
		d.BaseMap = func() *httpapi.BaseMap { return &httpapi.BaseMap{StyleURL: "/map/style.json", Attribution: "Ours"} }
		d.Demo = &httpapi.Demo{Drive: []byte("{}")}
	})
	resp, body = s.Get(path)
	httpapitest.CheckAnswer(t, resp, body)
	if want := `"demo":true`; !strings.Contains(string(body), want) {
		t.Errorf("%s lacks %s", body, want)
	}
	if want := `"base_map":{"style_url":"/map/style.json","attribution":"Ours"}`; !strings.Contains(string(body), want) {
		t.Errorf("%s lacks %s", body, want)
	}
}

// TestOverlayPolicyAllowsTheOperatorsMap checks that the page's policy allows images and requests of the operator's map, and
// nothing else from that host.
func TestOverlayPolicyAllowsTheOperatorsMap(t *testing.T) {
	files, err := web.Overlay()
	if err != nil {
		t.Fatal(err)
	}
	s := httpapitest.NewReadService(t, func(d *public.Deps) {
		d.Overlay = files
		d.BaseMap = func() *httpapi.BaseMap {
			return &httpapi.BaseMap{StyleURL: "https://tiles.example.org:8443/day.json", Origins: []string{"https://tiles.example.org:8443"}}
		}
	})
	resp, err := s.Server.Client().Get(s.Server.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	want := "default-src 'none'; script-src 'self'; worker-src 'self'; manifest-src 'self'; style-src 'self'; img-src 'self' https://tiles.example.org:8443; " +
		"connect-src 'self' https://tiles.example.org:8443; frame-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	if got := resp.Header.Get("Content-Security-Policy"); got != want {
		t.Errorf("policy %q, want %q", got, want)
	}
}

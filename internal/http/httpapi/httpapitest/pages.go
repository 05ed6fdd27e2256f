package httpapitest

import (
	"io/fs"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"wayside/internal/http/httpapi/public"
	"wayside/web"
)

// AddressAttributes are the attributes by which a page can make a browser load or send something.
var AddressAttributes = map[string]bool{
	"href": true, "src": true, "srcset": true, "action": true, "formaction": true, "data": true, "poster": true,
	"background": true, "cite": true, "ping": true, "manifest": true, "xlink:href": true,
}

// Elements parses a page and returns its elements.
func Elements(t *testing.T, page []byte) []*html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(string(page)))
	if err != nil {
		t.Fatal(err)
	}
	var all []*html.Node
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			all = append(all, n)
		}
	}
	return all
}

// WantOverlayPolicy repeats the policy, so that a test fails when the page gets more rights.
const WantOverlayPolicy = "default-src 'none'; script-src 'self'; worker-src 'self'; manifest-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"frame-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// NewOverlayService returns a service of reads with the page for cars.
func NewOverlayService(t *testing.T, overlay fs.FS) *ReadService {
	t.Helper()
	return NewReadService(t, func(d *public.Deps) {
		d.Overlay, d.Version, d.PrimaryNetwork = overlay, "1.2.3", "tesla"
	})
}

// BuiltOverlay returns the built page for cars.
func BuiltOverlay(t *testing.T) fs.FS {
	t.Helper()
	built, err := web.Overlay()
	if err != nil {
		t.Fatal(err)
	}
	return built
}

package pages

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"

	"wayside/internal/mapdata"
	"wayside/internal/response"
)

// Cache-Control of a page and of its files. The page names its files by their version: browsers revalidate the page alone,
// and the page never runs with files of another release.
const (
	cacheRevalidate = "no-cache"
	cacheForever    = "public, max-age=31536000, immutable"
)

const (
	overlayPage   = "index.html"
	overlayFolder = "/overlay" // of its files' paths
)

// Overlay is the built page for cars. Its files are read on the first request.
type Overlay struct {
	policy string
	files  func() (*overlayFiles, error)
}

// overlayFiles are the files in memory.
type overlayFiles struct {
	version string // changes with any byte of any file; safe in paths
	page    *response.File
	files   map[string]*response.File // all but the page, by name
}

// NewOverlay makes the page of the files that were built in web/overlay; nil: every request is answered with "not found".
// mapOrigins are the other origins from which the page may load its base map.
func NewOverlay(built fs.FS, mapOrigins []string) *Overlay {
	return &Overlay{
		policy: overlayPolicy(mapOrigins),
		files:  sync.OnceValues(func() (*overlayFiles, error) { return readOverlay(built) }),
	}
}

// overlayPolicy lets the page run its own scripts and worker and read from this service, and nothing else (D13.4).
// MapLibre needs neither blob: nor eval, since its worker is a file (web/build/maplibre.ts). An operator's map on another
// host may be loaded from there, but not its fonts: a style that needs fonts is drawn without text.
func overlayPolicy(mapOrigins []string) string {
	from := strings.Join(append([]string{"'self'"}, mapOrigins...), " ")
	return "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src " + from + "; connect-src " + from +
		"; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// ServePage answers with the page.
func (o *Overlay) ServePage(w http.ResponseWriter, r *http.Request) error {
	all, err := o.files()
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Security-Policy", o.policy)
	h.Set("Permissions-Policy", "geolocation=(self)")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cache-Control", cacheRevalidate)
	all.page.Serve(w, r)
	return nil
}

// ServeFile answers with one of the page's files, from the path values version and file. A page of another release gets the
// current files too, but is told not to cache them.
func (o *Overlay) ServeFile(w http.ResponseWriter, r *http.Request) error {
	all, err := o.files()
	if err != nil {
		return err
	}
	name := r.PathValue("file")
	file := all.files[name]
	if file == nil {
		return mapdata.Describe(mapdata.ErrNotFound, "The page has no such file.")
	}
	h := w.Header()
	h.Set("Cache-Control", cacheOf(r, all.version))
	if strings.HasSuffix(name, ".js") {
		h.Set("Content-Security-Policy", o.policy) // a worker's policy is the one of its own script
	}
	file.Serve(w, r)
	return nil
}

// cacheOf is the Cache-Control of a file whose path names the version.
func cacheOf(r *http.Request, version string) string {
	if r.PathValue("version") == version {
		return cacheForever
	}
	return cacheRevalidate
}

// readOverlay reads the files, and puts the version into the page's references to them.
func readOverlay(built fs.FS) (*overlayFiles, error) {
	if built == nil {
		return nil, mapdata.Describe(mapdata.ErrNotFound, "This service has no page for cars.")
	}
	entries, err := fs.ReadDir(built, ".")
	if err != nil {
		return nil, fmt.Errorf("read the page's files: %w", err)
	}
	all := &overlayFiles{files: make(map[string]*response.File)}
	content := xxhash.New()
	var page []byte
	for _, e := range entries {
		body, err := fs.ReadFile(built, e.Name())
		if err != nil {
			return nil, fmt.Errorf("read the page's files: %w", err)
		}
		_, _ = content.WriteString(e.Name()) // writing to a hash cannot fail
		_, _ = content.Write(body)
		if e.Name() == overlayPage {
			page = body
			continue
		}
		all.files[e.Name()] = response.NewFile(body, contentType(e.Name()))
	}
	if page == nil {
		return nil, errors.New("the page was not built: there is no " + overlayPage)
	}
	all.version = strconv.FormatUint(content.Sum64(), 36)
	page = bytes.ReplaceAll(page, []byte(`"`+overlayFolder+`/`), []byte(`"`+overlayFolder+`/`+all.version+"/"))
	all.page = response.NewFile(page, contentType(overlayPage))
	return all, nil
}

// contentType goes by a name's extension; the table of package mime differs from machine to machine.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".txt":
		return "text/plain; charset=utf-8"
	}
	return "application/octet-stream"
}

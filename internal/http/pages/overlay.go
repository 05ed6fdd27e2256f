package pages

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/response"
)

// Cache-Control of a page and of its files. The page names its files by their version: browsers revalidate the page alone,
// and the page never runs with files of another release.
const (
	cacheRevalidate = "no-cache"
	cacheForever    = "public, max-age=31536000, immutable"
)

const (
	overlayPage   = "index.html"
	overlayWorker = "sw.js"    // the service worker, which is served at a path without a version
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
	offered *response.File            // the page of a service with apps, for guests
	plain   []byte                    // the page before apps are written into it
	worker  *response.File            // nil: it was not built
	files   map[string]*response.File // all but the page and the worker, by name
}

// NewOverlay returns the page whose files were built in web/overlay; with a nil file system it answers every request with "not
// found". baseURL is the service's public address, and mapOrigins are the other origins from which the page may load its base map.
func NewOverlay(built fs.FS, baseURL string, mapOrigins []string) *Overlay {
	return &Overlay{
		policy: overlayPolicy(mapOrigins),
		files:  sync.OnceValues(func() (*overlayFiles, error) { return readOverlay(built, baseURL) }),
	}
}

// overlayPolicy returns the policy that lets the page run its own scripts and worker and read from this service, and nothing else
// (D13.4). MapLibre needs neither blob: nor eval, because its worker is a file (web/build/maplibre.ts). The policy allows an
// operator's map on another host, but not the map's fonts: a style that needs fonts is drawn without text.
func overlayPolicy(mapOrigins []string) string {
	from := strings.Join(append([]string{"'self'"}, mapOrigins...), " ")
	return "default-src 'none'; script-src 'self'; worker-src 'self'; manifest-src 'self'; style-src 'self'; img-src " + from + "; connect-src " + from +
		"; " + noFrames + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// ServePage answers with the page. apps describes the apps and the driver; nil: the service has no apps, and the driver is a guest.
func (o *Overlay) ServePage(w http.ResponseWriter, r *http.Request, apps *AppsOfDriver) error {
	all, err := o.files()
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Security-Policy", o.policy)
	h.Set("Permissions-Policy", "geolocation=(self)")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cache-Control", cacheRevalidate)
	switch {
	case apps == nil:
		all.page.Serve(w, r)
	case !apps.SignedIn:
		all.offered.Serve(w, r)
	default:
		o.servePersonal(w, r, all.plain, apps)
	}
	return nil
}

// ServeFile answers with one of the page's files, from the path values version and file. A page of another release gets the current
// files too, with a header that forbids caching them.
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
		h.Set("Content-Security-Policy", o.policy) // a worker runs under the policy of its own script
	}
	file.Serve(w, r)
	return nil
}

// ServeWorker answers with the service worker. Its address has no version, because browsers notice a new release by comparing its
// bytes; these contain the release, so that they change with each one.
func (o *Overlay) ServeWorker(w http.ResponseWriter, r *http.Request) error {
	all, err := o.files()
	if err != nil {
		return err
	}
	if all.worker == nil {
		return mapdata.Describe(mapdata.ErrNotFound, "This service has no page that works offline.")
	}
	h := w.Header()
	h.Set("Content-Security-Policy", o.policy)
	h.Set("Cache-Control", cacheRevalidate)
	all.worker.Serve(w, r)
	return nil
}

// cacheOf returns the Cache-Control of a file whose path names the version.
func cacheOf(r *http.Request, version string) string {
	if r.PathValue("version") == version {
		return cacheForever
	}
	return cacheRevalidate
}

// readOverlay reads the files, puts the version into the page's references to them, and completes the addresses that other services
// read from the page (og:image).
func readOverlay(built fs.FS, baseURL string) (*overlayFiles, error) {
	if built == nil {
		return nil, mapdata.Describe(mapdata.ErrNotFound, "This service has no page for cars.")
	}
	entries, err := fs.ReadDir(built, ".")
	if err != nil {
		return nil, fmt.Errorf("read the page's files: %w", err)
	}
	all := &overlayFiles{files: make(map[string]*response.File)}
	content := xxhash.New()
	var page, worker []byte
	for _, e := range entries {
		body, err := fs.ReadFile(built, e.Name())
		if err != nil {
			return nil, fmt.Errorf("read the page's files: %w", err)
		}
		_, _ = content.WriteString(e.Name()) // writing to a hash cannot fail
		_, _ = content.Write(body)
		switch e.Name() {
		case overlayPage:
			page = body
			continue
		case overlayWorker:
			worker = body
			continue
		}
		all.files[e.Name()] = response.NewFile(body, contentType(e.Name()))
	}
	if page == nil {
		return nil, errors.New("the page was not built: there is no " + overlayPage)
	}
	all.version = strconv.FormatUint(content.Sum64(), 36)
	page = bytes.ReplaceAll(page, []byte(`"`+overlayFolder+`/`), []byte(`"`+overlayFolder+`/`+all.version+"/"))
	page = bytes.ReplaceAll(page, []byte(`content="/`), []byte(`content="`+html.EscapeString(baseURL)+`/`))
	all.plain = page
	all.page = response.NewFile(page, contentType(overlayPage))
	all.offered = response.NewFile(markApps(page, &AppsOfDriver{}), contentType(overlayPage))
	if worker != nil {
		if worker, err = all.stampWorker(worker); err != nil {
			return nil, err
		}
		all.worker = response.NewFile(worker, contentType(overlayWorker))
	}
	return all, nil
}

// stampWorker returns the worker with the release in front: its version, and the scripts and style sheets that the page needs
// offline.
func (all *overlayFiles) stampWorker(worker []byte) ([]byte, error) {
	names := make([]string, 0, len(all.files))
	for name := range all.files {
		if ext := path.Ext(name); ext == ".js" || ext == ".css" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	release, err := json.Marshal(map[string]any{"version": all.version, "files": names})
	if err != nil {
		return nil, fmt.Errorf("describe the release to the service worker: %w", err)
	}
	return slices.Concat([]byte("self.release = "), release, []byte(";\n"), worker), nil
}

// contentType returns the media type of a name's extension. It does not use the table of package mime, which differs from machine
// to machine.
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
	case ".svg":
		return "image/svg+xml"
	case ".png":
		return "image/png"
	case ".ico":
		return "image/x-icon"
	case ".webmanifest":
		return "application/manifest+json"
	}
	return "application/octet-stream"
}

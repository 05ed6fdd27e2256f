package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"wayside/internal/account"
	"wayside/internal/mapdata"
)

// overlayPolicy lets the car's page run its own scripts and worker and read from this service, and nothing else (D13.4).
// MapLibre needs no blob: and no eval, since its worker is a file (web/build/maplibre.ts). An operator whose map is
// elsewhere lets the page load it from there; fonts are none, so that a style that needs them goes without.
func (a *api) overlayPolicy() string {
	from := "'self'"
	if a.BaseMap != nil {
		from = strings.Join(append([]string{from}, a.BaseMap.Origins...), " ")
	}
	return "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src " + from + "; connect-src " + from +
		"; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// Cache-Control of the page and of its files. The page names its files by their version, so it alone is asked for anew, and
// never runs with files of another release.
const (
	cacheAskAgain = "no-cache"
	cacheForever  = "public, max-age=31536000, immutable"
)

// BaseMap is the map below the pins.
type BaseMap struct {
	StyleURL    string // of a MapLibre style, as the page loads it
	Attribution string // what its makers want to be displayed, plain text; may be empty

	// Origins are those of others that the page must be let load from, for its Content-Security-Policy (connect-src and
	// img-src); nil: the map is ours.
	Origins []string
}

func (a *api) overlayRoutes() []route {
	return []route{
		{http.MethodGet, "/{$}", open, account.ForGuests, func(w http.ResponseWriter, r *http.Request, _ *caller) error {
			if a.Overlay == nil {
				http.Redirect(w, r, "/about", http.StatusSeeOther)
				return nil
			}
			return a.getOverlay(w, r)
		}},
		{http.MethodGet, "/overlay/{version}/{file}", open, account.ForGuests, a.getOverlayFile},
		{http.MethodGet, "/v2/overlay/config", open, account.ForGuests, a.getOverlayConfig},
	}
}

// getOverlay answers GET / with the page for the car.
func (a *api) getOverlay(w http.ResponseWriter, r *http.Request) error {
	all, err := a.page()
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Security-Policy", a.overlayPolicy())
	h.Set("Permissions-Policy", "geolocation=(self)")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cache-Control", cacheAskAgain)
	all.page.write(w, r)
	return nil
}

// getOverlayFile answers GET /overlay/<version>/<file>. A page of another release may still ask for its files: it gets
// those that there are, and is not told to keep them.
func (a *api) getOverlayFile(w http.ResponseWriter, r *http.Request, _ *caller) error {
	all, err := a.page()
	if err != nil {
		return err
	}
	file := all.files[r.PathValue("file")]
	if file == nil {
		return mapdata.Describe(mapdata.ErrNotFound, "The page has no such file.")
	}
	h := w.Header()
	h.Set("Cache-Control", cacheAskAgain)
	if r.PathValue("version") == all.version {
		h.Set("Cache-Control", cacheForever)
	}
	if strings.HasSuffix(r.PathValue("file"), ".js") {
		h.Set("Content-Security-Policy", a.overlayPolicy()) // a worker's own policy is the one of its script
	}
	file.write(w, r)
	return nil
}

// overlayConfig is what the page must know of this service before anything else.
type overlayConfig struct {
	Version        string          `json:"version"`
	BaseMap        *overlayBaseMap `json:"base_map"` // null: there is none
	PrimaryNetwork string          `json:"primary_network"`
}

type overlayBaseMap struct {
	StyleURL    string `json:"style_url"`
	Attribution string `json:"attribution"`
}

// getOverlayConfig answers GET /v2/overlay/config.
func (a *api) getOverlayConfig(w http.ResponseWriter, r *http.Request, _ *caller) error {
	config := overlayConfig{Version: a.Version, PrimaryNetwork: a.PrimaryNetwork}
	if a.BaseMap != nil {
		config.BaseMap = &overlayBaseMap{StyleURL: a.BaseMap.StyleURL, Attribution: a.BaseMap.Attribution}
	}
	w.Header().Set("Cache-Control", cacheListing)
	return writeJSON(w, r, http.StatusOK, config)
}

// overlayFiles is the built page in memory.
type overlayFiles struct {
	version string // changes with any byte of any file; safe in paths
	page    *overlayFile
	files   map[string]*overlayFile // all but the page, by name
}

const overlayPage = "index.html"

// readOverlay reads the page, and lets it name its files by the version.
func readOverlay(built fs.FS) (*overlayFiles, error) {
	if built == nil {
		return nil, mapdata.Describe(mapdata.ErrNotFound, "This service has no page for cars.")
	}
	entries, err := fs.ReadDir(built, ".")
	if err != nil {
		return nil, fmt.Errorf("read the page's files: %w", err)
	}
	all := &overlayFiles{files: make(map[string]*overlayFile)}
	whole := xxhash.New()
	var page []byte
	for _, e := range entries {
		body, err := fs.ReadFile(built, e.Name())
		if err != nil {
			return nil, fmt.Errorf("read the page's files: %w", err)
		}
		_, _ = whole.WriteString(e.Name()) // a hash takes everything
		_, _ = whole.Write(body)
		if e.Name() == overlayPage {
			page = body
			continue
		}
		all.files[e.Name()] = newOverlayFile(body, typeOfFile(e.Name()))
	}
	if page == nil {
		return nil, errors.New("the page was not built: there is no " + overlayPage)
	}
	all.version = strconv.FormatUint(whole.Sum64(), 36)
	page = bytes.ReplaceAll(page, []byte(`"/overlay/`), []byte(`"/overlay/`+all.version+"/"))
	all.page = newOverlayFile(page, typeOfFile(overlayPage))
	return all, nil
}

// typeOfFile goes by the end of a name; the system's table would differ from machine to machine.
func typeOfFile(name string) string {
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

// overlayFile is one file in every form in which it is sent.
type overlayFile struct {
	contentType string
	etag        string
	plain       []byte
	gzip        func() ([]byte, error) // made when it is first wanted, as small as can be
	zstd        func() ([]byte, error)
}

func newOverlayFile(body []byte, contentType string) *overlayFile {
	return &overlayFile{
		contentType: contentType,
		etag:        `W/"` + strconv.FormatUint(xxhash.Sum64(body), 36) + `"`,
		plain:       body,
		gzip: sync.OnceValues(func() ([]byte, error) {
			return squeeze(body, func(to io.Writer) (io.WriteCloser, error) { return gzip.NewWriterLevel(to, gzip.BestCompression) })
		}),
		zstd: sync.OnceValues(func() ([]byte, error) {
			return squeeze(body, func(to io.Writer) (io.WriteCloser, error) {
				return zstd.NewWriter(to, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
			})
		}),
	}
}

// squeeze compresses a body whole.
func squeeze(body []byte, writer func(io.Writer) (io.WriteCloser, error)) ([]byte, error) {
	var out bytes.Buffer
	z, err := writer(&out)
	if err != nil {
		return nil, fmt.Errorf("compress a file of the page: %w", err)
	}
	if _, err := z.Write(body); err != nil {
		return nil, fmt.Errorf("compress a file of the page: %w", err)
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("compress a file of the page: %w", err)
	}
	return out.Bytes(), nil
}

// write answers with the file, or says that the client has it.
func (f *overlayFile) write(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.contentType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Vary", "Accept-Encoding")
	h["Etag"] = []string{f.etag}
	if match := r.Header["If-None-Match"]; match != nil && matches(match, f.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := f.plain
	if accept := r.Header["Accept-Encoding"]; len(accept) > 0 && len(body) >= compressFrom {
		encoding := negotiate(strings.Join(accept, ","))
		squeezed, err := []byte(nil), error(nil)
		switch encoding {
		case "gzip":
			squeezed, err = f.gzip()
		case "zstd":
			squeezed, err = f.zstd()
		}
		if err == nil && squeezed != nil { // uncompressed is as good an answer
			h.Set("Content-Encoding", encoding)
			body = squeezed
		}
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // a client that left is nobody's failure
	}
}

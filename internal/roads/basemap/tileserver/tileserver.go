package tileserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"strconv"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/response"
	"wayside/internal/roads/basemap"
)

// Values of Cache-Control: a day for tiles, whose URL changes with the archive, and minutes for the documents that
// contain that URL.
const (
	cacheTiles     = "public, max-age=86400"
	cacheDocuments = "public, max-age=300"
)

// ErrRange is returned for a range request beyond the end of the archive.
var ErrRange = errors.New("the archive has no such bytes")

// Server serves the current archive. It is safe for concurrent use.
type Server struct {
	// Current returns the current map.
	Current func() Map
	World   *basemap.Archive // the built-in overview; nil: none

	// Icons are the files of ServeIcon.
	Icons map[string]*response.File

	// Origin returns the origin of the service for use in an answer, and whether shared caches may store the answer.
	Origin func(r *http.Request) (origin string, cacheable bool)
}

// Map is an archive, and the attribution that must be shown with it.
type Map struct {
	Archive        *basemap.Archive // nil: there is no base map, and everything except the style answers "not found"
	Attribution    string           // plain text; may be empty
	AttributionURL string           // link of the attribution; may be empty
}

func (s *Server) current() (Map, error) {
	m := s.Current()
	if m.Archive == nil {
		return m, mapdata.Describe(mapdata.ErrNotFound, "This service serves no base map of its own.")
	}
	return m, nil
}

// ServeTile answers with the tile of the path values z, x and y, or with 204 if the archive has no such tile.
func (s *Server) ServeTile(w http.ResponseWriter, r *http.Request) error {
	m, err := s.current()
	if err != nil {
		return err
	}
	return serveTile(w, r, m.Archive)
}

// ServeWorldTile is ServeTile for the built-in overview of the world.
func (s *Server) ServeWorldTile(w http.ResponseWriter, r *http.Request) error {
	if s.World == nil {
		return mapdata.Describe(mapdata.ErrNotFound, "This service has no overview of the world.")
	}
	return serveTile(w, r, s.World)
}

func serveTile(w http.ResponseWriter, r *http.Request, archive *basemap.Archive) error {
	z, errZ := strconv.ParseUint(r.PathValue("z"), 10, 8)
	x, errX := strconv.ParseUint(r.PathValue("x"), 10, 32)
	y, errY := strconv.ParseUint(r.PathValue("y"), 10, 32)
	if errZ != nil || errX != nil || errY != nil || z > basemap.MaxZoom || max(x, y) >= 1<<z {
		return mapdata.Describe(mapdata.ErrNotFound, "Unknown tile: z is 0 to "+strconv.Itoa(basemap.MaxZoom)+", x and y are 0 to 2^z - 1.")
	}
	tile, ok, err := archive.Tile(uint8(z), uint32(x), uint32(y))
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Cache-Control", cacheTiles)
	h.Set("Vary", "Accept-Encoding")
	etag := `W/"` + archive.Tag() + `-none"`
	if ok {
		etag = `W/"` + tile.Tag() + `"`
	}
	h.Set("Etag", etag)
	switch {
	case response.MatchesETag(r.Header["If-None-Match"], etag):
		w.WriteHeader(http.StatusNotModified)
		return nil
	case !ok:
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return writeTile(w, r, archive.Type(), tile)
}

// writeTile sends a tile as it is stored if the client accepts its coding.
func writeTile(w http.ResponseWriter, r *http.Request, kind basemap.TileType, tile basemap.Stored) error {
	h := w.Header()
	body, packed, err := tile.Packed()
	switch {
	case err != nil:
		return err
	case packed && response.AcceptsGzip(r.Header["Accept-Encoding"]):
		h.Set("Content-Encoding", "gzip")
	case packed:
		if body, err = tile.Plain(); err != nil {
			return err
		}
	case kind == basemap.MVT:
		response.Write(w, r, http.StatusOK, kind.MediaType(), body)
		return nil
	}
	h.Set("Content-Type", kind.MediaType())
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // a write error means that the client has left
	}
	return nil
}

// ServeArchive answers with the archive or the requested range of it, for readers that find their tiles themselves. If
// the range lies beyond the end, it returns ErrRange, sets Content-Range and writes nothing.
func (s *Server) ServeArchive(w http.ResponseWriter, r *http.Request) error {
	m, err := s.current()
	if err != nil {
		return err
	}
	archive, h := m.Archive, w.Header()
	h.Set("Cache-Control", cacheTiles)
	h.Set("Content-Type", "application/vnd.pmtiles")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Etag", `"`+archive.Tag()+`"`)
	rw := &rangeWriter{ResponseWriter: w}
	http.ServeContent(rw, r, "", archive.ModTime(), archive.Content())
	if rw.refused {
		return ErrRange
	}
	return nil
}

// rangeWriter suppresses the plain-text 416 of the standard library, because errors of this service are problem
// documents.
type rangeWriter struct {
	http.ResponseWriter
	refused bool // the range cannot be satisfied
}

func (w *rangeWriter) WriteHeader(status int) {
	if w.refused = status == http.StatusRequestedRangeNotSatisfiable; !w.refused {
		w.ResponseWriter.WriteHeader(status)
	}
}

func (w *rangeWriter) Write(p []byte) (int, error) {
	if w.refused {
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

// ReadFrom keeps sendfile possible, because the standard library looks for this method.
func (w *rangeWriter) ReadFrom(r io.Reader) (int64, error) { return io.Copy(w.ResponseWriter, r) }

// ServeStyle answers with the MapLibre style of the archive above the overview of the world or, without an archive, of
// the overview alone.
func (s *Server) ServeStyle(w http.ResponseWriter, r *http.Request, look basemap.Look) error {
	m := s.Current()
	if m.Archive == nil && s.World == nil {
		return writeJSON(w, r, basemap.Blank(look.Theme), true)
	}
	origin, cacheable := s.Origin(r)
	world := s.world(origin)
	if m.Archive == nil {
		return writeJSON(w, r, basemap.WorldStyle(look, *world), cacheable)
	}
	return writeJSON(w, r, m.Archive.Style(look, basemap.Source{Tiles: m.tilesURL(origin), Attribution: m.attributionHTML(), Icons: origin + iconsURL}, world), cacheable)
}

// world returns the description of the overview for a style, or nil if there is none.
func (s *Server) world(origin string) *basemap.World {
	if s.World == nil {
		return nil
	}
	_, highest := s.World.Zooms()
	return &basemap.World{
		Tiles: origin + "/map/world/{z}/{x}/{y}?v=" + s.World.Tag(), HighestZoom: highest, Attribution: s.World.Attribution(),
	}
}

// tileJSON describes the tiles (TileJSON 3.0.0).
type tileJSON struct {
	TileJSON     string        `json:"tilejson"`
	Version      string        `json:"version"`
	Tiles        []string      `json:"tiles"`
	MinZoom      int           `json:"minzoom"`
	MaxZoom      int           `json:"maxzoom"`
	Bounds       [4]float64    `json:"bounds"`
	Center       [3]float64    `json:"center"`
	Attribution  string        `json:"attribution"`             // HTML, as TileJSON requires
	VectorLayers []vectorLayer `json:"vector_layers,omitempty"` // absent: the tiles are images
}

type vectorLayer struct {
	ID      string            `json:"id"`
	Fields  map[string]string `json:"fields"`
	MinZoom int               `json:"minzoom"`
	MaxZoom int               `json:"maxzoom"`
}

// ServeTileJSON answers with the archive's TileJSON.
func (s *Server) ServeTileJSON(w http.ResponseWriter, r *http.Request) error {
	m, err := s.current()
	if err != nil {
		return err
	}
	archive := m.Archive
	b := archive.Bounds()
	origin, cacheable := s.Origin(r)
	out := tileJSON{
		TileJSON: "3.0.0", Version: m.version(), Tiles: []string{m.tilesURL(origin)}, Bounds: [4]float64{b.West, b.South, b.East, b.North},
		Center: archive.Center(), Attribution: m.attributionHTML(),
	}
	out.MinZoom, out.MaxZoom = archive.Zooms()
	for _, l := range archive.VectorLayers() {
		out.VectorLayers = append(out.VectorLayers, vectorLayer(l))
	}
	return writeJSON(w, r, out, cacheable)
}

// tilesURL returns the URL of the tiles. MapLibre requires an absolute one, and it uses the request's origin, because a
// page that was opened under another name of this service may not load from the public one. The query changes with the
// archive, because browsers cache tiles for a day.
func (m *Map) tilesURL(origin string) string {
	return origin + "/map/tiles/{z}/{x}/{y}?v=" + m.Archive.Tag()
}

// version returns the version of the tiles in the form that TileJSON requires, with the tag after the plus sign.
func (m *Map) version() string { return "1.0.0+" + m.Archive.Tag() }

// attributionHTML returns the attribution as HTML, as TileJSON requires. Readers such as QGIS show it with its link.
func (m *Map) attributionHTML() string {
	text := html.EscapeString(m.Attribution)
	if m.AttributionURL == "" {
		return text
	}
	return `<a href="` + html.EscapeString(m.AttributionURL) + `">` + text + `</a>`
}

// writeJSON answers with a document. If cacheable, it may be cached for minutes and is revalidated by its tag, otherwise
// it is not cached.
func writeJSON(w http.ResponseWriter, r *http.Request, v any, cacheable bool) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the map's document: %w", err)
	}
	etag := response.ETag(body)
	h := w.Header()
	h.Set("Etag", etag)
	h.Set("Cache-Control", cacheDocuments)
	if !cacheable {
		h.Set("Cache-Control", "no-store")
	}
	h.Set("Vary", "Accept-Encoding")
	if response.MatchesETag(r.Header["If-None-Match"], etag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	response.Write(w, r, http.StatusOK, "application/json", body)
	return nil
}

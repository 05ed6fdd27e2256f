package httpapi

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"strconv"
	"strings"

	"wayside/internal/account"
	"wayside/internal/basemap"
	"wayside/internal/mapdata"
)

// Cache-Control of the base map: tiles for a day, what leads to them for minutes.
const (
	cacheTiles = "public, max-age=86400"
	cacheStyle = "public, max-age=300"
)

func (a *api) baseMapRoutes() []route {
	return []route{
		{http.MethodGet, "/map/tiles/{z}/{x}/{y}", open, account.ForGuests, a.getTile},
		{http.MethodGet, "/map/archive.pmtiles", open, account.ForGuests, a.getArchive},
		{http.MethodGet, "/map/style.json", open, account.ForGuests, a.getMapStyle},
		{http.MethodGet, "/map/tilejson", open, account.ForGuests, a.getTileJSON},
	}
}

// archive is the operator's base map.
func (a *api) archive() (*basemap.Archive, error) {
	if a.Archive == nil {
		return nil, mapdata.Describe(mapdata.ErrNotFound, "This service serves no base map of its own.")
	}
	return a.Archive, nil
}

// getTile answers GET /map/tiles/{z}/{x}/{y}. Where there is no tile there is nothing to draw: 204.
func (a *api) getTile(w http.ResponseWriter, r *http.Request, _ *caller) error {
	archive, err := a.archive()
	if err != nil {
		return err
	}
	z, errZ := strconv.ParseUint(r.PathValue("z"), 10, 8)
	x, errX := strconv.ParseUint(r.PathValue("x"), 10, 32)
	y, errY := strconv.ParseUint(r.PathValue("y"), 10, 32)
	if errZ != nil || errX != nil || errY != nil || z > basemap.MaxZoom || max(x, y) >= 1<<z {
		return mapdata.Describe(mapdata.ErrNotFound, "There is no such tile: z is 0 to "+strconv.Itoa(basemap.MaxZoom)+", x and y are 0 to 2^z - 1.")
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
	case matches(r.Header["If-None-Match"], etag):
		w.WriteHeader(http.StatusNotModified)
		return nil
	case !ok:
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return sendTile(w, r, archive.Type(), tile)
}

// sendTile sends a tile as it lies in the archive if the client takes that.
func sendTile(w http.ResponseWriter, r *http.Request, kind basemap.TileType, tile basemap.Stored) error {
	h := w.Header()
	body, packed, err := tile.Packed()
	switch {
	case err != nil:
		return err
	case packed && takesGzip(r.Header["Accept-Encoding"]):
		h.Set("Content-Encoding", "gzip")
	case packed:
		if body, err = tile.Plain(); err != nil {
			return err
		}
	case kind == basemap.MVT:
		writeBody(w, r, http.StatusOK, kind.MediaType(), body)
		return nil
	}
	h.Set("Content-Type", kind.MediaType())
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // a client that left is nobody's failure
	}
	return nil
}

// takesGzip says whether a client takes gzip, even if it likes something else better: the tile is packed already.
func takesGzip(accept []string) bool {
	for part := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		coding, _, _ := strings.Cut(part, ";")
		if coding = strings.ToLower(strings.TrimSpace(coding)); coding == "gzip" || coding == "x-gzip" {
			return negotiate(part) != "" // unless its weight is 0
		}
	}
	return false
}

// getArchive answers GET /map/archive.pmtiles, for readers that find their tiles themselves, by Range requests.
func (a *api) getArchive(w http.ResponseWriter, r *http.Request, _ *caller) error {
	archive, err := a.archive()
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Cache-Control", cacheTiles)
	h.Set("Content-Type", "application/vnd.pmtiles")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Etag", `"`+archive.Tag()+`"`)
	refused := &rangeRefusal{ResponseWriter: w}
	http.ServeContent(refused, r, "", archive.ModTime(), archive.Content())
	if refused.refused {
		return &problem{
			Type: "range-not-satisfiable", Status: http.StatusRequestedRangeNotSatisfiable,
			Detail: "The archive has no such bytes; Content-Range says how many it has.",
		}
	}
	return nil
}

// rangeRefusal keeps back what the standard library says of a range that cannot be: it is said as a problem.
type rangeRefusal struct {
	http.ResponseWriter
	refused bool
}

func (w *rangeRefusal) WriteHeader(status int) {
	if w.refused = status == http.StatusRequestedRangeNotSatisfiable; !w.refused {
		w.ResponseWriter.WriteHeader(status)
	}
}

func (w *rangeRefusal) Write(p []byte) (int, error) {
	if w.refused {
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

// ReadFrom lets the standard library hand a part of the file to the system.
func (w *rangeRefusal) ReadFrom(r io.Reader) (int64, error) { return io.Copy(w.ResponseWriter, r) }

// getMapStyle answers GET /map/style.json: the archive by day or by night, or plain ground.
func (a *api) getMapStyle(w http.ResponseWriter, r *http.Request, _ *caller) error {
	theme := basemap.Day
	p := params{values: r.URL.Query()}
	switch text, given := p.single("theme"); {
	case text == "night":
		theme = basemap.Night
	case given && text != "day" && p.wrong == nil:
		p.bad("theme", "invalid", "theme is day or night.")
	}
	if p.wrong != nil {
		return p.wrong
	}
	style := basemap.Blank(theme)
	if a.Archive != nil {
		style = a.Archive.Style(theme, a.tilesURL(r))
	}
	return writeMapJSON(w, r, style)
}

// tileJSON describes the tiles (TileJSON 3.0.0).
type tileJSON struct {
	TileJSON     string        `json:"tilejson"`
	Tiles        []string      `json:"tiles"`
	MinZoom      int           `json:"minzoom"`
	MaxZoom      int           `json:"maxzoom"`
	Bounds       [4]float64    `json:"bounds"`
	Center       [3]float64    `json:"center"`
	Attribution  string        `json:"attribution"`             // HTML, as TileJSON wants it
	VectorLayers []vectorLayer `json:"vector_layers,omitempty"` // without: the tiles are pictures
}

type vectorLayer struct {
	ID      string            `json:"id"`
	Fields  map[string]string `json:"fields"`
	MinZoom int               `json:"minzoom"`
	MaxZoom int               `json:"maxzoom"`
}

// getTileJSON answers GET /map/tilejson.
func (a *api) getTileJSON(w http.ResponseWriter, r *http.Request, _ *caller) error {
	archive, err := a.archive()
	if err != nil {
		return err
	}
	b := archive.Bounds()
	out := tileJSON{
		TileJSON: "3.0.0", Tiles: []string{a.tilesURL(r)}, Bounds: [4]float64{b.West, b.South, b.East, b.North},
		Center: archive.Center(),
	}
	out.MinZoom, out.MaxZoom = archive.Zooms()
	if a.BaseMap != nil {
		out.Attribution = html.EscapeString(a.BaseMap.Attribution)
	}
	for _, l := range archive.VectorLayers() {
		out.VectorLayers = append(out.VectorLayers, vectorLayer(l))
	}
	return writeMapJSON(w, r, out)
}

// tilesURL is where the tiles are, for a browser that needs it whole. It repeats the host that was asked: a page that
// was opened by another name of this service may load nothing from the configured one.
// The address changes with the file, since browsers keep tiles for a day.
func (a *api) tilesURL(r *http.Request) string {
	scheme := "http://"
	if a.secure || r.TLS != nil {
		scheme = "https://"
	}
	return scheme + r.Host + "/map/tiles/{z}/{x}/{y}?v=" + a.Archive.Tag()
}

// writeMapJSON answers with JSON that may be kept for minutes, and asked for by its tag.
func writeMapJSON(w http.ResponseWriter, r *http.Request, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the map: %w", err)
	}
	etag := tagOf(body)
	h := w.Header()
	h.Set("Etag", etag)
	h.Set("Cache-Control", cacheStyle)
	h.Set("Vary", "Accept-Encoding")
	if matches(r.Header["If-None-Match"], etag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	writeBody(w, r, http.StatusOK, "application/json", body)
	return nil
}

package httpapi

import (
	"errors"
	"net/http"

	"wayside/internal/basemap"
	"wayside/internal/basemap/tileserver"
)

// BaseMap is the map on which the pins are drawn.
type BaseMap struct {
	StyleURL    string // of a MapLibre style, as the page loads it
	Attribution string // plain text that must be displayed; may be empty

	// Origins are the other origins that the page must be allowed to load from, for its Content-Security-Policy (connect-src
	// and img-src); nil: the map is served here.
	Origins []string
}

// getArchive answers GET /map/archive.pmtiles.
func (a *api) getArchive(w http.ResponseWriter, r *http.Request, _ *caller) error {
	err := a.tiles.ServeArchive(w, r)
	if errors.Is(err, tileserver.ErrRange) {
		return &problem{
			Type: "range-not-satisfiable", Status: http.StatusRequestedRangeNotSatisfiable,
			Detail: "The archive has no such bytes; Content-Range says how many it has.",
		}
	}
	return err
}

// getMapStyle answers GET /map/style.json: the archive by day or by night, or plain ground.
func (a *api) getMapStyle(w http.ResponseWriter, r *http.Request, _ *caller) error {
	theme := basemap.Day
	values, _ := appendQuery(nil, r.URL.RawQuery) // the style has no use for a malformed parameter
	p := params{values: values}
	switch text, given := p.value("theme"); {
	case text == "night":
		theme = basemap.Night
	case given && text != "day" && p.problem == nil:
		p.addError("theme", "invalid", "theme is day or night.")
	}
	if p.problem != nil {
		return p.problem
	}
	return a.tiles.ServeStyle(w, r, theme)
}

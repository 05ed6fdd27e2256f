package httpapi

import (
	"errors"
	"net/http"

	"wayside/internal/roads/basemap"
	"wayside/internal/roads/basemap/tileserver"
)

// BaseMap is the map on which the pins are drawn.
type BaseMap struct {
	Archive        *basemap.Archive // served by this process; nil: another server has the map
	StyleURL       string           // of a MapLibre style, as the page loads it
	Attribution    string           // plain text that must be displayed; may be empty
	AttributionURL string           // target of the attribution's link; empty: no link

	// Origins are the other origins that the page must be allowed to load from, for its Content-Security-Policy (connect-src
	// and img-src); nil: the map is served here.
	Origins []string
}

// currentMap returns the map that this process serves now.
func (a *API) currentMap() tileserver.Map {
	m := a.BaseMap()
	if m == nil {
		return tileserver.Map{}
	}
	return tileserver.Map{Archive: m.Archive, Attribution: m.Attribution, AttributionURL: m.AttributionURL}
}

// getArchive answers GET /map/archive.pmtiles.
func (a *API) getArchive(w http.ResponseWriter, r *http.Request, _ *Caller) error {
	err := a.tiles.ServeArchive(w, r)
	if errors.Is(err, tileserver.ErrRange) {
		return &Problem{
			Type: "range-not-satisfiable", Status: http.StatusRequestedRangeNotSatisfiable,
			Detail: "The archive has no such bytes; Content-Range says how many it has.",
		}
	}
	return err
}

// getMapStyle answers GET /map/style.json with the style of the archive by day or by night, with names in a language, or of plain
// ground.
func (a *API) getMapStyle(w http.ResponseWriter, r *http.Request, _ *Caller) error {
	var look basemap.Look
	values, _ := AppendQuery(nil, r.URL.RawQuery) // the style has no use for a malformed parameter
	p := Params{Values: values}
	switch text, given := p.Value("theme"); {
	case text == "night":
		look.Theme = basemap.Night
	case given && text != "day" && p.Problem == nil:
		p.AddError("theme", "invalid", "theme is day or night.")
	}
	switch text, given := p.Value("language"); {
	case isLanguageCode(text):
		look.Language = text
	case given && p.Problem == nil:
		p.AddError("language", "invalid", "language is a lowercase ISO 639 code, such as de.")
	}
	switch text, given := p.Value("names"); {
	case text == "false":
		look.NoNames = true
	case given && text != "true" && p.Problem == nil:
		p.AddError("names", "invalid", "names is true or false.")
	}
	if p.Problem != nil {
		return p.Problem
	}
	return a.tiles.ServeStyle(w, r, look)
}

// isLanguageCode reports whether a text has the form of a language code of ISO 639.
func isLanguageCode(text string) bool {
	if len(text) < 2 || len(text) > 3 {
		return false
	}
	for _, c := range []byte(text) {
		if c < 'a' || c > 'z' {
			return false
		}
	}
	return true
}

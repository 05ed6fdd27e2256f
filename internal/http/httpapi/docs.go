package httpapi

import (
	"math"
	"net/http"
	"strings"
	"sync"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/response"
	"wayside/internal/http/pages"
)

// docsPolicy lets the page load this service's style sheet and drawings, and nothing else from anywhere (D13.4).
const docsPolicy = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// getOpenAPI answers GET /v2/openapi.json (D12.6).
func (a *API) getOpenAPI(w http.ResponseWriter, r *http.Request, _ *Caller) error {
	file, err := a.openapi()
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Cache-Control", CacheDocs)
	h.Set("Content-Security-Policy", response.DataPolicy)
	file.Serve(w, r)
	return nil
}

// onceFile returns a function that makes a file on its first call. Like other files it is compressed once: compressing half a megabyte for
// each reader took 5 % of the processor under attack.
func onceFile(contentType string, render func() ([]byte, error)) func() (*response.File, error) {
	return sync.OnceValues(func() (*response.File, error) {
		body, err := render()
		if err != nil {
			return nil, err
		}
		return response.NewFile(body, contentType), nil
	})
}

// redirectOpenAPI answers GET /openapi.json, where many programs look for the document first.
func (a *API) redirectOpenAPI(w http.ResponseWriter, r *http.Request, _ *Caller) error {
	http.Redirect(w, r, "/v2/openapi.json", http.StatusPermanentRedirect)
	return nil
}

// getDocs answers GET /docs with the API's page for people.
func (a *API) getDocs(w http.ResponseWriter, r *http.Request, _ *Caller) error {
	file, err := a.docs()
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Cache-Control", CacheDocs)
	h.Set("Content-Security-Policy", docsPolicy)
	h.Set("Referrer-Policy", "same-origin")
	file.Serve(w, r)
	return nil
}

// placeExamples returns the examples of a place at /docs: a place on this service's map, where it has data.
func (a *API) placeExamples() map[string]any {
	if a.Home == (geo.Point{}) {
		return nil
	}
	const digits = 1e4
	return map[string]any{"lat": math.Round(a.Home.Lat*digits) / digits, "lng": math.Round(a.Home.Lng*digits) / digits}
}

// getIcon answers GET /v2/icons/<kind>.svg (D2.5).
func (a *API) getIcon(w http.ResponseWriter, r *http.Request, _ *Caller) error {
	id, ok := strings.CutSuffix(r.PathValue("file"), ".svg")
	kind, known := mapdata.ParseKind(id)
	if !ok || !known {
		return mapdata.Describe(mapdata.ErrNotFound, "Unknown icon; GET /v2/kinds lists them.")
	}
	return pages.ServeIcon(w, r, kind)
}

package httpapi

import (
	"net/http"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
	"wayside/internal/response"
)

// Demo is what only `wayside demo` serves.
type Demo struct {
	Drive  []byte   // JSON: a recorded drive through the demo region
	Extent *geo.Box // where the page for cars begins; nil: where there are entities
}

// getDrive answers GET /demo/drive.json, for a page that simulates a drive.
func (a *api) getDrive(w http.ResponseWriter, r *http.Request, _ *caller) error {
	if a.Demo == nil {
		return mapdata.Describe(mapdata.ErrNotFound, "Only the demo has a drive: wayside demo.")
	}
	w.Header().Set("Cache-Control", cacheDocs)
	response.Write(w, r, http.StatusOK, "application/json", a.Demo.Drive)
	return nil
}

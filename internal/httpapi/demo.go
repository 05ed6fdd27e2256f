package httpapi

import (
	"net/http"

	"wayside/internal/mapdata"
	"wayside/internal/response"
)

// Demo is what only the demo town serves.
type Demo struct {
	Drive []byte // JSON: a drive through the town
}

// getDrive answers GET /demo/drive.json, for a page that pretends to drive.
func (a *api) getDrive(w http.ResponseWriter, r *http.Request, _ *caller) error {
	if a.Demo == nil {
		return mapdata.Describe(mapdata.ErrNotFound, "Only the demo has a drive: wayside demo.")
	}
	w.Header().Set("Cache-Control", cacheDocs)
	response.Write(w, r, http.StatusOK, "application/json", a.Demo.Drive)
	return nil
}

package httpapi

import (
	"net/http"

	"wayside/internal/account"
	"wayside/internal/mapdata"
)

// Demo is what only the demo town serves.
type Demo struct {
	Drive []byte // JSON: a drive through the town
}

func (a *api) demoRoutes() []route {
	return []route{{http.MethodGet, "/demo/drive.json", open, account.ForGuests, a.getDrive}}
}

// getDrive answers GET /demo/drive.json, for a page that pretends to drive.
func (a *api) getDrive(w http.ResponseWriter, r *http.Request, _ *caller) error {
	if a.Demo == nil {
		return mapdata.Describe(mapdata.ErrNotFound, "Only the demo has a drive: wayside demo.")
	}
	w.Header().Set("Cache-Control", cachePages)
	writeBody(w, r, http.StatusOK, "application/json", a.Demo.Drive)
	return nil
}

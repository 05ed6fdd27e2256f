package httpapi

import (
	"net/http"
	"strconv"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/response"
)

// Demo holds what only `wayside demo` serves.
type Demo struct {
	Drive []byte // JSON: recorded drives through the demo region
	// Began is called when a page begins a drive at speedUp times the real speed; nil: nothing happens on the way.
	Began  func(speedUp float64)
	Extent *geo.Box // area that the page for cars shows first; nil: where there are entities
}

// getDrive answers GET /demo/drive.json, for a page that simulates a drive.
func (a *API) getDrive(w http.ResponseWriter, r *http.Request, _ *Caller) error {
	if a.Demo == nil {
		return mapdata.Describe(mapdata.ErrNotFound, "Only the demo has a drive: wayside demo.")
	}
	const slowest, fastest = 0.1, 20
	if speedUp, err := strconv.ParseFloat(r.URL.Query().Get("x"), 64); err == nil && speedUp >= slowest && speedUp <= fastest && a.Demo.Began != nil {
		a.Demo.Began(speedUp)
	}
	w.Header().Set("Cache-Control", NoStore) // the demo must notice each drive
	response.Write(w, r, http.StatusOK, "application/json", a.Demo.Drive)
	return nil
}

package httpapi

import (
	"fmt"
	"net/http"

	"wayside/internal/ground/mapdata"
)

// getHealthz answers 200 while the process is alive (D12.4).
func (a *API) getHealthz(w http.ResponseWriter, r *http.Request, _ *Caller) error {
	return WriteJSON(w, r, http.StatusOK, map[string]string{"status": "ok"})
}

// getReadyz answers 200 if reads and writes would work now: the index is loaded and the store answers (D12.4).
func (a *API) getReadyz(w http.ResponseWriter, r *http.Request, _ *Caller) error {
	if err := a.Ready(); err != nil {
		described := mapdata.Describe(mapdata.ErrUnavailable, "Not ready: the index is still loading or the store does not answer.")
		return fmt.Errorf("%w: %w", described, err)
	}
	return WriteJSON(w, r, http.StatusOK, map[string]string{"status": "ready"})
}
